/*
 * Decides about a pod with the policies and the data known now. Both are sets that may be replaced
 * at any time: a decision holds the sets that it was made from.
 *
 * Thread-safe; a decision belongs to its request.
 */
#pragma once

#include "admission/pods/pods.h"
#include "admission/pods/require.h"
#include "admission/pods/spread_plan.h"
#include "data/source.h"
#include "owners/owners.h"
#include "policy/policies.h"

/* Sources of policies and cluster state. All pointers are borrowed. */
struct pod_knowledge {
    struct cache *cache;
    struct policy_source *policies;
    struct fluid_source *fluid; /* NULL: no data is known */
    struct informer *volumes;   /* NULL: no volume is known */
    struct owners *owners;      /* NULL: no controller's selector is known */
    bool annotate;              /* see struct admission_options */
};

/* Further inputs of one review. Zeroed: none. */
struct pod_inputs {
    const struct policy_list *instead; /* sorted; NULL: use the source's policies */
    struct fluid_store *found;         /* Fluid's objects for this review only, or NULL */
    struct fluid_missing *missing; /* filled with Fluid's objects that were not found, or NULL */
    struct owner_wanted *owner_wanted; /* see struct pod_options */
};

/* The decision about a pod; holds the policies and data that it was made from until it is freed. */
struct pod_decision {
    struct policies *policies;
    struct fluid_set *data;
    enum admission result;
    struct spread_tally spread;  /* results for the policy's constraints */
    struct spread_tally audited; /* results that policies with mode Audit would have */
    struct pod_evasion evasion;  /* how the pod evades its policy */
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long as the policies */
};

void pod_decide(const struct admitted_kind *kind, const struct pod_knowledge *known,
                const struct review *review, const struct pod_inputs *inputs, struct arena *arena,
                struct pod_decision *ret);
void pod_decision_done(struct pod_decision *d);
