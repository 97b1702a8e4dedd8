/*
 * Other threads hand over timers and calls under a mutex and wake the loop; everything else belongs
 * to its thread alone.
 */
#include "kube/client/loop.h"

#include "base/mutex.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { ROUND_MS = 1000 }; /* the longest time between two rounds */

/* A call that another thread wants. The struct is on that thread's stack until the call is done. */
struct loop_call {
    void (*fn)(void *ctx);
    void *ctx;
    bool done;
    struct loop_call *next;
};

struct kube_loop {
    struct clock *clock;
    CURLM *multi;
    pthread_t thread; /* set while start_thread() holds the lock */

    struct mutex lock;       /* guards the members up to the next comment */
    struct condition called; /* a call is done */
    struct loop_call *calls;
    struct timers timers;
    bool stopping;

    /* for the loop's thread only */
    struct loop_client *clients;
    bool transferring;
};

static int64_t now_ms(const struct kube_loop *l) {
    return l->clock->now_ms(l->clock);
}

struct clock *loop_clock(const struct kube_loop *l) {
    return l->clock;
}

void loop_wake(struct kube_loop *l) {
    (void)curl_multi_wakeup(l->multi); /* the next round comes within a second anyway */
}

bool loop_is_current_thread(const struct kube_loop *l) {
    return pthread_equal(l->thread, pthread_self());
}

bool loop_is_transferring(const struct kube_loop *l) {
    return l->transferring;
}

/* ---- clients and transfers ---- */

void loop_join(struct kube_loop *l, struct loop_client *client) {
    client->next = l->clients;
    l->clients = client;
}

void loop_leave(struct kube_loop *l, struct loop_client *client) {
    struct loop_client **at = &l->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
}

bool loop_add(struct kube_loop *l, struct loop_transfer *transfer) {
    return curl_multi_add_handle(l->multi, transfer->easy) == CURLM_OK;
}

void loop_remove(struct kube_loop *l, struct loop_transfer *transfer) {
    (void)curl_multi_remove_handle(l->multi, transfer->easy); /* the handle was added before */
}

static void transfer_bytes(struct kube_loop *l) {
    int running;
    l->transferring = true;
    (void)curl_multi_perform(l->multi, &running); /* failures are reported by info_read */
    l->transferring = false;
}

static void end_transfers(struct kube_loop *l) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(l->multi, &left)) != NULL;) {
        CURLcode code = message->data.result;
        char *pointer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &pointer); /* every handle
                                                                                      has it */
        struct loop_transfer *transfer = (void *)pointer;
        if (transfer == NULL)
            continue;
        loop_remove(l, transfer);
        transfer->on_end(transfer->ctx, code);
    }
}

/* ---- timers ---- */

void loop_timer_start(struct kube_loop *l, const void *client, struct kube_timer *timer,
                      int64_t delay_ms) {
    mutex_lock(&l->lock);
    if (timer->place.waits)
        timers_remove(&l->timers, timer);
    timer->place.client = client;
    timers_add(&l->timers, timer, now_ms(l) + (delay_ms > 0 ? delay_ms : 0));
    mutex_unlock(&l->lock);
    loop_wake(l);
}

void loop_timer_cancel(struct kube_loop *l, struct kube_timer *timer) {
    mutex_lock(&l->lock);
    if (timer->place.waits)
        timers_remove(&l->timers, timer);
    mutex_unlock(&l->lock);
}

static struct kube_timer *take_due(struct kube_loop *l, int64_t by_ms, uint64_t before) {
    mutex_lock(&l->lock);
    struct kube_timer *timer = l->timers.first;
    if (timer != NULL && timer->place.at_ms <= by_ms && timer->place.order < before)
        timers_remove(&l->timers, timer);
    else
        timer = NULL;
    mutex_unlock(&l->lock);
    return timer;
}

static uint64_t timers_added(struct kube_loop *l) {
    mutex_lock(&l->lock);
    uint64_t added = l->timers.added;
    mutex_unlock(&l->lock);
    return added;
}

/* Timers that are started meanwhile wait for the next round; otherwise a timer that starts itself
 * again would keep the loop here. In the heap, these new timers are behind all due timers, because
 * their time is now or later. */
static void fire_due(struct kube_loop *l, int64_t by_ms) {
    uint64_t before = timers_added(l);
    for (struct kube_timer *timer; (timer = take_due(l, by_ms, before)) != NULL;)
        timer->fn(timer->ctx);
}

void loop_fire_all(struct kube_loop *l, const void *client) {
    mutex_lock(&l->lock);
    timers_hurry(&l->timers, client);
    mutex_unlock(&l->lock);
    fire_due(l, INT64_MIN);
}

/* ---- calls ---- */

void kube_loop_run(struct kube_loop *l, void (*fn)(void *ctx), void *ctx) {
    struct loop_call call = {.fn = fn, .ctx = ctx};
    if (loop_is_current_thread(l)) {
        fn(ctx);
        return;
    }
    mutex_lock(&l->lock);
    struct loop_call **end = &l->calls;
    while (*end != NULL)
        end = &(*end)->next;
    *end = &call;
    mutex_unlock(&l->lock);
    loop_wake(l);
    mutex_lock(&l->lock);
    while (!call.done)
        condition_wait(&l->called, &l->lock);
    mutex_unlock(&l->lock);
}

static void run_calls(struct kube_loop *l) {
    mutex_lock(&l->lock);
    while (l->calls != NULL) {
        struct loop_call *call = l->calls;
        l->calls = call->next;
        mutex_unlock(&l->lock);
        call->fn(call->ctx);
        mutex_lock(&l->lock);
        call->done = true;
        condition_broadcast(&l->called);
    }
    mutex_unlock(&l->lock);
}

/* ---- the thread ---- */

/* Waits until the next timer or a client's next round, or until libcurl has something to do. A
 * thread that hands something over calls loop_wake() afterwards, which also works before the loop
 * sleeps. */
static void wait_for_work(struct kube_loop *l) {
    int64_t now = now_ms(l), until = now + ROUND_MS;
    mutex_lock(&l->lock);
    if (l->timers.first != NULL && l->timers.first->place.at_ms < until)
        until = l->timers.first->place.at_ms;
    mutex_unlock(&l->lock);
    for (struct loop_client *client = l->clients; client != NULL; client = client->next) {
        int64_t next_ms = client->next_ms(client->ctx);
        until = next_ms < until ? next_ms : until;
    }
    if (until > now)
        (void)curl_multi_poll(l->multi, NULL, 0, (int)(until - now), NULL); /* loop_wake() ends this
                                                                             */
}

static bool is_stopping(struct kube_loop *l) {
    mutex_lock(&l->lock);
    bool yes = l->stopping;
    mutex_unlock(&l->lock);
    return yes;
}

static void *run(void *ctx) {
    struct kube_loop *l = ctx;
    while (!is_stopping(l)) {
        run_calls(l);
        for (struct loop_client *client = l->clients; client != NULL; client = client->next)
            client->round(client->ctx);
        transfer_bytes(l);
        end_transfers(l);
        fire_due(l, now_ms(l));
        wait_for_work(l);
    }
    return NULL;
}

/* ---- life ---- */

/* Blocks signals in the new thread: the main thread handles them. */
static int start_thread(struct kube_loop *l, struct err *err) {
    sigset_t all, before;
    (void)sigfillset(&all); /* cannot fail */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    mutex_lock(&l->lock);
    int r = pthread_create(&l->thread, NULL, run, l);
    mutex_unlock(&l->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0 ? 0 : err_set_errno(err, r, "cannot start a thread for the API server");
}

static void free_parts(struct kube_loop *l) {
    if (l->multi != NULL)
        (void)curl_multi_cleanup(l->multi); /* fails only on a bad handle */
    condition_done(&l->called);
    mutex_done(&l->lock);
    free(l);
    curl_global_cleanup();
}

int kube_loop_new(struct clock *clock, struct kube_loop **ret, struct err *err) {
    struct kube_loop *l = calloc(1, sizeof *l);
    if (l == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(l);
        return err_set(err, -ENOMEM, "no memory for the API client");
    }
    l->clock = clock != NULL ? clock : clock_real();
    mutex_init(&l->lock);
    condition_init(&l->called);
    l->multi = curl_multi_init();
    int r = l->multi != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the API client");
    if (r == 0)
        r = start_thread(l, err);
    if (r != 0) {
        free_parts(l);
        return r;
    }
    *ret = l;
    return 0;
}

void kube_loop_free(struct kube_loop *l) {
    if (l == NULL)
        return;
    mutex_lock(&l->lock);
    l->stopping = true;
    mutex_unlock(&l->lock);
    loop_wake(l);
    (void)pthread_join(l->thread, NULL); /* our own thread, joined once */
    assert(l->clients == NULL && l->timers.first == NULL);
    free_parts(l);
}
