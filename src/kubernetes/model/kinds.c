#include "model/kinds.h"

#include "base/limits.h"
#include "model/fluid.h"
#include "model/names.h"

#include <assert.h>
#include <stdio.h>

/* Spreading ignores finished pods, and kube-scheduler does not list them either. */
#define UNFINISHED "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

/* Selects pods that keep bytes of a dataset: Fluid gives them this label. */
#define OF_A_DATASET "labelSelector=fluid.io%2Fdataset"

#define VITAL(reason)                                                                              \
    { .verbs = "list watch", .vital = true, .why = reason }
#define WANTED(what, reason)                                                                       \
    { .verbs = what, .why = reason }

#define SELECTORS VITAL("default constraints take their selectors")
#define PINS "without it pods are spread as if their volumes could be anywhere"
#define NEAR_DATA "needed for pods near their data, if Fluid is installed"

/* A kind that Fluid defines. */
#define FLUID(name, plural)                                                                        \
    {                                                                                              \
        .group = FLUID_GROUP, .version = "v1alpha1", .kind = name, .resource = plural,             \
        .optional = true, .need = KIND_FOR_DATA,                                                   \
        .permissions = {WANTED("get list watch", NEAR_DATA)},                                      \
    }

/* A kind of Open Cluster Management that is needed to decide Placements. */
#define FOR_PLACEMENTS(of_version, name, plural)                                                   \
    {                                                                                              \
        .group = OCM_GROUP, .version = of_version, .kind = name, .resource = plural,               \
        .optional = true, .need = KIND_FOR_PLACEMENTS, .server = SERVER_HUB,                       \
        .permissions = {VITAL("ocm.enabled decides Placements by them")},                          \
    }

const struct watched_kind watched_kinds[KIND_ROWS] = {
    [KIND_NODE] = {.group = "",
                   .version = "v1",
                   .kind = NODE_KIND,
                   .resource = "nodes",
                   .most = LIMIT_LISTED_FEW,
                   .object = OBJECT_NODE,
                   .permissions = {VITAL("without nodes there is nothing to spread over")}},
    [KIND_POD] = {.group = "",
                  .version = "v1",
                  .kind = POD_KIND,
                  .resource = "pods",
                  .query = UNFINISHED,
                  .object = OBJECT_POD,
                  .permissions = {VITAL("without pods nothing can be counted")}},
    [KIND_NAMESPACE] = {.group = "",
                        .version = "v1",
                        .kind = "Namespace",
                        .resource = "namespaces",
                        .most = LIMIT_LISTED_FEW,
                        .object = OBJECT_NAMESPACE,
                        .permissions = {VITAL("it is part of the first sync")}},
    [KIND_SERVICE] = {.group = "",
                      .version = "v1",
                      .kind = "Service",
                      .resource = "services",
                      .most = LIMIT_LISTED_FEW,
                      .need = KIND_FOR_DEFAULTS,
                      .object = OBJECT_SERVICE,
                      .permissions = {SELECTORS}},
    [KIND_REPLICATION_CONTROLLER] = {.group = "",
                                     .version = "v1",
                                     .kind = REPLICATION_CONTROLLER_KIND,
                                     .resource = "replicationcontrollers",
                                     .most = LIMIT_LISTED_FEW,
                                     .need = KIND_FOR_DEFAULTS,
                                     .object = OBJECT_REPLICATION_CONTROLLER,
                                     .permissions = {SELECTORS}},
    [KIND_REPLICA_SET] = {.group = APPS_GROUP,
                          .version = "v1",
                          .kind = REPLICA_SET_KIND,
                          .resource = "replicasets",
                          .need = KIND_FOR_DEFAULTS,
                          .object = OBJECT_REPLICA_SET,
                          .permissions = {SELECTORS}},
    [KIND_STATEFUL_SET] = {.group = APPS_GROUP,
                           .version = "v1",
                           .kind = STATEFUL_SET_KIND,
                           .resource = "statefulsets",
                           .most = LIMIT_LISTED_FEW,
                           .need = KIND_FOR_DEFAULTS,
                           .object = OBJECT_STATEFUL_SET,
                           .permissions = {SELECTORS}},
    [KIND_TOPOLOGY_POLICY] = {.group = EVENKEEL_GROUP,
                              .version = "v1alpha1",
                              .kind = POLICY_KIND,
                              .resource = "topologypolicies",
                              .optional = true,
                              .need = KIND_FOR_POLICIES,
                              .permissions = {WANTED("list watch", "without it only policies of "
                                                                   "files are in force")}},
    [KIND_CLAIM] = {.group = "",
                    .version = "v1",
                    .kind = "PersistentVolumeClaim",
                    .resource = "persistentvolumeclaims",
                    .optional = true,
                    .need = KIND_FOR_DATA,
                    .permissions = {WANTED("list watch", NEAR_DATA),
                                    WANTED("get", "needed for pods that are created together with "
                                                  "their claims")}},
    [KIND_BOUND_CLAIM] = {.group = "",
                          .version = "v1",
                          .kind = "PersistentVolumeClaim",
                          .resource = "persistentvolumeclaims",
                          .name = "bound claims",
                          .optional = true,
                          .need = KIND_FOR_VOLUMES,
                          .permissions = {WANTED("list watch", PINS)}},
    [KIND_VOLUME] = {.group = "",
                     .version = "v1",
                     .kind = "PersistentVolume",
                     .resource = "persistentvolumes",
                     .optional = true,
                     .need = KIND_FOR_VOLUMES,
                     .permissions = {WANTED("list watch", PINS)}},
    [KIND_STORAGE_CLASS] = {.group = "storage.k8s.io",
                            .version = "v1",
                            .kind = "StorageClass",
                            .resource = "storageclasses",
                            .optional = true,
                            .need = KIND_FOR_VOLUMES,
                            .permissions = {WANTED("list watch",
                                                   "without it what-if does not judge claims that "
                                                   "are not bound yet")}},
    /* No permissions: it is watched only if an EFCRuntime exists, and few clusters have one. */
    [KIND_RUNTIME_WORKERS] = {.group = APPS_GROUP,
                              .version = "v1",
                              .kind = STATEFUL_SET_KIND,
                              .resource = "statefulsets",
                              .name = "runtime workers",
                              .optional = true,
                              .need = KIND_FOR_DATA},
    /* No permissions: pods are watched already. */
    [KIND_WORKER_POD] = {.group = "",
                         .version = "v1",
                         .kind = POD_KIND,
                         .resource = "pods",
                         .query = OF_A_DATASET,
                         .name = "worker pods",
                         .need = KIND_FOR_DATA},
    [KIND_ALLUXIO_RUNTIME] = FLUID("AlluxioRuntime", "alluxioruntimes"),
    [KIND_JINDO_RUNTIME] = FLUID("JindoRuntime", "jindoruntimes"),
    [KIND_JUICEFS_RUNTIME] = FLUID("JuiceFSRuntime", "juicefsruntimes"),
    [KIND_THIN_RUNTIME] = FLUID("ThinRuntime", "thinruntimes"),
    [KIND_EFC_RUNTIME] = FLUID("EFCRuntime", "efcruntimes"),
    [KIND_VINEYARD_RUNTIME] = FLUID("VineyardRuntime", "vineyardruntimes"),
    [KIND_CACHE_RUNTIME] = FLUID("CacheRuntime", "cacheruntimes"),
    [KIND_DATASET] = FLUID("Dataset", "datasets"),
    [KIND_MANAGED_CLUSTER] = {.group = OCM_GROUP,
                              .version = "v1",
                              .kind = "ManagedCluster",
                              .resource = "managedclusters",
                              .most = LIMIT_LISTED_FEW,
                              .optional = true,
                              .need = KIND_FOR_FLEET,
                              .server = SERVER_HUB,
                              .permissions = {VITAL(
                                  "fleet.clusters or ocm.enabled asks for them")}},
    [KIND_MANAGED_CLUSTER_SET] =
        FOR_PLACEMENTS("v1beta2", "ManagedClusterSet", "managedclustersets"),
    [KIND_MANAGED_CLUSTER_SET_BINDING] =
        FOR_PLACEMENTS("v1beta2", "ManagedClusterSetBinding", "managedclustersetbindings"),
    [KIND_PLACEMENT] = FOR_PLACEMENTS("v1beta1", PLACEMENT_KIND, "placements"),
    [KIND_PLACEMENT_DECISION] =
        FOR_PLACEMENTS("v1beta1", "PlacementDecision", "placementdecisions"),
    [KIND_ADD_ON_PLACEMENT_SCORE] =
        FOR_PLACEMENTS("v1alpha1", "AddOnPlacementScore", "addonplacementscores"),
    [KIND_FLEET_NAMESPACE] = {.group = "",
                              .version = "v1",
                              .kind = "Namespace",
                              .resource = "namespaces",
                              .name = "hub namespaces",
                              .most = LIMIT_LISTED_FEW,
                              .need = KIND_FOR_PLACEMENTS,
                              .server = SERVER_HUB,
                              .permissions = {VITAL("policies pick Placements by their labels")}},
    [KIND_PLACEMENT_POLICY] = {.group = EVENKEEL_GROUP,
                               .version = "v1alpha1",
                               .kind = POLICY_KIND,
                               .resource = "topologypolicies",
                               .name = "hub policies",
                               .optional = true,
                               .need = KIND_FOR_PLACEMENT_POLICIES,
                               .server = SERVER_HUB,
                               .permissions = {WANTED("list watch", "without it Placements are "
                                                                    "spread by policies of files "
                                                                    "only")}},
    [KIND_KARMADA_CLUSTER] = {.group = KARMADA_CLUSTER_GROUP,
                              .version = "v1alpha1",
                              .kind = "Cluster",
                              .resource = "clusters",
                              .name = "member clusters",
                              .most = LIMIT_LISTED_FEW,
                              .optional = true,
                              .need = KIND_FOR_MEMBERS,
                              .server = SERVER_KARMADA,
                              .permissions = {VITAL("estimator.fromKarmada asks for them")}},
    [KIND_DEPLOYMENT] = {.group = APPS_GROUP,
                         .version = "v1",
                         .kind = DEPLOYMENT_KIND,
                         .resource = "deployments",
                         .need = KIND_OF_MEMBERS},
    [KIND_RESOURCE_QUOTA] = {.group = "",
                             .version = "v1",
                             .kind = "ResourceQuota",
                             .resource = "resourcequotas",
                             .most = LIMIT_LISTED_FEW,
                             .need = KIND_OF_MEMBERS},
};

/* ---- by group and kind ---- */

struct str api_group(struct str api_version) {
    size_t slash = str_find(api_version, '/');
    return (struct str){api_version.p, slash == SIZE_MAX ? 0 : slash};
}

struct object_type object_type_of(struct str api_version, struct str kind) {
    return (struct object_type){str_empty(api_version) ? (struct str){0} : api_group(api_version),
                                kind};
}

bool kind_is(const struct watched_kind *row, struct object_type type) {
    return kind_is_named(row, type.kind) &&
           (type.group.p == NULL || str_eq(type.group, str_of(row->group)));
}

const struct watched_kind *watched_kind_find(struct object_type type) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (kind_is(&watched_kinds[i], type))
            return &watched_kinds[i];
    return NULL;
}

enum object_kind object_kind_of(struct object_type type) {
    const struct watched_kind *row = watched_kind_find(type);
    return row != NULL ? row->object : OBJECT_OTHER;
}

const struct watched_kind *object_kind_row(enum object_kind kind) {
    const struct watched_kind *row = watched_kinds;
    assert(kind != OBJECT_OTHER);
    while (row->object != kind) /* each kind has a row */
        row++;
    return row;
}

/* ---- names and paths ---- */

const char *kind_name(const struct watched_kind *kind) {
    return kind->name != NULL ? kind->name : kind->resource;
}

/* The beginning of a path: "/api/v1" for the core group, which has no name; "/apis/GROUP/VERSION"
 * for other groups. */
#define PREFIX "%s%s/%s"
#define PREFIX_ARG(kind)                                                                           \
    (kind)->group[0] == '\0' ? "/api" : "/apis/", (kind)->group, (kind)->version

void kind_path(const struct watched_kind *kind, char ret[static KIND_PATH_SIZE]) {
    int n = snprintf(ret, KIND_PATH_SIZE, PREFIX "/%s", PREFIX_ARG(kind), kind->resource);
    assert(n < KIND_PATH_SIZE);
    (void)n; /* not used without assertions */
}

void kind_object_path(const struct watched_kind *kind, const char *scope, const char *name,
                      struct strbuf *out) {
    strbuf_appendf(out, PREFIX "%s%s/%s/%s", PREFIX_ARG(kind), scope != NULL ? "/namespaces/" : "",
                   scope != NULL ? scope : "", kind->resource, name);
}
