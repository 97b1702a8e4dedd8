/*
 * Logs: one line per event on stderr, logfmt or JSON, with a level, rate-limited per call site.
 * Only the code that decides about an error logs it, once; libraries return errors instead. Never
 * log a token, a key or a whole object.
 *
 *     LOG_W("state file refused", LOG_STR("path", path), LOG_ERRTEXT(&err));
 *     -> time=2026-01-02T03:04:05.678Z level=warn msg="state file refused" path=/etc/x err="..."
 *
 * Thread-safe: a line is written with one write(2). Values are quoted and escaped, so nothing that
 * came over the network can end a line, forge a field or move a terminal's cursor; a line is cut at
 * LIMIT_LOG_LINE. A call site that logs more than 20 lines in ten seconds is silenced until the
 * window ends, and its next line has the number of lost lines in `dropped`. errno is kept.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum { LOG_LEVELS = LOG_ERROR + 1 };
extern const char *const log_level_names[LOG_LEVELS]; /* "debug", ... */
enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_field {
    const char *key; /* literal */
    struct str text; /* used if is_number is false */
    int64_t number;
    bool is_number;
};

struct log_site { /* the state of the rate limit: one static struct for each call site */
    _Atomic int64_t window_start_ms;
    _Atomic uint32_t lines;
};

/* Sets up the log. Call it once at start-up, before there are threads. The defaults are LOG_INFO,
 * LOG_LOGFMT and file descriptor 2. */
void log_setup(enum log_level least, enum log_format format, int fd);
/* Changes only the least level. Any thread may call it at any time. */
void log_set_level(enum log_level least);
enum log_level log_level(void);
/* Sets the clock of the rate limit, for tests; the default is the real clock. Call it before there
 * are threads. */
void log_use_clock(struct clock *clock);
/*
 * From now on this thread's lines have a field `traceparent`, if `fn` returns a W3C trace header.
 * `fn` is called only for lines that are written. The text comes from a client, so a text that is
 * not a valid header is left out. If `fn` is NULL, later lines have no such field.
 */
typedef struct str log_trace_fn(const void *ctx);
void log_trace(log_trace_fn *fn, const void *ctx);
/* Would a line of this level be written? For callers whose text is expensive to make. */
bool log_wants(enum log_level level);
void log_write(struct log_site *site, enum log_level level, const char *message,
               const struct log_field *fields, size_t field_count);

#define LOG_STR(k, v)                                                                              \
    { .key = (k), .text = (v) }
#define LOG_CSTR(k, v)                                                                             \
    { .key = (k), .text = str_of(v) }
/* The field is left out if `v` is NULL. */
#define LOG_CSTR_IF(k, v)                                                                          \
    { .key = (v) != NULL ? (k) : NULL, .text = str_of(v) }
#define LOG_INT(k, v)                                                                              \
    { .key = (k), .number = (int64_t)(v), .is_number = true }
#define LOG_ERRTEXT(e)                                                                             \
    { .key = "err", .text = str_of((e)->text) }

#define LOG_AT(level, message, ...)                                                                \
    do {                                                                                           \
        static struct log_site log_site_here;                                                      \
        const struct log_field log_fields_here[] = {{.key = NULL}, ##__VA_ARGS__};                 \
        log_write(&log_site_here, level, message, log_fields_here + 1,                             \
                  sizeof log_fields_here / sizeof log_fields_here[0] - 1);                         \
    } while (0)
#define LOG_D(message, ...) LOG_AT(LOG_DEBUG, message, ##__VA_ARGS__)
#define LOG_I(message, ...) LOG_AT(LOG_INFO, message, ##__VA_ARGS__)
#define LOG_W(message, ...) LOG_AT(LOG_WARN, message, ##__VA_ARGS__)
#define LOG_E(message, ...) LOG_AT(LOG_ERROR, message, ##__VA_ARGS__)
