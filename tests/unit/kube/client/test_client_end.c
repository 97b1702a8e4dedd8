/* Timers, requests that wait for credentials, cancelling, and the client's end. */
#include "base/log.h"
#include "kube/client/client.h"
#include "unit/certs/issued.h"
#include "unit/kube/api.h"
#include "unit/kube/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { SOON_MS = 100, HOUR_MS = 3600000 };

struct ticking {
    struct kube_timer timer;
    struct kube_client *client;
    sem_t fired;
    _Atomic unsigned count;
    _Atomic bool stop;
    pthread_t thread;
    void (*then)(struct ticking *); /* on the client's thread; may be NULL */
    void *ctx;                      /* of then() */
};

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
    struct asked asked[3];
    struct ticking first, second;
    char pipe[256]; /* what the plugin prints is written here */
    const char *args[1];
    void *folder;
};

static void tick(void *ctx) {
    struct ticking *t = ctx;
    t->thread = pthread_self();
    (void)atomic_fetch_add(&t->count, 1);
    (void)sem_post(&t->fired);
    if (t->then != NULL)
        t->then(t);
}

static void ticking_init(struct ticking *t) {
    *t = (struct ticking){.timer = {.fn = tick, .ctx = t}};
    assert_int_equal(sem_init(&t->fired, 0, 0), 0);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.client = NULL};
    if (make_folder(&f.folder) != 0)
        return -1;
    (void)snprintf(f.pipe, sizeof f.pipe, "%s/pipe", (const char *)f.folder); /* fits */
    assert_int_equal(mkfifo(f.pipe, 0600), 0);
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    for (int i = 0; i < 3; i++)
        asked_init(&f.asked[i], "GET", "/api");
    ticking_init(&f.first);
    ticking_init(&f.second);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    f->first.stop = f->second.stop = true;
    kube_client_free(f->client);
    for (int i = 0; i < 3; i++)
        asked_done(&f->asked[i]);
    (void)sem_destroy(&f->first.fired);
    (void)sem_destroy(&f->second.fired);
    api_call_done(&f->call);
    api_done(&f->api);
    return remove_folder(&f->folder);
}

static void open_client(struct fixture *f, struct clock *clock) {
    struct err err;
    check_ok(kube_client_new(&f->access, clock, &f->client, &err), &err);
    f->first.client = f->second.client = f->client;
}

static void end_client(struct fixture *f) {
    kube_client_free(f->client);
    f->client = NULL;
}

static void start_asking(struct fixture *f, unsigned i) {
    kube_request_start(f->client, &f->asked[i].request);
}

static void expect_end(struct asked *asked, int error) {
    asked_wait(asked);
    assert_int_equal(asked->error, error);
    assert_int_equal(asked->ends, 1);
}

/* ---- timers ---- */

/* Lets the client go round twice: what is due has fired then. */
static void go_round(struct fixture *f) {
    for (int i = 0; i < 2; i++) {
        kube_timer_start(f->client, &f->second.timer, 0);
        wait_sem(&f->second.fired, "a timer that is due");
    }
}

static void test_timers_go_by_the_clock(void **state) {
    struct fixture *f = *state;
    open_client(f, &f->clock.clock);
    kube_timer_start(f->client, &f->first.timer, HOUR_MS);
    f->clock.at_ms += HOUR_MS - 1;
    go_round(f);
    assert_int_equal(f->first.count, 0);
    f->clock.at_ms++;
    go_round(f);
    assert_int_equal(f->first.count, 1);
    f->clock.at_ms += 10 * HOUR_MS;
    go_round(f);
    assert_int_equal(f->first.count, 1); /* once */
    kube_timer_start(f->client, &f->first.timer, 1);
    f->clock.at_ms++;
    go_round(f);
    assert_int_equal(f->first.count, 2); /* it may be used again */
}

static void test_a_timer_forgets_its_first_time(void **state) {
    struct fixture *f = *state;
    open_client(f, &f->clock.clock);
    kube_timer_start(f->client, &f->first.timer, 10);
    kube_timer_start(f->client, &f->first.timer, 20);
    f->clock.at_ms += 19;
    go_round(f);
    assert_int_equal(f->first.count, 0);
    f->clock.at_ms++;
    go_round(f);
    assert_int_equal(f->first.count, 1);
}

static void cancel_other(struct ticking *t) {
    struct ticking *other = t->ctx;
    kube_timer_cancel(t->client, &other->timer);
}

/* Both are due: who comes first cancels the other. */
static void test_a_timer_cancels_another(void **state) {
    struct fixture *f = *state;
    struct ticking other;
    open_client(f, &f->clock.clock);
    ticking_init(&other);
    other.client = f->client;
    f->first.then = other.then = cancel_other;
    f->first.ctx = &other;
    other.ctx = &f->first;
    kube_timer_start(f->client, &f->first.timer, 10);
    kube_timer_start(f->client, &other.timer, 10);
    f->clock.at_ms += 10;
    go_round(f);
    assert_int_equal(f->first.count + other.count, 1);
    (void)sem_destroy(&other.fired);
}

static void start_again(struct ticking *t) {
    if (!atomic_load(&t->stop))
        kube_timer_start(t->client, &t->timer, 0);
}

static void test_a_restless_timer_lets_others_live(void **state) {
    struct fixture *f = *state;
    open_client(f, &f->clock.clock);
    f->first.then = start_again;
    kube_timer_start(f->client, &f->first.timer, 0);
    wait_sem(&f->first.fired, "the timer");
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 200, "", "{}");
    expect_end(&f->asked[0], 0);
    atomic_store(&f->first.stop, true);
}

/* ---- credentials that are not there yet ---- */

static void use_plugin(struct fixture *f, const char *command) {
    f->args[0] = f->pipe;
    f->access.exec = (struct kube_exec){.command = command,
                                        .args = f->args,
                                        .arg_count = 1,
                                        .api_version = "client.authentication.k8s.io/v1"};
}

static void let_plugin_answer(struct fixture *f) {
    static const char text[] =
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication."
        "k8s.io/v1\",\"status\":{\"token\":\"from-the-plugin\"}}";
    int fd = open(f->pipe, O_WRONLY | O_CLOEXEC); /* returns when the plugin reads */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(fd), 0);
}

static void test_requests_wait_for_the_plugin(void **state) {
    struct fixture *f = *state;
    use_plugin(f, "/bin/cat");
    open_client(f, NULL);
    start_asking(f, 0);
    start_asking(f, 1);
    let_plugin_answer(f);
    for (int i = 0; i < 2; i++) {
        api_take(&f->api, &f->call);
        assert_str(api_header(&f->call, "Authorization"), "Bearer from-the-plugin");
        api_answer(&f->call, 200, "", "{}");
    }
    expect_end(&f->asked[0], 0);
    expect_end(&f->asked[1], 0);
}

static void test_but_not_for_ever(void **state) {
    struct fixture *f = *state;
    use_plugin(f, "/bin/cat");
    open_client(f, NULL);
    f->asked[0].request.timeout_ms = SOON_MS;
    start_asking(f, 0);
    expect_end(&f->asked[0], -ETIMEDOUT);
    assert_string_equal(f->asked[0].error_text, "the credential plugin has not answered yet");
    assert_int_equal(f->asked[0].status, 0);
}

static void test_a_plugin_that_fails(void **state) {
    struct fixture *f = *state;
    use_plugin(f, "/bin/false");
    open_client(f, NULL);
    start_asking(f, 0);
    asked_wait(&f->asked[0]);
    assert_true(f->asked[0].error < 0);
    assert_contains(f->asked[0].error_text, "/bin/false");
}

/* ---- cancelling ---- */

static void cancel_asked(struct ticking *t) {
    struct asked *asked = t->ctx;
    kube_request_cancel(t->client, &asked->request);
}

static void cancel_soon(struct fixture *f, struct asked *asked) {
    f->first.then = cancel_asked;
    f->first.ctx = asked;
    kube_timer_start(f->client, &f->first.timer, 0);
    wait_sem(&f->first.fired, "the timer");
}

static void test_cancelling_what_is_under_way(void **state) {
    struct fixture *f = *state;
    open_client(f, NULL);
    start_asking(f, 0);
    api_take(&f->api, &f->call);
    cancel_soon(f, &f->asked[0]);
    expect_end(&f->asked[0], -ECANCELED);
    api_wait_gone(&f->call);
    start_asking(f, 0); /* and it may be started again */
    api_take(&f->api, &f->call);
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked[0]);
    assert_int_equal(f->asked[0].error, 0);
    cancel_soon(f, &f->asked[0]); /* too late: nothing happens */
    assert_int_equal(f->asked[0].ends, 2);
}

static void test_cancelling_what_waits_for_the_plugin(void **state) {
    struct fixture *f = *state;
    use_plugin(f, "/bin/cat");
    open_client(f, NULL);
    start_asking(f, 0);
    start_asking(f, 1);
    go_round(f);
    cancel_soon(f, &f->asked[0]);
    expect_end(&f->asked[0], -ECANCELED);
    let_plugin_answer(f);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 200, "", "{}");
    expect_end(&f->asked[1], 0);
}

static void start_and_cancel(struct ticking *t) {
    struct asked *asked = t->ctx;
    for (int i = 0; i < 3; i++) {
        kube_request_start(t->client, &asked[i].request);
        if (i != 1)
            kube_request_cancel(t->client, &asked[i].request);
    }
}

static void test_cancelling_what_has_not_begun(void **state) {
    struct fixture *f = *state;
    open_client(f, NULL);
    f->first.then = start_and_cancel;
    f->first.ctx = f->asked;
    kube_timer_start(f->client, &f->first.timer, 0);
    expect_end(&f->asked[0], -ECANCELED);
    expect_end(&f->asked[2], -ECANCELED);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 200, "", "{}");
    expect_end(&f->asked[1], 0);
}

/* ---- from many threads ---- */

enum { ROUNDS = 100 };

struct starter {
    struct fixture *f;
    struct asked asked;
    struct ticking ticking;
};

static void *start_often(void *ctx) {
    struct starter *s = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        kube_request_start(s->f->client, &s->asked.request);
        kube_timer_start(s->f->client, &s->ticking.timer, i % 2);
        asked_wait(&s->asked);
        wait_sem(&s->ticking.fired, "a timer");
    }
    return NULL;
}

static void cancel_and_start_again(struct ticking *t) {
    struct asked *asked = t->ctx;
    kube_request_start(t->client, &asked->request);
    kube_request_cancel(t->client, &asked->request);
    start_again(t);
}

/* Nobody listens, so requests end at once. While some threads start theirs, the client's own starts
 * and cancels one. */
static void test_many_threads(void **state) {
    struct fixture *f = *state;
    struct starter starters[3];
    pthread_t threads[3];
    api_deafen(&f->api);
    open_client(f, NULL);
    f->first.then = cancel_and_start_again;
    f->first.ctx = &f->asked[0];
    kube_timer_start(f->client, &f->first.timer, 0);
    for (int i = 0; i < 3; i++) {
        starters[i].f = f;
        asked_init(&starters[i].asked, "GET", "/api");
        ticking_init(&starters[i].ticking);
        assert_int_equal(pthread_create(&threads[i], NULL, start_often, &starters[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(starters[i].asked.ends, ROUNDS);
        assert_int_equal(starters[i].ticking.count, ROUNDS);
        asked_done(&starters[i].asked);
        (void)sem_destroy(&starters[i].ticking.fired);
    }
    kube_client_free(f->client); /* its thread writes into asked[0] until then */
    f->client = NULL;
    assert_int_equal(f->asked[0].error, -ECANCELED);
}

/* ---- the end ---- */

static void start_last(struct ticking *t) {
    struct asked *asked = t->ctx;
    kube_request_start(t->client, &asked->request);
    kube_timer_start(t->client, &t->timer, 0);
}

/* Everything hears of the end once, on the client's thread. */
static void test_the_end_with_work_left(void **state) {
    struct fixture *f = *state;
    open_client(f, NULL);
    start_asking(f, 0);
    asked_stream(&f->asked[1]);
    start_asking(f, 1);
    api_take(&f->api, &f->call);
    api_take(&f->api, &f->call);
    kube_timer_start(f->client, &f->second.timer, 0);
    wait_sem(&f->second.fired, "the timer");
    f->first.then = start_last;
    f->first.ctx = &f->asked[2];
    kube_timer_start(f->client, &f->first.timer, HOUR_MS);
    end_client(f);
    assert_int_equal(f->first.count, 1); /* though it was started anew */
    for (int i = 0; i < 3; i++) {
        expect_end(&f->asked[i], -ECANCELED);
        assert_string_equal(f->asked[i].error_text, "the program is stopping");
        assert_true(pthread_equal(f->asked[i].thread, f->second.thread));
    }
    assert_true(pthread_equal(f->first.thread, f->second.thread));
}

static void start_other(struct ticking *t) {
    struct ticking *other = t->ctx;
    kube_timer_start(t->client, &other->timer, 0);
}

/* Whoever comes first starts the other one anew, which is running: it fires all the same. */
static void test_the_end_with_timers_that_start_each_other(void **state) {
    struct fixture *f = *state;
    open_client(f, NULL);
    f->first.then = f->second.then = start_other;
    f->first.ctx = &f->second;
    f->second.ctx = &f->first;
    kube_timer_start(f->client, &f->first.timer, HOUR_MS);
    kube_timer_start(f->client, &f->second.timer, HOUR_MS);
    end_client(f);
    assert_int_equal(f->first.count, 1);
    assert_int_equal(f->second.count, 1);
}

static void test_the_end_while_a_plugin_works(void **state) {
    struct fixture *f = *state;
    use_plugin(f, "/bin/cat");
    open_client(f, NULL);
    start_asking(f, 0);
    go_round(f);
    end_client(f);
    expect_end(&f->asked[0], -ECANCELED);
}

struct chain {
    struct kube_client *client;
    struct kube_request request;
    struct kube_timer timer;
    sem_t failed, go_on;
    unsigned pause, fired, ended;
    int error; /* of the last end */
    bool lost; /* the test has not let it go on */
};

static void chain_fired(void *ctx) {
    ((struct chain *)ctx)->fired++;
}

/* What most owners do after a failure: they come back later. */
static void chain_done(void *ctx, const struct kube_result *result) {
    struct chain *chain = ctx;
    chain->error = result->error;
    chain->ended++;
    (void)sem_post(&chain->failed);
    chain->lost = !sem_comes(&chain->go_on);
    unit_linger(chain->pause);
    kube_timer_start(chain->client, &chain->timer, HOUR_MS);
}

/* However the end comes between the steps of an owner, it hears of it. */
static void test_the_end_at_any_moment(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    for (unsigned i = 0; i < 300; i++) {
        open_client(f, NULL);
        struct chain chain = {
            .client = f->client,
            .request = {.method = "GET", .path = "/", .on_done = chain_done, .ctx = &chain},
            .timer = {.fn = chain_fired, .ctx = &chain},
            .pause = i};
        assert_int_equal(sem_init(&chain.failed, 0, 0), 0);
        assert_int_equal(sem_init(&chain.go_on, 0, 0), 0);
        kube_request_start(f->client, &chain.request);
        wait_sem(&chain.failed, "the failure");
        (void)sem_post(&chain.go_on);
        end_client(f);
        assert_int_equal(chain.error, -ECONNREFUSED);
        assert_false(chain.lost);
        assert_int_equal(chain.ended, 1);
        assert_int_equal(chain.fired, 1);
        (void)sem_destroy(&chain.failed);
        (void)sem_destroy(&chain.go_on);
    }
}

static void test_the_end_of_nothing(void **state) {
    struct fixture *f = *state;
    kube_client_free(NULL);
    open_client(f, NULL);
    end_client(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_timers_go_by_the_clock),
        TEST(test_a_timer_forgets_its_first_time),
        TEST(test_a_timer_cancels_another),
        TEST(test_a_restless_timer_lets_others_live),
        TEST(test_requests_wait_for_the_plugin),
        TEST(test_but_not_for_ever),
        TEST(test_a_plugin_that_fails),
        TEST(test_cancelling_what_is_under_way),
        TEST(test_cancelling_what_waits_for_the_plugin),
        TEST(test_cancelling_what_has_not_begun),
        TEST(test_many_threads),
        TEST(test_the_end_with_work_left),
        TEST(test_the_end_with_timers_that_start_each_other),
        TEST(test_the_end_while_a_plugin_works),
        TEST(test_the_end_at_any_moment),
        TEST(test_the_end_of_nothing),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("client's end", tests, NULL, NULL);
}
