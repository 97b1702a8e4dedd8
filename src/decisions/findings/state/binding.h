/*
 * Findings about a binding of Karmada: by itself, and beside Karmada's clusters. upstream: karmada
 * pkg/util/validation (v1.18.1) for values that are refused; pkg/scheduler for rules that are
 * passed over.
 *
 * Threads: any; findings_of_karmada() takes the store's read lock.
 */
#pragma once

#include "findings/findings.h"
#include "fleet/karmada.h"
#include "karmada/options.h"
#include "model/binding.h"

/* `json` is the object of the file, which `binding` was decoded from. `trigger`: why it would be
 * scheduled (karmada/binding.h). The arena's steps bound the work. Returns 0, -E2BIG or -ENOMEM;
 * the findings so far stay. */
int findings_of_binding(struct str json, const struct binding *binding,
                        const struct karmada_options *options, struct str trigger,
                        struct findings *f);
/* The same beside the clusters of a store (fleet/karmada.h). */
int findings_of_karmada(struct informer *clusters, const struct binding *binding,
                        struct findings *f);
