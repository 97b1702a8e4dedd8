/*
 * Open Cluster Management's ManagedCluster as a candidate. upstream: cluster/v1
 * types_managedcluster.go.
 *
 * Its labels are columns, and so are the claims that the cluster makes about itself
 * (status.clusterClaims): the claim `zone` is the key `claim:zone`, which no label can have. Of
 * claims with one name the last one counts, as upstream's. Taints keep upstream's effects
 * (NoSelect, PreferNoSelect, NoSelectIfNew).
 */
#pragma once

#include "base/json_reader.h"
#include "topology/topology.h"

#define CLAIM_PREFIX "claim:"

/* Reads the object that comes next. Errors stay in the reader, strings live in the text or its
 * arena. */
void managed_cluster_decode(struct json_reader *r, struct candidate *ret);
