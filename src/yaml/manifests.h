/*
 * Files of Kubernetes objects, as kubectl prints them or people write them: found, read, and made
 * JSON. A path is a file, or a folder whose .json, .yaml and .yml files are meant.
 *
 * Not thread-safe. The documents live as long as the struct.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct manifest_file {
    char *path;                  /* owned */
    struct strbuf bytes;         /* of JSON */
    struct arena yaml;           /* JSON made of YAML */
    const struct str *documents; /* JSON texts */
    size_t document_count;
};

struct manifests {
    struct manifest_file *items; /* owned; folders in the order of their file names */
    size_t count, cap;
    const char *what; /* how errors call one: "state" */
};

/* Finds the files; `what` is a literal. 0, the errno of what failed, or -ENOMEM. `ret` is to be
 * released in any case. */
int manifests_list(const char *const *paths, size_t count, const char *what, struct manifests *ret,
                   struct err *err) MUST_CHECK;
/* Changes when any file's signature does, or when files come or go. */
uint64_t manifests_fingerprint(const struct manifests *files);
/* Reads all of them, at most `max` bytes together. 0, -EINVAL for what is not YAML, -EFBIG,
 * -ENOMEM, or the errno of reading. */
int manifests_read(struct manifests *files, size_t max, struct err *err) MUST_CHECK;
/* Frees what it has; it is empty then. */
void manifests_done(struct manifests *files);
