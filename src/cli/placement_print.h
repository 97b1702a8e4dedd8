/*
 * What is decided of a Placement, for people: of each cluster whether it is selected, moves or
 * stays, its scores, or why it does not fit; domains as bars; terms, groups of decisions,
 * conditions and warnings; and what the process that decides Placements has done with it, if the
 * object says that (GET /explain/placements). Made from the object that -o json prints
 * (explain/placement.h), whoever gave it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json_reader.h"

/* Appends it. 0, -EINVAL if the text is no such object, or -ENOMEM. */
int placement_print(struct str json, struct arena *arena, struct strbuf *out,
                    struct err *err) MUST_CHECK;

/* ---- between the files that print it ---- */

/* The object's members as they stand in it; "" where one is missing. */
struct placement_members {
    struct str placement, policy, error; /* texts */
    struct str available, filter, prioritizers, sum, terms, domains, current, selected,
        kept_reasons, groups, conditions, spread, warnings, planner, history; /* JSON */
    int64_t unscheduled, requeue_after; /* requeue_after -1: null */
    int64_t history_forgotten;
    bool cel_unknown;
};

enum placement_move {
    PLACEMENT_STAYS,
    PLACEMENT_KEPT, /* it stays, though a hard term would let no other in */
    PLACEMENT_ADDED,
    PLACEMENT_REMOVED,
    PLACEMENT_LEFT
};

struct placement_row {
    struct str cluster, verdict; /* verdict "": it is not available */
    struct str reason;           /* why it does not pass, or is kept */
    enum placement_move move;
    bool has_sum;
    int64_t sum;
    struct str scores; /* "Balance 100, Steady 0 x3" */
};
enum { PLACEMENT_ROWS = 100 }; /* at most; who wants more reads JSON */

struct placement_rows {
    struct placement_row *items; /* selected ones in the order of picking, then removed ones, then
                                    others by name */
    uint32_t count;              /* at most PLACEMENT_ROWS */
    uint32_t selected, passed, available, others; /* clusters; `others`: that are in no row */
};
/* Of members of one object. Errors stay in *r. */
void placement_rows_read(const struct placement_members *m, struct arena *arena,
                         struct json_reader *r, struct placement_rows *ret);
