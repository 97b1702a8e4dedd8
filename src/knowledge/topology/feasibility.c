/*
 * Feasibility: which candidates a pod's node affinity and tolerations allow, kept for each distinct
 * (affinity, tolerations), and evaluated again when a candidate changes.
 */
#include "base/limits.h"
#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct topology *t = ctx;
    const struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    const struct hash128 *wanted = key;
    return hash128_equal(feasibility->key, *wanted);
}

static uint8_t flags_of(const struct topology *t, const struct node_affinity *affinity,
                        struct tolerations tolerations, uint32_t slot) {
    const struct candidate_record *candidate = pool_at(&t->candidates, slot);
    if (!topology_is_known(t, slot))
        return 0;
    uint8_t flags = CANDIDATE_KNOWN;
    struct label_set_ref labels = {t->strings, &candidate->labels};
    if (node_affinity_matches(affinity, candidate->text, label_set_lookup, &labels))
        flags |= CANDIDATE_AFFINITY;
    if (taints_tolerated(candidate->taints, candidate->taint_count, tolerations))
        flags |= CANDIDATE_TAINTS;
    if (taints_avoided(candidate->taints, candidate->taint_count, tolerations))
        flags |= CANDIDATE_AVOIDED;
    return flags;
}

static void set_flags(struct feasibility_record *f, uint32_t slot, uint8_t flags) {
    const uint8_t before = f->flags[slot];
    f->suitable += (flags & CANDIDATE_AFFINITY) != 0;
    f->suitable -= (before & CANDIDATE_AFFINITY) != 0;
    f->tolerable += (flags & CANDIDATE_TAINTS) != 0;
    f->tolerable -= (before & CANDIDATE_TAINTS) != 0;
    f->flags[slot] = flags;
}

void feasibility_update(struct topology *t, uint32_t slot) {
    for (POOL_EACH(&t->feasibilities, id)) {
        struct feasibility_record *f = pool_at(&t->feasibilities, id);
        set_flags(f, slot, flags_of(t, &f->affinity, f->tolerations, slot));
    }
    t->work += t->feasibilities_kept.all.cost.steps;
}

void feasibility_free(void *topology, uint32_t id) {
    struct topology *t = topology;
    struct feasibility_record *feasibility = pool_at(&t->feasibilities, id);
    hashmap_remove(&t->feasibility_index, feasibility->key.a, id);
    lru_remove(&t->feasibilities_kept, id);
    arena_done(&feasibility->arena);
    free(feasibility->flags);
    pool_give(&t->feasibilities, id);
}

/* ---- building ---- */

/* Copies affinity and tolerations for later changes of candidates, unless they are too long. */
static void copy_question(const struct topology *t, const struct feasibility_question *q,
                          struct built_feasibility *built) {
    struct feasibility_record *record = &built->record;
    arena_init(&record->arena, LIMIT_CACHED_TEXT);
    record->key = q->key;
    built->cost = (struct cost){q->steps + q->steps_a_taint, sizeof *record + t->cap + q->bytes};
    if (q->bytes > LIMIT_CACHED_TEXT || !lru_fits(&t->feasibilities_kept, &built->cost))
        return;
    record->tolerations = tolerations_copy(q->tolerations, &record->arena);
    built->kept = node_affinity_copy(q->affinity, &record->arena, &record->affinity) == 0 &&
                  !arena_failed(&record->arena);
    built->cost.bytes = sizeof *record + t->cap + record->arena.total;
}

static int fill(struct topology_view *v, const struct feasibility_question *q,
                struct feasibility_record *record) {
    const struct topology *t = v->topology;
    if (v->steps != NULL && !steps_take(v->steps, topology_walk_steps(t)))
        return -E2BIG;
    for (KNOWN_EACH(t, slot)) {
        const struct candidate_record *candidate = pool_at(&t->candidates, slot);
        uint64_t steps = q->steps + candidate->taint_count * q->steps_a_taint;
        if (v->steps != NULL && !steps_take(v->steps, steps))
            return -E2BIG;
        set_flags(record, slot, flags_of(t, q->affinity, q->tolerations, slot));
    }
    return 0;
}

void built_feasibility_free(struct built_feasibility *built) {
    arena_done(&built->record.arena);
    free(built->record.flags);
    free(built);
}

static int build(struct topology_view *v, const struct feasibility_question *q,
                 struct feasibility_record **ret) {
    const struct topology *t = v->topology;
    struct built_feasibility *built = calloc(1, sizeof *built);
    if (built == NULL)
        return -ENOMEM;
    built->changes = t->changes;
    built->record.flags = calloc(t->cap > 0 ? t->cap : 1, 1);
    int r = built->record.flags == NULL ? -ENOMEM : fill(v, q, &built->record);
    if (r != 0) {
        built_feasibility_free(built);
        return r;
    }
    copy_question(t, q, built);
    built->next = v->feasibilities;
    v->feasibilities = built;
    v->built++;
    *ret = &built->record;
    return 0;
}

static uint32_t kept(const struct topology *t, const struct hash128 *key) {
    return hashmap_find(&t->feasibility_index, key->a, key_equal, t, key);
}

void feasibility_publish(struct topology *t, struct built_feasibility *built,
                         const struct topology_view *v) {
    struct lru *lru = &t->feasibilities_kept;
    if (!built->kept) {
        lru->refused++;
        return;
    }
    if (built->changes != t->changes || kept(t, &built->record.key) != HASHMAP_NONE ||
        hashmap_reserve(&t->feasibility_index) != 0 || !lru_make_room(lru, v->asker, &built->cost))
        return;
    uint32_t id = pool_take(&t->feasibilities);
    if (id == POOL_NONE)
        return;
    if (lru_add(lru, id, v->asker, &built->cost, v->tick) != 0) {
        pool_give(&t->feasibilities, id);
        return;
    }
    struct feasibility_record *record = pool_at(&t->feasibilities, id);
    const struct lru_entry entry = record->entry;
    *record = built->record;
    record->entry = entry;
    hashmap_insert(&t->feasibility_index, record->key.a, id);
    built->record.flags = NULL; /* the topology owns its memory now */
    arena_init(&built->record.arena, 0);
}

/* ---- asking ---- */

int feasibility_question_init(struct feasibility_question *q, const struct node_affinity *affinity,
                              struct tolerations tolerations) {
    CLEANUP(strbuf_done) struct strbuf key = {0};
    node_affinity_key(affinity, &key);
    tolerations_key(tolerations, &key);
    if (strbuf_failed(&key))
        return -ENOMEM;
    struct cost of_affinity = node_affinity_cost(affinity),
                of_tolerations = tolerations_cost(tolerations);
    *q = (struct feasibility_question){.affinity = affinity,
                                       .tolerations = tolerations,
                                       .key = hash_bytes128(key.p, key.n),
                                       .steps = of_affinity.steps,
                                       .steps_a_taint = of_tolerations.steps,
                                       .bytes = of_affinity.bytes + of_tolerations.bytes};
    return 0;
}

/* Returns the record of a question, kept or the view's own. 0, -E2BIG or -ENOMEM. */
static int record_of(struct topology_view *v, const struct feasibility_question *q,
                     struct feasibility_record **ret) {
    struct topology *t = v->topology;
    uint32_t id = kept(t, &q->key);
    if (id != HASHMAP_NONE) {
        *ret = pool_at(&t->feasibilities, id);
        atomic_store_explicit(&(*ret)->entry.used, v->tick, memory_order_relaxed);
        return 0;
    }
    for (struct built_feasibility *b = v->feasibilities; b != NULL; b = b->next)
        if (hash128_equal(b->record.key, q->key)) {
            *ret = &b->record;
            return 0;
        }
    return build(v, q, ret);
}

int topology_feasible(struct topology_view *v, const struct feasibility_question *q,
                      const uint8_t **ret_flags) {
    struct feasibility_record *record;
    int r = record_of(v, q, &record);
    if (r == 0)
        *ret_flags = record->flags;
    return r;
}

int topology_feasible_common(struct topology_view *v, const struct feasibility_question *q,
                             const uint8_t **ret_flags, uint8_t *ret_common) {
    const uint32_t known = v->topology->known_names.count;
    struct feasibility_record *record;
    int r = record_of(v, q, &record);
    if (r != 0)
        return r;
    *ret_flags = record->flags;
    *ret_common = CANDIDATE_KNOWN;
    if (record->suitable == known)
        *ret_common |= CANDIDATE_AFFINITY;
    if (record->tolerable == known)
        *ret_common |= CANDIDATE_TAINTS;
    return 0;
}

int topology_feasibility(struct topology_view *v, const struct node_affinity *affinity,
                         struct tolerations tolerations, const uint8_t **ret_flags) {
    struct feasibility_question question;
    int r = feasibility_question_init(&question, affinity, tolerations);
    return r == 0 ? topology_feasible(v, &question, ret_flags) : r;
}
