#include "admission/pods/own_terms.h"

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

/* About what it takes to ask whether a term means a pod. */
static uint64_t steps_of(const struct pod_affinity_term *term) {
    return 1 + term->mismatch_key_count + term->namespace_count +
           label_selector_steps(&term->pods) + label_selector_steps(&term->by_labels);
}

/* Sorts the keys of the terms by whether they mean the pod's own group. A selector that is not
 * there means no pods, so its term keeps the pod from nowhere; kube-scheduler finds no place for a
 * pod that must be beside none, with or without a constraint. */
static int divide(const struct pod_question *q, const struct pod_affinity *terms, enum own_term own,
                  enum own_term others, struct own_terms *ret) {
    const struct meant_pod group = {.namespace = q->pod.meta.namespace,
                                    .namespace_labels = q->namespace_labels,
                                    .labels = q->pod.meta.labels};
    struct arena *arena = q->head.arena;
    struct str *own_keys = arena_array(arena, terms->term_count, sizeof *own_keys);
    struct str *other_keys = arena_array(arena, terms->term_count, sizeof *other_keys);
    struct pod_affinity_term *other_terms =
        arena_array(arena, terms->term_count, sizeof *other_terms);
    uint32_t own_count = 0, other_count = 0;
    if (own_keys == NULL || other_keys == NULL || other_terms == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < terms->term_count; i++) {
        const struct pod_affinity_term *term = &terms->terms[i];
        bool means;
        if (!steps_take(&arena->steps, steps_of(term)))
            return -E2BIG;
        if (pod_affinity_means(term, &group, arena, &means) != 0)
            return -ENOMEM;
        if (means)
            own_keys[own_count++] = term->topology_key;
        else if (term->pods.present) {
            other_terms[other_count] = *term;
            other_keys[other_count++] = term->topology_key;
        }
    }
    if (!steps_take_sort(&arena->steps, terms->term_count))
        return -E2BIG;
    if (others == TERM_FROM_OTHERS)
        ret->from_others = (struct pod_affinity){.terms = other_terms, .term_count = other_count};
    ret->keys[own].items = own_keys;
    ret->keys[own].count = make_unique(own_keys, own_count);
    ret->keys[others].items = other_keys;
    ret->keys[others].count = make_unique(other_keys, other_count);
    return 0;
}

int own_terms_find(const struct pod_question *q, struct own_terms *ret) {
    *ret = (struct own_terms){0};
    int r = divide(q, &q->pod.beside, TERM_TOGETHER, TERM_WITH_OTHERS, ret);
    return r == 0 ? divide(q, &q->pod.apart, TERM_APART, TERM_FROM_OTHERS, ret) : r;
}

bool own_terms_have(const struct own_terms *terms, enum own_term kind, struct str key) {
    return terms->keys[kind].count > 0 &&
           bsearch(&key, terms->keys[kind].items, terms->keys[kind].count, sizeof key,
                   compare_keys) != NULL;
}
