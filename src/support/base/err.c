#include "base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The analyzer's macros, see err.h; the functions themselves follow. */
#undef err_set
#undef err_set_errno
#undef err_wrap

int err_set(struct err *err, int code, const char *fmt, ...) {
    assert(code < 0);
    if (err == NULL)
        return code;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt,
                    args); /* truncation is fine: people read it */
    va_end(args);
    err->code = code;
    return code;
}

int err_set_errno(struct err *err, int errnum, const char *fmt, ...) {
    assert(errnum > 0);
    if (err == NULL)
        return -errnum;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text) {
        char why[128];
        (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s",
                       strerror_r(errnum, why, sizeof why));
    }
    err->code = -errnum;
    return -errnum;
}

int err_wrap(struct err *err, const char *fmt, ...) {
    if (err == NULL)
        return -EIO;
    char outer[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(outer, sizeof outer - 3, fmt, args); /* cut: people read it */
    va_end(args);
    if (n < 0)
        return err->code;
    size_t prefix = (size_t)n < sizeof outer - 3 ? (size_t)n : sizeof outer - 4;
    memcpy(outer + prefix, ": ", 2);
    prefix += 2;
    size_t kept = strnlen(err->text, sizeof err->text - prefix - 1);
    memmove(err->text + prefix, err->text, kept);
    memcpy(err->text, outer, prefix);
    err->text[prefix + kept] = '\0';
    return err->code;
}
