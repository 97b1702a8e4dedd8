/*
 * Deciding about a pod with the policies and the data that are known now. Both are sets that
 * may be replaced at any time: a decision holds those that it was made from.
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

/* Who knows what. Borrowed. */
struct pod_knowledge {
    struct cache *cache;
    struct policy_source *policies;
    struct fluid_source *fluid; /* NULL: nothing is known of data */
    struct informer *volumes;   /* NULL: nothing is known of volumes */
    struct owners *owners;      /* NULL: nothing is known of what controllers select */
    bool annotate;              /* see struct admission_options */
};

/* What a review is answered by besides. Zeroed: nothing. */
struct pod_inputs {
    const struct policy_list *instead; /* sorted; the source is not looked at; NULL: it is */
    struct fluid_store *found;     /* objects of Fluid's that only this review goes by, or NULL */
    struct fluid_missing *missing; /* filled with what of Fluid's was looked up in vain, or NULL */
    struct owner_wanted *owner_wanted; /* see struct pod_options */
};

/* What becomes of a pod, and what that was found from: held until it is done with. */
struct pod_decision {
    struct policies *policies;
    struct fluid_set *data;
    enum admission result;
    struct spread_tally spread;  /* of a policy's constraints: what became of them */
    struct spread_tally audited; /* of those with mode Audit: what would */
    struct pod_evasion evasion;  /* how the pod evades its policy */
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long */
};

void pod_decide(const struct admitted_kind *kind, const struct pod_knowledge *known,
                const struct review *review, const struct pod_inputs *inputs, struct arena *arena,
                struct pod_decision *ret);
void pod_decision_done(struct pod_decision *d);
