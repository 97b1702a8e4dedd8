/*
 * Finds the spread terms in force: the Placement's own terms; if it has no terms, the terms of a
 * TopologyPolicy; with the annotation mode "Off" no terms, so that the answer is OCM's. If there
 * are terms, the parts that the webhook has added for them (model/injected.h) come from an earlier
 * decision and are ignored here; without terms they count like parts that a user wrote, as in OCM.
 */
#include "ocm/internal.h"

static enum placement_mode mode_of(const struct placement *p, struct str *ret_unknown) {
    static const struct {
        struct str word;
        enum placement_mode mode;
    } modes[] = {{{"Scores", 6}, PLACEMENT_SCORES},
                 {{"Owner", 5}, PLACEMENT_OWNER},
                 {{"Off", 3}, PLACEMENT_OFF}};
    struct str word;
    if (!labels_lookup(&p->annotations, STR(PLACEMENT_MODE_ANNOTATION), &word))
        return PLACEMENT_UNSET;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (str_eq(word, modes[i].word))
            return modes[i].mode;
    *ret_unknown = word;
    return PLACEMENT_UNSET;
}

void ocm_terms_find(const struct placement *placement, const struct ocm_policy_terms *policy,
                    struct ocm_terms *ret) {
    *ret = (struct ocm_terms){.items = NULL};
    ret->mode = mode_of(placement, &ret->unknown_mode);
    if (ret->mode == PLACEMENT_OFF)
        return;
    ret->items = placement->terms;
    ret->count = placement->term_count;
    if (ret->count > 0)
        return;
    ret->items = policy->items;
    ret->count = policy->count;
    ret->policy = policy->policy;
    ret->warning = policy->warning;
}

struct str ocm_unknown_mode_text(struct str word, struct arena *arena) {
    return arena_printf(arena,
                        "annotation " PLACEMENT_MODE_ANNOTATION
                        ": '%.*s' is none of Scores, Owner, Off: it changes nothing",
                        STR_ARG(word));
}

struct str ocm_key_twice(const struct ocm_terms *terms, struct arena *arena) {
    for (uint32_t i = 0; i < terms->count && i < PLACEMENT_TERMS; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct placement_term *a = &terms->items[k], *b = &terms->items[i];
            if (a->is_claim == b->is_claim && str_eq(a->key, b->key))
                return arena_printf(
                    arena,
                    "two spread terms have the same %s '%.*s': the second term is always even",
                    a->is_claim ? "claim" : "label", STR_ARG(a->key));
        }
    return STR("");
}

int decide_terms(struct deciding *x) {
    struct ocm_decision *d = x->d;
    struct ocm_terms terms;
    int r = 0;
    ocm_terms_find(x->placement, &x->question->policy, &terms);
    /* an empty annotation is an unknown word, too */
    if (terms.unknown_mode.p != NULL)
        r = deciding_warn(x, ocm_unknown_mode_text(terms.unknown_mode, x->arena));
    if (r == 0 && terms.warning.n > 0)
        r = deciding_warn(x, terms.warning);
    d->terms = terms.items;
    d->term_count = terms.count;
    d->policy = terms.policy;
    d->has_spread = d->term_count > 0;
    for (uint32_t i = 0; !d->has_spread && i < x->placement->predicate_count; i++)
        d->cel_unknown = d->cel_unknown || x->placement->predicates[i].is_gated;
    return r;
}
