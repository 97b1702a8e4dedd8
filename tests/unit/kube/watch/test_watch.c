/* A reflector on a real client against a fake API server: that the two fit together. */
#include "base/log.h"
#include "kube/watch/watch.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define OBJECT(name, version)                                                                      \
    "{\"kind\":\"Thing\",\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}" \
    "}"

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
    struct kube_watch *watch;
    sem_t told; /* posted by each call of the sink */
    char calls[512];
};

/* The sink writes down what it is told: "begin +a +b end -a". */
static void write_down(struct fixture *f, const char *what, struct str object) {
    size_t n = strlen(f->calls);
    const char *name = object.n > 0 ? memmem(object.p, object.n, "\"name\":\"", 8) : NULL;
    (void)snprintf(f->calls + n, sizeof f->calls - n, "%s%s%.*s", n > 0 ? " " : "", what,
                   name != NULL ? 1 : 0, name != NULL ? name + 8 : "");
    (void)sem_post(&f->told);
}

static void sync_begin(void *ctx) {
    write_down(ctx, "begin", STR(""));
}

static void sync_end(void *ctx) {
    write_down(ctx, "end", STR(""));
}

static int apply(void *ctx, struct str object, struct err *err) {
    (void)err; /* nothing can fail */
    write_down(ctx, "+", object);
    return 0;
}

static int remove_object(void *ctx, struct str object, struct err *err) {
    (void)err; /* nothing can fail */
    write_down(ctx, "-", object);
    return 0;
}

static void start(struct fixture *f) {
    const struct reflector_options options = {
        .resource = "things",
        .path = "/api/v1/things",
        .query = "a=b",
        .sink = {f, sync_begin, sync_end, apply, remove_object, NULL},
        .seed = 1,
    };
    struct err err;
    if (kube_client_new(&f->access, &f->clock.clock, &f->client, &err) != 0 ||
        kube_watch_start(f->client, &f->clock.clock, &options, &f->watch, &err) != 0)
        fail_msg("%s", err.text);
}

static void finish(struct fixture *f) {
    kube_watch_free(f->watch);
    kube_client_free(f->client);
    f->client = NULL;
    f->watch = NULL;
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    assert_int_equal(sem_init(&f.told, 0, 0), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    (void)sem_destroy(&f->told);
    api_call_done(&f->call);
    api_done(&f->api);
    return 0;
}

/* Waits for so many more calls of the sink; then these must be all there were. */
static void expect_calls(struct fixture *f, int more, const char *all) {
    while (more-- > 0)
        wait_sem(&f->told, "the sink");
    assert_string_equal(f->calls, all);
}

static struct reflector_stats stats_of(struct fixture *f) {
    struct reflector_stats stats;
    kube_watch_stats(f->watch, &stats);
    return stats;
}

static void wait_for_an_error(struct fixture *f) {
    int64_t until_ms = clock_real()->now_ms(clock_real()) + 10000;
    while (stats_of(f).errors == 0) {
        if (clock_real()->now_ms(clock_real()) > until_ms)
            fail_msg("no request has failed");
        (void)sched_yield();
    }
}

static void tick(void *ctx) {
    (void)sem_post(ctx);
}

/* Lets the client go round: what was due has been done. */
static void go_round(struct fixture *f) {
    sem_t fired;
    struct kube_timer timer = {.fn = tick, .ctx = &fired};
    assert_int_equal(sem_init(&fired, 0, 0), 0);
    for (int i = 0; i < 2; i++) {
        kube_timer_start(f->client, &timer, 0);
        wait_sem(&fired, "a timer that is due");
    }
    (void)sem_destroy(&fired);
}

static void expect_watch_list(struct fixture *f) {
    api_expect(&f->api, &f->call, "GET", "/api/v1/things?a=b&watch=1&allowWatchBookmarks=true&*");
    assert_non_null(memmem(f->call.path.p, f->call.path.n, "sendInitialEvents=true", 22));
}

/* Stays with the watch that is open, with `a` known at version 7. */
static void come_into_sync(struct fixture *f) {
    start(f);
    expect_watch_list(f);
    assert_true(api_say(&f->call, STREAM EVENT("ADDED", OBJECT("a", "5")) MARKER("7")));
    expect_calls(f, 3, "begin +a end");
}

static void test_an_object_comes_and_goes(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    assert_true(api_say(&f->call, EVENT("ADDED", OBJECT("b", "8"))));
    expect_calls(f, 1, "begin +a end +b");
    assert_true(api_say(&f->call, "{\"type\":\"DELETED\",\"object\":"));
    assert_true(api_say(&f->call, OBJECT("a", "9") "}\n"));
    expect_calls(f, 1, "begin +a end +b -a");
}

static void test_stats(void **state) {
    struct fixture *f = *state;
    start(f);
    expect_watch_list(f);
    struct reflector_stats stats = stats_of(f);
    assert_false(stats.synced);
    assert_int_equal(stats.heard_ms, INT64_MIN);
    assert_int_equal(stats.listings, 1);
    f->clock.at_ms += 5;
    assert_true(api_say(&f->call, STREAM EVENT("ADDED", OBJECT("a", "5")) MARKER("7")));
    expect_calls(f, 3, "begin +a end");
    go_round(f); /* the sink is told before the numbers are */
    stats = stats_of(f);
    assert_true(stats.synced);
    assert_int_equal(stats.heard_ms, 1000005);
    assert_int_equal(stats.events, 1);
    assert_int_equal(stats.bookmarks, 1);
    assert_int_equal(stats.errors, 0);
}

/* A watch that ends after a while is opened again where it stood. */
static void test_the_end_of_a_watch(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    f->clock.at_ms += 300000;
    api_close(&f->call);
    api_expect(&f->api, &f->call, "GET", "/api/v1/things?a=b&watch=1&*");
    assert_true(str_has_suffix(f->call.path, STR("&resourceVersion=7")));
    assert_true(api_say(&f->call, STREAM EVENT("ADDED", OBJECT("b", "8"))));
    expect_calls(f, 1, "begin +a end +b");
    assert_int_equal(stats_of(f).watches, 1);
}

/* What the server says in its headers of when to come back is heeded, by the watch's clock. */
static void test_the_server_is_busy(void **state) {
    struct fixture *f = *state;
    start(f);
    expect_watch_list(f);
    api_answer(&f->call, 429, "Retry-After: 20\r\n", "{}");
    wait_for_an_error(f);
    go_round(f); /* until the pause has begun */
    f->clock.at_ms += 19999;
    go_round(f);
    assert_int_equal(stats_of(f).listings, 1);
    f->clock.at_ms++;
    expect_watch_list(f);
    assert_int_equal(stats_of(f).listings, 2);
}

static void test_nobody_listens_at_first(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    start(f);
    wait_for_an_error(f);
    assert_int_equal(stats_of(f).heard_ms, INT64_MIN);
    api_listen(&f->api);
    f->clock.at_ms += 60000;
    expect_watch_list(f);
    assert_true(api_say(&f->call, STREAM EVENT("ADDED", OBJECT("a", "5")) MARKER("7")));
    expect_calls(f, 4, "begin begin +a end");
}

/* ---- stopping ---- */

static void stop(struct fixture *f) {
    kube_watch_free(f->watch);
    f->watch = NULL;
}

static void start_another(struct fixture *f, struct kube_watch **ret) {
    const struct reflector_options options = {
        .resource = "others",
        .path = "/api/v1/others",
        .query = "",
        .sink = {f, sync_begin, sync_end, apply, remove_object, NULL},
        .seed = 2,
    };
    struct err err;
    if (kube_watch_start(f->client, &f->clock.clock, &options, ret, &err) != 0)
        fail_msg("%s", err.text);
}

/* The connection is closed and nothing of the stopped watch comes back, while another watch of the
 * same client goes on. */
static void test_stopping_one_of_two(void **state) {
    struct fixture *f = *state;
    struct kube_watch *other;
    struct api_call of_other = {.api = NULL};
    come_into_sync(f);
    start_another(f, &other);
    api_expect(&f->api, &of_other, "GET", "/api/v1/others?*");
    stop(f);
    api_wait_gone(&f->call);
    assert_true(api_say(&of_other, STREAM EVENT("ADDED", OBJECT("x", "5")) MARKER("7")));
    expect_calls(f, 3, "begin +a end begin +x end");
    f->clock.at_ms += 20000;
    go_round(f);
    assert_true(api_say(&of_other, EVENT("ADDED", OBJECT("y", "8"))));
    expect_calls(f, 1, "begin +a end begin +x end +y");
    assert_true(api_is_quiet(&f->api));
    kube_watch_free(other);
    api_call_done(&of_other);
}

/* It waits to try again when it is stopped. */
static void test_stopping_between_requests(void **state) {
    struct fixture *f = *state;
    start(f);
    expect_watch_list(f);
    api_answer(&f->call, 429, "Retry-After: 20\r\n", "{}");
    wait_for_an_error(f);
    go_round(f);
    stop(f);
    f->clock.at_ms += 3600000;
    go_round(f);
    assert_true(api_is_quiet(&f->api));
}

/* A sink that takes its time, and a thread that lets it go on later. */
struct slow {
    sem_t begun, go_on;
    _Atomic bool at_work;
};

static int slow_apply(void *ctx, struct str object, struct err *err) {
    struct slow *slow = ctx;
    (void)object, (void)err;
    atomic_store(&slow->at_work, true);
    (void)sem_post(&slow->begun);
    wait_sem(&slow->go_on, "the test");
    atomic_store(&slow->at_work, false);
    return 0;
}

static void slow_sync(void *ctx) {
    (void)ctx;
}

static void *let_go_on(void *ctx) {
    struct slow *slow = ctx;
    for (int i = 0; i < 1000; i++)
        (void)sched_yield();
    (void)sem_post(&slow->go_on);
    return NULL;
}

static void test_stopping_while_the_sink_is_at_work(void **state) {
    struct fixture *f = *state;
    struct slow slow = {.at_work = false};
    const struct reflector_options options = {
        .resource = "things",
        .path = "/api/v1/things",
        .query = "a=b",
        .sink = {&slow, slow_sync, slow_sync, slow_apply, slow_apply, NULL},
        .seed = 1,
    };
    pthread_t thread;
    assert_int_equal(sem_init(&slow.begun, 0, 0), 0);
    assert_int_equal(sem_init(&slow.go_on, 0, 0), 0);
    assert_int_equal(kube_client_new(&f->access, &f->clock.clock, &f->client, NULL), 0);
    assert_int_equal(kube_watch_start(f->client, &f->clock.clock, &options, &f->watch, NULL), 0);
    expect_watch_list(f);
    assert_true(api_say(&f->call, STREAM EVENT("ADDED", OBJECT("a", "5"))));
    wait_sem(&slow.begun, "the sink");
    assert_int_equal(pthread_create(&thread, NULL, let_go_on, &slow), 0);
    stop(f);
    assert_false(atomic_load(&slow.at_work));
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)sem_destroy(&slow.begun);
    (void)sem_destroy(&slow.go_on);
}

/* Wherever it stands, it ends; the client lives on. */
static void test_stopping_at_any_moment(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    start(f);
    wait_for_an_error(f); /* from here on it waits */
    for (int i = 0; i < 200; i++) {
        struct kube_watch *other;
        start_another(f, &other);
        for (int pause = 0; pause < i; pause++)
            (void)sched_yield();
        kube_watch_free(other);
        f->calls[0] = '\0';
    }
}

/* The server sends without end, in the middle of which the watch is stopped. */
static void test_stopping_in_the_middle_of_events(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 50; i++) {
        come_into_sync(f);
        for (int event = 0; event < 10; event++)
            assert_true(api_say(&f->call, EVENT("ADDED", OBJECT("b", "8"))));
        for (int pause = 0; pause < i; pause++)
            (void)sched_yield();
        stop(f);
        size_t length = strlen(f->calls);
        go_round(f);
        assert_int_equal(strlen(f->calls), length);
        finish(f);
        while (sem_trywait(&f->told) == 0)
            ;
        f->calls[0] = '\0';
    }
}

/* ---- an outage ---- */

enum { WATCHES = 13 };

/* Watches of one server, which nobody's sink follows, and the log of the outage. */
struct many {
    struct fixture *f;
    struct kube_watch *watches[WATCHES];
    int log[2];
    char text[16384];
};

static void ignore(void *ctx) {
    (void)ctx;
}

static int ignore_object(void *ctx, struct str object, struct err *err) {
    (void)ctx, (void)object, (void)err;
    return 0;
}

static void start_many(struct many *m, struct fixture *f) {
    const struct reflector_options options = {
        .resource = "things",
        .path = "/api/v1/things",
        .sink = {f, ignore, ignore, ignore_object, ignore_object, NULL},
    };
    *m = (struct many){.f = f};
    assert_int_equal(pipe(m->log), 0);
    log_setup(LOG_INFO, LOG_LOGFMT, m->log[1]);
    assert_int_equal(kube_client_new(&f->access, &f->clock.clock, &f->client, NULL), 0);
    for (size_t i = 0; i < WATCHES; i++) {
        struct reflector_options ours = options;
        ours.seed = i;
        assert_int_equal(kube_watch_start(f->client, &f->clock.clock, &ours, &m->watches[i], NULL),
                         0);
    }
}

static void stop_many(struct many *m) {
    for (size_t i = 0; i < WATCHES; i++)
        kube_watch_free(m->watches[i]);
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(close(m->log[1]), 0);
    const ssize_t n = read(m->log[0], m->text, sizeof m->text - 1);
    m->text[n > 0 ? n : 0] = '\0';
    assert_int_equal(close(m->log[0]), 0);
}

static uint64_t errors_of(const struct many *m) {
    uint64_t errors = 0;
    for (size_t i = 0; i < WATCHES; i++) {
        struct reflector_stats stats;
        kube_watch_stats(m->watches[i], &stats);
        errors += stats.errors;
    }
    return errors;
}

/* Waits until each watch has failed so often, a back-off after the other. */
static void fail_many(struct many *m, uint64_t times) {
    const int64_t until_ms = clock_real()->now_ms(clock_real()) + 60000;
    for (uint64_t i = 1; i <= times; i++) {
        while (errors_of(m) < i * WATCHES) {
            assert_true(clock_real()->now_ms(clock_real()) < until_ms);
            go_round(m->f);
        }
        m->f->clock.at_ms += i < times ? 61000 : 0; /* longer than any back-off */
        go_round(m->f);
    }
}

static unsigned count_lines(const char *text, const char *with) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, with)) != NULL; at++)
        count++;
    return count;
}

/* After a long outage every watch waits for half a minute to a minute. Any good answer of the
 * server, here to another request, makes all of them try again within a second. */
static void test_an_answer_wakes_all_watches(void **state) {
    struct fixture *f = *state;
    struct many m;
    api_deafen(&f->api);
    start_many(&m, f);
    fail_many(&m, 9);
    api_listen(&f->api);
    start_another(f, &f->watch);
    api_expect(&f->api, &f->call, "GET", "/api/v1/others?*");
    go_round(f);
    assert_true(api_is_quiet(&f->api));
    assert_true(api_say(&f->call, STREAM));
    while (stats_of(f).heard_ms == INT64_MIN)
        go_round(f);
    f->clock.at_ms += 1000;
    for (size_t i = 0; i < WATCHES; i++) {
        struct api_call call = {.api = NULL};
        api_expect(&f->api, &call, "GET", "/api/v1/things?*");
        api_call_done(&call);
    }
    stop_many(&m);
    assert_int_equal(count_lines(m.text, "\n"), 2);
    assert_int_equal(count_lines(m.text, "the API server does not answer"), 1);
    assert_int_equal(count_lines(m.text, "the API server answers again"), 1);
    assert_int_equal(count_lines(m.text, "watches=13 after_ms=488000"), 1);
}

/* They do not all come at the same moment: some wait for longer than half of the second. */
static void test_woken_watches_are_spread(void **state) {
    struct fixture *f = *state;
    struct many m;
    unsigned early = 0;
    api_deafen(&f->api);
    start_many(&m, f);
    fail_many(&m, 9);
    api_listen(&f->api);
    start_another(f, &f->watch);
    api_expect(&f->api, &f->call, "GET", "/api/v1/others?*");
    assert_true(api_say(&f->call, STREAM));
    while (stats_of(f).heard_ms == INT64_MIN)
        go_round(f);
    f->clock.at_ms += 500;
    go_round(f);
    for (size_t i = 0; i < WATCHES; i++) {
        struct reflector_stats stats;
        kube_watch_stats(m.watches[i], &stats);
        early += stats.listings > 9;
    }
    assert_true(early > 0 && early < WATCHES);
    stop_many(&m);
}

static void stop_on_its_thread(void *ctx) {
    stop(ctx);
}

/* From a timer or, as here, a call, the client's own thread may stop it. */
static void test_stopping_on_the_clients_thread(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    kube_run(f->client, stop_on_its_thread, f);
    assert_null(f->watch);
    api_wait_gone(&f->call);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_an_object_comes_and_goes),
        TEST(test_stats),
        TEST(test_the_end_of_a_watch),
        TEST(test_the_server_is_busy),
        TEST(test_nobody_listens_at_first),
        TEST(test_stopping_one_of_two),
        TEST(test_stopping_between_requests),
        TEST(test_stopping_while_the_sink_is_at_work),
        TEST(test_stopping_at_any_moment),
        TEST(test_stopping_in_the_middle_of_events),
        TEST(test_stopping_on_the_clients_thread),
        TEST(test_an_answer_wakes_all_watches),
        TEST(test_woken_watches_are_spread),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
