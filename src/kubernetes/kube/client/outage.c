#include "kube/client/outage.h"

#include "base/log.h"
#include "base/random.h"

enum {
    SURE_MS = 3000,          /* a shorter outage is not logged: another request may be answered */
    WAKE_AFTER_MS = 10000,   /* after a shorter outage the waits are short: no watch is woken */
    SPREAD_MS = 1000,        /* woken watches try again within this time */
    WAKE_AGAIN_MS = 10000,   /* a watch is not woken again within this time */
    MOST_DOUBLINGS = 3,      /* most doublings of WAKE_AGAIN_MS */
    LOG_AGAIN_MS = 600000,   /* a long outage is logged again after this time */
    LOG_NEXT_MS = 60000,     /* the next outage is not logged within this time */
    SILENT_AFTER_MS = 60000, /* an older answer says nothing about the server now */
};

void outage_init(struct outage *o, const char *server, const char *role) {
    *o = (struct outage){
        .server = server, .role = role, .logged_ms = INT64_MIN, .answered_ms = INT64_MIN};
    list_init(&o->waiters);
}

static bool answers_others(const struct outage *o, int64_t now_ms, int64_t asked_ms) {
    int64_t since_ms = asked_ms > now_ms - SILENT_AFTER_MS ? asked_ms : now_ms - SILENT_AFTER_MS;
    return o->answered_ms > since_ms;
}

static bool is_line_due(const struct outage *o, int64_t now_ms) {
    if (o->answered_ms != INT64_MIN && now_ms - o->began_ms < SURE_MS)
        return false;
    int64_t pause_ms = o->logged ? LOG_AGAIN_MS : LOG_NEXT_MS;
    return o->logged_ms == INT64_MIN || now_ms - o->logged_ms >= pause_ms;
}

static void log_outage(struct outage *o, int64_t now_ms, const struct outage_failure *failure) {
    o->logged = true;
    o->logged_ms = now_ms;
    LOG_W(failure->unasked ? "the API server cannot be asked; its watches try again"
                           : "the API server does not answer; its watches try again",
          LOG_CSTR("server", o->server), LOG_CSTR_IF("role", o->role),
          LOG_CSTR("resource", failure->resource), LOG_INT("watches", o->count),
          LOG_INT("since_ms", now_ms - o->began_ms), LOG_CSTR("err", failure->error));
}

static void add_waiter(struct outage *o, struct outage_waiter *w, int64_t now_ms) {
    if (o->count == 0) {
        o->began_ms = now_ms;
        o->logged = false;
    }
    if (!list_empty(&w->link))
        return;
    list_append(&o->waiters, &w->link);
    o->count++;
}

bool outage_join(struct outage *o, struct outage_waiter *w, int64_t now_ms,
                 const struct outage_failure *failure) {
    bool alone = w->alone;
    w->alone = false;
    if (answers_others(o, now_ms, failure->asked_ms)) {
        outage_leave(o, w);
        return false;
    }
    add_waiter(o, w, now_ms);
    if (is_line_due(o, now_ms))
        log_outage(o, now_ms, failure);
    return !alone;
}

void outage_leave(struct outage *o, struct outage_waiter *w) {
    if (list_empty(&w->link))
        return;
    list_remove(&w->link);
    o->count--;
}

static void wake(struct outage *o, struct outage_waiter *w, int64_t now_ms) {
    unsigned doublings = w->wakes - 1 < MOST_DOUBLINGS ? w->wakes - 1 : MOST_DOUBLINGS;
    if (w->wakes > 0 && now_ms - w->woken_ms < (int64_t)WAKE_AGAIN_MS << doublings)
        return;
    w->wakes++;
    w->woken_ms = now_ms;
    w->wake(w->ctx, (int64_t)random_below(&o->random, SPREAD_MS + 1));
}

void outage_end(struct outage *o, int64_t now_ms) {
    o->answered_ms = now_ms;
    if (o->count == 0)
        return;
    if (o->logged)
        LOG_I("the API server answers again", LOG_CSTR("server", o->server),
              LOG_CSTR_IF("role", o->role), LOG_INT("watches", o->count),
              LOG_INT("after_ms", now_ms - o->began_ms));
    bool long_enough = now_ms - o->began_ms >= WAKE_AFTER_MS;
    o->random ^= (uint64_t)now_ms; /* processes that lost the server at the same time get different
                                      delays */
    while (!list_empty(&o->waiters)) {
        struct outage_waiter *w = LIST_ITEM(struct outage_waiter, link, o->waiters.next);
        outage_leave(o, w);
        w->alone = true;
        if (long_enough)
            wake(o, w, now_ms);
    }
}

void outage_succeed(struct outage *o, struct outage_waiter *w, int64_t now_ms) {
    outage_end(o, now_ms);
    w->wakes = 0;
    w->alone = false;
}
