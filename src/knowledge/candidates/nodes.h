/*
 * The store of an informer for nodes without pods, in their own topology. The cache keeps nodes
 * with their pods.
 */
#pragma once

#include "informer/informer.h"
#include "topology/topology.h"

extern const struct informer_store node_store;

/* Returns the topology in the contents of an informer with this store (informer_read()). */
const struct topology *nodes_of(const void *contents);
