/*
 * The nodes of a question of the step `estimate`: a topology of them, and their free room. One
 * question, one thread.
 */
#pragma once

#include "estimator/nodes.h"

struct line_nodes {
    struct intern strings;
    struct topology *topology; /* owned; NULL: none was made */
    struct topology_view view;
    struct estimator_nodes nodes;
};

/* 0 or -errno; on failure nothing is left to be freed. Steps of the arena bound the view, too. */
int line_nodes_init(struct line_nodes *ret, const struct node *nodes, uint32_t node_count,
                    const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                    struct err *err) MUST_CHECK;
void line_nodes_done(struct line_nodes *n);

/* Array elements: a node, which must have a name, and a pod. */
void line_node_decode(struct json_reader *r, void *into);
void line_pod_decode(struct json_reader *r, void *into);
