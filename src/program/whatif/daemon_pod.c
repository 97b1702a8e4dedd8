#include "whatif/daemon_pod.h"

#include <errno.h>
#include <string.h>

static void find_constraints(const struct pod_file *file, const struct pod *pod,
                             struct findings *findings) {
    if (pod->constraint_count > 0)
        findings_add(findings, FINDING_PASSED_OVER,
                     arena_printf(findings->arena, "%s.topologySpreadConstraints", file->spec),
                     STR("Leave them out; nodeSelector, affinity and tolerations choose the nodes"),
                     "a DaemonSet has a pod for each node that can hold it, so a spread constraint "
                     "chooses no node; a hard one can keep such a pod Pending");
}

int daemon_pod_complete(const struct pod_file *file, struct pod *pod, struct arena *arena,
                        struct findings *findings) {
    const uint32_t own = pod->tolerations.count;
    const uint32_t added = DAEMON_TOLERATIONS - (file->host_network ? 0 : 1);
    struct toleration *all = arena_array(arena, own + added, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    if (own > 0)
        memcpy(all, pod->tolerations.items, own * sizeof *all);
    memcpy(all + own, daemon_tolerations, added * sizeof *all);
    pod->tolerations = (struct tolerations){all, own + added};
    if (findings != NULL)
        find_constraints(file, pod, findings);
    pod->constraints = NULL;
    pod->constraint_count = 0;
    return 0;
}
