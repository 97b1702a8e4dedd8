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

/* The parts of an answer (explain/binding.h) that findings are about. */
struct binding_answer {
    struct str trigger; /* why the binding would be scheduled */
    const struct target_cluster *clusters;
    uint32_t cluster_count;
};
/* Strings are in the answer or the arena. Returns 0 or -errno. */
int binding_answer_read(struct str json, struct arena *arena, struct binding_answer *ret,
                        struct err *err) MUST_CHECK;

/* Adds findings about the binding by itself. The arena's steps bound the work. */
void findings_of_binding(const struct binding *binding, const struct karmada_options *options,
                         const struct binding_answer *answer, struct findings *f);
/* The same beside the clusters of a store (fleet/karmada.h). Returns 0, -E2BIG or -ENOMEM; the
 * findings so far stay. */
int findings_of_karmada(struct informer *clusters, const struct binding *binding,
                        const struct binding_answer *answer, struct findings *f);
