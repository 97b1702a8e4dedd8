#include "state/files.h"

#include "yaml/manifests.h"

static void arena_cleanup(struct arena *arena) {
    arena_done(arena);
}

int state_files_walk(const struct manifests *files, object_read_fn *read, void *ctx,
                     struct err *err) {
    CLEANUP(arena_cleanup) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    for (size_t i = 0; i < files->count; i++)
        for (size_t d = 0; d < files->items[i].document_count; d++) {
            int r = objects_walk(files->items[i].documents[d], &arena, read, ctx, err);
            arena_reset(&arena);
            if (r != 0)
                return manifests_complain(files, i, d, err);
        }
    return 0;
}
