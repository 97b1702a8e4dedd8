/*
 * Prepares the filter of podAffinity and podAntiAffinity before a view is opened, because a pod's
 * selectors may be long.
 */
#pragma once

#include "engine/algorithm.h"

/* Compiles the pod's required terms into e->terms. Returns 0 or -ENOMEM; errors of the pod are in
 * e->terms_failed and e->terms_err. */
int pod_affinity_prepare(struct evaluation *e);
