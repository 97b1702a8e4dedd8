/*
 * A pod whose spec names its node goes nowhere else. upstream: plugins/nodename/node_name.go.
 */
#include "engine/algorithm.h"

#include <errno.h>

struct node_name_state {
    uint8_t reason;
};

static int node_name_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    (void)err;
    if (str_empty(e->pod->node_name))
        return ALGORITHM_SKIP;
    struct node_name_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->reason = reason_add(e, "node(s) didn't match the requested node name", STR(""), "");
    *ret_state = s;
    return 0;
}

static struct filter_status node_name_filter(const struct evaluation *e, void *state,
                                             uint32_t slot) {
    const struct node_name_state *s = state;
    if (str_eq(topology_name(e->view->nodes.topology, slot), e->pod->node_name))
        return (struct filter_status){VERDICT_PASS, 0};
    return (struct filter_status){VERDICT_UNRESOLVABLE, s->reason};
}

const struct algorithm node_name_algorithm = {
    .name = "node_name",
    .plugin = "NodeName",
    .prefilter = node_name_prefilter,
    .filter = node_name_filter,
};
