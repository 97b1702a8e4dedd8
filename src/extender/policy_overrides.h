/*
 * What scoring a pod takes beside the cache: where the data is that it mounts, how much its policy
 * wants of that, and in which order the policy's domains are to be filled.
 *
 * Thread-safe; nothing outlives the arena.
 */
#pragma once

#include "data/source.h"
#include "engine/engine.h"
#include "policy/policies.h"

struct pod_scoring {
    struct fluid_source *fluid;        /* NULL: nothing is known of data */
    struct policy_source *policies;    /* NULL: there are none */
    const struct policy_list *instead; /* sorted; `policies` is not looked at; NULL: it is */
    struct cache *cache;
};

/*
 * Fills pod->datasets, and has `options`, which come as they are configured, follow the pod's
 * policy. For a pod with datasets its weights take the place of the configured ones. A policy of
 * several topology keys makes an ordered rule, which drops no node and takes the place of the pod's
 * soft constraints, and counts whom they count, without any the pod's group; unless one of those is
 * on a key that is not the policy's, or they count different pods, or a configured rule is for the
 * pod. What is not known, a claim or the labels of a namespace, changes nothing.
 * 0 or -ENOMEM.
 */
int pod_scoring_prepare(const struct pod_scoring *s, struct pod *pod, struct arena *arena,
                        struct engine_options *options, struct err *err) MUST_CHECK;
