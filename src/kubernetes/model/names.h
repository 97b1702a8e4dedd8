/*
 * Names that Kubernetes, projects around it and Evenkeel itself define: API groups and versions,
 * kinds, keys of labels, annotations and taints. Only this room (source folder) spells them out;
 * all other code uses these macros (tests/lint/check_one_room.sh).
 *
 * All are string literals: STR() makes a struct str of a literal, and adjacent literals are joined.
 * Elsewhere in this room: watched kinds (model/kinds.h), kinds that own pods (model/owner_kinds.h),
 * topology keys of nodes (model/topology.h), keys that distinguish a pod from its siblings
 * (model/pod_keys.h) or name its unit (model/pod_units.h), and labels and annotations of Open
 * Cluster Management (model/ocm.h) and Fluid (model/fluid.h).
 */
#pragma once

/* ---- Kubernetes: groups, apiVersions, kinds; upstream: k8s.io/api, GroupName and types.go ---- */

#define KUBERNETES_DOMAIN "kubernetes.io/" /* prefix of Kubernetes' own labels and resources */

/* The core group, which has no name. */
#define POD_KIND "Pod"
#define NODE_KIND "Node"
#define SECRET_KIND "Secret"
#define SERVICE_KIND "Service"
#define BINDING_KIND "Binding"
#define REPLICATION_CONTROLLER_KIND "ReplicationController"

#define APPS_GROUP "apps"
#define APPS_API APPS_GROUP "/v1"
#define DAEMON_SET_KIND "DaemonSet"
#define DEPLOYMENT_KIND "Deployment"
#define REPLICA_SET_KIND "ReplicaSet"
#define STATEFUL_SET_KIND "StatefulSet"

#define BATCH_GROUP "batch"
#define BATCH_API BATCH_GROUP "/v1"
#define CRON_JOB_KIND "CronJob"
#define JOB_KIND "Job"

#define COORDINATION_GROUP "coordination.k8s.io"
#define COORDINATION_API COORDINATION_GROUP "/v1"
#define LEASE_KIND "Lease"

#define EVENTS_GROUP "events.k8s.io"
#define EVENTS_API EVENTS_GROUP "/v1"
#define EVENT_KIND "Event"

#define ADMISSION_API "admission.k8s.io/v1"
#define ADMISSION_API_BETA "admission.k8s.io/v1beta1"
#define ADMISSION_REVIEW_KIND "AdmissionReview"

#define WEBHOOKS_GROUP "admissionregistration.k8s.io"
#define WEBHOOKS_API WEBHOOKS_GROUP "/v1"
#define MUTATING_WEBHOOKS_KIND "MutatingWebhookConfiguration"
#define VALIDATING_WEBHOOKS_KIND "ValidatingWebhookConfiguration"

#define AUTHORIZATION_API "authorization.k8s.io/v1"
#define ACCESS_REVIEW_KIND "SelfSubjectAccessReview"

/* Kinds of answers. upstream: apimachinery pkg/apis/meta/v1 */
#define STATUS_KIND "Status"
#define LIST_KIND "List" /* also the end of the kind of a typed list, as in PodList */
#define RESOURCE_LIST_KIND "APIResourceList"

/* kube-scheduler's configuration. upstream: k8s.io/kube-scheduler config/v1 */
#define SCHEDULER_CONFIG_API "kubescheduler.config.k8s.io/v1"
#define SCHEDULER_CONFIG_KIND "KubeSchedulerConfiguration"

/* ---- Kubernetes: labels, annotations, types ---- */

/* The name of a namespace, as its label. upstream: core/v1 LabelMetadataName */
#define NAMESPACE_NAME_LABEL "kubernetes.io/metadata.name"

/* Labels that controllers give to pods. upstream: apps/v1 DefaultDeploymentUniqueLabelKey,
 * ControllerRevisionHashLabelKey, StatefulSetPodNameLabel and PodIndexLabel; batch/v1
 * ControllerUidLabel and JobNameLabel, and the older names of both */
#define TEMPLATE_HASH_LABEL "pod-template-hash"
#define REVISION_HASH_LABEL "controller-revision-hash"
#define STATEFUL_POD_NAME_LABEL "statefulset.kubernetes.io/pod-name"
#define POD_INDEX_LABEL "apps.kubernetes.io/pod-index"
#define JOB_UID_LABEL "batch.kubernetes.io/controller-uid"
#define JOB_UID_LABEL_OLD "controller-uid"
#define JOB_NAME_LABEL "batch.kubernetes.io/job-name"
#define JOB_NAME_LABEL_OLD "job-name"

/* upstream: core/v1 MirrorPodAnnotationKey */
#define MIRROR_POD_ANNOTATION "kubernetes.io/config.mirror"
/* Annotations of claims and volumes, and a provisioner that makes no volumes. upstream: core/v1
 * BetaStorageClassAnnotation; component-helpers storage/volume, pv_helpers.go */
#define STORAGE_CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"
#define BIND_COMPLETED_ANNOTATION "pv.kubernetes.io/bind-completed"
#define SELECTED_NODE_ANNOTATION "volume.kubernetes.io/selected-node"
#define NO_PROVISIONER "kubernetes.io/no-provisioner"
/* Holds the whole object, as kubectl last applied it. upstream: core/v1
 * LastAppliedConfigAnnotation */
#define LAST_APPLIED_ANNOTATION "kubectl.kubernetes.io/last-applied-configuration"
/* Marks the bookmark that ends a watch's first listing. upstream: meta/v1
 * InitialEventsAnnotationKey */
#define INITIAL_EVENTS_END_ANNOTATION "k8s.io/initial-events-end"
/* Names the program that manages an object. upstream: Kubernetes' recommended labels */
#define MANAGED_BY_LABEL "app.kubernetes.io/managed-by"
/* upstream: core/v1 SecretTypeTLS */
#define TLS_SECRET_TYPE "kubernetes.io/tls"

/* ---- Argo Rollouts; upstream: pkg/apis/rollouts, DefaultRolloutUniqueLabelKey ---- */

#define ROLLOUT_GROUP "argoproj.io"
#define ROLLOUT_API ROLLOUT_GROUP "/v1alpha1"
#define ROLLOUT_KIND "Rollout"
#define ROLLOUT_HASH_LABEL "rollouts-pod-template-hash"

/* ---- Open Cluster Management; upstream: open-cluster-management.io/api cluster ---- */

#define OCM_GROUP "cluster.open-cluster-management.io"
#define PLACEMENT_KIND "Placement"

/* ---- Karmada; upstream: pkg/apis/cluster, pkg/apis/work, pkg/util ---- */

#define KARMADA_CLUSTER_GROUP "cluster.karmada.io"
#define KARMADA_WORK_GROUP "work.karmada.io"
#define RESOURCE_BINDING_KIND "ResourceBinding"
#define CLUSTER_RESOURCE_BINDING_KIND "ClusterResourceBinding"
#define KARMADA_POLICY_GROUP "policy.karmada.io"
#define PROPAGATION_POLICY_KIND "PropagationPolicy"
#define CLUSTER_PROPAGATION_POLICY_KIND "ClusterPropagationPolicy"
/* Other groups of objects that Karmada keeps to itself. */
#define KARMADA_APPS_GROUP "apps.karmada.io"
#define KARMADA_AUTOSCALING_GROUP "autoscaling.karmada.io"
#define KARMADA_CONFIG_GROUP "config.karmada.io"
#define KARMADA_NETWORKING_GROUP "networking.karmada.io"
#define KARMADA_REMEDY_GROUP "remedy.karmada.io"
/* On bindings: labels and annotations that name the policy, and finalizers, with which Karmada
 * deletes the binding's Works first. */
#define PROPAGATION_POLICY_ID_LABEL "propagationpolicy.karmada.io/permanent-id"
#define PROPAGATION_POLICY_NAMESPACE_ANNOTATION "propagationpolicy.karmada.io/namespace"
#define PROPAGATION_POLICY_NAME_ANNOTATION "propagationpolicy.karmada.io/name"
#define CLUSTER_PROPAGATION_POLICY_ID_LABEL "clusterpropagationpolicy.karmada.io/permanent-id"
#define CLUSTER_PROPAGATION_POLICY_NAME_ANNOTATION "clusterpropagationpolicy.karmada.io/name"
#define RESOURCE_BINDING_FINALIZER "karmada.io/binding-controller"
#define CLUSTER_RESOURCE_BINDING_FINALIZER "karmada.io/cluster-resource-binding-controller"
/* On an object: the controller that distributes it instead of a policy. */
#define KARMADA_CLAIMED_LABEL "resourcetemplate.karmada.io/claimed-by"
/* A Service of other clusters. upstream: sigs.k8s.io/mcs-api pkg/apis/v1alpha1 */
#define SERVICE_IMPORT_API "multicluster.x-k8s.io/v1alpha1"
#define SERVICE_IMPORT_KIND "ServiceImport"
/* The placement by which a binding was last scheduled. */
#define APPLIED_PLACEMENT_ANNOTATION "policy.karmada.io/applied-placement"

/* ---- Evenkeel ---- */

#define EVENKEEL_GROUP "evenkeel.io"
#define EVENKEEL_API EVENKEEL_GROUP "/v1alpha1"        /* for policies and the configuration */
#define EVENKEEL_CONTROLLER EVENKEEL_GROUP "/evenkeel" /* the reporter of Events */
#define POLICY_KIND "TopologyPolicy"
#define POLICY_LIST_KIND POLICY_KIND LIST_KIND
#define CONFIGURATION_KIND "EvenkeelConfiguration"
/* On a pod or its namespace; "disabled": policies leave the pod alone (policy/match.h). */
#define INJECT_LABEL EVENKEEL_GROUP "/inject"
/* Marks a Secret with certificates that Evenkeel made. */
#define CERTIFICATES_ANNOTATION EVENKEEL_GROUP "/certificates"
/* Tells users in one line how Evenkeel has changed the pod. */
#define EXPLAINED_ANNOTATION "pods." EVENKEEL_GROUP "/explained"
