/*
 * When a Placement may move away from clusters that still fit it. Each move moves a workload, so a
 * move that nothing forces must stay wanted for a while, and there are only so many a minute. A
 * decision only: it knows neither clusters nor a clock.
 *
 * A move replaces one selected cluster by another. Moves are forced, and go at once, when the
 * number of clusters changes or a selected one does not fit any more. All others are voluntary:
 *   - What is wanted must be the same for `settle_ms`; whenever it changes, that begins again. For
 *     moves that make it more even that is the *shape*, how many clusters are in each domain: their
 *     names may change all the time. All others wait until the names stay the same.
 *   - Within any 60 s at most `per_minute` of them begin; as many as that leaves go, the others
 *     wait.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOVES_MINUTE_MS = 60000 };

struct move_limits {
    int64_t settle_ms;
    uint32_t per_minute; /* 0: none ever */
};

/* What is wanted. */
struct moves_wish {
    uint64_t shape, names; /* hashes */
    uint32_t count;        /* moves ... */
    uint32_t even;         /* ... the first so many of which make it more even */
};

/* Of one Placement; all zero at first. */
struct moves {
    bool waiting; /* something is wanted */
    bool levels;  /* something that makes it more even */
    uint64_t shape, names;
    int64_t shape_ms, names_ms; /* since when they are the same */
    uint32_t begun;             /* moves that count for the minute */
    int64_t last_ms;            /* when the last of them began */
};

/* How many voluntary moves may begin now, the first ones. *ret_wait_ms: when to ask again if none
 * may or not all; INT64_MAX: never. Where `count` is 0 nothing is wanted any more. */
uint32_t moves_allowed(struct moves *m, const struct move_limits *limits,
                       const struct moves_wish *wish, int64_t now_ms, int64_t *ret_wait_ms);
/* After that: must what is wanted stay the same for longer, before the first may begin? */
bool moves_settle(const struct moves *m, const struct move_limits *limits, int64_t now_ms);
/* So many begin. */
void moves_begin(struct moves *m, uint32_t count, int64_t now_ms);
