/*
 * Prints a Placement's decision for people: each cluster, whether it is selected, moves or stays,
 * its scores, or why it does not fit; domains as bars; terms, groups of decisions, conditions and
 * warnings; and the planner's work for the Placement, if the object has it (GET
 * /explain/placements). The input is the object that -o json prints (explain/placement.h), made
 * here or by a daemon.
 */
#pragma once

#include "cli/answer.h"

answer_print_fn placement_print;
