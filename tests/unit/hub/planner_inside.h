/*
 * What a planner keeps, for tests.
 */
#pragma once

#include "hub/planner.h"

/* Placements that it keeps a record of. */
unsigned planner_inside_count(struct planner *p);
/* Fails where anything counts or waits of Placements that are no more. */
void planner_inside_is_empty(struct planner *p);
