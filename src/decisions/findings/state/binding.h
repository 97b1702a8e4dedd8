/*
 * Findings about a binding of Karmada: about the binding alone, and together with Karmada's
 * clusters. upstream: karmada pkg/util/validation (v1.18.1) for refused values; pkg/scheduler for
 * ignored rules.
 *
 * Threads: any; findings_of_karmada() takes the store's read lock.
 */
#pragma once

#include "findings/findings.h"
#include "fleet/karmada.h"
#include "karmada/options.h"
#include "model/binding.h"

/* The parts of an answer (explain/binding.h) that findings are about. */
struct binding_answer {
    struct str trigger; /* the reason why the binding would be scheduled */
    const struct target_cluster *clusters;
    uint32_t cluster_count;
};
/* Strings are in the answer or the arena. Returns 0 or -errno. */
int binding_answer_read(struct str json, struct arena *arena, struct binding_answer *ret,
                        struct err *err) MUST_CHECK;

/* Adds findings about the binding alone. The arena's steps bound the work. */
void findings_of_binding(const struct binding *binding, const struct karmada_options *options,
                         const struct binding_answer *answer, struct findings *f);
/* Adds findings about the binding together with the clusters of a store (fleet/karmada.h). Returns
 * 0, -E2BIG or -ENOMEM; the findings so far stay. */
int findings_of_karmada(struct informer *clusters, const struct binding *binding,
                        const struct binding_answer *answer, struct findings *f);
