/*
 * The bindings that a user asks about: bindings in files, or the bindings that Karmada's detector
 * would make from a policy and workloads.
 */
#pragma once

#include "findings/schema.h"
#include "karmada/propagate.h"
#include "model/binding.h"

struct binding_sources {
    const char *const *paths; /* paths of files with bindings */
    uint32_t path_count;
    const char *policy, *workload; /* NULL: the bindings are in files */
    const char *name;              /* the name to select, as in documents_choose(); NULL: all */
};

struct binding_subject {
    struct binding binding;
    struct str text;                      /* the object of the user's file that has the placement */
    const struct schema_document *schema; /* the schema of `text` */
    bool from_policy;   /* made from a policy; the next members are set only then */
    bool interpreted;   /* Karmada's built-in interpreters read the workload's replicas */
    bool scope_unknown; /* the workload counts as cluster-scoped: it has no namespace, and its kind
                           is not known */
    struct str type;    /* the workload's type: "apps/v1 Deployment" */
    struct karmada_propagation made; /* has no binding if the policy does not select it */
};

/* Reads files. Everything is in the arena, and its steps limit the work. Returns 0 or -errno; the
 * error names the file, the path in the object and, if known, the line. */
int binding_subjects_read(const struct binding_sources *from, struct arena *arena,
                          struct binding_subject **ret, uint32_t *ret_count,
                          struct err *err) MUST_CHECK;
