/*
 * Which object is written next, and when: a state machine that knows no socket, thread or clock
 * (kube/write/writer.h drives it), so that a test can play everything that may go wrong.
 *
 * The queue does not hold what is written but which objects want a write: each at most once,
 * however often it is asked for. What is written is made when its turn comes, so the last wanted
 * state wins, and a write that waited for minutes is not one of minutes ago.
 *
 * A lane is the objects of one controller. The rules:
 *   - One write of an object at a time; an object that is wanted meanwhile is written again after
 * it.
 *   - Objects whose time has come take turns by their namespaces ("NAMESPACE/NAME"), and those of
 * one namespace in the order in which they were wanted; lanes take turns, too. So an object waits
 * for at most one write of each namespace and lane, and for those of its own.
 *   - Urgent objects take turns with all others: of two writes that begin while both wait one is
 * urgent, which keeps half of the limits for them.
 *   - All lanes together: `burst` writes at once, and then `per_second`; `under_way` at the same
 *     time. Within a lane `pace_ms` lie between two writes.
 *   - Nothing begins while the lane's gate is shut: for what only a leader may write.
 *   - 429, and 503 with Retry-After: the server has too much to do, so the whole queue waits.
 *   - 409: the object has changed. It is written anew after a pause, or as soon as its controller
 * has seen the fresh object: write_lane_refresh().
 *   - Other failures: the object waits, twice as long each time, up to a limit.
 *   - 404: the object is gone. It is written when it is wanted again.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct write_queue;
struct write_lane;
struct write_item;

struct write_limits {
    unsigned under_way;  /* requests at the same time; at least 1 */
    unsigned burst;      /* writes that need not wait; at least 1 */
    unsigned per_second; /* writes after them; 1 to 1,000,000 */
    uint64_t seed;       /* of the jitter */
};

struct write_lane_options {
    unsigned objects;     /* that want a write, or had one a moment ago, at most; at least 1 */
    int64_t pace_ms;      /* between the beginnings of two writes; 0: only the queue's limits */
    int64_t again_ms;     /* from a success to the object's next write */
    int64_t retry_ms;     /* after a failure; doubles */
    int64_t retry_max_ms; /* ... up to this */
    int64_t refused_ms;   /* the whole lane waits after 401 and 403; 0: as after other failures */
    unsigned jitter_percent; /* of the waits after failures, by which they are longer at random */
    /* For how long a write may go on that begins now; 0: none may begin. NULL: always. */
    int64_t (*may_write_ms)(void *ctx);
    void *ctx;
};

/* How a write ended. */
enum write_end {
    WRITE_DONE,
    WRITE_GONE,     /* 404 */
    WRITE_CONFLICT, /* 409 */
    WRITE_BUSY,     /* 429, and 503 with Retry-After */
    WRITE_REFUSED,  /* 401, 403 */
    WRITE_FAILED,   /* no answer, or any other one */
    WRITE_NEEDLESS, /* there was nothing to write after all */
};
/* `error` and `status` as in struct kube_result. */
enum write_end write_end_of(int error, int status, int64_t retry_after_ms);

int write_queue_new(const struct write_limits *limits, struct write_queue **ret,
                    struct err *err) MUST_CHECK;
/* All its lanes have been freed. NULL is fine. */
void write_queue_free(struct write_queue *q);

/* 0 or -ENOMEM. */
int write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                   struct write_lane **ret, struct err *err) MUST_CHECK;
/* None of its items is under way. NULL is fine. */
void write_lane_free(struct write_lane *lane);

/* The object wants a write, in `delay_ms` at the earliest; of two wishes the earlier one counts.
 * O(1) for the first wish of an object. 0, -ENOSPC (too many want one: ask again later) or -ENOMEM.
 */
int write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms,
                    int64_t delay_ms) MUST_CHECK;
/* Whether its writes are urgent from now on; they are not at first. It wants one. */
void write_lane_rank(struct write_lane *lane, struct str name, bool urgent);
/* It wants none any more. What is under way goes on. */
void write_lane_drop(struct write_lane *lane, struct str name);
/* The controller has a fresh version of the object: a write that waits because of a conflict need
 * not wait any longer. */
void write_lane_refresh(struct write_lane *lane, struct str name, int64_t now_ms);
/* Objects that want a write or are being written. */
unsigned write_lane_count(const struct write_lane *lane);

/* What to do now. */
struct write_next {
    struct write_item *item; /* to be written: it is under way from now on. NULL: wait */
    int64_t limit_ms;        /* how long the write may take; INT64_MAX: the gate sets no limit */
    int64_t wait_ms;         /* until asking again, unless something changes; INT64_MAX: for ever */
};
void write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret);

/* Of an item under way. Borrowed until write_item_end(). */
struct str write_item_name(const struct write_item *item);
struct write_lane *write_item_lane(const struct write_item *item);
/* The item is the queue's again. `retry_after_ms` as the server said it; -1: it did not. */
void write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                    int64_t retry_after_ms);
