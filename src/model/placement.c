#include "model/placement.h"

struct str pod_placement(const struct pod *pod, const struct labels *annotations) {
    struct str value;
    if (labels_lookup(annotations, STR("kubernetes.io/config.mirror"), &value))
        return STR("a mirror pod");
    if (str_eq(pod->meta.controller_kind, STR("DaemonSet")) &&
        str_eq(api_group(pod->meta.controller_api), STR("apps")))
        return STR("a pod of a DaemonSet");
    if (!str_empty(pod->node_name))
        return STR("a pod that is bound already");
    if (node_affinity_names_node(&pod->affinity))
        return STR("a pod that may use one node only");
    return STR("");
}
