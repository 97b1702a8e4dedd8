/*
 * Deciding about a new pod with the policies and the data that are known now.
 *
 * Thread-safe; an admission belongs to its request.
 */
#pragma once

#include "admission/pods/pods.h"
#include "handlers/webhook.h"

/* What becomes of a new pod, and what that was found from: held until it is done with. */
struct webhook_admission {
    struct policies *policies;
    struct fluid_set *data;
    enum admission result;
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long */
};
/* What a review is answered by besides what the webhook knows. Zeroed: nothing. */
struct webhook_inputs {
    const struct policy_list *instead; /* sorted; webhook->policies is not looked at; NULL: it is */
    struct fluid_store *found;     /* objects of Fluid's that only this review goes by, or NULL */
    struct fluid_missing *missing; /* filled with what of Fluid's was looked up in vain, or NULL */
};
void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct webhook_inputs *inputs, struct arena *arena,
                   struct webhook_admission *ret);
void webhook_admission_done(struct webhook_admission *a);
