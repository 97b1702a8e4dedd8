/*
 * The filter Predicate: a cluster passes if any predicate matches its labels and claims. upstream:
 * plugins/predicate/predicate.go, helpers/clusters.go.
 */
#include "ocm/internal.h"

static const struct str plugin = {"Predicate", 9};

/* Compiles all predicates before any predicate is used. If a predicate does not compile, the
 * Placement is misconfigured. */
static int compile_all(struct deciding *x, struct selector *ret) {
    const struct placement *p = x->placement;
    for (uint32_t i = 0; i < p->predicate_count; i++) {
        struct str problem;
        int r = match_compile(&p->predicates[i].selector, x->arena, &ret[i], &problem);
        if (r != 0)
            return r;
        if (problem.n > 0) {
            deciding_stop(x, OCM_MISCONFIGURED, plugin, problem);
            return 0;
        }
    }
    x->d->first_predicate = ret;
    return 0;
}

/* Tries one predicate after the other on the clusters that no earlier predicate has matched. */
static int match_any(struct deciding *x, const struct selector *selectors, uint8_t *passes,
                     uint32_t *causes) {
    const uint32_t count = x->placement->predicate_count;
    uint8_t *now = arena_alloc(x->arena, x->left_count);
    if (now == NULL)
        return -ENOMEM;
    for (uint32_t p = 0; p < count; p++) {
        memset(now, 1, x->left_count);
        int r = deciding_steps(x, 1 + x->left_count / 4);
        if (r == 0)
            r = match_slots(x, &selectors[p], x->left, x->left_count, now, p == 0 ? causes : NULL);
        if (r != 0)
            return r;
        for (uint32_t i = 0; i < x->left_count; i++)
            passes[i] |= now[i];
    }
    return 0;
}

static void keep(struct deciding *x, const uint8_t *passes, const uint32_t *causes,
                 uint8_t *verdicts, uint32_t *cause_of) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        if (passes[i] != 0) {
            x->left[left++] = slot;
            continue;
        }
        verdicts[slot] = OCM_PREDICATE;
        cause_of[slot] = causes[i];
    }
    x->left_count = left;
}

int decide_predicate(struct deciding *x) {
    const struct placement *p = x->placement;
    for (uint32_t i = 0; i < p->predicate_count; i++)
        x->d->cel_unknown = x->d->cel_unknown || p->predicates[i].has_cel;
    if (p->predicate_count == 0 || x->left_count == 0)
        return 0;
    struct selector *selectors = arena_array(x->arena, p->predicate_count, sizeof *selectors);
    uint8_t *passes = arena_alloc(x->arena, x->left_count);
    uint32_t *causes = arena_array(x->arena, x->left_count, sizeof *causes);
    if (selectors == NULL || passes == NULL || causes == NULL)
        return -ENOMEM;
    int r = compile_all(x, selectors);
    if (r == 0 && x->d->outcome == OCM_DECIDED)
        r = match_any(x, selectors, passes, causes);
    if (r == 0 && x->d->outcome == OCM_DECIDED)
        keep(x, passes, causes, x->verdicts, x->causes);
    return r;
}
