/*
 * Random reviews of pods, for same.c. The fast paths must also meet rare pods. So there are owners
 * of every kind, pods with their own constraints and affinities, datasets, gates, pods that opted
 * out, unknown namespaces and objects, and malformed reviews.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* Appends the next review of the random sequence with the state `random`. The caller checks `out`
 * for failure. */
void odd_review(uint64_t *random, struct strbuf *out);
