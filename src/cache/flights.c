/*
 * Pods in flight: a filter answer has named the nodes they may land on, and nobody has said yet
 * which one it is. A flight is counted nowhere; readers ask for flights where they must not be
 * forgotten. It ends when the pod is reserved, bound, finished, deleted or released, or with its
 * time.
 *
 * A record holds a copy of the pod's meta and one bit per node, in blocks of their own: flights are
 * few and short.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool uid_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *uid = key;
    const struct flight_record *flight = pool_at(&c->flights, id);
    return flight->uid.a == uid->a && flight->uid.b == uid->b;
}

static uint32_t flight_find(const struct cache *c, const struct hash128 *uid) {
    return hashmap_find(&c->flight_index, uid->a, uid_equal, c, uid);
}

void flight_free(struct cache *c, uint32_t id) {
    struct flight_record *flight = pool_at(&c->flights, id);
    hashmap_remove(&c->flight_index, flight->uid.a, id);
    arena_done(&flight->arena);
    free(flight->nodes);
    pool_give(&c->flights, id);
}

void flight_end(struct cache *c, const struct object_meta *pod) {
    if (c->flights.count == 0)
        return;
    struct hash128 uid = pod_identity(pod);
    uint32_t id = flight_find(c, &uid);
    if (id != POOL_NONE)
        flight_free(c, id);
}

void flights_expire(struct cache *c, int64_t now_ms) {
    for (POOL_EACH(&c->flights, id))
        if (((const struct flight_record *)pool_at(&c->flights, id))->expires_ms <= now_ms)
            flight_free(c, id);
}

/* A slot that is used again must not look as if flights could land there. */
void flights_forget_node(struct cache *c, uint32_t slot) {
    for (POOL_EACH(&c->flights, id)) {
        struct flight_record *flight = pool_at(&c->flights, id);
        if (slot / 64 < flight->words)
            flight->nodes[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    }
}

static int copy_meta(struct flight_record *flight, const struct object_meta *pod) {
    struct arena *a = &flight->arena;
    struct label *labels = arena_array(a, pod->labels.count, sizeof *labels);
    for (uint32_t i = 0; labels != NULL && i < pod->labels.count; i++)
        labels[i] = (struct label){arena_str(a, pod->labels.items[i].key),
                                   arena_str(a, pod->labels.items[i].value)};
    flight->meta = (struct object_meta){.name = arena_str(a, pod->name),
                                        .namespace = arena_str(a, pod->namespace),
                                        .uid = arena_str(a, pod->uid),
                                        .labels = {labels, pod->labels.count}};
    return arena_failed(a) ? -ENOMEM : 0;
}

static void mark_nodes(const struct cache *c, struct flight_record *flight, const struct str *names,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = node_slot(c, names[i]);
        if (slot != POOL_NONE)
            flight->nodes[slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

/* The one that would end first makes room. */
static void make_room(struct cache *c) {
    uint32_t first = POOL_NONE;
    int64_t soonest_ms = INT64_MAX;
    for (POOL_EACH(&c->flights, id)) {
        const struct flight_record *flight = pool_at(&c->flights, id);
        if (flight->expires_ms < soonest_ms) {
            soonest_ms = flight->expires_ms;
            first = id;
        }
    }
    if (first != POOL_NONE)
        flight_free(c, first);
}

int cache_expect(struct cache *c, const struct pod *pod, const struct str *names, uint32_t count) {
    struct hash128 uid = pod_identity(&pod->meta);
    flight_end(c, &pod->meta);
    if (c->flights.count >= LIMIT_FLIGHTS)
        make_room(c);
    if (hashmap_reserve(&c->flight_index) != 0)
        return -ENOMEM;
    uint32_t id = pool_take(&c->flights);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct flight_record *flight = pool_at(&c->flights, id);
    flight->uid = uid;
    flight->expires_ms = c->options.clock->now_ms(c->options.clock) + c->options.reservation_ttl_ms;
    flight->words = c->nodes.end / 64 + 1;
    flight->nodes = calloc(flight->words, sizeof *flight->nodes);
    arena_init(&flight->arena, LIMIT_FLIGHT_BYTES);
    hashmap_insert(&c->flight_index, uid.a, id);
    if (flight->nodes == NULL || copy_meta(flight, &pod->meta) != 0) {
        flight_free(c, id);
        return -ENOMEM;
    }
    mark_nodes(c, flight, names, count);
    return 0;
}

int cache_reserve_expected(struct cache *c, const struct object_meta *pod, struct str node_name) {
    struct hash128 uid = pod_identity(pod);
    uint32_t id = flight_find(c, &uid);
    if (id == POOL_NONE)
        return -ENOENT;
    const struct flight_record *flight = pool_at(&c->flights, id);
    if (flight->doubted)
        return -ESTALE;
    const struct pod whole = {.meta = flight->meta};
    return cache_reserve(c, &whole, node_name); /* ends the flight */
}

void cache_doubt_expected(struct cache *c, struct str namespace) {
    for (POOL_EACH(&c->flights, id)) {
        struct flight_record *flight = pool_at(&c->flights, id);
        flight->doubted = flight->doubted || str_eq(flight->meta.namespace, namespace);
    }
}

/* ---- reading ---- */

void cache_flights(const struct cache_view *v, const struct flight_question *question,
                   cache_flight_fn *visit, void *ctx) {
    const struct cache *c = v->cache;
    if (c->flights.count == 0)
        return;
    struct hash128 but = pod_identity(question->but);
    for (POOL_EACH(&c->flights, id)) {
        const struct flight_record *flight = pool_at(&c->flights, id);
        if ((flight->uid.a != but.a || flight->uid.b != but.b) &&
            str_eq(flight->meta.namespace, question->namespace) &&
            selector_matches(question->selector, labels_lookup, &flight->meta.labels))
            visit(ctx, flight->nodes, flight->words);
    }
}
