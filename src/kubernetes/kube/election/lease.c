/*
 * There is one round after the other. A round has one to three requests:
 *
 *     leading, Lease known:   PUT ---------------------------> leads
 *                              | 409, 404: it has changed
 *                              v
 *     otherwise:              GET --(free, ours or expired)--> PUT --> leads
 *                              |  \--(another's)-------------> wait
 *                              404 --(as above)------------> POST --> leads
 *     stopped:                the same with a record that names nobody
 *
 * A write counts only if the answer shows a new version: a write that changes nothing also gets
 * 200, but no other process sees it. Any other answer, or no answer, fails the round. If the result
 * of a write is not known, the Lease must be read again, because the write may have been done.
 */
#include "kube/election/lease.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/time.h"
#include "kube/client/status.h"
#include "kube/election/lease_record.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RELEASE_TRIES = 5,
    RELEASE_RETRY_MS = 200, /* least wait before releasing again; at most twice this time */
    FIXED_ARENA = 64 << 10,
    STATUS_ARENA = 1 << 20,
};

enum step { STEP_WAIT, STEP_GET, STEP_CREATE, STEP_UPDATE, STEP_DONE };

struct lease {
    struct lease_options options; /* the strings are in `fixed` */
    struct arena fixed;
    struct str identity, where; /* where: "namespace/name", for messages */
    const char *object_path, *update_path, *create_path;
    uint64_t random;

    /* the known state of the Lease */
    struct strbuf object;       /* the Lease's text; empty: read the Lease before writing it */
    struct arena arena;         /* memory of `record` */
    struct lease_record record; /* as last seen */
    bool seen_any;
    struct hash128 seen; /* the record whose age counts */
    int64_t seen_ms;     /* when we first saw it */
    int64_t free_at_ms;  /* when its holder counts as dead; INT64_MIN: no other process is the
                            holder */

    /* the next step, or the step under way */
    enum step step;
    bool under_way, fast, releasing; /* fast: an update without reading first */
    int64_t wait_until_ms, round_ms, began_ms;
    struct strbuf body;
    struct hash128 replaced; /* hash of the version that the update under way replaces */
    char time_text[KUBE_TIME_SIZE];
    int64_t renew_us; /* the last renewTime */

    int64_t until_ms; /* we lead until this time; INT64_MIN: we do not lead */
    bool may_hold;    /* we have written our name into the Lease, or tried to */
    bool stopping;
    int64_t stop_by_ms;
    unsigned release_tries;

    struct lease_stats stats;
    char problem[2 * ERR_TEXT_SIZE];
};

/* ---- life ---- */

static const char *fixed_text(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
static const char *fixed_text(struct arena *arena, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* fits: names are at most 63 and 253 */
    va_end(args);
    return arena_cstr(arena, str_of(text));
}

static void copy_texts(struct lease *l) {
    static const char base[] = "/apis/" COORDINATION_API "/namespaces";
    struct lease_options *o = &l->options;
    o->namespace = fixed_text(&l->fixed, "%s", o->namespace);
    o->name = fixed_text(&l->fixed, "%s", o->name);
    o->identity = fixed_text(&l->fixed, "%s", o->identity);
    l->object_path = fixed_text(&l->fixed, "%s/%s/leases/%s", base, o->namespace, o->name);
    l->update_path = fixed_text(&l->fixed, "%s?fieldManager=evenkeel", l->object_path);
    l->create_path =
        fixed_text(&l->fixed, "%s/%s/leases?fieldManager=evenkeel", base, o->namespace);
    l->where = str_of(fixed_text(&l->fixed, "%s/%s", o->namespace, o->name));
    l->identity = str_of(o->identity);
}

int lease_new(const struct lease_options *options, struct lease **ret, struct err *err) {
    int r = lease_options_check(options, err);
    if (r != 0)
        return r;
    struct lease *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for leader election");
    *l = (struct lease){.options = lease_options_complete(options),
                        .random = options->seed,
                        .object = {.max = LIMIT_KUBE_BODY},
                        .body = {.max = LIMIT_KUBE_BODY + FIXED_ARENA},
                        .wait_until_ms = INT64_MIN,
                        .free_at_ms = INT64_MIN,
                        .until_ms = INT64_MIN,
                        .renew_us = INT64_MIN,
                        .stats = {.renewed_ms = INT64_MIN}};
    arena_init(&l->fixed, FIXED_ARENA);
    arena_init(&l->arena, LIMIT_KUBE_BODY);
    copy_texts(l);
    if (arena_failed(&l->fixed)) {
        lease_free(l);
        return err_set(err, -ENOMEM, "no memory for leader election");
    }
    *ret = l;
    return 0;
}

void lease_free(struct lease *l) {
    if (l == NULL)
        return;
    strbuf_done(&l->object);
    strbuf_done(&l->body);
    arena_done(&l->arena);
    arena_done(&l->fixed);
    free(l);
}

int64_t lease_until_ms(const struct lease *l) {
    return l->until_ms;
}

int64_t lease_held_until_ms(const struct lease *l) {
    return l->until_ms > l->free_at_ms ? l->until_ms : l->free_at_ms;
}

struct str lease_holder(const struct lease *l) {
    return l->record.holder;
}

struct str lease_uid(const struct lease *l) {
    return l->record.uid;
}

const char *lease_problem(const struct lease *l) {
    return l->problem;
}

void lease_stats(const struct lease *l, struct lease_stats *ret) {
    *ret = l->stats;
}

/* ---- what is known ---- */

static bool is_ours(const struct lease *l) {
    return str_eq(l->record.holder, l->identity);
}

static struct hash128 version_hash(const struct lease *l) {
    return hash_bytes128(l->record.version.p, l->record.version.n);
}

/* Forgets the Lease, because its version at the server may be another one now. */
static void forget_object(struct lease *l) {
    strbuf_clear(&l->object);
}

/* Takes the Lease from an answer. A record that differs from the last one is new: its age counts
 * from now, which is later than its writing. */
static int learn(struct lease *l, int64_t now_ms, struct str json, struct err *err) {
    strbuf_clear(&l->object);
    strbuf_append_str(&l->object, json);
    arena_reset(&l->arena);
    l->record = (struct lease_record){0};
    int r = strbuf_failed(&l->object) ? err_set(err, -ENOMEM, "no memory for the answer") : 0;
    if (r == 0)
        r = lease_record_read(strbuf_str(&l->object), &l->arena, &l->record, err);
    if (r != 0) {
        forget_object(l);
        return r;
    }
    struct hash128 hash = lease_record_hash(&l->record);
    if (!l->seen_any || !hash128_equal(hash, l->seen)) {
        l->seen = hash;
        l->seen_ms = now_ms;
        l->seen_any = true;
    }
    int64_t duration_ms = l->record.duration_s * 1000;
    l->free_at_ms = l->seen_ms + (duration_ms > 0 ? duration_ms : l->options.duration_ms);
    if (str_empty(l->record.holder) || is_ours(l))
        l->free_at_ms = INT64_MIN;
    if (!is_ours(l))
        l->until_ms = INT64_MIN;
    return 0;
}

/* ---- the end of a round ---- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Sets the time of the next round. A leader renews at a steady pace, counted from the beginning of
 * its rounds; candidates wait a random time. After a Retry-After, a leader still has time for one
 * more try. */
static void wait_for_next(struct lease *l, int64_t now_ms, int64_t retry_after_ms) {
    const struct lease_options *o = &l->options;
    int64_t at, most = o->duration_ms;
    int64_t told = now_ms + (retry_after_ms < most ? retry_after_ms : most); /* -1: a time in the
                                                                                past */
    l->step = STEP_WAIT;
    if (l->stopping) {
        at = now_ms + RELEASE_RETRY_MS + (int64_t)random_below(&l->random, RELEASE_RETRY_MS);
    } else if (lease_leading(l, now_ms)) {
        int64_t last = l->until_ms - o->retry_ms;
        at = l->round_ms + o->retry_ms;
        at = later(at, told < last ? told : last);
    } else {
        uint64_t jitter = (uint64_t)(o->retry_ms * LEASE_JITTER_TENTHS / 10) + 1;
        at = later(now_ms + o->retry_ms + (int64_t)random_below(&l->random, jitter), told);
    }
    l->wait_until_ms = at;
}

static const char *verb(const struct lease *l, enum step step) {
    return step == STEP_GET      ? "read"
           : step == STEP_CREATE ? "create"
           : l->releasing        ? "release"
                                 : "update";
}

static void say(struct lease *l, enum step step, const char *why) {
    (void)snprintf(l->problem, sizeof l->problem, "cannot %s lease '%.*s': %s", verb(l, step),
                   STR_ARG(l->where), why);
    l->stats.failures++;
}

/* Ends a round that failed. */
static void fail(struct lease *l, int64_t now_ms, enum step step, const char *why) {
    say(l, step, why);
    wait_for_next(l, now_ms, -1);
}

/* Ends a round whose request had no answer, or an unexpected answer. */
static void fail_with(struct lease *l, int64_t now_ms, enum step step,
                      const struct kube_result *result) {
    CLEANUP(arena_done) struct arena arena;
    char why[ERR_TEXT_SIZE];
    struct kube_status status;
    arena_init(&arena, STATUS_ARENA);
    if (result->error == 0) {
        kube_status_read(result->body, result->status, &arena, &status);
        (void)snprintf(why, sizeof why, "%.*s (HTTP %d)", STR_ARG(status.message), result->status);
    }
    say(l, step, result->error == 0 ? why : result->error_text);
    wait_for_next(l, now_ms, result->retry_after_ms);
}

/* Is it a 404 from the API server itself? A proxy in front may answer 404 to anything. */
static bool not_found(const struct kube_result *result) {
    CLEANUP(arena_done) struct arena arena;
    struct kube_status status;
    arena_init(&arena, STATUS_ARENA);
    if (result->error != 0 || result->status != 404)
        return false;
    kube_status_read(result->body, result->status, &arena, &status);
    return str_eq(status.reason, STR("NotFound"));
}

/* ---- answers ---- */

/* Waits because another process holds the Lease; this is no failure. */
static void wait_until_free(struct lease *l, int64_t now_ms) {
    wait_for_next(l, now_ms, -1);
    if (l->wait_until_ms > l->free_at_ms)
        l->wait_until_ms = l->free_at_ms;
}

/* The Lease was deleted. Its leader leads until it notices the deletion; then the leader creates
 * the Lease again. */
static void on_missing(struct lease *l, int64_t now_ms) {
    forget_object(l);
    l->until_ms = INT64_MIN;
    if (l->stopping)
        l->step = STEP_DONE;
    else if (now_ms >= l->free_at_ms)
        l->step = STEP_CREATE;
    else
        wait_until_free(l, now_ms);
}

static void on_read(struct lease *l, int64_t now_ms, const struct kube_result *result) {
    struct err err;
    if (not_found(result)) {
        on_missing(l, now_ms);
    } else if (result->error != 0 || result->status != 200) {
        fail_with(l, now_ms, STEP_GET, result);
    } else if (learn(l, now_ms, result->body, &err) != 0) {
        fail(l, now_ms, STEP_GET, err.text);
    } else if (l->stopping) {
        l->step = is_ours(l) ? STEP_UPDATE : STEP_DONE;
    } else if (now_ms >= l->free_at_ms) {
        l->step = STEP_UPDATE;
    } else {
        wait_until_free(l, now_ms);
    }
}

/* Begins or extends our term, counted from the beginning of the request: no other process counts
 * the age of the record from an earlier time. */
static void lead(struct lease *l, int64_t now_ms) {
    bool led = lease_leading(l, now_ms);
    l->may_hold = true;
    if (l->stopping)
        return;
    l->until_ms = l->began_ms + l->options.renew_deadline_ms;
    l->stats.renewed_ms = l->began_ms;
    if (led) {
        l->stats.renewals++;
        l->stats.slow += l->fast ? 0 : 1;
    } else if (lease_leading(l, now_ms)) {
        l->stats.acquired++;
    }
}

static void on_written(struct lease *l, int64_t now_ms, enum step step,
                       const struct kube_result *result) {
    struct err err;
    bool conflict = result->error == 0 && result->status == 409;
    if (result->error == 0 && (result->status == 200 || result->status == 201)) {
        if (l->releasing) {
            l->step = STEP_DONE;
        } else if (learn(l, now_ms, result->body, &err) != 0) {
            fail(l, now_ms, step, err.text);
        } else if (!is_ours(l)) {
            fail(l, now_ms, step, "the API server has put another holder into the Lease");
        } else if (step == STEP_UPDATE && hash128_equal(version_hash(l), l->replaced)) {
            fail(l, now_ms, step, "the API server has written nothing");
        } else {
            lead(l, now_ms);
            wait_for_next(l, now_ms, -1);
        }
        return;
    }
    forget_object(l);
    l->stats.conflicts += conflict;
    bool changed = conflict || not_found(result);
    if (changed && l->fast)
        l->step = STEP_GET; /* and once more in this round */
    else
        fail_with(l, now_ms, step, result);
    l->fast = false;
    if (changed && l->releasing)
        l->wait_until_ms = now_ms;
}

void lease_on_end(struct lease *l, int64_t now_ms, const struct kube_result *result) {
    enum step step = l->step;
    l->under_way = false;
    l->problem[0] = '\0';
    if (step == STEP_GET)
        on_read(l, now_ms, result);
    else
        on_written(l, now_ms, step, result);
    if (l->stopping && !l->releasing && l->step != STEP_DONE) {
        l->step = STEP_WAIT; /* the earlier request is over: now release */
        l->wait_until_ms = now_ms;
    }
}

/* ---- requests ---- */

/* Returns the wall clock's time; or the last renewTime plus 1 us if the clock has gone back or
 * stands still. So every write has a later time than the write before. Otherwise the record would
 * be equal: it would not count as renewed, and the API server would not even write it. */
static int64_t renew_time(struct lease *l, int64_t wall_us) {
    l->renew_us = wall_us > l->renew_us ? wall_us : l->renew_us + 1;
    return l->renew_us;
}

/* Returns the record to write. */
static struct lease_record next_record(struct lease *l, int64_t wall_us) {
    bool kept = l->step == STEP_UPDATE && is_ours(l); /* the last record names us as its holder */
    kube_time_text(renew_time(l, wall_us), l->time_text);
    struct lease_record record = {.holder = l->identity,
                                  .acquire_time = str_of(l->time_text),
                                  .renew_time = str_of(l->time_text),
                                  .duration_s = l->options.duration_ms / 1000,
                                  .transitions =
                                      l->step == STEP_UPDATE ? l->record.transitions : 0};
    if (l->releasing) {
        record.holder = STR("");
        record.duration_s = 1;
    } else if (kept && !str_empty(l->record.acquire_time)) {
        record.acquire_time = l->record.acquire_time;
    }
    if (l->step == STEP_UPDATE && !kept && record.transitions < INT32_MAX)
        record.transitions++;
    return record;
}

static bool make_body(struct lease *l, int64_t wall_us) {
    struct lease_record record = next_record(l, wall_us);
    if (l->step == STEP_CREATE)
        lease_record_create(str_of(l->options.namespace), str_of(l->options.name), &record,
                            &l->body);
    else
        lease_record_update(strbuf_str(&l->object), &record, &l->arena, &l->body);
    return !strbuf_failed(&l->body) && !arena_failed(&l->arena);
}

static int64_t timeout(const struct lease *l, int64_t now_ms) {
    int64_t left = l->stopping                ? l->stop_by_ms - now_ms
                   : lease_leading(l, now_ms) ? l->until_ms - now_ms
                                              : INT64_MAX;
    int64_t most = l->options.renew_deadline_ms / 2;
    left = left < most ? left : most;
    return left > 0 ? left : 1;
}

static void begin_round(struct lease *l, int64_t now_ms) {
    bool known = l->object.n > 0 && is_ours(l);
    l->round_ms = now_ms;
    l->fast = false;
    l->releasing = l->stopping;
    if (l->stopping) {
        bool enough = l->release_tries == RELEASE_TRIES || now_ms >= l->stop_by_ms;
        l->release_tries++;
        l->step = !l->may_hold || enough ? STEP_DONE : known ? STEP_UPDATE : STEP_GET;
        return;
    }
    l->fast = known && lease_leading(l, now_ms);
    l->step = l->fast ? STEP_UPDATE : STEP_GET;
}

static void send(struct lease *l, int64_t now_ms, int64_t wall_us, struct lease_next *ret) {
    static const char *const methods[] = {
        [STEP_GET] = "GET", [STEP_CREATE] = "POST", [STEP_UPDATE] = "PUT"};
    const char *const paths[] = {[STEP_GET] = l->object_path,
                                 [STEP_CREATE] = l->create_path,
                                 [STEP_UPDATE] = l->update_path};
    strbuf_clear(&l->body);
    if (l->step != STEP_GET && !make_body(l, wall_us)) {
        fail(l, now_ms, l->step, "no memory for the request");
        forget_object(l);
        *ret = (struct lease_next){.step = LEASE_WAIT, .wait_ms = l->options.retry_ms};
        return;
    }
    l->may_hold |= l->step != STEP_GET && !l->releasing;
    l->under_way = true;
    l->replaced = version_hash(l);
    l->began_ms = now_ms;
    *ret = (struct lease_next){.step = LEASE_SEND,
                               .method = methods[l->step],
                               .path = paths[l->step],
                               .body = strbuf_str(&l->body),
                               .timeout_ms = timeout(l, now_ms)};
}

void lease_next(struct lease *l, int64_t now_ms, int64_t wall_us, struct lease_next *ret) {
    if (l->step == STEP_WAIT && now_ms < l->wait_until_ms) {
        *ret = (struct lease_next){.step = LEASE_WAIT, .wait_ms = l->wait_until_ms - now_ms};
        return;
    }
    if (l->step == STEP_WAIT)
        begin_round(l, now_ms);
    if (l->step == STEP_DONE)
        *ret = (struct lease_next){.step = LEASE_DONE};
    else
        send(l, now_ms, wall_us, ret);
}

void lease_stop(struct lease *l, int64_t now_ms, int64_t limit_ms) {
    if (l->stopping)
        return;
    l->stopping = true;
    l->stop_by_ms = now_ms + limit_ms;
    l->until_ms = INT64_MIN;
    if (!l->under_way) {
        l->step = STEP_WAIT;
        l->wait_until_ms = now_ms;
    }
}
