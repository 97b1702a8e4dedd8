/*
 * Reservations: pods that count before the watch has seen them bound. The pod record carries a
 * flag; the short list here holds when each runs out.
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

int cache_reserve(struct cache *c, const struct pod *pod, struct str node_name) {
    uint32_t slot = node_slot(c, node_name), id = pod_find(c, &pod->meta);
    if (slot == POOL_NONE || !((struct node_record *)pool_at(&c->nodes, slot))->known)
        return -ENOENT;
    if (id != POOL_NONE && !((struct pod_record *)pool_at(&c->pods, id))->reserved)
        return 0; /* it is bound already: the real thing counts */
    if (pod->finished)
        return 0; /* such a pod does not exist */
    if (make_room(c) != 0)
        return -ENOMEM;
    struct pod bound = *pod;
    bound.node_name = node_name;
    int r = pod_apply(c, &bound, true, &id); /* moves a record that is reserved elsewhere */
    if (r != 0)
        return r;
    struct pod_record *record = pool_at(&c->pods, id);
    if (record->reserved)
        reservation_end(c, id);
    record->reserved = true;
    c->reservations[c->reservation_count++] = (struct reservation){
        id, c->options.clock->now_ms(c->options.clock) + c->options.reservation_ttl_ms};
    assumed_end(c, &pod->meta);
    flight_end(c, &pod->meta); /* last: the pod may be the flight's own copy */
    return 0;
}

void reservation_end(struct cache *c, uint32_t pod) {
    ((struct pod_record *)pool_at(&c->pods, pod))->reserved = false;
    for (uint32_t i = 0; i < c->reservation_count; i++)
        if (c->reservations[i].pod == pod) {
            c->reservations[i] = c->reservations[--c->reservation_count];
            return;
        }
}

void cache_release(struct cache *c, const struct object_meta *pod) {
    uint32_t id = pod_find(c, pod);
    if (id != POOL_NONE && ((struct pod_record *)pool_at(&c->pods, id))->reserved)
        pod_forget(c, id);
    assumed_end(c, pod);
    flight_end(c, pod);
}

void cache_expire(struct cache *c) {
    int64_t now_ms = c->options.clock->now_ms(c->options.clock);
    flights_expire(c, now_ms);
    assumed_expire(c, now_ms);
    for (uint32_t i = 0; i < c->reservation_count;) {
        if (c->reservations[i].expires_ms > now_ms)
            i++;
        else
            pod_forget(c, c->reservations[i].pod); /* puts another reservation in place i */
    }
}
