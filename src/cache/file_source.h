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
struct manifests;

/* `paths` are files or folders (whose *.json, *.yaml and *.yml count, in name order); copied. */
int file_source_new(const char *const *paths, size_t count, struct cache *cache,
                    struct file_source **ret, struct err *err) MUST_CHECK;
void file_source_free(struct file_source *s);

/*
 * Somebody else who takes objects out of the same files, which are read once for both: called with
 * the files of every load, when they are known to be good, before they are applied. What it refuses
 * refuses the load. Before the first load.
 */
typedef int file_source_follow_fn(void *ctx, const struct manifests *files, struct err *err);
void file_source_follow(struct file_source *s, file_source_follow_fn *follow, void *ctx);

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
