/*
 * The internal state of a planner, for tests.
 */
#pragma once

#include "hub/planner.h"

/* Returns the number of Placements of which the planner keeps a record. */
unsigned planner_inside_count(struct planner *p);
/* Fails the test if the planner still counts, or waits for, a deleted Placement. */
void planner_inside_is_empty(struct planner *p);
