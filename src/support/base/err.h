/*
 * Errors: one convention for the whole program.
 *
 * A function that can fail returns 0 or a negative errno and takes `struct err *err` last. On
 * failure it writes one sentence into err: lower case, what failed first, the subject in single
 * quotes, then why:
 *
 *     cannot parse quantity '12x': unknown suffix
 *
 * Callers add context on the way up with err_wrap(), which puts "what: " in front. Only the place
 * that decides (a handler, a command, the file source) prints it, once. The struct lives on the
 * caller's stack and owns its text; nothing is freed. `err` may be NULL if the caller does not need
 * the sentence. Output parameters are untouched on failure.
 */
#pragma once

#include <stdarg.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))

enum { ERR_TEXT_SIZE = 512 };

struct err {
    int code; /* negative errno; 0 while nothing failed */
    char text[ERR_TEXT_SIZE];
};

/* Writes the sentence and returns `code` (a negative errno), so that `return err_set(err, -EINVAL,
 * ...)` reads well. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same as err_set() for a failed system call: appends ": " and the text of errno `errnum`
 * (positive). Returns -errnum. */
int err_set_errno(struct err *err, int errnum, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Puts "<formatted>: " in front of err's text. Returns err->code (or -EIO when err is NULL). */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* clang's analyzer sees one file at a time: these macros show it that no function returns 0. */
#ifdef __clang_analyzer__
#define err_set(err, code, ...) (err_set(err, code, __VA_ARGS__), (code))
#define err_set_errno(err, errnum, ...) (err_set_errno(err, errnum, __VA_ARGS__), -(errnum))
#define err_wrap(err, ...) (err_wrap(err, __VA_ARGS__), -1)
#endif
