/*
 * PropagationPolicy and ClusterPropagationPolicy of Karmada, and the objects that they select: only
 * the parts from which Karmada's detector makes a binding. upstream: karmada v1.18.1
 * pkg/apis/policy/v1alpha1 propagation_types.go and pkg/resourceinterpreter/default/native
 * replica.go.
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena. Unknown
 * fields are skipped. Errors stay in the reader, with path and byte. Threads: none of its own.
 */
#pragma once

#include "model/object.h"

/* ---- policies ---- */

/* One of spec.resourceSelectors. */
struct propagation_selector {
    struct str api_version, kind, namespace, name;
    struct label_selector label_selector;
    struct selector labels; /* label_selector, compiled */
    bool invalid;           /* it does not compile: selects nothing */
};

struct propagation_policy {
    struct object_meta meta; /* a PropagationPolicy without a namespace is in `default` */
    bool cluster_wide;       /* ClusterPropagationPolicy */
    const struct propagation_selector *selectors;
    uint32_t selector_count;
    /* JSON of members, as in the object; .p NULL: the member is absent. The placement has been
     * decoded without an error. */
    struct str placement, failover, suspension, preserves;
    bool propagates_dependencies;
    struct str scheduler, conflict_resolution; /* with the CRD's defaults */
};
/* Refuses an object of another kind or without a name. */
void propagation_policy_read(struct json_reader *r, struct propagation_policy *ret);

/* ---- objects ---- */

/* An object as an API server would store it. */
struct propagated_object {
    struct str api_version, kind;
    /* An object without a namespace is in `default`, unless its kind is cluster-scoped. */
    struct object_meta meta;
    bool scope_unknown; /* the kind's scope is not known and the object has no namespace: it counts
                           as cluster-scoped */
    /* Karmada's built-in interpreters read the members below; for other kinds these members are
     * zero. */
    bool interpreted;
    int32_t replicas;
    /* JSON of members of the pod template, as in the object; .p NULL: the member is absent */
    struct str node_selector, hard_affinity, tolerations;
    struct resources requests;
};
/* Refuses an object without apiVersion, kind or name. */
void propagated_object_read(struct json_reader *r, struct propagated_object *ret);
