/*
 * The nodes of one question, their free room, and a topology of these nodes. All of it lives as
 * long as the question. One question, one thread.
 */
#pragma once

#include "estimator/nodes.h"

struct asked_nodes {
    struct intern strings;
    struct topology *topology; /* owned; NULL if no topology was made */
    struct topology_view view;
    struct estimator_nodes nodes;
};

/* Makes the nodes as estimator_nodes_make() does: objects are borrowed, results are in the arena.
 * Returns 0, -E2BIG or -ENOMEM, with a sentence; after a failure there is nothing to free. The
 * arena's steps bound the view, too. */
int asked_nodes_init(struct asked_nodes *ret, const struct node *nodes, uint32_t node_count,
                     const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                     struct err *err) MUST_CHECK;
void asked_nodes_done(struct asked_nodes *n);

/* Reads a node, which must have a name. Errors stay in r. */
void asked_node_decode(struct json_reader *r, struct node *ret);
