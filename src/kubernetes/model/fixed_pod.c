#include "model/fixed_pod.h"

#include "model/names.h"
#include "model/workload.h"

bool pod_is_mirror(const struct labels *annotations) {
    struct str value;
    return labels_lookup(annotations, STR(MIRROR_POD_ANNOTATION), &value);
}

bool pod_is_tied(const struct pod *pod) {
    return controller_chooses_node(controller_of(&pod->meta).type) ||
           node_affinity_names_node(&pod->affinity);
}

struct str scheduler_of(struct str named) {
    return str_empty(named) ? STR("default-scheduler") : named;
}

struct str pod_fixed_because(const struct pod *pod, const struct labels *annotations) {
    const struct object_type controller = controller_of(&pod->meta).type;
    if (pod_is_mirror(annotations) || is_node(controller))
        return STR("a mirror pod");
    if (is_daemon_set(controller))
        return STR("a pod of a DaemonSet");
    if (!str_empty(pod->node_name))
        return STR("a pod that is bound already");
    if (node_affinity_names_node(&pod->affinity))
        return STR("a pod that may use one node only");
    return STR("");
}
