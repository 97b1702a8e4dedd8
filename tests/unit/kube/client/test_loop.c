/* A loop with several clients, and what other threads have its thread do. */
#include "base/log.h"
#include "kube/client/client.h"
#include "unit/certs/issued.h"
#include "unit/kube/api.h"
#include "unit/kube/asked.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

enum { HOUR_MS = 3600000, CLIENTS = 2 };

struct ticking {
    struct kube_timer timer;
    struct kube_client *client;
    sem_t fired, go_on;
    _Atomic unsigned count;
    _Atomic bool waits, again; /* for go_on, while it fires; it starts itself again */
    _Atomic bool firing;
};

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_loop *loop;
    struct kube_client *clients[CLIENTS];
    struct asked asked[CLIENTS];
    struct ticking ticking[CLIENTS];
};

static void tick(void *ctx) {
    struct ticking *t = ctx;
    atomic_store(&t->firing, true);
    (void)atomic_fetch_add(&t->count, 1);
    (void)sem_post(&t->fired);
    if (atomic_load(&t->waits))
        wait_sem(&t->go_on, "the test");
    if (atomic_load(&t->again))
        kube_timer_start(t->client, &t->timer, 0);
    atomic_store(&t->firing, false);
}

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){.loop = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    check_ok(kube_loop_new(&f.clock.clock, &f.loop, &err), &err);
    for (int i = 0; i < CLIENTS; i++) {
        check_ok(kube_client_new_on(f.loop, &f.access, &f.clients[i], &err), &err);
        asked_init(&f.asked[i], "GET", "/api");
        f.ticking[i] =
            (struct ticking){.timer = {.fn = tick, .ctx = &f.ticking[i]}, .client = f.clients[i]};
        assert_int_equal(sem_init(&f.ticking[i].fired, 0, 0), 0);
        assert_int_equal(sem_init(&f.ticking[i].go_on, 0, 0), 0);
    }
    *state = &f;
    return 0;
}

static void end_client(struct fixture *f, int i) {
    kube_client_free(f->clients[i]);
    f->clients[i] = NULL;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < CLIENTS; i++) {
        atomic_store(&f->ticking[i].waits, false);
        atomic_store(&f->ticking[i].again, false);
        end_client(f, i);
        asked_done(&f->asked[i]);
        (void)sem_destroy(&f->ticking[i].fired); /* neither is waited for any more */
        (void)sem_destroy(&f->ticking[i].go_on);
    }
    kube_loop_free(f->loop);
    api_call_done(&f->call);
    api_done(&f->api);
    return 0;
}

static void start_asking(struct fixture *f, int i) {
    kube_request_start(f->clients[i], &f->asked[i].request);
}

static void answer(struct fixture *f, int i) {
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked[i]);
    assert_int_equal(f->asked[i].error, 0);
}

/* ---- several clients ---- */

static void test_one_client_ends_and_the_other_goes_on(void **state) {
    struct fixture *f = *state;
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    struct api_call first = f->call;
    f->call = (struct api_call){.api = NULL};
    start_asking(f, 1);
    api_take(&f->api, &f->call);
    for (int i = 0; i < CLIENTS; i++)
        kube_timer_start(f->clients[i], &f->ticking[i].timer, HOUR_MS);
    end_client(f, 0);
    assert_int_equal(f->asked[0].ends, 1); /* before it returned */
    assert_int_equal(f->asked[0].error, -ECANCELED);
    assert_int_equal(f->ticking[0].count, 1);
    api_wait_gone(&first);
    api_call_done(&first);
    assert_int_equal(f->asked[1].ends, 0);
    answer(f, 1);
    assert_int_equal(f->ticking[1].count, 0);
    f->clock.at_ms += HOUR_MS;
    wait_sem(&f->ticking[1].fired, "the other client's timer");
}

/* ---- a name that is not found ---- */

#define UNKNOWN_HOST "hub.invalid"

static struct {
    sem_t asked, go_on, left;
    _Atomic bool in_vain; /* nobody told it to go on */
} resolver;

/* The one that libcurl calls, on a thread that it makes for it: DNS does not answer for this name.
 */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct timespec until;
    if (name == NULL || strcmp(name, UNKNOWN_HOST) != 0) {
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
        return real(name, service, req, pai);
    }
    (void)sem_post(&resolver.asked);
    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail on Linux */
    until.tv_sec += 3;
    while (sem_timedwait(&resolver.go_on, &until) != 0)
        if (errno == ETIMEDOUT) {
            atomic_store(&resolver.in_vain, true);
            break;
        }
    (void)sem_post(&resolver.left);
    return EAI_AGAIN;
}

static void test_a_name_that_is_not_found_holds_up_nobody(void **state) {
    struct fixture *f = *state;
    static struct kube_access hub;
    struct err err;
    assert_int_equal(sem_init(&resolver.asked, 0, 0), 0);
    assert_int_equal(sem_init(&resolver.go_on, 0, 0), 0);
    assert_int_equal(sem_init(&resolver.left, 0, 0), 0);
    hub = f->access;
    hub.server = "http://" UNKNOWN_HOST;
    end_client(f, 1);
    check_ok(kube_client_new_on(f->loop, &hub, &f->clients[1], &err), &err);
    f->asked[1].request.timeout_ms = 50;
    start_asking(f, 1);
    wait_sem(&resolver.asked, "a look-up of the name");
    asked_wait(&f->asked[1]);
    assert_int_equal(f->asked[1].error, -ETIMEDOUT);
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    answer(f, 0);
    (void)sem_post(&resolver.go_on);
    wait_sem(&resolver.left, "the look-up");
    assert_false(resolver.in_vain); /* all this went on while it took its time */
}

static void test_each_has_its_credentials(void **state) {
    struct fixture *f = *state;
    static struct kube_access other;
    struct err err;
    other = f->access;
    other.token = "secret";
    end_client(f, 1);
    check_ok(kube_client_new_on(f->loop, &other, &f->clients[1], &err), &err);
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    assert_str(api_header(&f->call, "Authorization"), "");
    answer(f, 0);
    start_asking(f, 1);
    api_take(&f->api, &f->call);
    assert_str(api_header(&f->call, "Authorization"), "Bearer secret");
    answer(f, 1);
}

/* ---- calls ---- */

struct called {
    struct fixture *f;
    pthread_t thread;
    unsigned count;
    unsigned count_inside; /* when kube_run() had returned on the client's thread */
};

static void on_call(void *ctx) {
    struct called *called = ctx;
    called->thread = pthread_self();
    called->count++;
}

static void on_call_twice(void *ctx) {
    struct called *called = ctx;
    kube_run(called->f->clients[0], on_call, called); /* at once: this is the thread */
    called->count_inside = called->count;
    kube_loop_run(called->f->loop, on_call, called);
}

static void test_a_call_is_over_when_it_returns(void **state) {
    struct fixture *f = *state;
    struct called called = {.f = f};
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    answer(f, 0);
    kube_run(f->clients[1], on_call_twice, &called);
    assert_int_equal(called.count_inside, 1);
    assert_int_equal(called.count, 2);
    assert_true(pthread_equal(called.thread, f->asked[0].thread));
}

static void *call_often(void *ctx) {
    struct called *called = ctx;
    for (int i = 0; i < 1000; i++)
        kube_run(called->f->clients[i % CLIENTS], on_call, called);
    return NULL;
}

static void test_calls_of_many_threads(void **state) {
    struct fixture *f = *state;
    pthread_t threads[4];
    struct called called = {.f = f}; /* written by one thread, read after it was waited for */
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &called), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(called.count, 4000);
}

/* ---- cancelling from another thread ---- */

static void test_cancelling_a_request_under_way(void **state) {
    struct fixture *f = *state;
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    kube_request_cancel(f->clients[0], &f->asked[0].request);
    assert_int_equal(f->asked[0].ends, 1);
    assert_int_equal(f->asked[0].error, -ECANCELED);
    kube_request_cancel(f->clients[0], &f->asked[0].request); /* over: nothing happens */
    assert_int_equal(f->asked[0].ends, 1);
    api_wait_gone(&f->call);
}

static void test_cancelling_what_never_began(void **state) {
    struct fixture *f = *state;
    kube_request_cancel(f->clients[0], &f->asked[0].request);
    kube_timer_cancel(f->clients[0], &f->ticking[0].timer);
    assert_int_equal(f->asked[0].ends, 0);
}

/* The request has just begun, has been refused, or is over: after the call there is no other end.
 */
static void test_cancelling_at_any_moment(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    for (unsigned i = 0; i < 300; i++) {
        start_asking(f, 0);
        unit_linger(i);
        kube_request_cancel(f->clients[0], &f->asked[0].request);
        assert_int_equal(f->asked[0].ends, i + 1);
    }
}

static void *let_go_on(void *ctx) {
    struct ticking *t = ctx;
    unit_linger(1000);
    (void)sem_post(&t->go_on);
    return NULL;
}

/* The timer is firing when it is cancelled: that is waited for. */
static void test_cancelling_a_timer_that_fires(void **state) {
    struct fixture *f = *state;
    struct ticking *t = &f->ticking[0];
    pthread_t thread;
    atomic_store(&t->waits, true);
    kube_timer_start(t->client, &t->timer, 0);
    wait_sem(&t->fired, "the timer");
    assert_int_equal(pthread_create(&thread, NULL, let_go_on, t), 0);
    kube_timer_cancel(t->client, &t->timer);
    assert_false(atomic_load(&t->firing));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t->count, 1);
}

/* However often it starts itself again. */
static void test_cancelling_a_timer_at_any_moment(void **state) {
    struct fixture *f = *state;
    struct ticking *t = &f->ticking[0];
    for (unsigned i = 0; i < 300; i++) {
        atomic_store(&t->again, true);
        kube_timer_start(t->client, &t->timer, 0);
        wait_sem(&t->fired, "the timer");
        unit_linger(i);
        kube_timer_cancel(t->client, &t->timer);
        unsigned count = t->count;
        kube_timer_start(f->clients[1], &f->ticking[1].timer, 0);
        wait_sem(&f->ticking[1].fired, "the other timer");
        assert_int_equal(t->count, count);
        assert_false(atomic_load(&t->firing));
    }
}

static void test_the_end_of_nothing(void **state) {
    (void)state;
    kube_loop_free(NULL);
    struct kube_loop *loop;
    assert_int_equal(kube_loop_new(NULL, &loop, NULL), 0);
    kube_loop_free(loop);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_client_ends_and_the_other_goes_on),
        TEST(test_a_name_that_is_not_found_holds_up_nobody),
        TEST(test_each_has_its_credentials),
        TEST(test_a_call_is_over_when_it_returns),
        TEST(test_calls_of_many_threads),
        TEST(test_cancelling_a_request_under_way),
        TEST(test_cancelling_what_never_began),
        TEST(test_cancelling_at_any_moment),
        TEST(test_cancelling_a_timer_that_fires),
        TEST(test_cancelling_a_timer_at_any_moment),
        cmocka_unit_test(test_the_end_of_nothing),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
