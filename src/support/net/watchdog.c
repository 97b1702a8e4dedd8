/*
 * The entries are a plain list, scanned whole when the thread wakes: a listener has a few hundred
 * connections at most, and the thread wakes about once per deadline period under load, not once per
 * request. Setting a deadline is one short lock; it signals the thread only when the new deadline
 * is earlier than the time the thread has planned to wake up.
 *
 * The thread waits in real time for as long as its clock is before the next deadline. With a test's
 * clock, which stands still, the thread just sleeps, and the test calls watchdog_check().
 */
#include "net/watchdog.h"

#include "base/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define NEVER INT64_MAX

struct watchdog {
    struct clock *clock;
    void (*on_close)(void *ctx);
    void *ctx;
    pthread_t thread;
    struct mutex mutex; /* guards everything below, and all entries */
    struct condition wake;
    struct watchdog_entry *first;
    int64_t next_wake_ms; /* a time of the clock; NEVER: the thread sleeps until it is signalled */
    bool stopping;
};

/* Shuts down the connections that are overdue; returns the earliest deadline of the others. */
static int64_t close_overdue(struct watchdog *w, int64_t now_ms, unsigned *closed)
    REQUIRES(w->mutex) {
    int64_t earliest = NEVER;
    for (struct watchdog_entry *e = w->first; e != NULL; e = e->next) {
        if (e->deadline_ms <= now_ms) {
            (void)shutdown(e->fd, SHUT_RDWR); /* fails only if the peer is gone already */
            e->deadline_ms = NEVER;
            (*closed)++;
            if (w->on_close != NULL)
                w->on_close(w->ctx);
        } else if (e->deadline_ms < earliest) {
            earliest = e->deadline_ms;
        }
    }
    return earliest;
}

unsigned watchdog_check(struct watchdog *w) {
    unsigned closed = 0;
    mutex_lock(&w->mutex);
    (void)close_overdue(w, w->clock->now_ms(w->clock), &closed);
    mutex_unlock(&w->mutex);
    return closed;
}

static void *run(void *arg) {
    struct watchdog *w = arg;
    (void)pthread_setname_np(pthread_self(), "http-watchdog"); /* only a name that people see */
    mutex_lock(&w->mutex);
    while (!w->stopping) {
        unsigned closed = 0;
        int64_t now_ms = w->clock->now_ms(w->clock);
        w->next_wake_ms = close_overdue(w, now_ms, &closed);
        if (w->next_wake_ms == NEVER)
            condition_wait(&w->wake, &w->mutex);
        else
            (void)condition_wait_until(
                &w->wake, &w->mutex, clock_real()->now_ms(clock_real()) + w->next_wake_ms - now_ms);
    }
    mutex_unlock(&w->mutex);
    return NULL;
}

/* glibc's init functions do not fail with these arguments; starting a thread may. */
static int start_thread(struct watchdog *w) {
    condition_init(&w->wake);
    mutex_init(&w->mutex);
    return pthread_create(&w->thread, NULL, run, w);
}

int watchdog_start(struct clock *clock, void (*on_close)(void *ctx), void *ctx,
                   struct watchdog **ret, struct err *err) {
    struct watchdog *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "cannot start the watchdog: out of memory");
    w->clock = clock;
    w->on_close = on_close;
    w->ctx = ctx;
    w->next_wake_ms = NEVER;
    int r = start_thread(w);
    if (r != 0) {
        free(w);
        return err_set_errno(err, r, "cannot start the watchdog's thread");
    }
    *ret = w;
    return 0;
}

void watchdog_stop(struct watchdog *w) {
    if (w == NULL)
        return;
    mutex_lock(&w->mutex);
    w->stopping = true;
    condition_signal(&w->wake);
    mutex_unlock(&w->mutex);
    (void)pthread_join(w->thread, NULL); /* joined once, by the owner */
    condition_done(&w->wake);
    mutex_done(&w->mutex);
    free(w);
}

static void arm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms)
    REQUIRES(w->mutex) {
    entry->deadline_ms = w->clock->now_ms(w->clock) + after_ms;
    if (entry->deadline_ms < w->next_wake_ms) {
        w->next_wake_ms = entry->deadline_ms; /* so that the next deadline does not signal again */
        condition_signal(&w->wake);
    }
}

void watchdog_watch(struct watchdog *w, struct watchdog_entry *entry, int fd, unsigned after_ms) {
    mutex_lock(&w->mutex);
    entry->fd = fd;
    entry->next = w->first;
    entry->link = &w->first;
    if (entry->next != NULL)
        entry->next->link = &entry->next;
    w->first = entry;
    arm(w, entry, after_ms);
    mutex_unlock(&w->mutex);
}

void watchdog_rearm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms) {
    mutex_lock(&w->mutex);
    if (entry->deadline_ms != NEVER)
        arm(w, entry, after_ms);
    mutex_unlock(&w->mutex);
}

void watchdog_forget(struct watchdog *w, struct watchdog_entry *entry) {
    mutex_lock(&w->mutex);
    if (entry->link != NULL) {
        *entry->link = entry->next;
        if (entry->next != NULL)
            entry->next->link = entry->link;
        entry->link = NULL;
    }
    mutex_unlock(&w->mutex);
}
