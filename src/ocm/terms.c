/*
 * Which spread terms count: the Placement's own; if it has none, those of a TopologyPolicy; with
 * the annotation mode "Off" none at all, so that the answer is OCM's.
 */
#include "ocm/internal.h"

static const struct str off = {"Off", 3};

/* True: it is "Off". A word that nobody knows gets a warning, and means nothing. */
static int read_mode(struct deciding *x, bool *ret_off) {
    static const struct str others[] = {{"Scores", 6}, {"Owner", 5}};
    struct str mode;
    *ret_off = false;
    if (!labels_lookup(&x->placement->annotations, STR(PLACEMENT_MODE_ANNOTATION), &mode))
        return 0;
    *ret_off = str_eq(mode, off);
    if (*ret_off || str_eq(mode, others[0]) || str_eq(mode, others[1]))
        return 0;
    return deciding_warn(x,
                         arena_printf(x->arena,
                                      "annotation " PLACEMENT_MODE_ANNOTATION
                                      ": '%.*s' is none of Scores, Owner, Off: it changes nothing",
                                      STR_ARG(mode)));
}

int decide_terms(struct deciding *x) {
    const struct ocm_policy_terms *policy = &x->question->policy;
    struct ocm_decision *d = x->d;
    bool is_off;
    int r = read_mode(x, &is_off);
    if (r != 0 || is_off)
        return r;
    d->terms = x->placement->terms;
    d->term_count = x->placement->term_count;
    if (d->term_count == 0) {
        d->terms = policy->items;
        d->term_count = policy->count;
        d->policy = policy->policy;
        if (policy->warning.n > 0)
            r = deciding_warn(x, policy->warning);
    }
    d->has_spread = d->term_count > 0;
    return r;
}
