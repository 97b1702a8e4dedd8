#include "data/watch.h"

#include "informer/informer.h"

#include <errno.h>
#include <stdlib.h>

struct fluid_watch {
    struct fluid_live *objects;
    struct informer_kind kinds[FLUID_KINDS]; /* rows of the table of Fluid's kinds */
    struct informer_store store;
    struct informer *informer;
};

/* ---- the store ---- */

/* Returns the kind that must have an object before this kind is watched. */
static enum fluid_kind worth_after(enum fluid_kind kind) {
    return kind == FLUID_STATEFUL_SET ? FLUID_EFC : FLUID_DATASET;
}

/* Starts the watches that are needed once there is an object of this kind. */
static int start_after(const struct fluid_watch *w, enum fluid_kind kind, struct err *err) {
    int r = 0;
    if (kind != FLUID_DATASET && kind != FLUID_EFC)
        return 0;
    for (enum fluid_kind k = 0; r == 0 && k < FLUID_KINDS; k++)
        if (worth_after(k) == kind)
            r = informer_watch_kind(w->informer, k, err);
    return r;
}

static void lock(void *contents) {
    const struct fluid_watch *w = contents;
    fluid_live_lock(w->objects);
}

static void unlock(void *contents) {
    const struct fluid_watch *w = contents;
    fluid_live_unlock(w->objects);
}

static struct pool *records(void *contents, uint32_t kind) {
    const struct fluid_watch *w = contents;
    return fluid_live_records(w->objects, kind);
}

static void drop(void *contents, uint32_t kind, uint32_t id) {
    const struct fluid_watch *w = contents;
    fluid_live_drop(w->objects, kind, id);
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    const struct fluid_watch *w = contents;
    int r = fluid_live_apply(w->objects, object->kind, object->json, err);
    return r == 0 ? start_after(w, object->kind, err) : r;
}

static int remove_object(void *contents, const struct informer_object *gone, struct err *err) {
    const struct fluid_watch *w = contents;
    const struct fluid_key key = {gone->kind, arena_cstr(gone->arena, gone->meta.namespace),
                                  arena_cstr(gone->arena, gone->meta.name)};
    if (arena_failed(gone->arena))
        return err_set(err, -ENOMEM, "no memory to forget a %s", fluid_kind_name(gone->kind));
    fluid_live_remove(w->objects, key);
    return 0;
}

/* ---- life ---- */

static struct informer_store store_of(struct fluid_watch *w) {
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        w->kinds[k] =
            (struct informer_kind){.row = (enum kind_row)(fluid_kind_row(k) - watched_kinds),
                                   .apply = apply,
                                   .remove = remove_object};
    return (struct informer_store){.what = "Fluid's objects",
                                   .kinds = w->kinds,
                                   .kind_count = FLUID_KINDS,
                                   .object_bytes = LIMIT_FLUID_OBJECT,
                                   .records = records,
                                   .drop = drop,
                                   .lock = lock,
                                   .unlock = unlock,
                                   .locks = true};
}

int fluid_watch_start(const struct fluid_watch_options *options, struct fluid_watch **ret,
                      struct err *err) {
    struct fluid_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to watch Fluid's objects");
    struct informer_watch watch = {
        .client = options->client, .clock = options->clock, .seed = options->seed};
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        if (options->eager ? worth_after(k) != FLUID_DATASET : k != FLUID_DATASET)
            watch.without |= UINT64_C(1) << k;
    w->objects = options->objects;
    w->store = store_of(w);
    int r = informer_new(&w->store, w, &w->informer, err);
    if (r == 0)
        r = informer_watch(w->informer, &watch, err);
    if (r == 0)
        *ret = w;
    else
        fluid_watch_free(w);
    return r;
}

void fluid_watch_free(struct fluid_watch *w) {
    if (w == NULL)
        return;
    informer_free(w->informer);
    free(w);
}

bool fluid_watch_listed(struct fluid_watch *w) {
    return informer_listed(w->informer);
}

bool fluid_watch_synced(struct fluid_watch *w) {
    return informer_synced(w->informer);
}
