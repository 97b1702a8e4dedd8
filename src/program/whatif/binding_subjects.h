/*
 * The bindings that a user asks about: those of files, or those that Karmada's detector would make
 * of a policy and workloads.
 */
#pragma once

#include "findings/schema.h"
#include "karmada/propagate.h"
#include "model/binding.h"

struct binding_sources {
    const char *const *paths; /* of files with bindings */
    uint32_t path_count;
    const char *policy, *workload; /* NULL: the bindings are in files */
    const char *name; /* of bindings, or of workloads, as in documents_choose(); NULL: all */
};

struct binding_subject {
    struct binding binding;
    struct str text;                      /* the object of the user's file that has the placement */
    const struct schema_document *schema; /* of the text */
    bool from_policy;                     /* then the next members count */
    bool interpreted;   /* Karmada's built-in interpreters read the workload's replicas */
    bool scope_unknown; /* the workload counts as cluster-scoped: it has no namespace, and its kind
                           is not known */
    struct str type;    /* of the workload, as in "apps/v1 Deployment" */
    struct karmada_propagation made; /* without a binding: the policy does not select it */
};

/* Reads files; everything is in the arena, whose steps bound the work. Returns 0 or -errno; the
 * sentence names the file, the path in the object and, if known, the line. */
int binding_subjects_read(const struct binding_sources *from, struct arena *arena,
                          struct binding_subject **ret, uint32_t *ret_count,
                          struct err *err) MUST_CHECK;
