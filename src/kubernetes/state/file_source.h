/*
 * State files: what `kubectl get nodes,pods,namespaces -A -o json` (or -o yaml) prints, one file or
 * folders of them, read for whoever wants objects of them. They are read again when they change.
 *
 * All or nothing: a bad file refuses the whole reading with the reason, and everybody keeps what
 * there was. Followers take what they want beside what they have, and put it in its place in the
 * end. The target, of which there is one at most, is changed in place: once it serves, everything
 * is read once to see that it is good, then once more to apply it; before that applying is enough.
 * Memory: the files' bytes while loading, nothing after.
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
    FILE_CHECK, /* is all of it good? Nothing is changed */
    FILE_APPLY,
    FILE_UNDO, /* what was applied is taken back, object by object */
};

/*
 * A store that is too large to be there twice. It reads the objects from the files' own text, so an
 * error names the place. A full listing is begun, brings every object, and ends, as that of an API
 * server does; one that fails is not ended. No member may be NULL.
 */
struct file_target {
    void *ctx;
    bool (*serves)(void *ctx); /* has a listing ended? */
    void (*begin)(void *ctx);
    /* The object comes next in `r`, and is to be read or skipped; errors of the text stay there. 0
     * or -errno. */
    int (*read)(void *ctx, enum file_pass pass, enum object_kind kind, struct json_reader *r,
                struct err *err);
    void (*pass_done)(void *ctx); /* after each pass over the files, whatever came of it */
    void (*end)(void *ctx);
};

/* `paths` are files or folders (whose *.json, *.yaml and *.yml count, in name order); copied.
 * `target` is borrowed for the life of the source; NULL: there are followers only. */
int file_source_new(const char *const *paths, size_t count, const struct file_target *target,
                    struct file_source **ret, struct err *err) MUST_CHECK;
void file_source_free(struct file_source *s);

/* An object as it stands in a file. */
struct file_object {
    struct object_type type; /* its own, or its list's; without a kind where that is unknown */
    struct str json;         /* the whole object, for the length of the call */
    struct arena *arena;     /* for the length of the call */
    const struct json_reader *behind; /* stands behind the object: for file_object_reader() */
};
/* A reader that stands before the object. Who decodes from it names the place in the file in errors
 * (object_check()). */
static inline struct json_reader file_object_reader(const struct file_object *object) {
    struct json_reader r = *object->behind; /* the value is over, so all else is as before it */
    r.p = object->json.p;
    return r;
}

/*
 * Who takes objects out of the files, which are read once for all. A reading begins, brings every
 * object, and is ended when all files are good: what was taken is what there is from then on. Or it
 * is given up, and what was there before stays; that may be before it has begun. What `begin`,
 * `take` and `end` refuse refuses the load. No member may be NULL.
 */
struct file_follower {
    void *ctx;
    int (*begin)(void *ctx, struct err *err);
    int (*take)(void *ctx, const struct file_object *object, struct err *err);
    int (*end)(void *ctx, struct err *err);
    void (*give_up)(void *ctx);
    struct file_follower *next; /* the source's */
};
/* Borrowed for the life of the source. Before the first load. Followers are told in the order in
 * which they came. */
void file_source_follow(struct file_source *s, struct file_follower *follower);

struct file_source_result {
    uint32_t files, objects; /* those of kinds that the cache knows */
    int64_t duration_ms;
};
/*
 * Reads everything now. 0, or -errno with the file and the place in it named; the target is then as
 * before, and does not serve if it did not. One exception: when memory runs out while good files
 * are applied to a target that serves (-ENOMEM, "applied in part: ..."), objects up to there are as
 * in the files, all others as before, and none is forgotten. Questions are answered from that until
 * the next load, for which file_source_changed() asks at once.
 */
int file_source_load(struct file_source *s, struct file_source_result *ret,
                     struct err *err) MUST_CHECK;
/* Has any file been changed, added or removed since the last load (a failed one included), or was
 * it applied only in part? */
bool file_source_changed(struct file_source *s);
