#include "admission/pods/own_terms.h"

#include "model/pod_keys.h"
#include "model/pod_units.h"

#include <errno.h>
#include <stdlib.h>

static int compare_keys(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static uint32_t make_unique(struct str *keys, uint32_t count) {
    uint32_t unique = 0;
    if (count > 0)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || !str_eq(keys[unique - 1], keys[i]))
            keys[unique++] = keys[i];
    return unique;
}

/* Returns the approximate steps of asking whether a term matches a pod. */
static uint64_t steps_of(const struct pod_affinity_term *term) {
    return 1 + term->mismatch_key_count + term->namespace_count +
           label_selector_steps(&term->pods) + label_selector_steps(&term->by_labels);
}

/* ---- the pod's unit ---- */

/* Does this key differ from unit to unit? */
static bool names_unit(const struct pod_question *q, const struct unit_membership *unit,
                       struct str key) {
    for (uint32_t i = 0; i < unit->first_count; i++)
        if (str_eq(key, unit->first[i].key))
            return false;
    return str_eq(key, unit->name) || is_pods_own_key(&q->pod.meta.labels, key);
}

/* Does a term that matches the pod itself match only pods of its unit? */
static int is_of_unit(const struct pod_question *q, const struct unit_membership *unit,
                      const struct label_selector *s, bool *ret) {
    enum { KNOWN = 8 }; /* steps of comparing one key with the known keys */
    *ret = false;
    if (unit->place != UNIT_FIRST)
        return 0;
    if (!steps_take(&q->head.arena->steps,
                    (uint64_t)KNOWN * (s->match_labels.count + s->expression_count)))
        return -E2BIG;
    for (uint32_t i = 0; !*ret && i < s->match_labels.count; i++)
        *ret = names_unit(q, unit, s->match_labels.items[i].key);
    for (uint32_t i = 0; !*ret && i < s->expression_count; i++)
        *ret =
            str_eq(s->expressions[i].op, STR("In")) && names_unit(q, unit, s->expressions[i].key);
    return 0;
}

/* ---- terms by kind ---- */

/* Terms of one field, and the kinds of own terms that they become. */
struct division {
    const struct pod_affinity *terms;
    enum own_term own, unit, others; /* `unit`: for terms that match the pod's unit only */
};

/* Topology keys by kind, while they are found. */
struct found_keys {
    struct str *items;
    uint32_t count;
};

static int sort_term(const struct pod_question *q, const struct division *d,
                     const struct unit_membership *unit, const struct pod_affinity_term *term,
                     enum own_term *ret) {
    const struct meant_pod group = {.namespace = q->pod.meta.namespace,
                                    .namespace_labels = q->namespace_labels,
                                    .labels = q->pod.meta.labels};
    struct arena *arena = q->head.arena;
    bool means, of_unit = false;
    if (!steps_take(&arena->steps, steps_of(term)))
        return -E2BIG;
    if (pod_affinity_means(term, &group, arena, &means) != 0)
        return -ENOMEM;
    int r = means && d->unit != d->own ? is_of_unit(q, unit, &term->pods, &of_unit) : 0;
    *ret = of_unit ? d->unit : d->own;
    if (!means)
        *ret = term->pods.present ? d->others : OWN_TERMS;
    return r;
}

/* A missing selector matches no pod. So as podAntiAffinity it excludes no node; as podAffinity it
 * excludes every node, with or without a constraint. */
static int divide(const struct pod_question *q, const struct division *d,
                  const struct unit_membership *unit, struct own_terms *ret) {
    struct arena *arena = q->head.arena;
    const uint32_t count = d->terms->term_count;
    struct found_keys found[OWN_TERMS] = {{NULL, 0}};
    struct pod_affinity_term *other_terms = arena_array(arena, count, sizeof *other_terms);
    struct pod_affinity_term *group_terms = arena_array(arena, count, sizeof *group_terms);
    const enum own_term kinds[] = {d->own, d->unit, d->others};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        found[kinds[i]].items = arena_array(arena, count, sizeof(struct str));
    if (arena_failed(arena))
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        enum own_term kind;
        int r = sort_term(q, d, unit, &d->terms->terms[i], &kind);
        if (r != 0)
            return r;
        if (kind == d->others)
            other_terms[found[kind].count] = d->terms->terms[i];
        else if (kind == d->own)
            group_terms[found[kind].count] = d->terms->terms[i];
        if (kind != OWN_TERMS && found[kind].items != NULL) /* there is room */
            found[kind].items[found[kind].count++] = d->terms->terms[i].topology_key;
    }
    if (!steps_take_sort(&arena->steps, count))
        return -E2BIG;
    if (d->others == TERM_FROM_OTHERS) {
        ret->from_others =
            (struct pod_affinity){.terms = other_terms, .term_count = found[d->others].count};
        ret->from_group =
            (struct pod_affinity){.terms = group_terms, .term_count = found[d->own].count};
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct found_keys *f = &found[kinds[i]];
        ret->keys[kinds[i]].items = f->items;
        ret->keys[kinds[i]].count = f->count = make_unique(f->items, f->count);
    }
    return 0;
}

int own_terms_find(const struct pod_question *q, struct own_terms *ret) {
    const struct division beside = {&q->pod.beside, TERM_TOGETHER, TERM_UNIT, TERM_WITH_OTHERS};
    const struct division apart = {&q->pod.apart, TERM_APART, TERM_APART, TERM_FROM_OTHERS};
    const struct unit_membership unit =
        pod_unit_of(&q->pod.meta.labels, &q->details.annotations, &q->policy->group_by);
    *ret = (struct own_terms){0};
    int r = divide(q, &beside, &unit, ret);
    return r == 0 ? divide(q, &apart, &unit, ret) : r;
}

bool own_terms_have(const struct own_terms *terms, enum own_term kind, struct str key) {
    return terms->keys[kind].count > 0 &&
           bsearch(&key, terms->keys[kind].items, terms->keys[kind].count, sizeof key,
                   compare_keys) != NULL;
}
