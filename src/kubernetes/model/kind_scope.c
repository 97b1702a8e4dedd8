#include "model/kind_scope.h"

#include "model/names.h"

#include <stdbool.h>
#include <stddef.h>

/* A kind without a name stands for all kinds of the group.
 * upstream: k8s.io/api v0.37.0, types with genclient:nonNamespaced; the CRDs of gateway-api,
 * external-snapshotter and network-policy-api */
static const struct {
    const char *group, *kind;
} cluster_scoped[] = {
    {"", "ComponentStatus"},
    {"", "Namespace"},
    {"", NODE_KIND},
    {"", "PersistentVolume"},
    {WEBHOOKS_GROUP, ""},
    {"apiextensions.k8s.io", ""},
    {"apiregistration.k8s.io", ""},
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"flowcontrol.apiserver.k8s.io", ""},
    {"internal.apiserver.k8s.io", ""},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"node.k8s.io", ""},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "DeviceTaintRule"},
    {"resource.k8s.io", "ResourcePoolStatusRequest"},
    {"resource.k8s.io", "ResourceSlice"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"storage.k8s.io", "CSIDriver"},
    {"storage.k8s.io", "CSINode"},
    {"storage.k8s.io", "StorageClass"},
    {"storage.k8s.io", "VolumeAttachment"},
    {"storage.k8s.io", "VolumeAttributesClass"},
    {"storagemigration.k8s.io", ""},
    {"gateway.networking.k8s.io", "GatewayClass"},
    {"groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotClass"},
    {"groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotContent"},
    {"policy.networking.k8s.io", "AdminNetworkPolicy"},
    {"policy.networking.k8s.io", "BaselineAdminNetworkPolicy"},
    {"snapshot.storage.k8s.io", "VolumeSnapshotClass"},
    {"snapshot.storage.k8s.io", "VolumeSnapshotContent"},
};

/* Groups of the API server itself that have a dot in their names. A CRD cannot have a group without
 * a dot. */
static const char *const built_in_groups[] = {
    WEBHOOKS_GROUP,
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    COORDINATION_GROUP,
    "discovery.k8s.io",
    EVENTS_GROUP,
    "flowcontrol.apiserver.k8s.io",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "lifecycle.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
};

static bool is_built_in(struct str group) {
    for (size_t i = 0; i < sizeof built_in_groups / sizeof built_in_groups[0]; i++)
        if (str_eq(group, str_of(built_in_groups[i])))
            return true;
    return str_find(group, '.') == SIZE_MAX;
}

enum kind_scope kind_scope_of(struct str group, struct str kind) {
    for (size_t i = 0; i < sizeof cluster_scoped / sizeof cluster_scoped[0]; i++)
        if (str_eq(group, str_of(cluster_scoped[i].group)) &&
            (cluster_scoped[i].kind[0] == '\0' || str_eq(kind, str_of(cluster_scoped[i].kind))))
            return SCOPE_CLUSTER;
    return is_built_in(group) ? SCOPE_NAMESPACED : SCOPE_UNKNOWN;
}
