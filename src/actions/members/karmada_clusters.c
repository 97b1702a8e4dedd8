#include "members/karmada_clusters.h"

#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>

static int open_clusters(void **ret, struct err *err) {
    *ret = calloc(1, sizeof(struct clusters));
    return *ret != NULL ? 0 : err_set(err, -ENOMEM, "no memory for Karmada's clusters");
}

static void free_cluster(struct known_cluster *c) {
    arena_done(&c->arena);
    free(c);
}

static void close_clusters(void *contents) {
    struct clusters *c = contents;
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        free_cluster(c->items[i]);
    free(c->items);
    free(c);
}

static struct str cluster_name(const void *items, size_t i) {
    return ((struct known_cluster *const *)items)[i]->cluster.meta.name;
}

uint32_t karmada_clusters_find(const struct clusters *c, struct str name, bool *ret_found) {
    return (uint32_t)sorted_place(c->items, c->count, cluster_name, name, ret_found);
}

static void decode_cluster(struct json_reader *r, struct informer_object *ret) {
    struct member_cluster *c = ret->decoded = arena_alloc(r->arena, sizeof *c);
    if (c == NULL)
        return; /* a failed arena is reported by the caller */
    member_cluster_decode(r, c);
    ret->meta = c->meta;
}

static struct known_cluster *copy_cluster(struct clusters *c, const struct member_cluster *from) {
    struct known_cluster *k = calloc(1, sizeof *k);
    if (k == NULL)
        return NULL;
    arena_init(&k->arena, KARMADA_CLUSTER_ARENA);
    if (!member_cluster_copy(from, &k->arena, &k->cluster)) {
        free_cluster(k);
        return NULL;
    }
    k->serial = ++c->serial;
    k->shown = k->is_new = true;
    return k;
}

static int apply_cluster(void *contents, const struct informer_object *object, struct err *err) {
    struct clusters *c = contents;
    const struct member_cluster *cluster = object->decoded;
    bool found;
    const uint32_t at = karmada_clusters_find(c, cluster->meta.name, &found);
    if (found)
        c->items[at]->shown = true;
    if (found && member_cluster_same(&c->items[at]->cluster, cluster))
        return 0;
    struct known_cluster *copy = copy_cluster(c, cluster);
    if (copy != NULL && found) {
        copy->is_new = c->items[at]->is_new;
        free_cluster(c->items[at]);
        c->items[at] = copy;
    } else if (copy != NULL && !sorted_insert(&c->items, &c->count, &c->cap,
                                              sizeof(struct known_cluster *), at, &copy)) {
        free_cluster(copy);
        copy = NULL;
    }
    if (copy == NULL)
        return err_set(err, -ENOMEM, "no memory for cluster '%.*s'", STR_ARG(cluster->meta.name));
    return 0;
}

static int remove_cluster(void *contents, const struct informer_object *gone, struct err *err) {
    struct clusters *c = contents;
    bool found;
    const uint32_t at = karmada_clusters_find(c, gone->meta.name, &found);
    (void)err;
    if (!found)
        return 0;
    free_cluster(c->items[at]);
    sorted_remove(c->items, &c->count, sizeof(struct known_cluster *), at);
    return 0;
}

static void sync_begin(void *contents, uint32_t kind) {
    struct clusters *c = contents;
    (void)kind;
    for (uint32_t i = 0; i < c->count; i++)
        c->items[i]->shown = false;
}

/* Those that the listing has shown; or those that were there before it. */
static void keep(struct clusters *c, bool of_listing) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct known_cluster *k = c->items[i];
        if (of_listing ? k->shown : !k->is_new)
            c->items[kept++] = k;
        else
            free_cluster(k);
    }
    c->count = kept;
}

static void sync_end(void *contents, uint32_t kind) {
    struct clusters *c = contents;
    (void)kind;
    keep(c, true);
    for (uint32_t i = 0; i < c->count; i++)
        c->items[i]->is_new = false;
}

static void sync_abort(void *contents, uint32_t kind) {
    (void)kind;
    keep(contents, false);
}

static const struct informer_kind kinds[] = {
    {.row = KIND_MEMBER_CLUSTER,
     .decode = decode_cluster,
     .apply = apply_cluster,
     .remove = remove_cluster},
};
const struct informer_store karmada_clusters = {.what = "Karmada's clusters",
                                                .kinds = kinds,
                                                .kind_count = 1,
                                                .open = open_clusters,
                                                .close = close_clusters,
                                                .sync_begin = sync_begin,
                                                .sync_end = sync_end,
                                                .sync_abort = sync_abort,
                                                /* 404 does not mean that there are no clusters */
                                                .required = true};
