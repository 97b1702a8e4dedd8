/*
 * The report of `evenkeel check`: a list of findings that is printed as a table or as JSON.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO, SEVERITY_COUNT };

struct check_row {
    enum severity severity;
    uint32_t line; /* 0: the finding belongs to no line */
    struct str path, problem, advice;
};

struct check_report {
    struct arena *arena;     /* borrowed; every text is copied into it */
    struct check_row *items; /* in the order they were added */
    uint32_t count, cap;
    uint32_t counts[SEVERITY_COUNT];
};

void check_report_init(struct check_report *f, struct arena *arena);
/* Adds a finding; texts are copied. `fmt` is the problem. */
void check_report_add(struct check_report *f, enum severity severity, uint32_t line,
                      const char *path, const char *advice, const char *fmt, ...) PRINTF_LIKE(6, 7);

/* Appends the findings for people, errors first, and a last line that counts them. `file` is the
 * file that was checked. Returns false if memory ran out. */
bool check_report_print(struct check_report *f, const char *file, struct strbuf *out);
/* Appends {"file":...,"errors":1,"warnings":0,"infos":0,"findings":[{"severity":"error","line":3,
 * "field":...,"problem":...,"advice":...}]} and a line break. */
bool check_report_print_json(struct check_report *f, const char *file, struct strbuf *out);
