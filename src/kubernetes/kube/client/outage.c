#include "kube/client/outage.h"

#include "base/log.h"
#include "base/random.h"

enum {
    SPREAD_MS = 1000,        /* woken watches try again within this time */
    WAKE_AGAIN_MS = 10000,   /* a watch is not woken again within this time */
    LOG_AGAIN_MS = 600000,   /* a long outage is logged again after this time */
    SILENT_AFTER_MS = 60000, /* an answer longer ago says nothing about the server now */
};

void outage_init(struct outage *o, const char *server, const char *role) {
    *o = (struct outage){.server = server, .role = role, .answered_ms = INT64_MIN};
    list_init(&o->waiters);
}

static bool answers_others(const struct outage *o, int64_t now_ms, int64_t asked_ms) {
    int64_t since_ms = asked_ms > now_ms - SILENT_AFTER_MS ? asked_ms : now_ms - SILENT_AFTER_MS;
    return o->answered_ms > since_ms;
}

static void log_outage(struct outage *o, int64_t now_ms, const struct outage_failure *failure) {
    o->logged_ms = now_ms;
    LOG_W("the API server does not answer; its watches try again", LOG_CSTR("server", o->server),
          LOG_CSTR_IF("role", o->role), LOG_CSTR("resource", failure->resource),
          LOG_INT("watches", o->count), LOG_INT("since_ms", now_ms - o->began_ms),
          LOG_CSTR("err", failure->error));
}

bool outage_join(struct outage *o, struct outage_waiter *w, int64_t now_ms,
                 const struct outage_failure *failure) {
    if (answers_others(o, now_ms, failure->asked_ms)) {
        outage_leave(o, w);
        return false;
    }
    bool begins = o->count == 0;
    if (begins)
        o->began_ms = now_ms;
    if (list_empty(&w->link)) {
        list_append(&o->waiters, &w->link);
        o->count++;
    }
    if (begins || now_ms - o->logged_ms >= LOG_AGAIN_MS)
        log_outage(o, now_ms, failure);
    return true;
}

void outage_leave(struct outage *o, struct outage_waiter *w) {
    if (list_empty(&w->link))
        return;
    list_remove(&w->link);
    o->count--;
}

void outage_end(struct outage *o, int64_t now_ms) {
    o->answered_ms = now_ms;
    if (o->count == 0)
        return;
    LOG_I("the API server answers again", LOG_CSTR("server", o->server),
          LOG_CSTR_IF("role", o->role), LOG_INT("watches", o->count),
          LOG_INT("after_ms", now_ms - o->began_ms));
    o->random ^= (uint64_t)now_ms; /* processes that lost the server together differ */
    while (!list_empty(&o->waiters)) {
        struct outage_waiter *w = LIST_ITEM(struct outage_waiter, link, o->waiters.next);
        outage_leave(o, w);
        if (w->woken_ms != 0 && now_ms - w->woken_ms < WAKE_AGAIN_MS)
            continue;
        w->woken_ms = now_ms;
        w->wake(w->ctx, (int64_t)random_below(&o->random, SPREAD_MS + 1));
    }
}
