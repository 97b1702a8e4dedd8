/*
 * Decides when a Placement may move away from clusters that still fit it. Each move moves a
 * workload, so a move that nothing forces must stay planned for a while, and the number of such
 * moves a minute is limited. This file knows neither clusters nor a clock.
 *
 * A move replaces one selected cluster by another. Moves are forced, and go at once, when the
 * number of clusters changes or a selected one does not fit any more. All others are voluntary:
 *   - The plan must be the same for `settle_ms`; whenever it changes, the time begins again. Moves
 *     that make the Placement more even only need the same *shape*, the number of clusters in each
 *     domain: the clusters' names may change. All other moves also need the same names.
 *   - Within any 60 s at most `per_minute` of them begin; the others wait.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOVES_MINUTE_MS = 60000 };

struct move_limits {
    int64_t settle_ms;
    uint32_t per_minute; /* 0: no voluntary moves */
};

/* The planned moves. */
struct moves_wish {
    uint64_t shape, names; /* hashes */
    uint32_t count;        /* moves ... */
    uint32_t even;         /* ... of which the first `even` make it more even */
};

/* The state of one Placement; all zero at first. */
struct moves {
    bool waiting; /* moves are planned */
    bool levels;  /* ... that make it more even */
    uint64_t shape, names;
    int64_t shape_ms, names_ms; /* the times since which shape and names are the same */
    uint32_t begun;             /* number of moves that count for per_minute */
    int64_t last_ms;            /* when the last of these moves began */
};

/* Returns the number of voluntary moves that may begin now: the first ones of the wish.
 * *ret_wait_ms: if not all may begin, the time until the next call; INT64_MAX: no call. A wish
 * without moves ends the wait of all earlier moves. */
uint32_t moves_allowed(struct moves *m, const struct move_limits *limits,
                       const struct moves_wish *wish, int64_t now_ms, int64_t *ret_wait_ms);
/* After moves_allowed(): must the plan stay the same for longer before the first move may begin? */
bool moves_settle(const struct moves *m, const struct move_limits *limits, int64_t now_ms);
/* Call it when `count` moves begin. */
void moves_begin(struct moves *m, uint32_t count, int64_t now_ms);
