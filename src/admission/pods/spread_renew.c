#include "admission/pods/spread_renew.h"

#include "admission/pods/spread_written.h"
#include "base/limits.h"

#include <errno.h>

/* ---- what this webhook would have added ---- */

static bool is_as_wanted(const struct spread_constraint *c, const struct policy_spread *wanted) {
    return (wanted->hard || !c->hard) && c->max_skew == wanted->max_skew &&
           (c->min_domains == 1 || c->min_domains == wanted->min_domains) &&
           c->honor_affinity == (wanted->node_affinity != POLICY_IGNORE) &&
           c->honor_taints == (wanted->node_taints != POLICY_IGNORE);
}

/* The only constraint on that key, if it is as the policy wants it; UINT32_MAX: there is none such.
 */
static uint32_t find_alike(const struct pod *pod, const struct policy_spread *wanted) {
    uint32_t found = UINT32_MAX, on_key = 0;
    for (uint32_t i = 0; i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        if (!str_eq(c->topology_key, wanted->topology_key))
            continue;
        on_key++;
        if (is_as_wanted(c, wanted))
            found = i;
    }
    return on_key == 1 ? found : UINT32_MAX;
}

/* Does it count others, and not its own pod? */
static int is_dead(const struct label_selector *from, const struct pod *pod, struct arena *arena,
                   bool *ret) {
    struct selector selector;
    int r = selector_compile(from, (struct labels){0}, arena, &selector, NULL);
    *ret = r == 0 && !selector.nothing &&
           !selector_matches(&selector, labels_lookup, &pod->meta.labels);
    return r == -ENOMEM ? r : 0;
}

int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) {
    struct arena *arena = q->head.arena;
    const struct policy *policy = q->policy;
    struct spread_written written = {.arena = NULL};
    bool dead;
    int r = is_dead(&group->selector, &q->pod, arena, &dead); /* also one that is not valid */
    if (r != 0 || dead)
        return r;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        if (fates[i] == SPREAD_OWN && !steps_take(&arena->steps, q->pod.constraint_count))
            return -E2BIG;
        uint32_t at = fates[i] == SPREAD_OWN ? find_alike(&q->pod, &policy->spread[i]) : UINT32_MAX;
        if (at == UINT32_MAX)
            continue;
        r = is_dead(&q->pod.constraints[at].selector, &q->pod, arena, &dead);
        if (r == 0 && dead && written.arena == NULL)
            r = spread_written_read(q->head.review->object, arena, &written);
        if (r != 0)
            return r;
        if (!dead || !steps_take(&arena->steps, written.count) ||
            spread_written_has(&written, policy->spread[i].topology_key))
            continue;
        fates[i] = SPREAD_RENEWED;
        ret_places[i] = at;
    }
    return steps_spent(&arena->steps) ? -E2BIG : 0;
}
