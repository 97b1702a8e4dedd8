#include "findings/schemas.h"

#include "model/names.h"

#define OBJECT(name, ...)                                                                          \
    static const struct schema_field name##_fields[] = {__VA_ARGS__};                              \
    static const struct schema name = SCHEMA_OF(SCHEMA_OBJECT, name##_fields)
#define PART(name, ...)                                                                            \
    static const struct schema_field name##_fields[] = {__VA_ARGS__};                              \
    static const struct schema name = SCHEMA_OF(SCHEMA_PART, name##_fields)
#define LIST(name, item) static const struct schema name = {.kind = SCHEMA_LIST, .of = &(item)}
#define ANY(name)                                                                                  \
    { name, NULL }

/* ---- selectors, tolerations ---- */

OBJECT(expression, ANY("key"), ANY("operator"), ANY("values"));
LIST(expressions, expression);
OBJECT(label_selector, ANY("matchLabels"), {"matchExpressions", &expressions});
OBJECT(toleration, ANY("key"), ANY("operator"), ANY("value"), ANY("effect"),
       ANY("tolerationSeconds"));
LIST(tolerations, toleration);

/* ---- affinities ---- */

OBJECT(node_term, {"matchExpressions", &expressions}, {"matchFields", &expressions});
LIST(node_terms, node_term);
OBJECT(node_selector, {"nodeSelectorTerms", &node_terms});
OBJECT(preferred_node, ANY("weight"), {"preference", &node_term});
LIST(preferred_nodes, preferred_node);
OBJECT(node_affinity, {"requiredDuringSchedulingIgnoredDuringExecution", &node_selector},
       {"preferredDuringSchedulingIgnoredDuringExecution", &preferred_nodes});
OBJECT(pod_term, {"labelSelector", &label_selector}, ANY("namespaces"), ANY("topologyKey"),
       {"namespaceSelector", &label_selector}, ANY("matchLabelKeys"), ANY("mismatchLabelKeys"));
LIST(pod_terms, pod_term);
OBJECT(preferred_pod, ANY("weight"), {"podAffinityTerm", &pod_term});
LIST(preferred_pods, preferred_pod);
OBJECT(pod_affinity, {"requiredDuringSchedulingIgnoredDuringExecution", &pod_terms},
       {"preferredDuringSchedulingIgnoredDuringExecution", &preferred_pods});
OBJECT(affinity, {"nodeAffinity", &node_affinity}, {"podAffinity", &pod_affinity},
       {"podAntiAffinity", &pod_affinity});

/* ---- pods ---- */

OBJECT(constraint, ANY("maxSkew"), ANY("topologyKey"), ANY("whenUnsatisfiable"),
       {"labelSelector", &label_selector}, ANY("minDomains"), ANY("nodeAffinityPolicy"),
       ANY("nodeTaintsPolicy"), ANY("matchLabelKeys"));
LIST(constraints, constraint);
PART(pod_spec, {"topologySpreadConstraints", &constraints}, {"affinity", &affinity},
     {"tolerations", &tolerations}, ANY("volumes"), ANY("initContainers"), ANY("containers"),
     ANY("ephemeralContainers"), ANY("restartPolicy"), ANY("terminationGracePeriodSeconds"),
     ANY("activeDeadlineSeconds"), ANY("dnsPolicy"), ANY("nodeSelector"), ANY("serviceAccountName"),
     ANY("serviceAccount"), ANY("automountServiceAccountToken"), ANY("nodeName"),
     ANY("hostNetwork"), ANY("hostPID"), ANY("hostIPC"), ANY("shareProcessNamespace"),
     ANY("securityContext"), ANY("imagePullSecrets"), ANY("hostname"), ANY("subdomain"),
     ANY("schedulerName"), ANY("hostAliases"), ANY("priorityClassName"), ANY("priority"),
     ANY("dnsConfig"), ANY("readinessGates"), ANY("runtimeClassName"), ANY("enableServiceLinks"),
     ANY("preemptionPolicy"), ANY("overhead"), ANY("setHostnameAsFQDN"), ANY("os"),
     ANY("hostUsers"), ANY("schedulingGates"), ANY("resourceClaims"), ANY("resources"),
     ANY("hostnameOverride"), ANY("workloadRef"), ANY("schedulingGroup"));
PART(pod, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &pod_spec}, ANY("status"));
PART(pod_template, ANY("metadata"), {"spec", &pod_spec});

/* ---- workloads ---- */

#define TEMPLATE                                                                                   \
    { "template", &pod_template }
PART(deployment_spec, TEMPLATE, {"selector", &label_selector}, ANY("replicas"), ANY("strategy"),
     ANY("minReadySeconds"), ANY("revisionHistoryLimit"), ANY("paused"),
     ANY("progressDeadlineSeconds"));
PART(stateful_set_spec, TEMPLATE, {"selector", &label_selector}, ANY("replicas"),
     ANY("volumeClaimTemplates"), ANY("serviceName"), ANY("podManagementPolicy"),
     ANY("updateStrategy"), ANY("revisionHistoryLimit"), ANY("minReadySeconds"),
     ANY("persistentVolumeClaimRetentionPolicy"), ANY("ordinals"));
PART(replica_set_spec, TEMPLATE, {"selector", &label_selector}, ANY("replicas"),
     ANY("minReadySeconds"));
PART(replication_controller_spec, TEMPLATE, ANY("selector"), ANY("replicas"),
     ANY("minReadySeconds"), ANY("templateRef"));
PART(daemon_set_spec, TEMPLATE, {"selector", &label_selector}, ANY("updateStrategy"),
     ANY("minReadySeconds"), ANY("revisionHistoryLimit"));
PART(job_spec, TEMPLATE, {"selector", &label_selector}, ANY("parallelism"), ANY("completions"),
     ANY("activeDeadlineSeconds"), ANY("podFailurePolicy"), ANY("successPolicy"),
     ANY("backoffLimit"), ANY("backoffLimitPerIndex"), ANY("maxFailedIndexes"),
     ANY("failedPodsLimit"), ANY("manualSelector"), ANY("ttlSecondsAfterFinished"),
     ANY("completionMode"), ANY("suspend"), ANY("podReplacementPolicy"), ANY("managedBy"));
PART(job_template, ANY("metadata"), {"spec", &job_spec});
PART(cron_job_spec, {"jobTemplate", &job_template}, ANY("schedule"), ANY("timeZone"),
     ANY("startingDeadlineSeconds"), ANY("concurrencyPolicy"), ANY("suspend"),
     ANY("successfulJobsHistoryLimit"), ANY("failedJobsHistoryLimit"));

/* The places of members of a pod's spec, a constraint and an affinity: people often write such
 * members at a higher level. */
#define HOMES(pod_path)                                                                            \
    {                                                                                              \
        {&pod_spec, pod_path}, {&constraint, pod_path ".topologySpreadConstraints[]"}, {           \
            &affinity, pod_path ".affinity"                                                        \
        }                                                                                          \
    }
#define WORKLOAD(name)                                                                             \
    PART(name##_root, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &name##_spec},     \
         ANY("status"));                                                                           \
    static const struct schema_document name##_document = {.schema = &name##_root,                 \
                                                           .homes = HOMES("spec.template.spec")}

WORKLOAD(deployment);
WORKLOAD(stateful_set);
WORKLOAD(replica_set);
WORKLOAD(replication_controller);
WORKLOAD(daemon_set);
WORKLOAD(job);
PART(cron_job_root, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &cron_job_spec},
     ANY("status"));
static const struct schema_document cron_job_document = {
    .schema = &cron_job_root, .homes = HOMES("spec.jobTemplate.spec.template.spec")};
static const struct schema_document pod_document = {.schema = &pod, .homes = HOMES("spec")};

const struct pod_kind pod_kinds[POD_KINDS] = {
    {"v1", POD_KIND, &pod_document},
    {APPS_API, DEPLOYMENT_KIND, &deployment_document},
    {APPS_API, STATEFUL_SET_KIND, &stateful_set_document},
    {APPS_API, REPLICA_SET_KIND, &replica_set_document},
    {APPS_API, DAEMON_SET_KIND, &daemon_set_document},
    {"v1", REPLICATION_CONTROLLER_KIND, &replication_controller_document},
    {BATCH_API, JOB_KIND, &job_document},
    {BATCH_API, CRON_JOB_KIND, &cron_job_document},
};

const struct schema_document *schema_of_workload(struct object_type type) {
    for (uint32_t i = 0; i < POD_KINDS; i++)
        if (str_eq(type.kind, str_of(pod_kinds[i].kind)) &&
            str_eq(type.group, api_group(str_of(pod_kinds[i].api))))
            return pod_kinds[i].document;
    return NULL;
}

static const struct schema_field any_spec_fields[] = {TEMPLATE};
static const struct schema any_spec = SCHEMA_OF(SCHEMA_OPEN, any_spec_fields);
static const struct schema_field any_root_fields[] = {{"spec", &any_spec}};
static const struct schema any_root = SCHEMA_OF(SCHEMA_OPEN, any_root_fields);
const struct schema_document schema_of_template = {.schema = &any_root,
                                                   .homes = {{&pod_spec, "spec.template.spec"}}};

/* ---- Placements ---- */

OBJECT(claim_selector, {"matchExpressions", &expressions});
OBJECT(cel_selector, ANY("celExpressions"));
OBJECT(cluster_selector, {"labelSelector", &label_selector}, {"claimSelector", &claim_selector},
       {"celSelector", &cel_selector});
OBJECT(predicate, {"requiredClusterSelector", &cluster_selector});
LIST(predicates, predicate);
OBJECT(add_on, ANY("resourceName"), ANY("scoreName"));
OBJECT(coordinate, ANY("type"), ANY("builtIn"), {"addOn", &add_on});
/* `name` is a member of an older version, and is still read. */
OBJECT(prioritizer, {"scoreCoordinate", &coordinate}, ANY("weight"), ANY("name"));
LIST(prioritizers, prioritizer);
OBJECT(prioritizer_policy, ANY("mode"), {"configurations", &prioritizers});
OBJECT(spread_term, ANY("topologyKey"), ANY("topologyKeyType"), ANY("maxSkew"),
       ANY("whenUnsatisfiable"));
LIST(spread_terms, spread_term);
OBJECT(spread_policy, {"spreadConstraints", &spread_terms});
OBJECT(group_selector, {"labelSelector", &label_selector}, {"claimSelector", &claim_selector});
OBJECT(group, ANY("groupName"), {"groupClusterSelector", &group_selector});
LIST(groups, group);
OBJECT(group_strategy, ANY("clustersPerDecisionGroup"), {"decisionGroups", &groups});
OBJECT(decision_strategy, {"groupStrategy", &group_strategy});
OBJECT(placement_spec, ANY("clusterSets"), ANY("numberOfClusters"), {"predicates", &predicates},
       {"prioritizerPolicy", &prioritizer_policy}, {"spreadPolicy", &spread_policy},
       {"tolerations", &tolerations}, {"decisionStrategy", &decision_strategy});
OBJECT(placement_root, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &placement_spec},
       ANY("status"));
const struct schema_document schema_of_placement = {
    .schema = &placement_root,
    .homes = {{&placement_spec, "spec"},
              {&spread_term, "spec.spreadPolicy.spreadConstraints[]"},
              {&spread_policy, "spec.spreadPolicy"},
              {&prioritizer_policy, "spec.prioritizerPolicy"}}};

/* ---- bindings ---- */

OBJECT(field_selector, {"matchExpressions", &expressions});
OBJECT(cluster_affinity, {"labelSelector", &label_selector}, {"fieldSelector", &field_selector},
       ANY("clusterNames"), ANY("exclude"));
OBJECT(cluster_affinity_term, ANY("affinityName"), {"labelSelector", &label_selector},
       {"fieldSelector", &field_selector}, ANY("clusterNames"), ANY("exclude"),
       ANY("overflowAffinities"));
LIST(cluster_affinity_terms, cluster_affinity_term);
OBJECT(cluster_spread, ANY("spreadByField"), ANY("spreadByLabel"), ANY("maxGroups"),
       ANY("minGroups"));
LIST(cluster_spreads, cluster_spread);
OBJECT(static_weight, {"targetCluster", &cluster_affinity}, ANY("weight"));
LIST(static_weights, static_weight);
OBJECT(weight_preference, {"staticWeightList", &static_weights}, ANY("dynamicWeight"));
OBJECT(replica_scheduling, ANY("replicaSchedulingType"), ANY("replicaDivisionPreference"),
       {"weightPreference", &weight_preference});
OBJECT(binding_placement, {"clusterAffinity", &cluster_affinity},
       {"clusterAffinities", &cluster_affinity_terms}, {"clusterTolerations", &tolerations},
       {"spreadConstraints", &cluster_spreads}, {"replicaScheduling", &replica_scheduling},
       ANY("workloadAffinity"));
PART(binding_spec, {"placement", &binding_placement}, ANY("resource"), ANY("propagateDeps"),
     ANY("replicaRequirements"), ANY("replicas"), ANY("components"), ANY("clusters"),
     ANY("gracefulEvictionTasks"), ANY("requiredBy"), ANY("schedulerName"), ANY("failover"),
     ANY("conflictResolution"), ANY("rescheduleTriggeredAt"), ANY("suspension"),
     ANY("preserveResourcesOnDeletion"), ANY("schedulePriority"), ANY("workloadAffinityGroups"));
PART(binding_root, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &binding_spec},
     ANY("status"));
const struct schema_document schema_of_binding = {
    .schema = &binding_root,
    .homes = {{&binding_placement, "spec.placement"},
              {&cluster_spread, "spec.placement.spreadConstraints[]"},
              {&replica_scheduling, "spec.placement.replicaScheduling"},
              {&cluster_affinity, "spec.placement.clusterAffinity"}}};

OBJECT(resource_selector, ANY("apiVersion"), ANY("kind"), ANY("namespace"), ANY("name"),
       {"labelSelector", &label_selector});
LIST(resource_selectors, resource_selector);
PART(policy_spec, {"placement", &binding_placement}, {"resourceSelectors", &resource_selectors},
     ANY("association"), ANY("propagateDeps"), ANY("priority"), ANY("preemption"),
     ANY("dependentOverrides"), ANY("schedulerName"), ANY("failover"), ANY("conflictResolution"),
     ANY("activationPreference"), ANY("suspension"), ANY("preserveResourcesOnDeletion"),
     ANY("schedulePriority"));
PART(policy_root, ANY("apiVersion"), ANY("kind"), ANY("metadata"), {"spec", &policy_spec},
     ANY("status"));
const struct schema_document schema_of_propagation_policy = {
    .schema = &policy_root,
    .homes = {{&binding_placement, "spec.placement"},
              {&cluster_spread, "spec.placement.spreadConstraints[]"},
              {&replica_scheduling, "spec.placement.replicaScheduling"},
              {&cluster_affinity, "spec.placement.clusterAffinity"},
              {&resource_selector, "spec.resourceSelectors[]"}}};
