/*
 * The filter TaintToleration: every taint of a cluster has to be tolerated. upstream:
 * plugins/tainttoleration/taint_toleration.go.
 *
 * upstream's arithmetic is kept: tolerationSeconds becomes nanoseconds in 64 bits and wraps, so
 * that with most values above 9.2e9 the toleration has ended; a taint without a time counts as
 * added in the year 1.
 */
#include "ocm/internal.h"

static const struct str plugin = {"TaintToleration", 15};

#define YEAR_ONE_MS (-62135596800000) /* Go's zero time */
#define NS_A_MS 1000000

static int validate(struct deciding *x) {
    const struct placement *p = x->placement;
    for (uint32_t i = 0; i < p->toleration_count; i++) {
        const struct toleration *t = &p->tolerations[i].toleration;
        const bool exists = str_eq(t->op, STR("Exists"));
        const bool bad = exists ? t->value.n > 0 : t->key.n == 0;
        if (!bad)
            continue;
        deciding_stop(x, OCM_MISCONFIGURED, plugin,
                      exists ? STR("If the operator is Exists, the value should be empty.")
                             : STR("If the key is empty, operator must be Exists."));
        break;
    }
    return deciding_steps(x, p->toleration_count);
}

struct tolerance {
    bool tolerated;
    bool expired;     /* a toleration matched, but has ended */
    bool has_end;     /* the tolerance ends after `after_ms` */
    int64_t after_ms; /* time from now until the end, not rounded down */
};

/* Returns the number of milliseconds until a toleration ends, rounded up; 0 if it has ended. */
static int64_t time_left_ms(const struct deciding *x, const struct cluster_taint *taint,
                            int64_t seconds) {
    const int64_t added = taint->added_ms == INT64_MIN ? YEAR_ONE_MS : taint->added_ms;
    const int64_t whole_ns = (int64_t)((uint64_t)seconds * 1000000000u);
    const int64_t age_ms = x->question->now_ms - added;
    /* the toleration ends whole_ns after the taint was added; the end, rounded up to milliseconds,
     * is in the future if and only if the exact end is */
    const int64_t whole_ms = whole_ns / NS_A_MS + (whole_ns % NS_A_MS > 0);
    return age_ms < whole_ms ? whole_ms - age_ms : 0;
}

/* Finds whether, and how long, a taint is tolerated: the first toleration in force for the taint
 * decides. */
static struct tolerance tolerance_of(const struct deciding *x, const struct cluster_taint *taint,
                                     bool is_member) {
    const struct placement *p = x->placement;
    struct tolerance ret = {0};
    if (str_eq(taint->taint.effect, STR("PreferNoSelect")) ||
        (is_member && str_eq(taint->taint.effect, STR("NoSelectIfNew"))))
        return (struct tolerance){.tolerated = true};
    for (uint32_t i = 0; i < p->toleration_count && !ret.tolerated; i++) {
        const struct placement_toleration *t = &p->tolerations[i];
        if (!toleration_tolerates(&t->toleration, &taint->taint))
            continue;
        ret.after_ms = t->has_seconds ? time_left_ms(x, taint, t->seconds) : 0;
        ret.has_end = t->has_seconds;
        ret.tolerated = !t->has_seconds || ret.after_ms > 0;
        ret.expired = ret.expired || !ret.tolerated;
    }
    return ret;
}

/* Finds whether, and how long, all taints of a cluster are tolerated. Sets *ret_cause to the first
 * taint that is not tolerated. */
static struct tolerance tolerance_of_cluster(const struct deciding *x,
                                             const struct fleet_cluster *cluster, bool is_member,
                                             uint32_t *ret_cause) {
    struct tolerance all = {.tolerated = true};
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        const struct tolerance one = tolerance_of(x, &cluster->taints[i], is_member);
        *ret_cause = taint_cause(i, one.expired);
        if (!one.tolerated)
            return one;
        if (one.has_end && (!all.has_end || one.after_ms < all.after_ms)) {
            all.has_end = true;
            all.after_ms = one.after_ms;
        }
    }
    return all;
}

static int take_steps(struct deciding *x, const struct fleet_cluster *cluster) {
    return deciding_steps(x, cluster->taint_count * (1 + (uint64_t)x->placement->toleration_count));
}

int decide_taints(struct deciding *x) {
    uint32_t left = 0;
    int r = x->left_count == 0 ? 0 : validate(x);
    if (r != 0 || x->d->outcome != OCM_DECIDED)
        return r;
    for (uint32_t i = 0; r == 0 && i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        uint32_t cause = 0;
        if ((x->facts[slot] & SLOT_TAINTED) == 0) {
            x->left[left++] = slot;
            continue;
        }
        const struct fleet_cluster *cluster = fleet_cluster(x->view, slot);
        r = take_steps(x, cluster);
        if (tolerance_of_cluster(x, cluster, x->members[slot] != 0, &cause).tolerated) {
            x->left[left++] = slot;
        } else {
            x->verdicts[slot] = OCM_TAINT_TOLERATION;
            x->causes[slot] = cause;
        }
    }
    x->left_count = left;
    return r;
}

/* Looks at the clusters in today's decisions, available or not. An unknown cluster has no
 * taints. */
int decide_requeue(struct deciding *x) {
    struct ocm_decision *d = x->d;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < d->current_count; i++) {
        uint32_t cause;
        const struct fleet_cluster *cluster = fleet_cluster(x->view, d->current[i]);
        r = take_steps(x, cluster);
        const struct tolerance t = tolerance_of_cluster(x, cluster, true, &cause);
        if (t.tolerated && t.has_end && (!d->has_requeue || t.after_ms < d->requeue_ms)) {
            d->has_requeue = true;
            d->requeue_ms = t.after_ms;
        }
    }
    return r;
}
