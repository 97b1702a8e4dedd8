/*
 * Feeds the cache from files: what `kubectl get nodes,pods,namespaces -A -o json` (or -o yaml)
 * prints, one file or folders of them. The files are read again when they change.
 *
 * All or nothing: a bad file refuses the whole reading with the reason, and the cache keeps what it
 * had. So everything is decoded once to see that it is good, then once more to apply it; but for
 * the first reading, before which nobody is served, applying is enough. Memory: the files' bytes
 * while loading, nothing after.
 *
 * Threads: one thread calls load and poll; readers of the cache go on meanwhile.
 */
#pragma once

#include "cache/cache.h"

struct file_source;

/* `paths` are files or folders (whose *.json, *.yaml and *.yml count, in name order); copied. */
int file_source_new(const char *const *paths, size_t count, struct cache *cache,
                    struct file_source **ret, struct err *err) MUST_CHECK;
void file_source_free(struct file_source *s);

/* An object as it stands in a file. */
struct file_object {
    struct object_type type; /* its own, or its list's; without a kind where that is unknown */
    struct str json;         /* the whole object, for the length of the call */
    struct arena *arena;     /* for the length of the call */
};

/*
 * Somebody else who takes objects out of the same files, which are read once for all. A reading
 * begins, brings every object, and is ended when all files are good: what was taken is what there
 * is from then on. Or it is given up, and what was there before stays; that may be before it has
 * begun. What `begin`, `take` and `end` refuse refuses the load. No member may be NULL.
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
    uint32_t files, objects;
    int64_t duration_ms;
};
/*
 * Reads everything now. 0, or -errno with the file and the place in it named; the cache is then as
 * before, and not ready if it was not. One exception: when memory runs out while good files are
 * applied to a cache that serves (-ENOMEM, "applied in part: ..."), objects up to there are as in
 * the files, all others as before, and none is forgotten. Questions are answered from that until
 * the next load, for which file_source_changed() asks at once.
 */
int file_source_load(struct file_source *s, struct file_source_result *ret,
                     struct err *err) MUST_CHECK;
/* Has any file been changed, added or removed since the last load (a failed one included), or was
 * it applied only in part? */
bool file_source_changed(struct file_source *s);
