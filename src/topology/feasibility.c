/*
 * Feasibility: which candidates a pod's node affinity and tolerations allow, remembered per
 * distinct (affinity, tolerations) and evaluated again as a candidate changes.
 */
#include "base/limits.h"
#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct topology *t = ctx;
    const struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    const struct str *wanted = key;
    return str_eq(feasibility->key, *wanted);
}

static uint8_t flags_of(const struct topology *t, const struct feasibility_record *feasibility,
                        uint32_t slot) {
    const struct candidate_record *candidate = pool_at(&t->candidates, slot);
    if (!candidate->known)
        return 0;
    uint8_t flags = CANDIDATE_KNOWN;
    struct label_set_ref labels = {t->strings, &candidate->labels};
    if (node_affinity_matches(&feasibility->affinity, candidate->text, label_set_lookup, &labels))
        flags |= CANDIDATE_AFFINITY;
    if (taints_tolerated(candidate->taints, candidate->taint_count, feasibility->tolerations))
        flags |= CANDIDATE_TAINTS;
    if (taints_avoided(candidate->taints, candidate->taint_count, feasibility->tolerations))
        flags |= CANDIDATE_AVOIDED;
    return flags;
}

void feasibility_update(struct topology *t, uint32_t slot) {
    for (POOL_EACH(&t->feasibilities, id)) {
        struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
        feasibility->flags[slot] = flags_of(t, feasibility, slot);
    }
}

void feasibility_free(void *topology, uint32_t id) {
    struct topology *t = topology;
    struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    hashmap_remove(&t->feasibility_index, feasibility->hash, id);
    arena_done(&feasibility->arena);
    free(feasibility->flags);
    pool_give(&t->feasibilities, id);
}

int feasibility_grow(struct feasibility_record *feasibility, uint32_t from, uint32_t to) {
    uint8_t *flags = realloc(feasibility->flags, to);
    if (flags == NULL)
        return -ENOMEM;
    memset(flags + from, 0, to - from);
    feasibility->flags = flags;
    return 0;
}

static int fill(struct topology *t, struct feasibility_record *feasibility, struct str key,
                const struct node_affinity *affinity, struct tolerations tolerations) {
    arena_init(&feasibility->arena, LIMIT_REQUEST_ARENA);
    feasibility->key = arena_str(&feasibility->arena, key);
    feasibility->hash = hash_str(key);
    feasibility->tolerations = tolerations_copy(tolerations, &feasibility->arena);
    if (node_affinity_copy(affinity, &feasibility->arena, &feasibility->affinity) != 0 ||
        arena_failed(&feasibility->arena))
        return -ENOMEM;
    if (feasibility_grow(feasibility, 0, t->cap > 0 ? t->cap : 1) != 0)
        return -ENOMEM;
    for (POOL_EACH(&t->candidates, slot))
        feasibility->flags[slot] = flags_of(t, feasibility, slot);
    return 0;
}

struct lru feasibilities_lru(struct topology *t) {
    return (struct lru){&t->feasibilities, offsetof(struct feasibility_record, used),
                        t->options.max_feasibilities, feasibility_free, t};
}

static int make(struct topology_view *v, struct str key, const struct node_affinity *affinity,
                struct tolerations tolerations, uint32_t *ret_id) {
    struct topology *t = v->topology;
    lru_make_room(feasibilities_lru(t), v->tick);
    if (hashmap_reserve(&t->feasibility_index) != 0)
        return -ENOMEM;
    uint32_t id = pool_take(&t->feasibilities);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    int r = fill(t, feasibility, key, affinity, tolerations);
    hashmap_insert(&t->feasibility_index, feasibility->hash, id);
    if (r != 0) {
        feasibility_free(t, id);
        return r;
    }
    *ret_id = id;
    return 0;
}

int topology_feasibility(struct topology_view *v, const struct node_affinity *affinity,
                         struct tolerations tolerations, const uint8_t **ret_flags) {
    struct topology *t = v->topology;
    strbuf_clear(&v->key);
    node_affinity_key(affinity, &v->key);
    tolerations_key(tolerations, &v->key);
    if (strbuf_failed(&v->key))
        return -ENOMEM;
    struct str key = strbuf_str(&v->key);
    uint32_t id = hashmap_find(&t->feasibility_index, hash_str(key), key_equal, t, &key);
    if (id == HASHMAP_NONE && !v->exclusive)
        return -EAGAIN;
    if (id == HASHMAP_NONE) {
        int r = make(v, key, affinity, tolerations, &id);
        if (r != 0)
            return r;
    }
    struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    atomic_store_explicit(&feasibility->used, v->tick, memory_order_relaxed);
    *ret_flags = feasibility->flags;
    return 0;
}
