/*
 * Parts of a Placement's decoder; only files of that decoder include this header. Each function
 * reads the next value and leaves errors in the reader.
 */
#pragma once

#include "model/ocm.h"

const struct placement_predicate *placement_predicates_decode(struct json_reader *r,
                                                              uint32_t *ret_count);
/* spec.decisionStrategy */
void placement_strategy_decode(struct json_reader *r, struct placement *p);

/* Warnings about members that are written in an old form. */
struct placement_warnings {
    struct str *items; /* in the arena */
    uint32_t count, cap;
};
/* spec.prioritizerPolicy */
void placement_prioritizers_decode(struct json_reader *r, struct placement *p,
                                   struct placement_warnings *warnings);
