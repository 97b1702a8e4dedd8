/*
 * Reads state files for its target and followers: the output of `kubectl get
 * nodes,pods,namespaces -A -o json` (or -o yaml), in files or folders. Reads them again when they
 * change.
 *
 * All or nothing: a bad file makes the whole load fail with the reason, and the target and all
 * followers keep their old objects. A follower collects its new objects beside its old objects, and
 * at the end replaces the old objects. The target (at most one) is changed in place: if the target
 * serves already, the files are read once to check them and once more to apply them. Memory: the
 * files' bytes during a load, nothing after.
 *
 * Threads: one thread calls load and changed.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/object.h"

#include <stdbool.h>
#include <stdint.h>

struct file_source;

enum file_pass {
    FILE_CHECK, /* check everything, change nothing */
    FILE_APPLY,
    FILE_UNDO, /* take the applied objects back, one by one */
};

/*
 * A store that is too large to have two copies in memory. It reads the objects from the files' own
 * text, so an error names the place in the file. Calls come like a full listing of an API server:
 * begin, every object, end; no end if a load fails. No member may be NULL.
 */
struct file_target {
    void *ctx;
    bool (*serves)(void *ctx); /* has a listing ended? */
    void (*begin)(void *ctx);
    /* Reads or skips the object, which comes next in `r`. Errors of the text stay in `r`. Returns 0
     * or -errno. */
    int (*read)(void *ctx, enum file_pass pass, enum object_kind kind, struct json_reader *r,
                struct err *err);
    void (*pass_done)(void *ctx); /* after each pass over the files, also a failed one */
    void (*end)(void *ctx);
};

/* `paths` are files or folders (with *.json, *.yaml and *.yml, read in name order); copied.
 * `target` is borrowed for the life of the source; NULL: only followers. */
int file_source_new(const char *const *paths, size_t count, const struct file_target *target,
                    struct file_source **ret, struct err *err) MUST_CHECK;
void file_source_free(struct file_source *s);

/* An object as written in a file. */
struct file_object {
    struct object_type type;          /* from the object, or from its list; the kind may be
                                         unknown */
    struct str json;                  /* the whole object; valid during the call */
    struct arena *arena;              /* usable during the call */
    const struct json_reader *behind; /* a reader at the object's end, for file_object_reader() */
};
/* Returns a reader at the object's begin. Errors of a decoder that uses this reader name the place
 * in the file (object_check()). */
static inline struct json_reader file_object_reader(const struct file_object *object) {
    struct json_reader r = *object->behind; /* all but r.p is as at the object's begin */
    r.p = object->json.p;
    return r;
}

/*
 * Takes objects from the files, which are read once for all followers. A load calls begin, then
 * take for every object. If all files are good, it calls end, which replaces the old objects by the
 * new ones. Otherwise it calls give_up, perhaps without begin, and the old objects stay. An error
 * of `begin`, `take` or `end` makes the load fail. No member may be NULL.
 */
struct file_follower {
    void *ctx;
    int (*begin)(void *ctx, struct err *err);
    int (*take)(void *ctx, const struct file_object *object, struct err *err);
    int (*end)(void *ctx, struct err *err);
    void (*give_up)(void *ctx);
    struct file_follower *next; /* for the source only */
};
/* Adds a follower, which is borrowed for the life of the source. Call before the first load.
 * Followers are called in the order in which they were added. */
void file_source_follow(struct file_source *s, struct file_follower *follower);

struct file_source_result {
    uint32_t files, objects; /* objects of kinds that the cache knows */
    int64_t duration_ms;
};
/*
 * Reads everything now. Returns 0, or -errno with the file and the place in it; then the target is
 * as before, and serves only if it did before. One exception: if memory runs out while good files
 * are applied to a target that serves (-ENOMEM, "applied in part: ..."), objects up to there are as
 * in the files, all others are as before, and none is removed. This mix answers questions until the
 * next load; file_source_changed() returns true at once.
 */
int file_source_load(struct file_source *s, struct file_source_result *ret,
                     struct err *err) MUST_CHECK;
/* Has any file been changed, added or removed since the last load (also a failed one), or was that
 * load applied only in part? */
bool file_source_changed(struct file_source *s);
