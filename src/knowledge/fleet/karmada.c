#include "fleet/karmada.h"

#include "base/limits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A copy of a cluster. */
struct kept_cluster {
    struct karmada_cluster *cluster; /* owned; NULL: none */
    size_t bytes;
};

struct karmada_contents {
    uint64_t serial; /* no other contents have this number */
    struct intern strings;
    struct topology *clusters;
    struct kept_cluster *members; /* [topology_cap()]; owned */
    uint64_t member_bytes;        /* bytes of all members */
};

static void free_member(struct karmada_contents *c, uint32_t slot) {
    c->member_bytes -= c->members[slot].bytes;
    free(c->members[slot].cluster);
    c->members[slot] = (struct kept_cluster){NULL, 0};
}

/* ---- life ---- */

static int grow(void *owner, uint32_t cap) {
    struct karmada_contents *c = owner;
    const uint32_t from = topology_cap(c->clusters);
    struct kept_cluster *members = realloc(c->members, cap * sizeof *members);
    if (members == NULL)
        return -ENOMEM;
    memset(members + from, 0, (cap - from) * sizeof *members);
    c->members = members;
    return 0;
}

static void freed(void *owner, uint32_t slot) {
    free_member(owner, slot);
}

static int open_contents(void **ret, struct err *err) {
    static _Atomic uint64_t serial;
    struct karmada_contents *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    c->serial = atomic_fetch_add(&serial, 1) + 1;
    const struct topology_options options = {
        .strings = &c->strings, .owner = c, .grow = grow, .freed = freed};
    int r = topology_new(&options, &c->clusters, err);
    if (r == 0)
        *ret = c;
    else
        free(c);
    return r;
}

static void close_contents(void *contents) {
    struct karmada_contents *c = contents;
    if (c == NULL)
        return;
    for (uint32_t slot = 0; slot < topology_cap(c->clusters); slot++)
        free_member(c, slot);
    free(c->members);
    topology_free(c->clusters);
    intern_done(&c->strings);
    free(c);
}

/* ---- clusters ---- */

static void decode(struct json_reader *r, struct informer_object *ret) {
    struct karmada_cluster *cluster = ret->decoded = arena_alloc(r->arena, sizeof *cluster);
    if (cluster == NULL)
        return; /* the caller reports a failed arena */
    karmada_cluster_decode(r, cluster);
    ret->meta = cluster->meta;
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    struct karmada_contents *c = contents;
    const struct karmada_cluster *cluster = object->decoded;
    const struct candidate candidate = {cluster->meta.name, cluster->properties, cluster->taints,
                                        cluster->taint_count};
    struct kept_cluster kept = {.cluster = NULL};
    kept.cluster = karmada_cluster_copy(cluster, &kept.bytes);
    if (kept.cluster == NULL || topology_apply(c->clusters, &candidate) != 0) {
        free(kept.cluster);
        return err_set(err, -ENOMEM, "no memory for cluster '%.*s'", STR_ARG(candidate.name));
    }
    const uint32_t slot = topology_slot(c->clusters, candidate.name);
    free_member(c, slot);
    c->members[slot] = kept;
    c->member_bytes += kept.bytes;
    return 0;
}

static int forget(void *contents, const struct informer_object *gone, struct err *err) {
    const struct karmada_contents *c = contents;
    (void)err;
    topology_remove(c->clusters, gone->meta.name);
    return 0;
}

static uint32_t count(const void *contents) {
    const struct karmada_contents *c = contents;
    return topology_stats(c->clusters).candidates;
}

static struct pool *records(void *contents, uint32_t kind) {
    const struct karmada_contents *c = contents;
    (void)kind; /* there is only one kind */
    return topology_records(c->clusters);
}

static void drop(void *contents, uint32_t kind, uint32_t slot) {
    const struct karmada_contents *c = contents;
    (void)kind;
    topology_drop(c->clusters, slot);
}

static uint64_t kept_bytes(const void *contents) {
    const struct karmada_contents *c = contents;
    return topology_kept_bytes(c->clusters) + c->strings.bytes + c->member_bytes +
           topology_slots(c->clusters) * sizeof *c->members;
}

static const struct informer_kind clusters = {KIND_KARMADA_CLUSTER, decode, apply, forget, count};
const struct informer_store karmada_store = {
    .what = "Karmada's clusters",
    .kinds = &clusters,
    .kind_count = 1,
    .open = open_contents,
    .close = close_contents,
    .records = records,
    .drop = drop,
    .kept_bytes = kept_bytes,
    .required = true, /* 404 does not mean that Karmada has no clusters */
    .metric = "evenkeel_candidates",
    .metric_help = "Candidates beside the cluster's nodes, by kind.",
};

/* ---- views ---- */

void karmada_view_open(struct informer *informer, struct karmada_view *ret) {
    *ret = (struct karmada_view){.informer = informer, .contents = informer_read(informer)};
    topology_view_open(ret->contents->clusters, &ret->clusters);
}

/* Keeps the columns that the view built, if the store still has the same contents. */
static void publish(struct karmada_view *v, uint64_t serial) {
    const struct karmada_contents *now = informer_write(v->informer);
    for (uint32_t left = LIMIT_PUBLISHED; now->serial == serial && left > 0; left--)
        if (!topology_publish(&v->clusters))
            break;
    informer_write_done(v->informer);
}

void karmada_view_close(struct karmada_view *v) {
    const uint64_t serial = v->contents->serial;
    informer_read_done(v->informer);
    if (v->clusters.built > 0)
        publish(v, serial);
    topology_view_close(&v->clusters);
    *v = (struct karmada_view){.informer = NULL};
}

const struct karmada_cluster *karmada_member(const struct karmada_view *v, uint32_t slot) {
    return topology_is_known(v->contents->clusters, slot) ? v->contents->members[slot].cluster
                                                          : NULL;
}

int karmada_view_clusters(const struct karmada_view *v, struct arena *arena,
                          const struct karmada_cluster *const **ret, uint32_t *ret_count) {
    const uint32_t slots = topology_slots(v->contents->clusters);
    const struct karmada_cluster **known = arena_array_unset(arena, slots, sizeof *known);
    uint32_t count = 0;
    if (known == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++)
        if (karmada_member(v, slot) != NULL)
            known[count++] = karmada_member(v, slot);
    *ret = known;
    *ret_count = count;
    return 0;
}
