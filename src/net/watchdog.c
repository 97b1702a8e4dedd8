/*
 * The entries are a plain list, scanned whole when the thread wakes: a listener has a few hundred
 * connections at most, and the thread wakes about once per deadline period under load, not once per
 * request. Setting a deadline is one short lock; it signals the thread only when the new deadline
 * is earlier than the time the thread has planned to wake up.
 *
 * The thread converts the injected clock's distance to the next deadline into real waiting; with a
 * clock of a test that stands still it sleeps, and the test calls watchdog_check() instead.
 */
#include "net/watchdog.h"

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
    pthread_mutex_t mutex; /* guards everything below, and all entries */
    pthread_cond_t wake;
    struct watchdog_entry *first;
    int64_t next_wake_ms; /* of the clock; NEVER: the thread sleeps until it is signalled */
    bool stopping;
};

/* Shuts down what is overdue; returns the earliest deadline left. */
static int64_t close_overdue(struct watchdog *w, int64_t now_ms, unsigned *closed) {
    int64_t earliest = NEVER;
    for (struct watchdog_entry *e = w->first; e != NULL; e = e->next) {
        if (e->deadline_ms <= now_ms) {
            (void)shutdown(e->fd, SHUT_RDWR); /* fails when the peer is gone already: as good */
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
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    (void)close_overdue(w, w->clock->now_ms(w->clock), &closed);
    (void)pthread_mutex_unlock(&w->mutex);
    return closed;
}

/* Waits until w->wake is signalled or wait_ms are over; both may be early. */
static void sleep_for(struct watchdog *w, int64_t wait_ms) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail on Linux */
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&w->wake, &w->mutex, &until); /* timed out or not: look again */
}

static void *run(void *arg) {
    struct watchdog *w = arg;
    (void)pthread_setname_np(pthread_self(), "http-watchdog"); /* for people */
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    while (!w->stopping) {
        unsigned closed = 0;
        int64_t now_ms = w->clock->now_ms(w->clock);
        w->next_wake_ms = close_overdue(w, now_ms, &closed);
        if (w->next_wake_ms == NEVER)
            (void)pthread_cond_wait(&w->wake, &w->mutex); /* spurious wakes only look again */
        else
            sleep_for(w, w->next_wake_ms - now_ms);
    }
    (void)pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* glibc's init functions do not fail with these arguments; starting a thread may. */
static int start_thread(struct watchdog *w) {
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&w->mutex, NULL);
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
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    w->stopping = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->mutex);
    (void)pthread_join(w->thread, NULL); /* joined once, by the owner */
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->mutex);
    free(w);
}

static void arm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms) {
    entry->deadline_ms = w->clock->now_ms(w->clock) + after_ms;
    if (entry->deadline_ms < w->next_wake_ms) {
        w->next_wake_ms = entry->deadline_ms; /* so that the next one does not signal again */
        (void)pthread_cond_signal(&w->wake);
    }
}

void watchdog_watch(struct watchdog *w, struct watchdog_entry *entry, int fd, unsigned after_ms) {
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    entry->fd = fd;
    entry->next = w->first;
    entry->link = &w->first;
    if (entry->next != NULL)
        entry->next->link = &entry->next;
    w->first = entry;
    arm(w, entry, after_ms);
    (void)pthread_mutex_unlock(&w->mutex);
}

void watchdog_rearm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms) {
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    if (entry->deadline_ms != NEVER)
        arm(w, entry, after_ms);
    (void)pthread_mutex_unlock(&w->mutex);
}

void watchdog_forget(struct watchdog *w, struct watchdog_entry *entry) {
    (void)pthread_mutex_lock(&w->mutex); /* cannot fail: never destroyed while in use */
    if (entry->link != NULL) {
        *entry->link = entry->next;
        if (entry->next != NULL)
            entry->next->link = entry->link;
        entry->link = NULL;
    }
    (void)pthread_mutex_unlock(&w->mutex);
}
