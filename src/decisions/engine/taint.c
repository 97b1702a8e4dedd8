/*
 * Taints NoSchedule and NoExecute keep off pods that do not tolerate them. upstream:
 * plugins/tainttoleration/taint_toleration.go, without TaintTolerationComparisonOperators, which is
 * off by default.
 */
#include "engine/algorithm.h"

#include <errno.h>

struct taint_state {
    const uint8_t *flags; /* CANDIDATE_*, per slot */
    uint8_t reason;
};

static int taint_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    struct taint_state *s = arena_alloc(e->arena, sizeof *s);
    (void)err;
    if (s == NULL)
        return -ENOMEM;
    s->reason = reason_add(e, "node(s) had untolerated taint(s)", STR(""), "");
    *ret_state = s;
    return topology_feasible(&e->view->nodes, &e->feasibility, &s->flags);
}

static struct filter_status taint_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct taint_state *s = state;
    (void)e;
    if ((s->flags[slot] & CANDIDATE_TAINTS) != 0)
        return (struct filter_status){VERDICT_PASS, 0};
    return (struct filter_status){VERDICT_UNRESOLVABLE, s->reason};
}

const struct algorithm taint_algorithm = {
    .name = "taint",
    .plugin = "TaintToleration",
    .prefilter = taint_prefilter,
    .filter = taint_filter,
};
