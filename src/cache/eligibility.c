/*
 * Eligibility: which nodes a pod's node affinity and tolerations allow, remembered per distinct
 * (affinity, tolerations) and re-evaluated node by node as nodes change.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
    const struct str *wanted = key;
    return str_eq(eligibility->key, *wanted);
}

static uint8_t flags_of(const struct cache *c, const struct eligibility_record *eligibility,
                        uint32_t slot) {
    const struct node_record *node = pool_at(&c->nodes, slot);
    if (!node->known)
        return 0;
    uint8_t flags = CACHE_NODE_KNOWN;
    struct label_set_ref labels = {c, &node->labels};
    if (node_affinity_matches(&eligibility->affinity, node->text, label_set_lookup, &labels))
        flags |= CACHE_NODE_AFFINITY;
    if (taints_tolerated(node->taints, node->taint_count, eligibility->tolerations))
        flags |= CACHE_NODE_TAINTS;
    if (taints_avoided(node->taints, node->taint_count, eligibility->tolerations))
        flags |= CACHE_NODE_AVOIDED;
    return flags;
}

void eligibility_update(struct cache *c, uint32_t slot) {
    for (POOL_EACH(&c->eligibilities, id)) {
        struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
        eligibility->flags[slot] = flags_of(c, eligibility, slot);
    }
}

void eligibility_free(struct cache *c, uint32_t id) {
    struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
    hashmap_remove(&c->eligibility_index, eligibility->hash, id);
    arena_done(&eligibility->arena);
    free(eligibility->flags);
    pool_give(&c->eligibilities, id);
}

static int fill(struct cache *c, struct eligibility_record *eligibility, struct str key,
                const struct node_affinity *affinity, struct tolerations tolerations) {
    arena_init(&eligibility->arena, LIMIT_REQUEST_ARENA);
    eligibility->key = arena_str(&eligibility->arena, key);
    eligibility->hash = hash_str(key);
    eligibility->tolerations = tolerations_copy(tolerations, &eligibility->arena);
    if (node_affinity_copy(affinity, &eligibility->arena, &eligibility->affinity) != 0 ||
        arena_failed(&eligibility->arena))
        return -ENOMEM;
    eligibility->flags = calloc(c->node_cap > 0 ? c->node_cap : 1, 1);
    if (eligibility->flags == NULL)
        return -ENOMEM;
    for (POOL_EACH(&c->nodes, slot))
        eligibility->flags[slot] = flags_of(c, eligibility, slot);
    return 0;
}

struct lru eligibilities_lru(struct cache *c) {
    return (struct lru){&c->eligibilities, offsetof(struct eligibility_record, used),
                        c->options.max_eligibilities, eligibility_free};
}

static int make(struct cache_view *v, struct str key, const struct node_affinity *affinity,
                struct tolerations tolerations, uint32_t *ret_id) {
    struct cache *c = v->cache;
    lru_make_room(c, eligibilities_lru(c), v->tick);
    if (hashmap_reserve(&c->eligibility_index) != 0)
        return -ENOMEM;
    uint32_t id = pool_take(&c->eligibilities);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
    int r = fill(c, eligibility, key, affinity, tolerations);
    hashmap_insert(&c->eligibility_index, eligibility->hash, id);
    if (r != 0) {
        eligibility_free(c, id);
        return r;
    }
    *ret_id = id;
    return 0;
}

int cache_eligibility(struct cache_view *v, const struct node_affinity *affinity,
                      struct tolerations tolerations, const uint8_t **ret_flags) {
    struct cache *c = v->cache;
    strbuf_clear(&v->key);
    node_affinity_key(affinity, &v->key);
    tolerations_key(tolerations, &v->key);
    if (strbuf_failed(&v->key))
        return -ENOMEM;
    struct str key = strbuf_str(&v->key);
    uint32_t id = hashmap_find(&c->eligibility_index, hash_str(key), key_equal, c, &key);
    if (id == HASHMAP_NONE && !v->exclusive)
        return -EAGAIN;
    if (id == HASHMAP_NONE) {
        int r = make(v, key, affinity, tolerations, &id);
        if (r != 0)
            return r;
    }
    struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
    atomic_store_explicit(&eligibility->used, v->tick, memory_order_relaxed);
    *ret_flags = eligibility->flags;
    return 0;
}
