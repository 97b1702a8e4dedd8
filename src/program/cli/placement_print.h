/*
 * What is decided of a Placement, for people: of each cluster whether it is selected, moves or
 * stays, its scores, or why it does not fit; domains as bars; terms, groups of decisions,
 * conditions and warnings; and what the process that decides Placements has done with it, if the
 * object says that (GET /explain/placements). Made from the object that -o json prints
 * (explain/placement.h), whoever gave it.
 */
#pragma once

#include "cli/answer.h"

answer_print_fn placement_print;
