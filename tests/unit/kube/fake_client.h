/*
 * A client for tests of the users of kube/client/io.h: a request waits until the test answers it,
 * and timers fire when the test lets time pass. The test's thread is the client's thread; other
 * threads may only start requests and timers.
 */
#pragma once

#include "kube/client/io.h"

#include <pthread.h>

struct kube_client { /* replaces the real client */
    struct clock_fake clock;
    struct kube_request *request; /* the pending request; NULL: none */
    int64_t server_ahead_us;      /* the API server's clock minus the wall clock */
    pthread_mutex_t lock;         /* guards the members below */
    bool bad_timer; /* a timer was started in the past, or there were too many timers */
    struct {
        struct kube_timer *timer; /* NULL: the place is free */
        int64_t at_ms;
    } timers[4];
};

extern const struct kube_io fake_io;

void fake_init(struct kube_client *f);
/* Fails the test if a request or a timer is left, or if a timer was bad. */
void fake_done(struct kube_client *f);

/* Fires the timers that are due, and those that become due meanwhile. */
void fake_run(struct kube_client *f);
/* Lets time pass, and fires each timer at its time. */
void fake_pass(struct kube_client *f, int64_t ms);
/* Returns the milliseconds until the next timer; -1 if no timer is set. */
int64_t fake_next_timer(struct kube_client *f);
/* Returns the number of timers that are set. */
int fake_timer_count(struct kube_client *f);

/* Makes only the wall clock jump. */
void fake_jump(int64_t seconds);

/* End the pending request. */
void fake_answer(struct kube_client *f, int status, struct str body, int64_t retry_after_ms);
void fake_fail(struct kube_client *f, int error);
/* Lets time pass until a request is pending, which must write an Event with this reason and a note
 * that contains the text; then answers it with success. */
void fake_expect_event(struct kube_client *f, const char *reason, const char *note);
