/*
 * A JSON Patch (RFC 6902) in the making: operations, and the document as they leave it.
 *
 * The document is text and stays text: an operation splices bytes into it, so what is not patched,
 * unknown fields and numbers of any size included, is never rewritten. Only `add` is used. On a
 * member that exists `add` replaces, so the caller decides what may be overwritten.
 *
 * All memory is the arena's; strings given are borrowed for its life. Not thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json_writer.h"
#include "base/str.h"

struct patch_operation {
    struct str path;  /* a JSON Pointer, escaped */
    struct str value; /* JSON */
};

struct patch {
    struct arena *arena;
    struct str document; /* with all operations applied */
    struct patch_operation *operations;
    uint32_t count, cap;
};

/* `document` is one JSON value that has been read well before. */
void patch_init(struct patch *p, struct str document, struct arena *arena);

/*
 * Puts the JSON text `value` where `path` leads: member names, indexes of elements that exist, and
 * "-" last for a new element at the end. Parents that are missing or null are made, arrays before
 * "-" and objects elsewhere, by the same single operation. 0, -EINVAL when something of the wrong
 * kind is in the way or an element is not there, or -ENOMEM.
 */
int patch_add(struct patch *p, const struct str *path, uint32_t depth, struct str value,
              struct err *err) MUST_CHECK;

/* How things stand; going back forgets what was added since. */
struct patch_mark {
    struct str document;
    uint32_t count;
};
struct patch_mark patch_mark(const struct patch *p);
void patch_rewind(struct patch *p, struct patch_mark mark);

/* [{"op":"add","path":...,"value":...},...], "[]" without operations. */
void patch_write(const struct patch *p, struct json_writer *w);
