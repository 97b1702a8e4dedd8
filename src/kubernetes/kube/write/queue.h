/*
 * Decides which object is written next, and when: a state machine without sockets, threads or
 * clocks (kube/write/writer.h drives it), so that a test can play everything that may go wrong.
 *
 * The queue holds the names of objects that want a write, not the writes: each name at most once,
 * however often it is wanted. The write is made when its turn comes, so the last wanted state wins,
 * and a write that waited for minutes is not minutes old.
 *
 * A lane is the objects of one controller. The rules:
 *   - One write of an object at a time. If the object is wanted meanwhile, it is written again
 *     afterwards.
 *   - Namespaces ("NAMESPACE/NAME") take turns, and lanes take turns. Objects of one namespace are
 *     written in the order in which they were wanted. So an object waits for at most one write of
 *     each other namespace and lane, and for earlier objects of its own namespace.
 *   - Urgent and other objects take turns: while both wait, every second write is urgent. So urgent
 *     objects have half of the limits.
 *   - All lanes together: `burst` writes at once, and then `per_second`; `under_way` at the same
 *     time. Two writes of a lane begin at least `pace_ms` apart.
 *   - No write begins while the lane's gate is shut, for writes that only a leader may make.
 *   - 429, and 503 with Retry-After: the server has too much to do, so the whole queue waits.
 *   - 409: the object has changed. It is written again after a pause, or as soon as its controller
 *     has seen the fresh object: write_lane_refresh().
 *   - Other failures: the object waits, twice as long each time, up to a limit.
 *   - 404: the object is gone. It is written only if it is wanted again.
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
    unsigned under_way;  /* most requests at the same time; at least 1 */
    unsigned burst;      /* number of writes that need not wait; at least 1 */
    unsigned per_second; /* writes a second after the burst; 1 to 1,000,000 */
    uint64_t seed;       /* seed of the jitter */
};

struct write_lane_options {
    unsigned objects;     /* most objects that want a write, or had a write a moment ago; at least 1
                           */
    int64_t pace_ms;      /* between the begins of two writes; 0: only the queue's limits */
    int64_t again_ms;     /* from a successful write to the object's next write */
    int64_t retry_ms;     /* wait after a failure; doubles with each failure ... */
    int64_t retry_max_ms; /* ... up to this */
    int64_t refused_ms;   /* the whole lane waits after 401 and 403; 0: as after other failures */
    unsigned jitter_percent; /* waits after failures are longer by up to this, at random */
    /* Returns how long a write that begins now may take; 0: none may begin. NULL: writes may always
     * begin. */
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
    WRITE_FAILED,   /* no answer, or any other answer */
    WRITE_NEEDLESS, /* there was nothing to write */
};
/* Returns how a write ended. `error` and `status` are as in struct kube_result. */
enum write_end write_end_of(int error, int status, int64_t retry_after_ms);

int write_queue_new(const struct write_limits *limits, struct write_queue **ret,
                    struct err *err) MUST_CHECK;
/* Frees the queue; all its lanes must be freed before. NULL is fine. */
void write_queue_free(struct write_queue *q);

/* 0 or -ENOMEM. */
int write_lane_new(struct write_queue *q, const struct write_lane_options *options,
                   struct write_lane **ret, struct err *err) MUST_CHECK;
/* Frees the lane; none of its items may be under way. NULL is fine. */
void write_lane_free(struct write_lane *lane);

/* The object wants a write, in `delay_ms` at the earliest; of two wishes the earlier one counts.
 * O(1) for the first wish of an object. Returns 0, -ENOSPC (too many objects want a write: ask
 * again later) or -ENOMEM. */
int write_lane_want(struct write_lane *lane, struct str name, int64_t now_ms,
                    int64_t delay_ms) MUST_CHECK;
/* Sets if writes of the object are urgent; the object must want a write. At first writes are not
 * urgent. */
void write_lane_rank(struct write_lane *lane, struct str name, bool urgent);
/* The object wants no write any more. A write under way goes on. */
void write_lane_drop(struct write_lane *lane, struct str name);
/* The controller has a fresh version of the object: a write that waits after a conflict may begin.
 */
void write_lane_refresh(struct write_lane *lane, struct str name, int64_t now_ms);
/* Returns the number of objects that want a write or are being written. */
unsigned write_lane_count(const struct write_lane *lane);

/* The next step. */
struct write_next {
    struct write_item *item; /* the item to write, which is under way from now on. NULL: wait */
    int64_t limit_ms;        /* the longest the write may take; INT64_MAX: no limit by the gate */
    int64_t wait_ms;         /* wait before asking again, unless something changes; INT64_MAX: for
                                ever */
};
void write_queue_next(struct write_queue *q, int64_t now_ms, struct write_next *ret);

/* Return name and lane of an item under way. Borrowed until write_item_end(). */
struct str write_item_name(const struct write_item *item);
struct write_lane *write_item_lane(const struct write_item *item);
/* Gives the item back to the queue. `retry_after_ms`: from the server; -1: not given. */
void write_item_end(struct write_item *item, int64_t now_ms, enum write_end end,
                    int64_t retry_after_ms);
