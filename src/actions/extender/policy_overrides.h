/*
 * Inputs of scoring besides the cache: the location of the data that the pod mounts, the weights
 * that its policy gives to data and to distance, and the order in which it fills domains.
 *
 * Thread-safe; nothing outlives the arena.
 */
#pragma once

#include "data/source.h"
#include "engine/engine.h"
#include "policy/policies.h"

struct pod_scoring {
    struct fluid_source *fluid;        /* NULL: locations of data are not known */
    struct policy_source *policies;    /* NULL: no policies */
    const struct policy_list *instead; /* sorted; replaces `policies`; NULL: use `policies` */
    struct cache *cache;
};

/*
 * Fills pod->datasets, and changes `options` from the configured ones to those of the pod's
 * policies, whichever scheduler asks:
 *
 * - For a pod with datasets the weights of its policy replace the configured ones. The tiers of its
 *   locality policy do so, too, if the policy has any.
 * - A policy with several topology keys becomes an ordered rule. The rule drops no node, replaces
 *   the pod's soft constraints, and counts the pods that they select; without soft constraints, the
 *   pod's group. There is no such rule if a soft constraint has a key that the policy does not
 *   have, if the constraints select different pods, or if a configured rule applies to the pod.
 *   Scoring leaves out keys that no candidate has (engine/ordered_spread.c).
 *
 * If a claim, or a namespace's labels, are not known, their part changes nothing. Returns 0 or
 * -ENOMEM.
 */
int pod_scoring_prepare(const struct pod_scoring *s, struct pod *pod, struct arena *arena,
                        struct engine_options *options, struct err *err) MUST_CHECK;
