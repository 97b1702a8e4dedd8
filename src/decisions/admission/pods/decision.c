#include "admission/pods/decision.h"

void pod_decide(const struct admitted_kind *kind, const struct pod_knowledge *known,
                const struct review *review, const struct pod_inputs *inputs, struct arena *arena,
                struct pod_decision *ret) {
    *ret = (struct pod_decision){.data = fluid_hold(known->fluid)};
    const struct policy_list *instead = inputs->instead;
    struct pod_data data = {.store = inputs->found};
    if (inputs->found != NULL) { /* `found` is not searched where no data is known */
        fluid_store_set_behind(inputs->found, fluid_set_data(ret->data)->store);
        data.options = fluid_set_data(ret->data)->options;
    }
    if (inputs->missing != NULL)
        inputs->missing->count = 0;
    if (inputs->owner_wanted != NULL)
        *inputs->owner_wanted = (struct owner_wanted){.unit = false};
    struct pod_options options = {.head.annotate = known->annotate,
                                  .head.finds = kind == &admitted_pods,
                                  .cache = known->cache,
                                  .volumes = known->volumes,
                                  .data = inputs->found != NULL ? &data : fluid_set_data(ret->data),
                                  .missing = inputs->missing,
                                  .owners = known->owners,
                                  .owner_wanted = inputs->owner_wanted,
                                  .spread = &ret->spread,
                                  .audited = &ret->audited,
                                  .evasion = &ret->evasion};
    if (instead != NULL) {
        options.head.policies = instead->items;
        options.head.policy_count = instead->count;
    } else {
        ret->policies = policies_hold(known->policies);
        options.head.policies = policies_items(ret->policies, &options.head.policy_count);
    }
    ret->result = admit_object(kind, &options.head, review, arena, &ret->patch, &ret->answer);
}

void pod_decision_done(struct pod_decision *d) {
    fluid_release(d->data);
    if (d->policies != NULL)
        policies_release(d->policies);
}
