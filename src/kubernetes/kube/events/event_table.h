/*
 * The events that wait to be written, and those that were written and may come again: the state of
 * the recorder, without its thread. Only events.c includes this file, and its mutex guards the
 * table.
 *
 * One table holds both: an entry is queued, then live, then free again. An event that is not in the
 * table takes a free entry, or else the live entry that has been quiet for longest. All searches
 * are linear; events are rare, and the table is a few kilobytes of hashes.
 */
#pragma once

#include "base/hash.h"
#include "base/metrics.h"
#include "kube/events/event_text.h"

enum event_state { EVENT_FREE, EVENT_QUEUED, EVENT_LIVE };

struct event_entry {
    enum event_state state;
    struct hash128 key;
    struct event_copy copy;
    uint64_t order;        /* QUEUED: the smallest is written first */
    int64_t seen_ms;       /* when the event happened last */
    int64_t written_ms;    /* LIVE: when the event was last sent to the API server */
    uint32_t written;      /* the count that the API server has, or the request under way has */
    uint32_t told_before;  /* the API server's count before the request under way */
    unsigned tries;        /* number of failed tries since the last success */
    int64_t not_before_ms; /* after a failure */
};

/* Results of events: the series of evenkeel_events_total. */
enum event_result {
    EVENTS_CREATED,
    EVENTS_UPDATED,
    EVENTS_AGGREGATED,
    EVENTS_LIMITED,
    EVENTS_DROPPED,
    EVENTS_FAILED,
    EVENT_RESULTS
};

struct event_limiter;

struct event_table {
    struct event_entry *entries;    /* owned */
    struct event_limiter *limiters; /* owned */
    struct event_entry *in_flight;  /* the entry whose request is under way; the entry must not move
                                     */
    bool hurry;                     /* counts are written without waiting */
    unsigned queued;
    uint64_t next_order, random;
    int64_t last_number; /* the last number that we used in the name of an Event */
    struct metric results[EVENT_RESULTS];
};

/* Registers the metrics. Returns false without memory; then event_table_done() is not needed. */
bool event_table_init(struct event_table *t, uint64_t seed);
void event_table_done(struct event_table *t);

void event_table_count(struct event_table *t, enum event_result result);

/* Takes an event or refuses it (*ret_taken), and counts the result. Returns true if an event may be
 * ready to write. `now_ms` is from the monotonic clock; `wall_us` is since 1970. */
bool event_table_add(struct event_table *t, const struct event *event, int64_t now_ms,
                     int64_t wall_us, bool *ret_taken);

/* Returns the entry to write now. Or returns NULL, and *ret_at_ms is the time of the next entry
 * (INT64_MAX: no entry waits). */
struct event_entry *event_table_choose(struct event_table *t, int64_t now_ms, int64_t *ret_at_ms);

/* Begins the request of an entry. The request ends with one of the results below. */
void event_table_begin(struct event_table *t, struct event_entry *e);
enum event_end {
    EVENT_WRITTEN,
    EVENT_IS_THERE, /* the Event exists: the answer to an earlier try was lost */
    EVENT_IS_GONE,  /* the Event to update is gone: API servers keep Events for an hour */
    EVENT_TRY_AGAIN,
    EVENT_GIVE_UP
};
void event_table_end(struct event_table *t, enum event_end end, int64_t now_ms,
                     int64_t retry_after_ms);

/*
 * A rate limit (GCRA, generic cell rate algorithm). The state of a limiter is a time: each use adds
 * one interval to this time, which may be at most `burst` intervals after now. Returns true, and
 * counts a use, if the burst allows one more.
 */
bool event_limit_use(int64_t *unused_at_ms, int64_t now_ms, int64_t interval_ms, int64_t burst);
