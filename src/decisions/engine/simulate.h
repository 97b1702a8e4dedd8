/*
 * Tries one pod on the cluster as it is: filters the nodes, and scores those that pass, as
 * kube-scheduler does. Changes nothing.
 */
#pragma once

#include "engine/engine.h"

struct simulation {
    struct candidates filtered; /* the named nodes, or all nodes sorted by name */
    struct filter_result filter;
    struct candidates scored; /* the named nodes, or those that pass */
    struct score_result score;
    int64_t filter_us, score_us; /* durations in microseconds */
};

/* `named` NULL: all nodes that the cache knows. Everything in *ret is in the arena, except the
 * given names and options. 0, or -errno as engine_filter() and engine_score(). */
int engine_simulate(const struct engine_options *options, struct cache *cache,
                    const struct pod *pod, const struct candidates *named, struct arena *arena,
                    struct simulation *ret, struct err *err) MUST_CHECK;
