/*
 * YAML in, JSON text out, so that every decoder of the program knows one language only. JSON is
 * YAML too and passes through.
 *
 * Scalars resolve as kubectl resolves them (YAML 1.1 core words): plain `null ~ true false yes no
 * on off`, integers and floats become JSON literals, everything quoted and everything else becomes
 * a string. Anchors and aliases work (the anchored value is copied); merge keys `<<`, duplicate
 * keys, non-scalar keys, custom tags, .inf and .nan are refused. Errors name line and column.
 * Documents deeper than LIMIT_JSON_DEPTH or longer than LIMIT_YAML_BYTES as JSON are refused.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* Where a value or key that starts at `json_offset` of the output stood in the YAML: line, from 1.
 * Sorted by offset. */
struct yaml_mark {
    uint32_t json_offset;
    uint32_t line;
};

struct yaml_json {
    struct str *documents; /* JSON texts, one per YAML document that is not empty; arena */
    size_t document_count;
    struct str text;         /* all documents in one buffer; documents point into it */
    struct yaml_mark *marks; /* offsets count from the start of `text`; empty unless asked for */
    size_t mark_count;
};

/* Converts every document of `yaml`. All memory is from the arena. `with_marks` costs 8 bytes a
 * value; ask for it only where an error must name a line. 0, -EINVAL (malformed; err names line and
 * column), -E2BIG (a limit) or -ENOMEM. */
int yaml_to_json(struct str yaml, bool with_marks, struct arena *arena, struct yaml_json *ret,
                 struct err *err) MUST_CHECK;

/* Returns the line that an error of yaml_to_json() names, also after a caller has put text in
 * front; 0: the error names no line. */
uint32_t yaml_line_named(const char *error);

/* Returns the version of the loaded libyaml. Static string. */
const char *yaml_library_version(void);

/* Returns the YAML line of the byte `json_offset` of doc->text: the line of the last mark at or
 * before it. 0 without marks. */
uint32_t yaml_line_of(const struct yaml_json *doc, size_t json_offset);
/* A decoder's error names a byte of `json`, which means nothing in the YAML. Replaces the byte by
 * the YAML's line if `json` is a part of doc->text and has marks; otherwise removes it. `err` may
 * be NULL. */
void yaml_say_line(const struct yaml_json *doc, struct str json, struct err *err);
