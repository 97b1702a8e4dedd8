/*
 * The candidates of one kind, as an informer keeps them: in a topology of their own. For nodes with
 * their pods there is the cache.
 */
#pragma once

#include "informer/informer.h"
#include "topology/topology.h"

extern const struct informer_store node_store, managed_cluster_store;

/* The topology of such contents (informer_read()). */
const struct topology *candidates_of(const void *contents);
