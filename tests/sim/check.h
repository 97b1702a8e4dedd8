/*
 * Compares the cache with the model, and the model with the server. A difference fails the seed.
 */
#pragma once

#include "sim/sim.h"

/* Opens and closes the questions for every cache; once in the process. */
void checks_open(void);
void checks_close(void);

/* Call it after the cache received an object of this kind: checks everything that slot `slot` can
 * have changed, or the whole kind if it is SIM_SLOTS. */
void check_kind(struct sim *s, enum object_kind kind, uint32_t slot);
/* Checks all kinds with every question. */
void check_everything(struct sim *s);
/* Compares the reflector's counts with the oracle's counts. */
void check_stats(const struct kube_watch *w);
/* Checks the age that the source reports. */
void check_age(struct sim *s);
/* Checks that the cache holds exactly the server's objects. Call it only after enough time without
 * faults. */
void check_truth(struct sim *s);
