/*
 * What the filter of podAffinity and podAntiAffinity needs of a pod before a view is opened,
 * because its selectors may be long.
 */
#pragma once

#include "engine/algorithm.h"

/* Compiles the pod's required terms into e->terms. 0 or -ENOMEM; what does not parse is in
 * e->terms_failed and e->terms_err. */
int pod_affinity_prepare(struct evaluation *e);
