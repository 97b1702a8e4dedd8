/*
 * Findings about a Placement of Open Cluster Management, without looking at a cluster.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/ocm.h"

/* `placement` was decoded from `json`, the object in the user's file. Returns 0, -E2BIG (out of
 * steps) or -ENOMEM; the findings so far stay. */
int findings_of_placement(struct str json, const struct placement *placement, struct findings *f);
