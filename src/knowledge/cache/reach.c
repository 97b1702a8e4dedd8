/*
 * The reach of pods (the nodes that they may be on), and their present nodes, to measure evenness.
 * Equal required node affinity and tolerations are stored once, like terms (neighbours.c): the
 * record of pods' requests points to them, and a pod takes no more memory. A reach includes the
 * claims of the pod's volumes, which may pin it: so a pod of a StatefulSet with claims has a record
 * of its own, of some 400 bytes.
 *
 * The memory for one pod's reach and for all is limited. Beyond it the reach of a pod is not known,
 * and its workload is not measured.
 */
#include "cache/placed.h"

#include "cache/internal.h"
#include "model/fixed_pod.h"

#include <errno.h>

static struct reach_record *at(const struct cache *c, uint32_t id) {
    return pool_at(&c->reaches, id);
}

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct hash128 *wanted = key;
    const struct reach_record *record = at(ctx, id);
    return hash128_equal(record->key, *wanted);
}

/* Returns the number of claims; 0 without a controller: evenness ignores such pods. */
static uint32_t claims_of(const struct pod *pod) {
    return str_empty(pod->meta.controller_kind) ? 0 : pod->claim_count;
}

static void copy_claims(const struct pod *pod, struct arena *arena, struct reach_record *record) {
    uint32_t count = claims_of(pod);
    struct str *claims = count > 0 ? arena_array(arena, count, sizeof *claims) : NULL;
    for (uint32_t i = 0; claims != NULL && i < count; i++)
        claims[i] = arena_str(arena, pod->claims[i]);
    record->claims = claims;
    record->claim_count = count;
}

static int copy(const struct pod *pod, struct arena *arena, struct reach_record *record) {
    record->tolerations = tolerations_copy(pod->tolerations, arena);
    copy_claims(pod, arena, record);
    int r = node_affinity_copy(&pod->affinity, arena, &record->affinity);
    return r != 0 || arena_failed(arena) ? -ENOMEM : 0;
}

/* Copies a reach into a record, in memory of its exact size. 0, -E2BIG (too long) or -ENOMEM. */
static int copy_exactly(const struct pod *pod, struct reach_record *record) {
    CLEANUP(arena_done) struct arena measure;
    arena_init(&measure, 16 * LIMIT_POD_REACH_BYTES);
    if (copy(pod, &measure, record) != 0)
        return measure.full ? -E2BIG : -ENOMEM;
    arena_init(&record->arena, arena_used(&measure));
    return copy(pod, &record->arena, record);
}

/* ---- shares ---- */

/* A namespace may take a quarter of the memory, so that it cannot make the pods of others unknown.
 * It is charged for the records that it needed first. */
static bool has_room(const struct cache *c, uint32_t namespace) {
    const struct namespace_record *payer = pool_at(&c->namespaces, namespace);
    return c->reach_bytes <= LIMIT_REACHES_BYTES && payer->reach_bytes <= LIMIT_REACHES_BYTES / 4;
}

static uint64_t size_of(const struct reach_record *record) {
    return sizeof *record + record->arena.total;
}

static void pay(struct cache *c, uint32_t namespace, struct reach_record *record) {
    struct namespace_record *payer = pool_at(&c->namespaces, namespace);
    record->namespace = namespace;
    payer->references++;
    payer->reach_bytes += size_of(record);
    c->reach_bytes += size_of(record);
}

static void pay_back(struct cache *c, const struct reach_record *record) {
    struct namespace_record *payer = pool_at(&c->namespaces, record->namespace);
    payer->references--;
    payer->reach_bytes -= size_of(record);
    c->reach_bytes -= size_of(record);
    namespace_settle(c, record->namespace);
}

/* ---- life ---- */

struct reach_key {
    struct hash128 whole, says;
};

/* Makes a record of a reach. 0, -E2BIG or -ENOMEM. */
static int reach_new(struct cache *c, const struct pod *pod, uint32_t namespace,
                     const struct reach_key *key, uint32_t *ret) {
    if (hashmap_reserve(&c->reach_index) != 0)
        return -ENOMEM;
    uint32_t id = pool_take(&c->reaches);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct reach_record *record = at(c, id);
    *record = (struct reach_record){.key = key->whole, .says = key->says, .references = 1};
    int r = copy_exactly(pod, record);
    if (r != 0) {
        arena_done(&record->arena);
        pool_give(&c->reaches, id);
        return r;
    }
    pay(c, namespace, record);
    hashmap_insert(&c->reach_index, key->whole.a, id);
    *ret = id;
    return 0;
}

static void claims_key(const struct pod *pod, struct strbuf *out) {
    for (uint32_t i = 0; i < claims_of(pod); i++) {
        strbuf_append_str(out, pod->claims[i]);
        strbuf_append_char(out, '\0'); /* names cannot contain it */
    }
}

int reach_ref(struct cache *c, const struct pod *pod, uint32_t namespace, uint32_t *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    *ret = CACHE_REACH_FIXED;
    if (pod_is_tied(pod))
        return 0;
    node_affinity_key(&pod->affinity, &text);
    tolerations_key(pod->tolerations, &text);
    struct reach_key key = {.says = hash_bytes128(text.p, text.n)};
    key.whole = key.says;
    if (claims_of(pod) > 0) {
        claims_key(pod, &text);
        key.whole = hash_bytes128(text.p, text.n);
        key.whole.a = ~key.whole.a; /* differs from all keys without claims */
    }
    if (strbuf_failed(&text))
        return -ENOMEM;
    uint32_t id = hashmap_find(&c->reach_index, key.whole.a, key_equal, c, &key.whole);
    if (id != HASHMAP_NONE) {
        at(c, id)->references++;
        *ret = id;
        return 0;
    }
    *ret = CACHE_REACH_UNKNOWN;
    if (text.n > LIMIT_POD_REACH_BYTES || !has_room(c, namespace))
        return 0;
    int r = reach_new(c, pod, namespace, &key, ret);
    return r == -E2BIG ? 0 : r;
}

void reach_unref(struct cache *c, uint32_t id) {
    if (id == CACHE_REACH_FIXED || id == CACHE_REACH_UNKNOWN)
        return;
    struct reach_record *record = at(c, id);
    if (--record->references > 0)
        return;
    hashmap_remove(&c->reach_index, record->key.a, id);
    pay_back(c, record);
    arena_done(&record->arena);
    pool_give(&c->reaches, id);
}

/* ---- reading ---- */

uint32_t cache_placed_pods(const struct cache_view *v) {
    return v->cache->pods.count;
}

uint32_t cache_placed_next(const struct cache_view *v, uint32_t *from, struct cache_placed *ret,
                           uint32_t max) {
    const struct cache *c = v->cache;
    uint32_t count = 0;
    uint32_t id = pool_next(&c->pods, *from);
    for (uint32_t looked = 0; looked < max && id != POOL_NONE; looked++) {
        const struct pod_record *pod = pool_at(&c->pods, id);
        const struct class_record *pod_class = pool_at(&c->classes, pod->pod_class);
        uint32_t here = id;
        *from = id + 1;
        id = pool_next(&c->pods, id + 1);
        if (pod_class->terminating || pod->reserved)
            continue;
        const struct requests_record *requests = pool_at(&c->requests, pod->requests);
        ret[count++] = (struct cache_placed){here, pod->node, pod->pod_class, requests->reach};
    }
    if (id == POOL_NONE)
        *from = CACHE_PLACED_END;
    return count;
}

uint32_t cache_placed_groups(const struct cache_view *v) {
    return v->cache->classes.end;
}

uint64_t cache_changes(const struct cache_view *v) {
    return v->cache->changes + topology_changes(v->cache->nodes);
}

uint32_t cache_reaches(const struct cache_view *v) {
    return v->cache->reaches.end;
}

bool cache_placed_owner(const struct cache_view *v, uint32_t group, struct cache_owner *ret) {
    const struct cache *c = v->cache;
    const struct class_record *pod_class = pool_at(&c->classes, group);
    if (pod_class->owner == POOL_NONE)
        return false;
    const struct owner_record *owner = pool_at(&c->owners, pod_class->owner);
    const struct namespace_record *home = pool_at(&c->namespaces, pod_class->namespace);
    if (owner->name == INTERN_NONE)
        return false;
    *ret = (struct cache_owner){
        .namespace = intern_str(&c->strings, home->name),
        .type = {intern_str(&c->strings, owner->group), intern_str(&c->strings, owner->kind)},
        .name = intern_str(&c->strings, owner->name)};
    return true;
}

bool cache_placed_label(const struct cache_view *v, uint32_t group, struct str key,
                        struct str *ret_value) {
    const struct class_record *pod_class = pool_at(&v->cache->classes, group);
    const struct label_set_ref labels = {&v->cache->strings, &pod_class->labels};
    return label_set_lookup(&labels, key, ret_value);
}

bool cache_reach(const struct cache_view *v, uint32_t reach, struct cache_may_run *ret) {
    if (reach == CACHE_REACH_FIXED || reach == CACHE_REACH_UNKNOWN)
        return false;
    const struct reach_record *record = at(v->cache, reach);
    *ret = (struct cache_may_run){.key = record->says,
                                  .affinity = &record->affinity,
                                  .tolerations = record->tolerations,
                                  .claims = record->claims,
                                  .claim_count = record->claim_count};
    return true;
}
