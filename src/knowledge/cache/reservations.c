/*
 * Reservations: pods that count before the watch has shown them bound. The pod record has a flag;
 * the short list here has the certainty and the end of each.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static int make_room(struct cache *c) {
    if (c->reservation_count < c->reservation_cap)
        return 0;
    uint32_t cap = c->reservation_cap == 0 ? 16 : c->reservation_cap * 2;
    struct reservation *grown = realloc(c->reservations, cap * sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    c->reservations = grown;
    c->reservation_cap = cap;
    return 0;
}

static int64_t now_ms(const struct cache *c) {
    return c->options.clock->now_ms(c->options.clock);
}

/* Returns the reservation of a pod's record, which must be reserved. */
static struct reservation *reservation_of(const struct cache *c, uint32_t pod) {
    struct reservation *r = c->reservations;
    while (r->pod != pod)
        r++;
    return r;
}

static enum certainty certainty_of(const struct cache *c, uint32_t pod) {
    if (pod == POOL_NONE)
        return PLACED_NOWHERE;
    bool reserved = ((const struct pod_record *)pool_at(&c->pods, pod))->reserved;
    return reserved ? reservation_of(c, pod)->certainty : PLACED_BOUND;
}

void reservation_end(struct cache *c, uint32_t pod) {
    ((struct pod_record *)pool_at(&c->pods, pod))->reserved = false;
    *reservation_of(c, pod) = c->reservations[--c->reservation_count];
}

enum certainty reservation_release(struct cache *c, const struct hash128 *uid) {
    uint32_t id = pod_find_identity(c, uid);
    enum certainty certainty = certainty_of(c, id);
    if (certainty != PLACED_BY_FILTER)
        return certainty;
    pod_forget(c, id);
    return PLACED_NOWHERE;
}

/* ---- reservations by filter ---- */

/* Reserves the node for the pod, and ends another reservation of the pod's record. */
static int reserve(struct cache *c, const struct pod *pod, struct str node_name,
                   struct reservation how) {
    if (make_room(c) != 0)
        return -ENOMEM;
    struct pod bound = *pod;
    bound.node_name = node_name;
    int r = pod_apply(c, &bound, true, &how.pod);
    if (r != 0)
        return r;
    struct pod_record *record = pool_at(&c->pods, how.pod);
    if (record->reserved)
        reservation_end(c, how.pod);
    record->reserved = true;
    c->reservations[c->reservation_count++] = how;
    assumed_end(c, &pod->meta);
    return 0;
}

static bool node_known(const struct cache *c, uint32_t slot) {
    return slot != POOL_NONE && topology_is_known(c->nodes, slot);
}

int cache_reserve(struct cache *c, const struct pod *pod, struct str node_name) {
    struct hash128 uid = pod_identity(&pod->meta);
    enum certainty certainty = certainty_of(c, pod_find_identity(c, &uid));
    if (!node_known(c, topology_slot(c->nodes, node_name)))
        return -ENOENT;
    if (certainty == PLACED_BOUND || pod->finished) /* finished: such a pod does not exist */
        return 0;
    if (certainty == PLACED_BINDING)
        return -EBUSY;
    int r = reserve(c, pod, node_name,
                    (struct reservation){.certainty = PLACED_BY_FILTER,
                                         .expires_ms = now_ms(c) + c->options.reservation_ttl_ms});
    if (r == 0)
        flight_release(c, &uid);
    return r;
}

void cache_release(struct cache *c, const struct object_meta *pod) {
    struct hash128 uid = pod_identity(pod);
    (void)reservation_release(c, &uid); /* a binding stays */
    assumed_end(c, pod);
    flight_release(c, &uid);
}

/* ---- bindings ---- */

/* Begins to bind a pod whose only node is known from filter; it has no flight. */
static int bind_reserved(struct cache *c, uint32_t id, uint32_t slot) {
    if (((const struct pod_record *)pool_at(&c->pods, id))->node != slot)
        return -ENOENT;
    struct reservation *r = reservation_of(c, id);
    r->certainty = PLACED_BINDING;
    r->expires_ms = INT64_MAX;
    return 0;
}

static int bind_expected(struct cache *c, const struct hash128 *uid, struct str node_name) {
    uint32_t id = flight_find(c, uid), slot = topology_slot(c->nodes, node_name);
    const struct flight_record *flight = id == POOL_NONE ? NULL : pool_at(&c->flights, id);
    if (flight == NULL || flight->expires_ms == 0)
        return -ENOENT;
    if (flight->doubted)
        return -ESTALE;
    if (!node_known(c, slot))
        return -ENXIO;
    if (!flight_passed(flight, slot))
        return -EINVAL;
    int r = reserve(c, &(struct pod){.meta = flight->meta}, node_name,
                    (struct reservation){.certainty = PLACED_BINDING, .expires_ms = INT64_MAX});
    if (r == 0)
        flight_release(c, uid); /* last: `pod` is the flight's own copy */
    return r;
}

int cache_bind_begin(struct cache *c, const struct object_meta *pod, struct str node_name) {
    struct hash128 uid = pod_identity(pod);
    uint32_t id = pod_find_identity(c, &uid), slot = topology_slot(c->nodes, node_name);
    switch (certainty_of(c, id)) {
    case PLACED_BINDING:
        return -EBUSY;
    case PLACED_BOUND:
        return ((const struct pod_record *)pool_at(&c->pods, id))->node == slot ? 0 : -EBUSY;
    case PLACED_BY_FILTER:
        return bind_reserved(c, id, slot);
    case PLACED_NOWHERE:
        break;
    }
    return bind_expected(c, &uid, node_name);
}

/* Puts the pod in flight to its record's node. If its labels are not kept, or without memory, it
 * still counts there. */
static void doubt_place(struct cache *c, const struct hash128 *uid, uint32_t id) {
    uint32_t slot = ((const struct pod_record *)pool_at(&c->pods, id))->node;
    struct object_meta meta;
    struct arena arena;
    arena_init(&arena, LIMIT_FLIGHT_BYTES);
    if (pod_meta(c, id, &arena, &meta) == 0 && flight_unclear(c, uid, &meta, slot) == 0)
        pod_forget(c, id);
    arena_done(&arena);
}

void cache_bind_end(struct cache *c, const struct object_meta *pod, enum cache_bound outcome) {
    struct hash128 uid = pod_identity(pod);
    uint32_t id = pod_find_identity(c, &uid);
    if (certainty_of(c, id) != PLACED_BINDING)
        return; /* the watch was faster: it has shown the pod's node, or its end */
    struct reservation *r = reservation_of(c, id);
    r->certainty = PLACED_BOUND;
    r->expires_ms = now_ms(c) + c->options.reservation_ttl_ms;
    if (outcome == CACHE_BOUND)
        flight_end(c, pod);
    else if (outcome == CACHE_NOT_BOUND)
        pod_forget(c, id);
    else
        doubt_place(c, &uid, id);
}

/* ---- time ---- */

/* Returns the time until which the source of pods has reported changes. */
static int64_t seen_ms(const struct cache *c) {
    int64_t heard_ms = atomic_load_explicit(&c->heard_ms[OBJECT_POD], memory_order_relaxed);
    return heard_ms != 0 && heard_ms < now_ms(c) ? heard_ms : now_ms(c);
}

/* Frees idle entries: their last use was before a tick that is older than LIMIT_CACHED_IDLE_MS.
 * Ticks are noted twice in that time. */
static void forget_idle(struct cache *c, int64_t now) {
    if (c->age.begun && now - c->age.older_ms >= LIMIT_CACHED_IDLE_MS)
        c->age.idle = c->age.older;
    if (!c->age.begun || now - c->age.newer_ms >= LIMIT_CACHED_IDLE_MS / 2) {
        uint64_t tick = topology_tick(c->nodes);
        c->age.older_ms = c->age.begun ? c->age.newer_ms : now;
        c->age.older = c->age.begun ? c->age.newer : 0;
        c->age.newer_ms = now;
        c->age.newer = tick;
        c->age.begun = true;
    }
    lru_forget(&c->counters_kept, c->age.idle);
    topology_forget(c->nodes, c->age.idle);
}

void cache_expire(struct cache *c) {
    int64_t now = now_ms(c), seen = seen_ms(c);
    forget_idle(c, now);
    flights_expire(c, now, seen);
    cache_write_pause(c);
    assumed_expire(c, now);
    for (uint32_t i = 0; i < c->reservation_count; cache_write_pause(c)) {
        const struct reservation *r = &c->reservations[i];
        if (r->expires_ms > (r->certainty == PLACED_BOUND ? seen : now))
            i++;
        else
            pod_forget(c, r->pod); /* puts another reservation in place i */
    }
}
