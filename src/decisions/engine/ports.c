/*
 * Filters by host ports: a node is refused if another pod there holds a port that this pod wants.
 * upstream: plugins/nodeports/node_ports.go.
 */
#include "engine/algorithm.h"

#include <errno.h>

struct ports_state {
    uint32_t *holders; /* per slot: pods that hold a wanted port */
    uint8_t reason;
};

static int ports_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    (void)err;
    if (e->pod->requests.port_count == 0)
        return ALGORITHM_SKIP;
    struct ports_state *s = arena_alloc(e->arena, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->reason =
        reason_add(e, "node(s) didn't have free ports for the requested pod ports", STR(""), "");
    *ret_state = s;
    return cache_port_holders(e->view, &e->pod->requests, e->arena, &s->holders);
}

static struct filter_status ports_filter(const struct evaluation *e, void *state, uint32_t slot) {
    const struct ports_state *s = state;
    (void)e;
    if (s->holders[slot] == 0)
        return (struct filter_status){VERDICT_PASS, 0};
    return (struct filter_status){VERDICT_UNSCHEDULABLE, s->reason};
}

static void ports_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    struct ports_state *s = state;
    s->holders[pod->slot] -= cache_pod_takes_port(e->view, pod, &e->pod->requests);
}

static void ports_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    struct ports_state *s = state;
    s->holders[pod->slot] += cache_pod_takes_port(e->view, pod, &e->pod->requests);
}

const struct algorithm ports_algorithm = {
    .name = "ports",
    .plugin = "NodePorts",
    .prefilter = ports_prefilter,
    .filter = ports_filter,
    .remove_pod = ports_remove,
    .restore_pod = ports_restore,
};
