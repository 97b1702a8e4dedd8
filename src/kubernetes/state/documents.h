/*
 * The objects of a YAML or JSON file that a user asks about: its documents, and the items of Lists.
 *
 * Memory is from the caller's arena. Threads: none of its own.
 */
#pragma once

#include "yaml/yaml.h"

/* Does the user ask about this object, given as JSON? In a pod file: is it a Pod or a workload? */
typedef bool document_wanted_fn(struct str json, struct arena *arena);

struct document_kind {
    const char *what;     /* names the file in errors: "pod file" */
    const char *expected; /* "Pod or workload" */
    document_wanted_fn *wanted;
};

struct document {
    struct str text;              /* JSON */
    const struct yaml_json *json; /* JSON of the whole file */
    const struct document_kind *kind;
    const char *path; /* of the file; borrowed */
    bool has_others;  /* the file has other objects, too */
};

struct documents {
    struct document *items; /* in the order of the file */
    uint32_t count;         /* at least 1 */
};

/* Reads the file. If it has several objects, only the wanted ones stay; a single object stays in
 * any case. Returns 0 or -errno; -EINVAL also if no object is wanted. */
int documents_read(const char *path, const struct document_kind *kind, struct arena *arena,
                   struct documents *ret, struct err *err) MUST_CHECK;
/* The same, but returns -EINVAL if more than one object stays. */
int document_read_only(const char *path, const struct document_kind *kind, struct arena *arena,
                       struct document *ret, struct err *err) MUST_CHECK;

/* Keeps the objects with this name: NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME. The
 * case of KIND does not matter; an object without a namespace is in `default`. May leave no object.
 */
void documents_keep_named(struct documents *d, const char *name, struct arena *arena);
/* The same, but returns -EINVAL instead of leaving no object. */
int documents_choose(struct documents *d, const char *name, struct arena *arena,
                     struct err *err) MUST_CHECK;
/* Returns NAMESPACE/KIND/NAME, in the arena. */
struct str document_name(const struct document *d, struct arena *arena);

/* Puts the file's name in front of an error about the document, and its line instead of the byte.
 * An error without a byte gets the line where the document begins, if the file has other objects.
 * Returns err->code. */
int document_complain(const struct document *d, struct err *err);
