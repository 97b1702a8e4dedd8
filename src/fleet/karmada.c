#include "fleet/karmada.h"

#include "base/limits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct karmada_contents {
    uint64_t serial; /* no other contents have it */
    struct intern strings;
    struct topology *clusters;
    struct karmada_member **member_of; /* [topology_cap()]; owned, each one block */
    uint64_t member_bytes;             /* of all of these */
};

/* A member, its resources, its zones, and the text of both: one block. */
struct member_block {
    struct karmada_member member;
    uint64_t bytes; /* of all of it */
    struct karmada_resource resources[];
};

static void free_member(struct karmada_contents *c, uint32_t slot) {
    struct member_block *block = (struct member_block *)(void *)c->member_of[slot];
    if (block != NULL)
        c->member_bytes -= block->bytes;
    free(block);
    c->member_of[slot] = NULL;
}

/* ---- life ---- */

static int grow(void *owner, uint32_t cap) {
    struct karmada_contents *c = owner;
    const uint32_t from = topology_cap(c->clusters);
    struct karmada_member **members = realloc(c->member_of, cap * sizeof *members);
    if (members == NULL)
        return -ENOMEM;
    memset(members + from, 0, (cap - from) * sizeof *members);
    c->member_of = members;
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
    free(c->member_of);
    topology_free(c->clusters);
    intern_done(&c->strings);
    free(c);
}

/* ---- clusters ---- */

static void decode(struct json_reader *r, struct informer_object *ret) {
    struct karmada_cluster *cluster = ret->decoded = arena_alloc(r->arena, sizeof *cluster);
    if (cluster == NULL)
        return; /* a failed arena is reported by the caller */
    karmada_cluster_decode(r, cluster);
    ret->meta = cluster->meta;
}

static struct str put(char **at, struct str s) {
    char *p = *at;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    *at += s.n;
    return (struct str){p, s.n};
}

/* NULL: no memory. */
static struct member_block *make_member(const struct karmada_cluster *from) {
    size_t bytes = sizeof(struct member_block) + from->resource_count * sizeof *from->resources +
                   from->zone_count * sizeof *from->zones;
    for (uint32_t i = 0; i < from->resource_count; i++)
        bytes += from->resources[i].name.n;
    for (uint32_t i = 0; i < from->zone_count; i++)
        bytes += from->zones[i].n;
    struct member_block *block = malloc(bytes);
    if (block == NULL)
        return NULL;
    struct str *zones = (struct str *)(void *)(block->resources + from->resource_count);
    char *at = (char *)(zones + from->zone_count);
    for (uint32_t i = 0; i < from->resource_count; i++) {
        block->resources[i] = from->resources[i];
        block->resources[i].name = put(&at, from->resources[i].name);
    }
    for (uint32_t i = 0; i < from->zone_count; i++)
        zones[i] = put(&at, from->zones[i]);
    block->bytes = bytes;
    block->member =
        (struct karmada_member){zones, from->zone_count, block->resources, from->resource_count};
    return block;
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    struct karmada_contents *c = contents;
    const struct karmada_cluster *cluster = object->decoded;
    const struct candidate candidate = {cluster->meta.name, cluster->properties, cluster->taints,
                                        cluster->taint_count};
    struct member_block *block = make_member(cluster);
    if (block == NULL || topology_apply(c->clusters, &candidate) != 0) {
        free(block);
        return err_set(err, -ENOMEM, "no memory for cluster '%.*s'", STR_ARG(candidate.name));
    }
    const uint32_t slot = topology_slot(c->clusters, candidate.name);
    free_member(c, slot);
    c->member_of[slot] = &block->member;
    c->member_bytes += block->bytes;
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

static void sync_begin(void *contents, uint32_t kind) {
    const struct karmada_contents *c = contents;
    (void)kind; /* the only one */
    topology_sync_begin(c->clusters);
}

static void sync_end(void *contents, uint32_t kind) {
    const struct karmada_contents *c = contents;
    (void)kind;
    while (topology_sync_end(c->clusters))
        continue;
}

static void sync_abort(void *contents, uint32_t kind) {
    const struct karmada_contents *c = contents;
    (void)kind;
    while (topology_sync_abort(c->clusters))
        continue;
}

static uint64_t kept_bytes(const void *contents) {
    const struct karmada_contents *c = contents;
    return topology_kept_bytes(c->clusters) + c->strings.bytes + c->member_bytes +
           topology_slots(c->clusters) * sizeof(void *);
}

static const struct informer_kind clusters = {KIND_KARMADA_CLUSTER, decode, apply, forget, count};
const struct informer_store karmada_store = {
    .what = "Karmada's clusters",
    .kinds = &clusters,
    .kind_count = 1,
    .open = open_contents,
    .close = close_contents,
    .sync_begin = sync_begin,
    .sync_end = sync_end,
    .sync_abort = sync_abort,
    .kept_bytes = kept_bytes,
    .metric = "evenkeel_candidates",
    .metric_help = "Candidates beside the cluster's nodes, by kind.",
};

/* ---- views ---- */

void karmada_view_open(struct informer *informer, struct karmada_view *ret) {
    *ret = (struct karmada_view){.informer = informer, .contents = informer_read(informer)};
    topology_view_open(ret->contents->clusters, &ret->clusters);
}

/* If the contents are still those that the view was of. */
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

const struct karmada_member *karmada_member(const struct karmada_view *v, uint32_t slot) {
    return v->contents->member_of[slot];
}
