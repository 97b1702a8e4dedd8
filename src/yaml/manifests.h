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
#include "yaml/yaml.h"

#include <stddef.h>
#include <stdint.h>

struct manifest_file {
    char *path;                  /* owned */
    struct strbuf bytes;         /* of JSON */
    struct arena yaml;           /* JSON made of YAML */
    const struct str *documents; /* JSON texts */
    size_t document_count;
    struct yaml_json made; /* what YAML was made into; empty: the file is JSON */
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
/* Puts the file, and the document where it has several, in front of what is wrong in one; of YAML
 * the line takes the place of the byte, or nothing in files of more than 4 MiB. Returns err->code
 * (or -EIO when err is NULL). */
int manifests_complain(const struct manifests *files, size_t file, size_t document,
                       struct err *err);
/* Frees what it has; it is empty then. */
void manifests_done(struct manifests *files);
