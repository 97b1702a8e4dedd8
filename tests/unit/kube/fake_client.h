/*
 * A client for tests of what uses one through kube/client/io.h: requests stay where they are until
 * the test answers them, and timers fire when the test lets time pass. The test's thread is the
 * client's; only starting requests and timers may come from others.
 */
#pragma once

#include "kube/client/io.h"

#include <pthread.h>

struct kube_client { /* this one, not the real one */
    struct clock_fake clock;
    struct kube_request *request; /* the one under way; NULL: none */
    int64_t server_ahead_us;      /* the API server's clock minus the wall clock */
    pthread_mutex_t lock;         /* guards what is below */
    bool bad_timer;               /* one was started in the past, or one too many */
    struct {
        struct kube_timer *timer; /* NULL: free */
        int64_t at_ms;
    } timers[4];
};

extern const struct kube_io fake_io;

void fake_init(struct kube_client *f);
/* Nothing must be left: no request, no timer; and every timer was a good one. */
void fake_done(struct kube_client *f);

/* Fires what is due, and what becomes due by that. */
void fake_run(struct kube_client *f);
/* Lets time pass, timer by timer. */
void fake_pass(struct kube_client *f, int64_t ms);
/* Milliseconds to the next timer; -1: none is set. */
int64_t fake_next_timer(struct kube_client *f);
/* How many are set. */
int fake_timer_count(struct kube_client *f);

/* The wall clock jumps; nothing else does. */
void fake_jump(int64_t seconds);

/* The request under way ends. */
void fake_answer(struct kube_client *f, int status, struct str body, int64_t retry_after_ms);
void fake_fail(struct kube_client *f, int error);
/* The request under way, once time has passed for it, writes an Event with this reason and a note
 * that contains the text; it is answered well. */
void fake_expect_event(struct kube_client *f, const char *reason, const char *note);
