/*
 * One pod tried on the cluster as it is: filtered, and scored where it passes, as kube-scheduler
 * has it done. Nothing is changed by it.
 */
#pragma once

#include "engine/engine.h"

struct simulation {
    struct candidates filtered; /* those named, or all nodes by name */
    struct filter_result filter;
    struct candidates scored; /* those named, or those that pass */
    struct score_result score;
    int64_t filter_us, score_us; /* how long they took */
};

/* `named` NULL: all nodes that the cache knows. Everything in *ret is in the arena, but for names
 * and options given. 0, or -errno as engine_filter() and engine_score(). */
int engine_simulate(const struct engine_options *options, struct cache *cache,
                    const struct pod *pod, const struct candidates *named, struct arena *arena,
                    struct simulation *ret, struct err *err) MUST_CHECK;
