/*
 * Finds files of Kubernetes objects, printed by kubectl or written by people, reads them, and
 * converts them to JSON. A path is a file, or a folder: its .json, .yaml and .yml files.
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
    struct strbuf bytes;         /* the bytes of a JSON file */
    struct arena yaml;           /* JSON made of YAML */
    const struct str *documents; /* JSON texts */
    size_t document_count;
    struct yaml_json made; /* the result of converting YAML; empty: the file is JSON */
};

struct manifests {
    struct manifest_file *items; /* owned; folders in the order of their file names */
    size_t count, cap;
    const char *what; /* a file's name in errors: "state" */
};

/* Finds the files; `what` is a literal. Returns 0, the errno of the failed call, or -ENOMEM.
 * Release `ret` in any case. */
int manifests_list(const char *const *paths, size_t count, const char *what, struct manifests *ret,
                   struct err *err) MUST_CHECK;
/* Returns a number that changes when a file's signature changes, or when files come or go. */
uint64_t manifests_fingerprint(const struct manifests *files);
/* Reads all files, at most `max` bytes together. 0, -EINVAL (a file is not YAML), -EFBIG, -ENOMEM,
 * or the errno of reading. */
int manifests_read(struct manifests *files, size_t max, struct err *err) MUST_CHECK;
/* Puts the file's name, and the document's number if there are several, in front of an error. For
 * YAML, the line replaces the byte; in files of more than 4 MiB the byte is removed, and no line is
 * named. Returns err->code (or -EIO when err is NULL). */
int manifests_complain(const struct manifests *files, size_t file, size_t document,
                       struct err *err);
/* Frees the files; `files` is empty then. */
void manifests_done(struct manifests *files);
