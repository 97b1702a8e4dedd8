/*
 * Filters cordoned nodes: such a node passes only if the pod tolerates the taint that stands for
 * the cordon. upstream: plugins/nodeunschedulable/node_unschedulable.go.
 */
#include "engine/algorithm.h"

#include <errno.h>

struct unschedulable_state {
    uint8_t reason;
};

static int unschedulable_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    (void)err;
    if (taints_tolerated(&cordon_taint, 1, e->pod->tolerations))
        return ALGORITHM_SKIP;
    struct unschedulable_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->reason = reason_add(e, "node(s) were unschedulable", STR(""), "");
    *ret_state = s;
    return 0;
}

static struct filter_status unschedulable_filter(const struct evaluation *e, void *state,
                                                 uint32_t slot) {
    const struct unschedulable_state *s = state;
    if (cache_node(e->view, slot).unschedulable)
        return (struct filter_status){VERDICT_UNRESOLVABLE, s->reason};
    return (struct filter_status){VERDICT_PASS, 0};
}

const struct algorithm node_unschedulable_algorithm = {
    .name = "node_unschedulable",
    .plugin = "NodeUnschedulable",
    .prefilter = unschedulable_prefilter,
    .filter = unschedulable_filter,
};
