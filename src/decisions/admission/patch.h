/*
 * Builds a JSON Patch (RFC 6902): the operations, and the document after all operations.
 *
 * The document is text and stays text: an operation splices bytes into it, so all other bytes,
 * unknown fields and numbers of any size included, are never rewritten.
 *
 * All memory is the arena's; the given strings must live as long as the arena. Not thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json_writer.h"
#include "base/str.h"

enum patch_op { PATCH_ADD, PATCH_REPLACE, PATCH_REMOVE };

struct patch_operation {
    struct str path;  /* a JSON Pointer, escaped */
    struct str value; /* JSON; nothing for PATCH_REMOVE */
    enum patch_op op;
};

struct patch {
    struct arena *arena;
    struct str document; /* the document after all operations */
    struct patch_operation *operations;
    uint32_t count, cap;
    size_t bytes; /* bytes of all paths and values */
};

/* `document` is one JSON value that has parsed before. */
void patch_init(struct patch *p, struct str document, struct arena *arena);

/*
 * Changes one place in the document. The path consists of member names and of indexes of elements
 * that exist. For PATCH_ADD its last name may be "-": a new element at the end. PATCH_ADD      puts
 * the value there. It replaces a member that exists, so the caller must decide if that may be
 * overwritten. The same single operation makes parents that are missing or null: arrays before "-",
 * and objects elsewhere. PATCH_REPLACE  replaces the value that is there. PATCH_REMOVE   takes the
 * member or element away.
 */
struct patch_change {
    enum patch_op op;
    const struct str *path;
    uint32_t depth; /* names in the path; at most PATCH_DEPTH_MAX */
    struct str value;
};
enum { PATCH_DEPTH_MAX = 32 };

/*
 * Makes all these changes, or none. Paths are looked up in the document before any change, and the
 * document is written once: so no path may lead into a value that another change makes, replaces or
 * removes, and a container that loses an item must have no other change. Several changes may append
 * to one list.
 *
 * Each change takes steps from the arena's budget, and so do the bytes of the document.
 *
 * Returns 0, -EINVAL (the path meets a value of the wrong kind or another change, or does not
 * exist), -E2BIG (a path too deep, more than LIMIT_PATCH_BYTES in all, or no steps left), or
 * -ENOMEM.
 */
int patch_apply(struct patch *p, const struct patch_change *changes, uint32_t count,
                struct err *err) MUST_CHECK;

/* Makes one change with PATCH_ADD. Returns as patch_apply(). */
int patch_add(struct patch *p, const struct str *path, uint32_t depth, struct str value,
              struct err *err) MUST_CHECK;

/* A saved state of a patch: patch_rewind() discards the operations that were added since. */
struct patch_mark {
    struct str document;
    uint32_t count;
    size_t bytes;
};
struct patch_mark patch_mark(const struct patch *p);
void patch_rewind(struct patch *p, struct patch_mark mark);

/* Writes [{"op":"add","path":...,"value":...},...]; "[]" without operations. */
void patch_write(const struct patch *p, struct json_writer *w);
