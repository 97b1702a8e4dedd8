/*
 * Findings about a Placement together with the clusters of a fleet.
 *
 * Threads: any; takes the store's read lock.
 */
#pragma once

#include "findings/findings.h"
#include "fleet/fleet.h"
#include "model/ocm.h"

/* Adds a finding if no cluster has the term's key, if clusters have it only as the other type, or
 * if all have the same value. `path` is the path of the key. Takes the view's steps. Returns 0,
 * -E2BIG or -ENOMEM. */
int findings_of_term(struct fleet_view *v, const struct placement_term *term, struct str path,
                     struct findings *f);

/* `now_ms`, since 1970, decides which scores are past their validUntil. The arena's steps bound the
 * work. Returns 0, -E2BIG or -ENOMEM; the findings so far stay. */
int findings_of_fleet(struct fleet *fleet, const struct placement *placement, int64_t now_ms,
                      struct findings *f);
