/*
 * The state and the last moves of each Placement that the planner (hub/planner.h) decides, for
 * people. In memory only: it starts empty with each term of leadership. A Placement's history ends
 * with the Placement; another uid is another Placement.
 *
 * A move is recorded when it is decided, before it is written; so is a change of the result without
 * a move, for example to "Kept". The history keeps the last LIMIT_MOVES_OF_ONE moves of a
 * Placement, and LIMIT_MOVES of all. Beyond that the namespace with most moves loses its oldest
 * move (explain/eviction.h), so nobody pushes out the moves of others. A record takes constant
 * time, apart from its names.
 *
 * Memory: at most about 1.3 KiB a move, usually 200 bytes; and 200 bytes a Placement.
 *
 * Threads: all calls from any thread. Its mutex is taken under the planner's and the fleet's, and
 * nothing is called under it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "hub/owned.h"

struct placement_history;

/* Does not lead at first, so it records nothing. Returns 0 or -ENOMEM. */
int placement_history_new(struct placement_history **ret, struct err *err) MUST_CHECK;
void placement_history_free(struct placement_history *h); /* all but _read() accept NULL */

/* A term of leadership begins or ends: forgets everything. */
void placement_history_lead(struct placement_history *h, bool leads);

/* The state of a Placement after a look. Words are static. */
struct placement_standing {
    const char *mode;   /* "Owner", "Scores", "Leaving", "Undone" (our marks are removed again and
                           again: OCM decides); "OCM": Evenkeel does not decide it */
    const char *result; /* "Decided", "Skewed" (decided, but its terms do not hold), "Kept" (cannot
                           be decided), "Failed" (the look failed); "": not decided */
    const char *kept;   /* with "Kept": the reason, one word; else NULL */
    uint32_t waiting;   /* voluntary moves that wait ... */
    const char *waits;  /* ... for "settleAfter" or "movesPerMinute"; or "write": a write is to be
                           made or seen; NULL: waits for nothing */
    int64_t wait_ms;    /* how long moves wait, from wall_ms; INT64_MAX: not known */
    int64_t wall_ms;    /* time of the look, since 1970 */
};

/* Records the answer of one look. Records nothing for a deleted Placement, or while not leading.
 * Loses a move without memory. */
void placement_history_look(struct placement_history *h, struct str namespace, struct str name,
                            const struct owned_answer *a, int64_t wall_ms);
void placement_history_forget(struct placement_history *h, struct str namespace, struct str name);

/* ---- reading ---- */

struct placement_move {
    int64_t wall_ms;
    const char *reason; /* as owned_reason_names; NULL: nothing moved, the result changed */
    const char *result; /* as in struct placement_standing */
    const struct str *added, *removed;                             /* the first names */
    uint32_t added_count, removed_count, added_more, removed_more; /* numbers kept; left out */
};

struct placement_told {
    bool leads;   /* false: nothing is known */
    bool is_seen; /* `standing` is set */
    struct placement_standing standing;
    const struct placement_move *moves; /* the oldest first */
    uint32_t move_count;
    uint64_t forgotten; /* number of older moves */
};
/* Copies the history into the arena. Returns 0 or -ENOMEM. */
int placement_history_read(struct placement_history *h, struct str namespace, struct str name,
                           struct arena *arena, struct placement_told *ret) MUST_CHECK;
