/*
 * What the planner (hub/planner.h) has lately done with each Placement, for people who ask: how it
 * stands, and its last moves. In memory only: it begins anew with each term of leadership, and is
 * forgotten with the Placement, which is another one when its uid is.
 *
 * A move is noted when it begins, that is when it is decided and before it is written; and so is a
 * change of the result without a move, such as that a Placement cannot be decided any more. Of a
 * Placement the last LIMIT_MOVES_OF_ONE are kept, of all together LIMIT_MOVES: then the namespace
 * that has most of them loses its oldest (explain/eviction.h), so nobody pushes out what others
 * have. Each takes constant time, but for its names.
 *
 * Memory: about 1.3 KiB a move at most, mostly 200 bytes; and 200 bytes a Placement.
 *
 * Threads: all calls from any thread. Its mutex is taken under the planner's and the fleet's, and
 * nothing is called under it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "hub/owned.h"

struct placement_history;

/* Leads nobody at first, so nothing is kept. 0 or -ENOMEM. */
int placement_history_new(struct placement_history **ret, struct err *err) MUST_CHECK;
void placement_history_free(struct placement_history *h); /* NULL is fine, for all of these */

/* A term of leadership begins or ends: all is forgotten. */
void placement_history_lead(struct placement_history *h, bool leads);

/* How a Placement stands after a look. Words are static. */
struct placement_standing {
    const char *mode; /* "Owner", "Scores", "Leaving", "Undone" (what we set is taken away again and
                         again: OCM decides); "OCM": Evenkeel decides nothing of it */
    const char *result; /* "Decided", "Skewed" (that, but its terms do not hold), "Kept" (it cannot
                           be decided), "Failed" (a look did not end); "": it was not to be */
    const char *kept;   /* why, with "Kept": one word; NULL */
    uint32_t waiting;   /* moves that nothing forces, and that wait ... */
    const char *waits;  /* ... for "settleAfter" or "movesPerMinute"; or it waits for "write", one
                           that is to be made or seen; NULL: it waits for nothing */
    int64_t wait_ms;    /* for moves: so long, from then on; INT64_MAX: it is not known */
    int64_t wall_ms;    /* when that was, since 1970 */
};

/* One look at a Placement: what it said. Nothing is kept of one that is gone, nor while nobody
 * leads. Without memory a move is not kept. */
void placement_history_look(struct placement_history *h, struct str namespace, struct str name,
                            const struct owned_answer *a, int64_t wall_ms);
void placement_history_forget(struct placement_history *h, struct str namespace, struct str name);

/* ---- for who asks ---- */

struct placement_move {
    int64_t wall_ms;
    const char *reason; /* as owned_reason_names; NULL: nothing moved, the result changed */
    const char *result; /* as of the standing */
    const struct str *added, *removed;                             /* the first of them */
    uint32_t added_count, removed_count, added_more, removed_more; /* kept; left out */
};

struct placement_told {
    bool leads;   /* false: nothing is known */
    bool is_seen; /* there is a standing */
    struct placement_standing standing;
    const struct placement_move *moves; /* the oldest first */
    uint32_t move_count;
    uint64_t forgotten; /* older ones */
};
/* A copy, in the arena. 0 or -ENOMEM. */
int placement_history_read(struct placement_history *h, struct str namespace, struct str name,
                           struct arena *arena, struct placement_told *ret) MUST_CHECK;
