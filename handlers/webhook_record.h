/*
 * Decisions about new pods: how they are made, and how they go on record.
 */
#pragma once

#include "admit/pods.h"
#include "explain/recording.h"
#include "handlers/webhook.h"

/* Puts what a review was answered with on record; updates, which are not looked at, leave none. */
void webhook_record(const struct webhook *webhook, const struct review *review,
                    enum admission result, const struct review_answer *answer,
                    const struct moment *began, struct arena *arena);

/* What becomes of a new pod, and what that was found from: held until it is done with. */
struct webhook_admission {
    struct policies *policies;
    struct fluid_set *data;
    enum admission result;
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long */
};
struct policy_list {
    const struct policy *items;
    uint32_t count;
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

/* What a decision says of a new pod. Strings live in the review or the arena. */
struct webhook_pod {
    struct object_meta meta; /* namespace, name and uid, as far as it has them */
    struct str generate_name;
};
void webhook_pod_of(const struct review *review, struct arena *arena, struct webhook_pod *ret);
/* Fills in result and message. */
void webhook_tell(enum admission result, const struct review_answer *answer,
                  struct decision_about *about);
