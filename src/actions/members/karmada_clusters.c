#include "members/karmada_clusters.h"

#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>

static int open_clusters(void **ret, struct err *err) {
    struct clusters *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    pool_init(&c->records, sizeof(struct known_cluster));
    *ret = c;
    return 0;
}

static void close_clusters(void *contents) {
    struct clusters *c = contents;
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        arena_done(&c->items[i]->arena);
    pool_done(&c->records);
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
        return; /* the caller reports a failed arena */
    member_cluster_decode(r, c);
    ret->meta = c->meta;
}

static bool copy_cluster(struct clusters *c, const struct member_cluster *from,
                         struct known_cluster *ret) {
    *ret = (struct known_cluster){.serial = ++c->serial};
    arena_init(&ret->arena, KARMADA_CLUSTER_ARENA);
    const bool copied = member_cluster_copy(from, &ret->arena, &ret->cluster);
    if (!copied)
        arena_done(&ret->arena);
    return copied;
}

/* Adds a record at its place; NULL without memory. */
static struct known_cluster *add_cluster(struct clusters *c, uint32_t at) {
    const uint32_t id = pool_take(&c->records);
    if (id == POOL_NONE)
        return NULL;
    struct known_cluster *k = pool_at(&c->records, id);
    k->id = id;
    if (sorted_insert(&c->items, &c->count, &c->cap, sizeof k, at, &k))
        return k;
    pool_give(&c->records, id);
    return NULL;
}

static int apply_cluster(void *contents, const struct informer_object *object, struct err *err) {
    struct clusters *c = contents;
    const struct member_cluster *cluster = object->decoded;
    struct known_cluster copy;
    bool found;
    const uint32_t at = karmada_clusters_find(c, cluster->meta.name, &found);
    if (found)
        pool_show(&c->records, c->items[at]->id);
    if (found && member_cluster_same(&c->items[at]->cluster, cluster))
        return 0;
    const bool copied = copy_cluster(c, cluster, &copy);
    struct known_cluster *k = !copied ? NULL : found ? c->items[at] : add_cluster(c, at);
    if (k == NULL) {
        if (copied)
            arena_done(&copy.arena);
        return err_set(err, -ENOMEM, "no memory for cluster '%.*s'", STR_ARG(cluster->meta.name));
    }
    arena_done(&k->arena);
    copy.id = k->id;
    *k = copy;
    pool_show(&c->records, k->id);
    return 0;
}

static void forget_at(struct clusters *c, uint32_t at) {
    struct known_cluster *k = c->items[at];
    arena_done(&k->arena);
    sorted_remove(c->items, &c->count, sizeof k, at);
    pool_give(&c->records, k->id);
}

static int remove_cluster(void *contents, const struct informer_object *gone, struct err *err) {
    bool found;
    const uint32_t at = karmada_clusters_find(contents, gone->meta.name, &found);
    (void)err;
    if (found)
        forget_at(contents, at);
    return 0;
}

static struct pool *records(void *contents, uint32_t kind) {
    struct clusters *c = contents;
    (void)kind; /* there is only one */
    return &c->records;
}

/* Forgets the Cluster, but leaves its record in the list until the listing has ended: a listing may
 * drop all Clusters, and each removal from the list moves those behind it. */
static void drop(void *contents, uint32_t kind, uint32_t id) {
    struct clusters *c = contents;
    struct known_cluster *k = pool_at(&c->records, id);
    (void)kind;
    arena_done(&k->arena);
    k->is_gone = true;
    pool_hide(&c->records, id);
}

static void listed(void *contents, uint32_t kind, enum informer_listing how) {
    struct clusters *c = contents;
    uint32_t kept = 0;
    (void)kind;
    for (uint32_t i = 0; how != LISTING_BEGINS && i < c->count; i++) {
        struct known_cluster *k = c->items[i];
        if (k->is_gone)
            pool_give(&c->records, k->id);
        else
            c->items[kept++] = k;
    }
    if (how != LISTING_BEGINS)
        c->count = kept;
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
                                                .records = records,
                                                .drop = drop,
                                                .listed = listed,
                                                /* 404 does not mean that Karmada has no clusters */
                                                .required = true};
