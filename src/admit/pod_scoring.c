#include "admit/pod_scoring.h"

#include "admit/policy_choice.h"
#include "base/log.h"
#include "fluid/mounted.h"

#include <errno.h>

/* 0 or -ENOMEM. */
static int find_data(const struct pod_scoring *s, struct pod *pod, struct arena *arena) {
    struct err why = {0};
    struct fluid_set *held = pod->claim_count > 0 ? fluid_hold(s->fluid) : NULL;
    if (held == NULL)
        return 0;
    int r = fluid_find_mounted(fluid_set_data(held)->store, pod, arena, &why);
    fluid_release(held);
    if (r != 0 && r != -ENOMEM)
        LOG_D("where the data of a pod is cannot be told",
              LOG_STR("namespace", pod->meta.namespace), LOG_STR("pod", pod->meta.name),
              LOG_ERRTEXT(&why));
    return r == -ENOMEM ? r : 0;
}

/* 0 or -ENOMEM. */
static int weigh(const struct pod_scoring *s, const struct pod *pod, struct arena *arena,
                 struct engine_options *options) {
    struct policy_namespace namespace;
    int r = policy_namespace_find(s->cache, pod->meta.namespace, arena, &namespace);
    if (r != 0)
        return r;
    uint32_t count;
    bool unknown;
    struct policies *held = policies_hold(s->policies);
    const struct policy *items = policies_items(held, &count);
    const struct policy *policy =
        policy_choose(items, count, &namespace, &pod->meta.labels, &unknown);
    if (policy != NULL) {
        options->spread_weight = (uint32_t)policy->spread_weight;
        options->locality_weight = (uint32_t)policy->locality_weight;
    }
    policies_release(held);
    return 0;
}

int pod_scoring_prepare(const struct pod_scoring *s, struct pod *pod, struct arena *arena,
                        struct engine_options *options, struct err *err) {
    int r = find_data(s, pod, arena);
    if (r == 0 && pod->dataset_count > 0 && s->policies != NULL)
        r = weigh(s, pod, arena, options);
    return r == 0 ? 0 : err_set(err, r, "no memory to find the pod's data");
}
