/*
 * Finds all problems with the files of a TLS server in one run, and reports each with its remedy.
 * Reads files, changes nothing.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { CHECK_WITHIN_DAYS = 14 };

struct check_request {
    const char *certificate_path, *key_path;
    const char *ca_path;     /* the bundle that clients trust; NULL: not checked */
    const struct str *hosts; /* names that clients use; all must be covered */
    size_t host_count;
    int within_days; /* a certificate that expires within so many days is a problem, too */
    int64_t now_s;   /* seconds since 1970 */
};

struct check_report {
    struct str *problems; /* one sentence each, from the arena */
    size_t count;
    int64_t not_after_s; /* notAfter of the leaf certificate; 0 if it could not be read */
};

/* A file that cannot be read is reported as a problem. Returns 0, also if problems were found, or
 * -ENOMEM. */
int certs_check(const struct check_request *request, struct arena *arena, struct check_report *ret,
                struct err *err) MUST_CHECK;
