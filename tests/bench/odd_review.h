/*
 * Random reviews of pods, for same.c: what hurries must meet what is rare, so there are owners of
 * every kind, constraints and affinities of the pod's own, datasets, gates, pods that opted out,
 * namespaces and objects that nobody knows, and reviews that are none.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* The next review of the sequence that `random` stands in. A caller asks `out` for failure. */
void odd_review(uint64_t *random, struct strbuf *out);
