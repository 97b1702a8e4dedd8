/*
 * The members of objects that users ask about, as far as Evenkeel reads them whole.
 * upstream: k8s.io/api v0.36.3 core/v1, apps/v1, batch/v1; open-cluster-management.io/api v1.2.0
 * cluster/v1beta1; karmada v1.18.1 pkg/apis/policy/v1alpha1 and work/v1alpha2.
 */
#pragma once

#include "findings/schema.h"
#include "model/kinds.h"

/* The kinds of Kubernetes itself that are a pod or have a template of pods. upstream: k8s.io/api
 * v0.36.3 */
struct pod_kind {
    const char *api, *kind; /* apiVersion, kind */
    const struct schema_document *document;
};
enum { POD_KINDS = 8 };
extern const struct pod_kind pod_kinds[POD_KINDS];

/* Returns the members of a pod or a workload of this type; NULL for an unknown kind: its members
 * may have any name. */
const struct schema_document *schema_of_workload(struct object_type type);
/* The members of the pod template at spec.template of any workload. */
extern const struct schema_document schema_of_template;

extern const struct schema_document schema_of_placement; /* of Open Cluster Management */
extern const struct schema_document schema_of_binding; /* ResourceBinding, ClusterResourceBinding */
/* PropagationPolicy, ClusterPropagationPolicy */
extern const struct schema_document schema_of_propagation_policy;
