/*
 * The ages of the data that a decision used.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* Fills in about->data_age_ms, the age of the oldest kind of data that was used, and about->ages
 * (borrowed: `ages`). Nodes and pods are always used; workloads if a default constraint was
 * applied. */
void ages_of(const struct cache *cache, const struct applied_constraint *applied, uint32_t count,
             struct decision_ages *ages, struct decision_about *about);
/* Returns the age of the data of nodes or of pods, whichever is older; -1 if the data is from files
 * and has no age, or if `cache` is NULL. */
int64_t ages_now_ms(const struct cache *cache);
