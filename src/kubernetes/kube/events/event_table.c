#include "kube/events/event_table.h"

#include "base/random.h"

#include <stdlib.h>

enum {
    ENTRIES = 512,
    QUEUE = 256,
    SERIES_MS = 360000,    /* a series ends after this time without a repetition */
    COUNT_MS = 300000,     /* time between two writes of a series' count */
    OBJECT_BURST = 25,     /* upstream: client-go tools/record/events_cache.go */
    OBJECT_MS = 300000,    /* after the burst, an object may have one more event in each period of
                              this length */
    LIMITERS = 1024,       /* objects whose limit is remembered ... */
    WAYS = 4,              /* ... each in one of WAYS places */
    RETRY_MS = 10000,      /* wait after a failure; a random time of up to a quarter is added */
    RETRY_MOST_MS = 60000, /* the longest Retry-After that counts */
};

struct event_limiter {
    struct hash128 key;
    int64_t unused_at_ms; /* if this time is past, the limiter is as good as free */
};

/* ---- life ---- */

void event_table_count(struct event_table *t, enum event_result result) {
    metric_add(&t->results[result], 1);
}

static void register_results(struct event_table *t) {
    static const char *const labels[EVENT_RESULTS] = {
        [EVENTS_CREATED] = "result=\"created\"",       [EVENTS_UPDATED] = "result=\"updated\"",
        [EVENTS_AGGREGATED] = "result=\"aggregated\"", [EVENTS_LIMITED] = "result=\"limited\"",
        [EVENTS_DROPPED] = "result=\"dropped\"",       [EVENTS_FAILED] = "result=\"failed\""};
    for (unsigned i = 0; i < EVENT_RESULTS; i++) {
        t->results[i] = (struct metric){
            .name = "evenkeel_events_total",
            .help = "Kubernetes Events: written (created, updated), counted as repetitions "
                    "(aggregated), held back by the limit per object (limited), lost because too "
                    "many waited (dropped) or because the API server did not accept them (failed).",
            .labels = labels[i],
            .kind = METRIC_COUNTER};
        metric_register(&t->results[i]);
    }
}

bool event_table_init(struct event_table *t, uint64_t seed) {
    *t = (struct event_table){.entries = calloc(ENTRIES, sizeof *t->entries),
                              .limiters = calloc(LIMITERS, sizeof *t->limiters),
                              .random = seed};
    if (t->entries == NULL || t->limiters == NULL) {
        free(t->entries);
        free(t->limiters);
        return false;
    }
    register_results(t);
    return true;
}

void event_table_done(struct event_table *t) {
    for (unsigned i = 0; i < EVENT_RESULTS; i++)
        metric_unregister(&t->results[i]);
    for (unsigned i = 0; i < ENTRIES; i++)
        event_copy_done(&t->entries[i].copy);
    free(t->entries);
    free(t->limiters);
}

/* ---- limits ---- */

bool event_limit_use(int64_t *unused_at_ms, int64_t now_ms, int64_t interval_ms, int64_t burst) {
    if (*unused_at_ms > now_ms + (burst - 1) * interval_ms)
        return false;
    *unused_at_ms = (*unused_at_ms > now_ms ? *unused_at_ms : now_ms) + interval_ms;
    return true;
}

/* Returns the object's limiter. An object without a limiter takes one of its WAYS places: the place
 * whose limiter has been unused for longest. */
static struct event_limiter *find_limiter(struct event_table *t, struct hash128 key) {
    struct event_limiter *ways = &t->limiters[key.a % (LIMITERS / WAYS) * WAYS], *least = ways;
    for (unsigned i = 0; i < WAYS; i++) {
        if (hash128_equal(ways[i].key, key))
            return &ways[i];
        if (ways[i].unused_at_ms < least->unused_at_ms)
            least = &ways[i];
    }
    *least = (struct event_limiter){.key = key, .unused_at_ms = INT64_MIN};
    return least;
}

static bool may_report(struct event_table *t, const struct event *event, int64_t now_ms) {
    struct event_limiter *limiter = find_limiter(t, event_object_hash(event));
    return event_limit_use(&limiter->unused_at_ms, now_ms, OBJECT_MS, OBJECT_BURST);
}

/* ---- events come ---- */

static void clear(struct event_table *t, struct event_entry *e) {
    t->queued -= e->state == EVENT_QUEUED ? 1 : 0;
    event_copy_done(&e->copy);
    *e = (struct event_entry){0};
}

static bool is_behind(const struct event_entry *e) {
    return e->state == EVENT_LIVE && e->copy.count > e->written;
}

/* Returns the entry that this event repeats, or NULL. */
static struct event_entry *find_series(struct event_table *t, struct hash128 key, int64_t now_ms) {
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct event_entry *e = &t->entries[i];
        if (e->state != EVENT_FREE && hash128_equal(e->key, key) &&
            (e->state == EVENT_QUEUED || now_ms - e->seen_ms <= SERIES_MS))
            return e;
    }
    return NULL;
}

/* Returns a free entry; or frees the least needed entry: if possible an entry whose count is
 * written, and of several the quietest. */
static struct event_entry *make_room(struct event_table *t) {
    struct event_entry *best = NULL;
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct event_entry *e = &t->entries[i];
        if (e->state == EVENT_FREE)
            return e;
        if (e->state == EVENT_QUEUED || e == t->in_flight)
            continue;
        if (best == NULL || is_behind(e) < is_behind(best) ||
            (is_behind(e) == is_behind(best) && e->seen_ms < best->seen_ms))
            best = e;
    }
    if (best != NULL && is_behind(best))
        event_table_count(t, EVENTS_DROPPED);
    if (best != NULL)
        clear(t, best);
    return best;
}

/* Returns a number for a name: nanoseconds, as upstream, but never the same number twice. */
static uint64_t next_number(struct event_table *t, int64_t wall_us) {
    int64_t number = (int64_t)((uint64_t)wall_us * 1000 + random_below(&t->random, 1000));
    t->last_number = number > t->last_number ? number : t->last_number + 1;
    return (uint64_t)t->last_number;
}

static bool queue(struct event_table *t, const struct event *event, struct hash128 key,
                  int64_t now_ms, int64_t wall_us) {
    struct event_entry *e = t->queued < QUEUE ? make_room(t) : NULL;
    if (e == NULL || !event_copy_init(&e->copy, event)) {
        event_table_count(t, EVENTS_DROPPED);
        return false;
    }
    e->state = EVENT_QUEUED;
    e->key = key;
    e->order = t->next_order++;
    e->seen_ms = now_ms;
    e->copy.first_us = e->copy.last_us = wall_us;
    event_name(event, next_number(t, wall_us), e->copy.name);
    t->queued++;
    return true;
}

bool event_table_add(struct event_table *t, const struct event *event, int64_t now_ms,
                     int64_t wall_us, bool *ret_taken) {
    struct hash128 key = event_series_hash(event);
    struct event_entry *e = find_series(t, key, now_ms);
    *ret_taken = e != NULL;
    if (e != NULL) {
        e->seen_ms = now_ms;
        e->copy.last_us = wall_us;
        e->copy.count += e->copy.count < INT32_MAX ? 1 : 0;
        event_table_count(t, EVENTS_AGGREGATED);
        return is_behind(e);
    }
    if (!may_report(t, event, now_ms)) {
        event_table_count(t, EVENTS_LIMITED);
        return false;
    }
    *ret_taken = queue(t, event, key, now_ms, wall_us);
    return *ret_taken;
}

/* ---- events go ---- */

/* Returns when this entry must be written; INT64_MAX: it need not be written now. */
static int64_t due_ms(const struct event_table *t, const struct event_entry *e) {
    int64_t at = INT64_MAX;
    if (e->state == EVENT_QUEUED)
        at = INT64_MIN;
    else if (is_behind(e))
        at = e->written < 2 || t->hurry ? INT64_MIN : e->written_ms + COUNT_MS;
    return at > e->not_before_ms ? at : e->not_before_ms;
}

static bool comes_before(const struct event_entry *a, const struct event_entry *b) {
    return a->state != b->state ? a->state == EVENT_QUEUED : a->order < b->order;
}

/* New events go first, strictly in their order: while the first new event waits for its next try,
 * later events wait, too, because their requests would probably fail as well. */
struct event_entry *event_table_choose(struct event_table *t, int64_t now_ms, int64_t *ret_at_ms) {
    struct event_entry *best = NULL;
    *ret_at_ms = INT64_MAX;
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct event_entry *e = &t->entries[i];
        if (e->state != EVENT_QUEUED && !is_behind(e))
            continue;
        int64_t at = due_ms(t, e);
        *ret_at_ms = at < *ret_at_ms ? at : *ret_at_ms;
        if ((e->state == EVENT_QUEUED || at <= now_ms) && (best == NULL || comes_before(e, best)))
            best = e;
    }
    if (best == NULL || due_ms(t, best) <= now_ms)
        return best;
    *ret_at_ms = due_ms(t, best);
    return NULL;
}

void event_table_begin(struct event_table *t, struct event_entry *e) {
    t->in_flight = e;
    e->told_before = e->written;
    e->written = e->copy.count;
}

static void is_written(struct event_table *t, struct event_entry *e, int64_t now_ms) {
    event_table_count(t, e->state == EVENT_QUEUED ? EVENTS_CREATED : EVENTS_UPDATED);
    t->queued -= e->state == EVENT_QUEUED ? 1 : 0;
    e->state = EVENT_LIVE;
    e->written_ms = now_ms;
    e->tries = 0;
    e->not_before_ms = INT64_MIN;
}

static void to_be_tried_again(struct event_table *t, struct event_entry *e, int64_t now_ms,
                              int64_t retry_after_ms) {
    int64_t told = retry_after_ms < RETRY_MOST_MS ? retry_after_ms : RETRY_MOST_MS;
    int64_t wait = RETRY_MS + (int64_t)random_below(&t->random, RETRY_MS / 4);
    e->not_before_ms = now_ms + (told > wait ? told : wait);
    e->written = e->told_before;
    e->tries++;
}

void event_table_end(struct event_table *t, enum event_end end, int64_t now_ms,
                     int64_t retry_after_ms) {
    struct event_entry *e = t->in_flight;
    t->in_flight = NULL;
    switch (end) {
    case EVENT_WRITTEN:
        is_written(t, e, now_ms);
        break;
    case EVENT_IS_THERE:
        is_written(t, e, now_ms);
        e->written = 1;
        break;
    case EVENT_IS_GONE: /* the Event is created again, with its count */
        e->state = EVENT_QUEUED;
        e->order = t->next_order++;
        t->queued++;
        break;
    case EVENT_TRY_AGAIN:
        to_be_tried_again(t, e, now_ms, retry_after_ms);
        break;
    case EVENT_GIVE_UP:
        event_table_count(t, EVENTS_FAILED);
        clear(t, e);
        break;
    }
}
