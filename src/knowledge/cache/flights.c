/*
 * Pods in flight. A pod is here for one of two reasons: filter has answered with the nodes on which
 * it may land, and the choice is not known yet; or the outcome of a binding is not known, so that
 * the pod may be on its node or not. A flight is counted nowhere; a reader that needs the flights
 * asks for them. The part from filter ends when the pod is reserved or released, or after its time;
 * the whole flight ends when the pod is bound, finished or deleted.
 *
 * A record holds a copy of the pod's meta and two bits per node, in blocks of their own: flights
 * are few and short.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool uid_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *uid = key;
    const struct flight_record *flight = pool_at(&c->flights, id);
    return hash128_equal(flight->uid, *uid);
}

uint32_t flight_find(const struct cache *c, const struct hash128 *uid) {
    return hashmap_find(&c->flight_index, uid->a, uid_equal, c, uid);
}

void flight_free(void *cache, uint32_t id) {
    struct cache *c = cache;
    struct flight_record *flight = pool_at(&c->flights, id);
    hashmap_remove(&c->flight_index, flight->uid.a, id);
    lru_remove(&c->flights_kept, id);
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

/* Ends the record if both of its parts have ended. */
static void flight_settle(struct cache *c, uint32_t id) {
    const struct flight_record *flight = pool_at(&c->flights, id);
    if (flight->expires_ms == 0 && flight->unclear_until_ms == 0)
        flight_free(c, id);
}

static void forget_passed(struct flight_record *flight) {
    for (uint32_t word = 0; word < flight->words; word++)
        flight->nodes[word].passed = 0;
    flight->expires_ms = 0;
}

static void forget_unclear(struct flight_record *flight) {
    for (uint32_t word = 0; word < flight->words; word++)
        flight->nodes[word].unclear = 0;
    flight->unclear_until_ms = 0;
    flight->entry.pinned = false;
}

void flight_release(struct cache *c, const struct hash128 *uid) {
    uint32_t id = flight_find(c, uid);
    if (id == POOL_NONE)
        return;
    forget_passed(pool_at(&c->flights, id));
    flight_settle(c, id);
}

void flights_expire(struct cache *c, int64_t now_ms, int64_t seen_ms) {
    for (POOL_EACH(&c->flights, id)) {
        struct flight_record *flight = pool_at(&c->flights, id);
        if (flight->expires_ms <= now_ms)
            forget_passed(flight);
        if (flight->unclear_until_ms <= seen_ms)
            forget_unclear(flight);
        flight_settle(c, id);
    }
}

/* Clears the slot's bits, before another node gets it. */
void flights_forget_node(void *cache, uint32_t slot) {
    struct cache *c = cache;
    for (POOL_EACH(&c->flights, id)) {
        struct flight_record *flight = pool_at(&c->flights, id);
        if (slot / 64 < flight->words) {
            flight->nodes[slot / 64].passed &= ~(UINT64_C(1) << slot % 64);
            flight->nodes[slot / 64].unclear &= ~(UINT64_C(1) << slot % 64);
        }
    }
}

/* ---- making ---- */

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

static int fill(const struct cache *c, struct flight_record *flight, const struct hash128 *uid,
                const struct object_meta *pod) {
    flight->uid = *uid;
    flight->words = topology_slots(c->nodes) / 64 + 1;
    flight->nodes = calloc(flight->words, sizeof *flight->nodes);
    arena_init(&flight->arena, LIMIT_FLIGHT_BYTES);
    return flight->nodes == NULL ? -ENOMEM : copy_meta(flight, pod);
}

/* Makes a record of the filled flight. Flights that come only from filter make room for it; those
 * with unclear bindings stay. POOL_NONE: no room, or no memory. */
static uint32_t keep(struct cache *c, const struct flight_record *flight) {
    uint64_t owner = hash_str(flight->meta.namespace);
    const struct cost cost = {.bytes = sizeof *flight + flight->words * sizeof *flight->nodes +
                                       flight->arena.total};
    if (hashmap_reserve(&c->flight_index) != 0 || !lru_make_room(&c->flights_kept, owner, &cost))
        return POOL_NONE;
    uint32_t id = pool_take(&c->flights);
    if (id == POOL_NONE)
        return POOL_NONE;
    if (lru_add(&c->flights_kept, id, owner, &cost, 0) != 0) {
        pool_give(&c->flights, id);
        return POOL_NONE;
    }
    struct flight_record *record = pool_at(&c->flights, id);
    const struct lru_entry entry = record->entry;
    *record = *flight;
    record->entry = entry;
    hashmap_insert(&c->flight_index, flight->uid.a, id);
    return id;
}

/* Makes an empty flight in the index, with room for every node; POOL_NONE: no memory. */
static uint32_t flight_new(struct cache *c, const struct hash128 *uid,
                           const struct object_meta *pod) {
    struct flight_record flight = {0};
    uint32_t id = fill(c, &flight, uid, pod) == 0 ? keep(c, &flight) : POOL_NONE;
    if (id == POOL_NONE) {
        arena_done(&flight.arena);
        free(flight.nodes);
    }
    return id;
}

static void mark_nodes(const struct cache *c, struct flight_record *flight, const struct str *names,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = topology_slot(c->nodes, names[i]);
        if (slot != POOL_NONE)
            flight->nodes[slot / 64].passed |= UINT64_C(1) << slot % 64;
    }
}

/* Takes over the unclear bindings of an older record of the same pod, which ends. */
static void inherit(struct cache *c, struct flight_record *flight, uint32_t from) {
    const struct flight_record *old = pool_at(&c->flights, from);
    for (uint32_t word = 0; word < old->words; word++)
        flight->nodes[word].unclear = old->nodes[word].unclear;
    flight->unclear_until_ms = old->unclear_until_ms;
    flight->entry.pinned = old->entry.pinned;
    flight_free(c, from);
}

int cache_expect(struct cache *c, const struct pod *pod, const struct str *names, uint32_t count,
                 uint64_t doubts) {
    struct hash128 uid = pod_identity(&pod->meta);
    flight_release(c, &uid);
    if (reservation_release(c, &uid) == PLACED_BOUND)
        return 0; /* it will land on no other node */
    uint32_t old = flight_find(c, &uid);
    uint32_t id = flight_new(c, &uid, &pod->meta);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct flight_record *flight = pool_at(&c->flights, id);
    if (old != POOL_NONE)
        inherit(c, flight, old);
    flight->expires_ms = c->options.clock->now_ms(c->options.clock) + c->options.reservation_ttl_ms;
    atomic_store_explicit(&flight->entry.used, (uint64_t)flight->expires_ms, memory_order_relaxed);
    flight->doubted = doubts != atomic_load(&c->doubts);
    mark_nodes(c, flight, names, count);
    return 0;
}

int flight_unclear(struct cache *c, const struct hash128 *uid, const struct object_meta *pod,
                   uint32_t slot) {
    uint32_t id = flight_find(c, uid);
    if (id == POOL_NONE)
        id = flight_new(c, uid, pod);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct flight_record *flight = pool_at(&c->flights, id);
    if (slot / 64 >= flight->words) {
        uint32_t words = slot / 64 + 1;
        struct flight_nodes *grown = realloc(flight->nodes, words * sizeof *grown);
        if (grown == NULL)
            return -ENOMEM;
        memset(grown + flight->words, 0, (words - flight->words) * sizeof *grown);
        lru_grow(&c->flights_kept, id, (words - flight->words) * sizeof *grown);
        flight->nodes = grown;
        flight->words = words;
    }
    flight->nodes[slot / 64].unclear |= UINT64_C(1) << slot % 64;
    flight->entry.pinned = true;
    flight->unclear_until_ms =
        c->options.clock->now_ms(c->options.clock) + c->options.reservation_ttl_ms;
    return 0;
}

bool flight_passed(const struct flight_record *flight, uint32_t slot) {
    return slot / 64 < flight->words && (flight->nodes[slot / 64].passed >> slot % 64 & 1) != 0;
}

uint64_t cache_doubts(const struct cache *c) {
    return atomic_load(&c->doubts);
}

void cache_doubt_expected(struct cache *c, struct str namespace) {
    (void)atomic_fetch_add(&c->doubts, 1);
    for (POOL_EACH(&c->flights, id)) {
        struct flight_record *flight = pool_at(&c->flights, id);
        flight->doubted = flight->doubted || str_eq(flight->meta.namespace, namespace);
    }
}

/* ---- reading ---- */

int cache_flights(const struct cache_view *v, const struct flight_question *question,
                  cache_flight_fn *visit, void *ctx) {
    const struct cache *c = v->cache;
    if (c->flights.count == 0)
        return 0;
    struct hash128 but = pod_identity(question->but);
    uint64_t steps = selector_cost(question->selector).steps;
    for (POOL_EACH(&c->flights, id)) {
        const struct flight_record *flight = pool_at(&c->flights, id);
        if (view_take(v, 1) != 0)
            return -E2BIG;
        if (hash128_equal(flight->uid, but) || !str_eq(flight->meta.namespace, question->namespace))
            continue;
        if (view_take(v, steps) != 0)
            return -E2BIG;
        int r = selector_matches(question->selector, labels_lookup, &flight->meta.labels)
                    ? visit(ctx, flight->nodes, flight->words)
                    : 0;
        if (r != 0)
            return r;
    }
    return 0;
}
