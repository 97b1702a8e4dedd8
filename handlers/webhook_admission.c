#include "handlers/webhook_admission.h"

void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct webhook_inputs *inputs, struct arena *arena,
                   struct webhook_admission *ret) {
    *ret = (struct webhook_admission){.data = fluid_hold(webhook->fluid)};
    const struct policy_list *instead = inputs->instead;
    struct pod_data data = {.store = inputs->found};
    if (inputs->found != NULL) { /* which nobody looks for where nothing is known of data */
        fluid_store_set_behind(inputs->found, fluid_set_data(ret->data)->store);
        data.options = fluid_set_data(ret->data)->options;
    }
    struct pods_options options = {.cache = webhook->cache,
                                   .data =
                                       inputs->found != NULL ? &data : fluid_set_data(ret->data),
                                   .missing = inputs->missing,
                                   .plugins = pod_plugins_default,
                                   .plugin_count = pod_plugins_default_count,
                                   .annotate = webhook->annotate};
    if (instead != NULL) {
        options.policies = instead->items;
        options.policy_count = instead->count;
    } else {
        ret->policies = policies_hold(webhook->policies);
        options.policies = policies_items(ret->policies, &options.policy_count);
    }
    ret->result = admit_pod(&options, review, arena, &ret->patch, &ret->answer);
}

void webhook_admission_done(struct webhook_admission *a) {
    fluid_release(a->data);
    if (a->policies != NULL)
        policies_release(a->policies);
}
