/*
 * Findings about a Placement of Open Cluster Management by itself.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/ocm.h"

/* `json` is the object of the file, which `placement` was decoded from. Returns 0, -E2BIG (out of
 * steps) or -ENOMEM; the findings so far stay. */
int findings_of_placement(struct str json, const struct placement *placement, struct findings *f);
