#include "estimator/unschedulable.h"

#include "estimator/estimator.h"
#include "model/names.h"

#include <errno.h>

/* Is an object in the Deployment's namespace, with labels that the Deployment's selector
 * matches? */
static bool is_selected(const struct unschedulable_question *q, const struct selector *selector,
                        const struct object_meta *meta) {
    return str_eq(meta->namespace, q->deployment->meta.namespace) &&
           selector_matches(selector, labels_lookup, &meta->labels);
}

static bool is_controlled_by(const struct object_meta *meta, struct str uid) {
    return !str_empty(meta->controller_kind) && str_eq(meta->controller_uid, uid);
}

/* Orders by creation time, then by name. A workload without a creation time is the oldest. */
static bool is_older(const struct karmada_workload *a, const struct karmada_workload *b) {
    if (a->has_created != b->has_created)
        return !a->has_created;
    if (a->has_created && a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms;
    return str_cmp(a->meta.name, b->meta.name) < 0;
}

/* Returns the ReplicaSet with the Deployment's template; NULL if not found. */
static const struct karmada_workload *find_replica_set(const struct unschedulable_question *q,
                                                       const struct selector *selector) {
    const struct hash128 template = q->deployment->template;
    const struct karmada_workload *found = NULL;
    for (uint32_t i = 0; i < q->replica_set_count; i++) {
        const struct karmada_workload *set = &q->replica_sets[i];
        if (hash128_equal(set->template, template) && is_selected(q, selector, &set->meta) &&
            is_controlled_by(&set->meta, q->deployment->meta.uid) &&
            (found == NULL || is_older(set, found)))
            found = set;
    }
    return found;
}

/* Compares times in nanoseconds; 64 bits are too few for them. */
static bool is_unschedulable(const struct karmada_pod *pod, int64_t threshold_ns, int64_t now_ms) {
    const __int128 ns_a_ms = 1000000;
    return pod->unschedulable &&
           (!pod->has_transition || pod->transition_ms * ns_a_ms + threshold_ns < now_ms * ns_a_ms);
}

int estimator_unschedulable(const struct unschedulable_question *q, struct arena *arena,
                            int64_t *ret, struct err *err) {
    const int64_t threshold_ns = q->threshold_ns > 0 ? q->threshold_ns : 0;
    struct selector selector;
    int64_t count = 0;
    *ret = 0;
    if (!steps_take(&arena->steps, label_selector_steps(&q->deployment->selector)))
        return err_set(err, -E2BIG, "spec.selector: too large");
    const int r =
        selector_compile(&q->deployment->selector, (struct labels){0}, arena, &selector, err);
    if (r != 0)
        return err_wrap(err, "spec.selector");
    const uint64_t each = 1 + selector_cost(&selector).steps;
    if (!steps_take(&arena->steps, each * ((uint64_t)q->replica_set_count + q->pod_count)))
        return err_set(err, -E2BIG, "too many pods and ReplicaSets");
    const struct karmada_workload *set = find_replica_set(q, &selector);
    for (uint32_t i = 0; set != NULL && i < q->pod_count; i++) {
        const struct karmada_pod *pod = &q->pods[i];
        if (is_unschedulable(pod, threshold_ns, q->now_ms) &&
            is_controlled_by(&pod->meta, set->meta.uid) && is_selected(q, &selector, &pod->meta))
            count++;
    }
    *ret = count < ESTIMATE_MAX ? count : ESTIMATE_MAX;
    return 0;
}

struct str estimator_unschedulable_refusal(const struct wire_unschedulable *asked,
                                           struct arena *arena) {
    if (str_empty(asked->kind) && str_empty(asked->api_version) && str_empty(asked->name))
        return STR("resource is nil");
    if (!str_eq(asked->kind, STR(DEPLOYMENT_KIND)))
        return arena_printf(arena, "kind(%.*s) of workload(%.*s%s%.*s) is not supported",
                            STR_ARG(asked->kind), STR_ARG(asked->namespace),
                            str_empty(asked->namespace) ? "" : "/", STR_ARG(asked->name));
    if (!str_eq(asked->api_version, STR(APPS_API)))
        return arena_printf(arena,
                            "no matches for kind \"" DEPLOYMENT_KIND "\" in version \"%.*s\"",
                            STR_ARG(asked->api_version));
    return (struct str){0};
}
