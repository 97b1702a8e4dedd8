/*
 * Holds the cache against the model, and the model against the server. A difference fails the seed.
 */
#pragma once

#include "sim/sim.h"

/* For the process: the questions asked of every cache. */
void checks_open(void);
void checks_close(void);

/* After something of this kind was told: everything that slot `slot` can have changed, or all of
 * the kind for SIM_SLOTS. */
void check_kind(struct sim *s, enum object_kind kind, uint32_t slot);
/* All kinds, every question. */
void check_everything(struct sim *s);
/* The reflector's own counts against the oracle's. */
void check_stats(const struct kube_watch *w);
/* What the source says of its age. */
void check_age(struct sim *s);
/* The cache holds what the server has, to the last change. Only once there was time enough without
 * faults. */
void check_truth(struct sim *s);
