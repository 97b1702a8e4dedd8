/*
 * What scoring a pod takes beside the cache: where the data is that it mounts, and how much its
 * policy wants of that.
 *
 * Thread-safe; nothing outlives the arena.
 */
#pragma once

#include "admit/fluid_source.h"
#include "admit/policies.h"
#include "engine/engine.h"

struct pod_scoring {
    struct fluid_source *fluid;     /* NULL: nothing is known of data */
    struct policy_source *policies; /* NULL: nobody's weights count */
    struct cache *cache;
};

/*
 * Fills pod->datasets, and for a pod that has some puts the weights of its policy into `options`,
 * which come as they are configured. What is not known, a claim or the labels of a namespace,
 * changes nothing. 0 or -ENOMEM.
 */
int pod_scoring_prepare(const struct pod_scoring *s, struct pod *pod, struct arena *arena,
                        struct engine_options *options, struct err *err) MUST_CHECK;
