#include "estimator/asked_nodes.h"

#include <errno.h>

int asked_nodes_init(struct asked_nodes *ret, const struct node *nodes, uint32_t node_count,
                     const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                     struct err *err) {
    *ret = (struct asked_nodes){.topology = NULL};
    int r = topology_new(&(struct topology_options){.strings = &ret->strings}, &ret->topology, err);
    if (r != 0)
        return r;
    r = estimator_nodes_make(ret->topology, nodes, node_count, pods, pod_count, arena, &ret->nodes);
    topology_view_open(ret->topology, &ret->view);
    ret->view.steps = &arena->steps;
    if (r != 0) {
        asked_nodes_done(ret);
        return err_set(err, r, "nodes and pods: too many to be answered");
    }
    return 0;
}

void asked_nodes_done(struct asked_nodes *n) {
    if (n->topology != NULL) {
        topology_view_close(&n->view);
        topology_free(n->topology);
    }
    intern_done(&n->strings);
    *n = (struct asked_nodes){.topology = NULL};
}

void asked_node_decode(struct json_reader *r, struct node *ret) {
    node_decode(r, ret);
    if (!json_failed(r) && str_empty(ret->meta.name))
        json_fail(r, "metadata.name is required");
}
