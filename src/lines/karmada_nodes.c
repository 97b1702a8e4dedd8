#include "lines/karmada_nodes.h"

#include <errno.h>

void line_node_decode(struct json_reader *r, void *into) {
    struct node *node = into;
    node_decode(r, node);
    if (str_empty(node->meta.name))
        json_fail(r, "metadata.name is required");
}

void line_pod_decode(struct json_reader *r, void *into) {
    karmada_pod_decode(r, into);
}

int line_nodes_init(struct line_nodes *ret, const struct node *nodes, uint32_t node_count,
                    const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                    struct err *err) {
    *ret = (struct line_nodes){.topology = NULL};
    int r = topology_new(&(struct topology_options){.strings = &ret->strings}, &ret->topology, err);
    if (r != 0)
        return r;
    r = estimator_nodes_make(ret->topology, nodes, node_count, pods, pod_count, arena, &ret->nodes);
    topology_view_open(ret->topology, &ret->view);
    ret->view.steps = &arena->steps;
    if (r != 0) {
        line_nodes_done(ret);
        return err_set(err, r, "question: too large to be answered");
    }
    return 0;
}

void line_nodes_done(struct line_nodes *n) {
    if (n->topology != NULL) {
        topology_view_close(&n->view);
        topology_free(n->topology);
    }
    intern_done(&n->strings);
    *n = (struct line_nodes){.topology = NULL};
}
