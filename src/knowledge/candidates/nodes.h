/*
 * Nodes without pods, as an informer keeps them: in a topology of their own. With their pods the
 * cache keeps them.
 */
#pragma once

#include "informer/informer.h"
#include "topology/topology.h"

extern const struct informer_store node_store;

/* The topology of such contents (informer_read()). */
const struct topology *nodes_of(const void *contents);
