/*
 * Running pods: for each a hash of its name, its node, and its requests. Memory is reserved before
 * any change, so that adding and removing cannot fail.
 */
#include "members/internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- vectors ---- */

static uint64_t hash_of(const struct karmada_pod *pod) {
    const struct resources *requests = &pod->requests;
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, (uint64_t)pod->beyond);
    for (uint32_t i = 0; i < requests->count; i++) {
        hash_add(&hash, requests->items[i].name);
        hash_add_number(&hash, (uint64_t)requests->items[i].amount);
    }
    return hash_end(hash);
}

static int64_t plus_one(int64_t amount) {
    return amount < INT64_MAX ? amount + 1 : INT64_MAX;
}

/* Reads native resources, and adds one pod. Returns the number of other resources. */
static uint32_t read_natives(const struct resources *requests, int64_t native[NODE_NATIVES]) {
    uint32_t others = 0;
    memset(native, 0, NODE_NATIVES * sizeof *native);
    for (uint32_t i = 0; i < requests->count; i++) {
        const enum node_native which = node_native_of(requests->items[i].name);
        if (which != NODE_NATIVES)
            native[which] = requests->items[i].amount;
        else
            others++;
    }
    native[NODE_PODS] = plus_one(native[NODE_PODS]);
    return others;
}

static bool has_scalar(const struct request_vector *v, uint32_t name, int64_t amount) {
    uint32_t low = 0, high = v->scalar_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (v->scalars[middle].name == name)
            return v->scalars[middle].amount == amount;
        if (v->scalars[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool vector_equal(const void *ctx, uint32_t id, const void *key) {
    const struct member_contents *c = ctx;
    const struct karmada_pod *pod = key;
    const struct resources *wanted = &pod->requests;
    const struct request_vector *v = vector_at(c, id);
    int64_t native[NODE_NATIVES];
    if (read_natives(wanted, native) != v->scalar_count || pod->beyond != v->beyond ||
        memcmp(native, v->native, sizeof native) != 0)
        return false;
    for (uint32_t i = 0; i < wanted->count; i++)
        if (node_native_of(wanted->items[i].name) == NODE_NATIVES &&
            !has_scalar(v, intern_find(&c->strings, wanted->items[i].name),
                        wanted->items[i].amount))
            return false;
    return true;
}

static int compare_requests(const void *a, const void *b) {
    const struct scalar_request *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static void free_scalars(struct member_contents *c, struct request_vector *v, uint32_t cap) {
    for (uint32_t i = 0; i < v->scalar_count; i++)
        intern_unref(&c->strings, v->scalars[i].name);
    c->list_bytes -= cap * sizeof *v->scalars;
    free(v->scalars);
}

static int fill_vector(struct member_contents *c, struct request_vector *v,
                       const struct karmada_pod *pod) {
    const struct resources *requests = &pod->requests;
    const uint32_t others = read_natives(requests, v->native);
    if (others == 0)
        return 0;
    v->scalars = malloc(others * sizeof *v->scalars);
    if (v->scalars == NULL)
        return -ENOMEM;
    c->list_bytes += others * sizeof *v->scalars;
    for (uint32_t i = 0; i < requests->count; i++) {
        if (node_native_of(requests->items[i].name) != NODE_NATIVES)
            continue;
        const uint32_t name = intern_ref(&c->strings, requests->items[i].name);
        if (name == INTERN_NONE) {
            free_scalars(c, v, others);
            return -ENOMEM;
        }
        v->scalars[v->scalar_count++] = (struct scalar_request){name, requests->items[i].amount};
    }
    if (others > 1)
        qsort(v->scalars, others, sizeof *v->scalars, compare_requests);
    return 0;
}

/* Finds or makes the vector of a pod's requests, with one more reference; POOL_NONE without
 * memory. */
static uint32_t vector_ref(struct member_contents *c, const struct karmada_pod *pod) {
    const uint64_t hash = hash_of(pod);
    uint32_t id = hashmap_find(&c->vector_index, hash, vector_equal, c, pod);
    if (id != HASHMAP_NONE) {
        ((struct request_vector *)pool_at(&c->vectors, id))->references++;
        return id;
    }
    if (hashmap_reserve(&c->vector_index) != 0)
        return POOL_NONE;
    id = pool_take(&c->vectors);
    if (id == POOL_NONE)
        return POOL_NONE;
    struct request_vector *v = pool_at(&c->vectors, id);
    *v = (struct request_vector){.hash = hash, .references = 1, .beyond = pod->beyond};
    if (fill_vector(c, v, pod) != 0) {
        pool_give(&c->vectors, id);
        return POOL_NONE;
    }
    hashmap_insert(&c->vector_index, hash, id);
    return id;
}

static void vector_unref(struct member_contents *c, uint32_t id) {
    struct request_vector *v = pool_at(&c->vectors, id);
    if (--v->references > 0)
        return;
    hashmap_remove(&c->vector_index, v->hash, id);
    free_scalars(c, v, v->scalar_count);
    pool_give(&c->vectors, id);
}

/* ---- pods ---- */

/* Takes over the reference to the vector; cannot fail. */
static void place_pod(struct member_contents *c, struct bound_pod *pod, uint32_t room,
                      uint32_t vector) {
    pod->room = room;
    pod->vector = vector;
    rooms_at(c, room)->holders++;
    rooms_add(c, room, vector);
}

static void lift_pod(struct member_contents *c, const struct bound_pod *pod) {
    rooms_remove(c, pod->room, pod->vector);
    vector_unref(c, pod->vector);
    rooms_unhold(c, pod->room);
}

void bound_pods_drop(struct member_contents *c, uint32_t id) {
    const struct bound_pod *pod = pool_at(&c->pods, id);
    lift_pod(c, pod);
    hashmap_remove(&c->pod_index, pod->key.a, id);
    pool_give(&c->pods, id);
}

void bound_pods_remove(struct member_contents *c, struct str namespace, struct str name) {
    const struct hash128 key = hash_names128(namespace, name);
    const uint32_t id = record_find(&c->pods, &c->pod_index, &key);
    if (id != HASHMAP_NONE)
        bound_pods_drop(c, id);
}

/* Adds a new pod, and takes over the vector's reference. */
static int add_pod(struct member_contents *c, const struct hash128 *key, uint32_t room,
                   uint32_t vector) {
    if (hashmap_reserve(&c->pod_index) != 0)
        return -ENOMEM;
    const uint32_t id = pool_take(&c->pods);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct bound_pod *pod = pool_at(&c->pods, id);
    pod->key = *key;
    pool_show(&c->pods, id);
    place_pod(c, pod, room, vector);
    hashmap_insert(&c->pod_index, key->a, id);
    return 0;
}

int bound_pods_apply(struct member_contents *c, const struct karmada_pod *pod) {
    const struct hash128 key = hash_names128(pod->meta.namespace, pod->meta.name);
    const uint32_t old = record_find(&c->pods, &c->pod_index, &key);
    const bool counts = !str_empty(pod->node_name) && !pod->finished;
    const uint32_t vector = counts ? vector_ref(c, pod) : POOL_NONE;
    /* hold the room: the old pod may be its only holder */
    const uint32_t room = vector != POOL_NONE ? rooms_hold(c, pod->node_name) : POOL_NONE;
    struct bound_pod *known = old != HASHMAP_NONE ? pool_at(&c->pods, old) : NULL;
    int r = counts && room == POOL_NONE ? -ENOMEM : 0;
    const bool stays = known != NULL && r == 0 && counts;
    const bool same = stays && known->room == room && known->vector == vector;
    if (stays)
        pool_show(&c->pods, old);
    if (stays && !same) {
        lift_pod(c, known);
        place_pod(c, known, room, vector);
    } else if (known != NULL && !stays) {
        bound_pods_drop(c, old);
    } else if (known == NULL && r == 0 && counts) {
        r = add_pod(c, &key, room, vector);
    }
    if (vector != POOL_NONE && (r != 0 || same))
        vector_unref(c, vector); /* the old pod has a reference */
    if (room != POOL_NONE)
        rooms_unhold(c, room);
    return r;
}

void bound_pods_trim(struct member_contents *c) {
    if (c->pods.count > 0)
        return;
    rooms_trim(c);
    pool_done(&c->pods);
    pool_done(&c->vectors);
    hashmap_done(&c->pod_index);
    hashmap_done(&c->vector_index);
    pool_init(&c->pods, sizeof(struct bound_pod));
    pool_init(&c->vectors, sizeof(struct request_vector));
}

void bound_pods_done(struct member_contents *c) {
    for (POOL_EACH(&c->pods, id))
        bound_pods_drop(c, id);
    pool_done(&c->pods);
    pool_done(&c->vectors);
    hashmap_done(&c->pod_index);
    hashmap_done(&c->vector_index);
}
