#include "whatif/cluster_objects.h"

#include "base/limits.h"
#include "base/log.h"
#include "config/servers.h"
#include "kube/client/list.h"
#include "state/files.h"

#include <errno.h>
#include <stdlib.h>

/* The listed kinds. */
static const enum kind_row rows[] = {KIND_POD, KIND_TOPOLOGY_POLICY, KIND_CLAIM, KIND_VOLUME};

/* The listing under way. */
struct listing {
    const struct watched_kind *kind;
    struct cluster_objects *objects;
};

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the cluster's objects");
}

static int keep_page(void *ctx, struct strbuf *page, struct err *err) {
    const struct listing *l = ctx;
    struct cluster_objects *objects = l->objects;
    if (objects->count == objects->cap) {
        uint32_t cap = objects->cap == 0 ? 16 : 2 * objects->cap;
        struct strbuf *grown = reallocarray(objects->pages, cap, sizeof *grown);
        if (grown == NULL)
            return out_of_memory(err);
        objects->pages = grown;
        objects->cap = cap;
    }
    objects->pages[objects->count++] = *page;
    *page = (struct strbuf){0};
    return 0;
}

/* Lists a kind. Finds no objects if the kind does not exist or this user may not list it. */
static int list_kind(struct kube_client *client, struct listing *l, struct err *err) {
    char path[KIND_PATH_SIZE];
    int status = 0;
    kind_path(l->kind, path);
    int r = kube_list(client, &(struct kube_listing){.path = path}, keep_page, l, &status, err);
    if (r != 0 || status == 200)
        return r;
    if (!l->kind->optional)
        return err_set(err, -EIO, "the API server answers %d to a listing of %s", status,
                       kind_name(l->kind));
    if (status != 404)
        LOG_W("objects are not shown", LOG_CSTR("kind", kind_name(l->kind)),
              LOG_INT("status", status));
    return 0;
}

static int list_all(struct kube_client *client, struct cluster_objects *objects, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof rows / sizeof rows[0]; i++) {
        struct listing l = {.kind = &watched_kinds[rows[i]], .objects = objects};
        r = list_kind(client, &l, err);
    }
    return r;
}

static int read_server(const struct configuration *c, struct cluster_objects *ret,
                       struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct kube_access access = {0};
    struct kube_client *client = NULL;
    arena_init(&arena, 4u * LIMIT_CONFIG_BYTES);
    int r = server_access(c, SERVER_CLUSTER, &arena, &access, err);
    if (r == 0)
        r = kube_client_new(&access, NULL, &client, err);
    if (r == 0)
        r = list_all(client, ret, err);
    kube_client_free(client);
    return r;
}

int cluster_objects_read(const struct configuration *c, struct cluster_objects *ret,
                         struct err *err) {
    *ret = (struct cluster_objects){.count = 0};
    if (c->state.path_count == 0)
        return read_server(c, ret, err);
    int r = manifests_list(c->state.paths, c->state.path_count, "state", &ret->files, err);
    return r == 0 ? manifests_read(&ret->files, LIMIT_STATE_BYTES, err) : r;
}

int cluster_objects_walk(const struct cluster_objects *objects, object_read_fn *read, void *ctx,
                         struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    int r = state_files_walk(&objects->files, read, ctx, err);
    for (uint32_t i = 0; r == 0 && i < objects->count; i++) {
        r = objects_walk(strbuf_str(&objects->pages[i]), &arena, read, ctx, err);
        arena_reset(&arena);
    }
    return r;
}

void cluster_objects_done(struct cluster_objects *objects) {
    manifests_done(&objects->files);
    for (uint32_t i = 0; i < objects->count; i++)
        strbuf_done(&objects->pages[i]);
    free(objects->pages);
}
