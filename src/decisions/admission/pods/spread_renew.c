#include "admission/pods/spread_renew.h"

#include "admission/pods/spread_written.h"
#include "base/limits.h"

#include <errno.h>

/* ---- constraints that this webhook would have added ---- */

static bool is_as_wanted(const struct spread_constraint *c, const struct policy_spread *wanted) {
    return (wanted->hard || !c->hard) && c->max_skew == wanted->max_skew &&
           (c->min_domains == 1 || c->min_domains == wanted->min_domains) &&
           c->honor_affinity == (wanted->node_affinity != POLICY_IGNORE) &&
           c->honor_taints == (wanted->node_taints != POLICY_IGNORE);
}

/* Returns the place of the only constraint on the policy's key, if it is as the policy wants it, or
 * softer. */
static uint32_t find_alike(const struct pod *pod, const struct policy_spread *wanted) {
    uint32_t found = SPREAD_NO_PLACE, on_key = 0;
    for (uint32_t i = 0; i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        if (!str_eq(c->topology_key, wanted->topology_key))
            continue;
        on_key++;
        if (is_as_wanted(c, wanted))
            found = i;
    }
    return on_key == 1 ? found : SPREAD_NO_PLACE;
}

/* Does the selector not match its own pod, so that the constraint counts only other pods? */
static int is_dead(const struct label_selector *from, const struct pod *pod, struct arena *arena,
                   bool *ret) {
    struct selector selector;
    int r = selector_compile(from, (struct labels){0}, arena, &selector, NULL);
    *ret = r == 0 && !selector.nothing &&
           !selector_matches(&selector, labels_lookup, &pod->meta.labels);
    return r == -ENOMEM ? r : 0;
}

/* ---- constraints that it would add now ---- */

/* Returns the form of the policy's constraint that one of the pod's constraints has. */
static enum spread_form form_now(const struct spread_constraint *c,
                                 const struct policy_spread *wanted) {
    if (c->hard != wanted->hard)
        return SPREAD_SOFT;
    return c->min_domains == (wanted->min_domains > 0 ? wanted->min_domains : 1)
               ? SPREAD_WHOLE
               : SPREAD_WITHOUT_MIN_DOMAINS;
}

/* Finds the constraints that this webhook has added. Sets *ret_count to their number. */
static int find_ours(const struct pod_question *q, const enum spread_fate *fates,
                     uint32_t *ret_places, uint32_t *ret_count) {
    struct arena *arena = q->head.arena;
    struct spread_written written = {.arena = NULL};
    *ret_count = 0;
    for (uint32_t i = 0; i < q->policy->spread_count; i++) {
        struct str key = q->policy->spread[i].topology_key;
        if (fates[i] != SPREAD_OWN)
            continue;
        if (!steps_take(&arena->steps, q->pod.constraint_count))
            return -E2BIG;
        uint32_t at = find_alike(&q->pod, &q->policy->spread[i]);
        if (at == SPREAD_NO_PLACE)
            continue;
        int r = written.arena == NULL ? spread_written_read(q->head.review->object, arena, &written)
                                      : 0;
        if (r != 0)
            return r;
        if (!steps_take(&arena->steps, written.count))
            return -E2BIG;
        if (spread_written_has(&written, key))
            continue;
        ret_places[i] = at;
        (*ret_count)++;
    }
    return 0;
}

/* Plans the policy's constraints for the pod without the constraints that we added. */
static int plan_anew(const struct pod_question *q, const uint32_t *places, enum spread_fate **ret) {
    struct arena *arena = q->head.arena;
    const struct pod *pod = &q->pod;
    struct pod_question bare = *q;
    bool *ours = arena_array(arena, pod->constraint_count, sizeof *ours);
    struct spread_constraint *kept = arena_array(arena, pod->constraint_count, sizeof *kept);
    uint32_t count = 0;
    if (ours == NULL || kept == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < q->policy->spread_count; i++)
        if (places[i] != SPREAD_NO_PLACE)
            ours[places[i]] = true;
    for (uint32_t i = 0; i < pod->constraint_count; i++)
        if (!ours[i])
            kept[count++] = pod->constraints[i];
    bare.pod.constraints = kept;
    bare.pod.constraint_count = count;
    return spread_plan(&bare, ret, NULL);
}

/* Decides about one constraint that we added. It is never made harder. */
static int renew(const struct pod_question *q, enum spread_fate planned, uint32_t i,
                 enum spread_fate *fates, uint32_t *places) {
    const struct spread_constraint *c = &q->pod.constraints[places[i]];
    const enum spread_form was = form_now(c, &q->policy->spread[i]);
    bool dead;
    int r = is_dead(&c->selector, &q->pod, q->head.arena, &dead);
    if (r != 0)
        return r;
    bool by_terms = planned != SPREAD_CONTRADICTED; /* not by the policy's constraints */
    if (was != SPREAD_SOFT && spread_form(planned) > was && by_terms)
        fates[i] = spread_form(planned) == SPREAD_NOT ? SPREAD_TERMS_CHANGED : planned;
    else if (dead)
        fates[i] = SPREAD_RENEWED;
    else
        places[i] = SPREAD_NO_PLACE;
    return 0;
}

int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) {
    struct arena *arena = q->head.arena;
    enum spread_fate *planned;
    uint32_t count;
    bool dead;
    for (uint32_t i = 0; i < q->policy->spread_count; i++)
        ret_places[i] = SPREAD_NO_PLACE;
    int r = is_dead(&group->selector, &q->pod, arena, &dead); /* or the selector is not valid */
    if (r != 0 || dead)
        return r;
    r = find_ours(q, fates, ret_places, &count);
    if (r != 0 || count == 0)
        return r;
    r = plan_anew(q, ret_places, &planned);
    for (uint32_t i = 0; r == 0 && i < q->policy->spread_count; i++)
        if (ret_places[i] != SPREAD_NO_PLACE)
            r = renew(q, planned[i], i, fates, ret_places);
    return r == 0 && steps_spent(&arena->steps) ? -E2BIG : r;
}
