/* Binding a pod, against a fake API server that answers well, badly, late and not at all. */
#include "kube/objects/binding.h"

#include "base/log.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define POD "/api/v1/namespaces/shop/pods/web-1"
#define BINDING POD "/binding"
#define SEEN(uid, node)                                                                            \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\",\"uid\":\"" uid "\"},\"spec\":{" node "}}"
#define ON(node) "\"nodeName\":\"" node "\""
#define STATUS(message) "{\"kind\":\"Status\",\"message\":\"" message "\"}"

enum { LONG_MS = 60000 };

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
    struct kube_binding what;
    sem_t done;
    _Atomic unsigned times;
    enum kube_bound outcome;
    char why[512];
    pthread_t thread;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.what = {STR("shop"), STR("web-1"), STR("u-1"), STR("node-a")}};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    assert_int_equal(sem_init(&f.done, 0, 0), 0);
    assert_int_equal(kube_client_new(&f.access, &f.clock.clock, &f.client, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    (void)sem_destroy(&f->done);
    api_call_done(&f->call);
    api_done(&f->api);
    return 0;
}

static void on_bound(void *ctx, enum kube_bound outcome, const char *why) {
    struct fixture *f = ctx;
    f->outcome = outcome;
    (void)snprintf(f->why, sizeof f->why, "%s", why);
    f->thread = pthread_self();
    (void)atomic_fetch_add(&f->times, 1);
    (void)sem_post(&f->done);
}

static void bind_within(struct fixture *f, int64_t timeout_ms) {
    struct err err;
    if (kube_bind(f->client, &f->clock.clock, &f->what, timeout_ms, on_bound, f, &err) != 0)
        fail_msg("%s", err.text);
}

static void expect(struct fixture *f, const char *method, const char *path) {
    api_expect(&f->api, &f->call, method, path);
}

/* Binds, and the first answer is this one. */
static void bind_and_answer(struct fixture *f, int status, const char *headers, const char *body) {
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    api_answer(&f->call, status, headers, body);
}

/* The pod is looked at, and this is what is seen. */
static void show(struct fixture *f, int status, const char *body) {
    expect(f, "GET", POD);
    api_answer(&f->call, status, "", body);
}

static void expect_outcome(struct fixture *f, enum kube_bound outcome, const char *why) {
    wait_sem(&f->done, "the outcome");
    assert_string_equal(f->why, why);
    assert_int_equal(f->outcome, outcome);
    assert_int_equal(f->times, 1);
    assert_true(api_is_quiet(&f->api));
}

static void tick(void *ctx) {
    (void)sem_post(ctx);
}

/* Lets the client go round: what was due has been done. */
static void go_round(struct fixture *f) {
    sem_t fired;
    struct kube_timer timer = {.fn = tick, .ctx = &fired};
    assert_int_equal(sem_init(&fired, 0, 0), 0);
    for (int i = 0; i < 3; i++) {
        kube_timer_start(f->client, &timer, 0);
        wait_sem(&fired, "a timer that is due");
    }
    (void)sem_destroy(&fired);
}

/* Lets time pass until the next request comes. */
static void pause_over(struct fixture *f) {
    for (int i = 0; i < 300 && api_is_quiet(&f->api); i++) {
        go_round(f);
        f->clock.at_ms += 10;
    }
}

/* ---- an answer that says it ---- */

static void test_it_is_bound(void **state) {
    struct fixture *f = *state;
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    assert_str(f->call.body, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":"
                             "\"web-1\",\"namespace\":\"shop\",\"uid\":\"u-1\"},\"target\":{"
                             "\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"node-a\"}}");
    assert_str(api_header(&f->call, "Content-Type"), "application/json");
    api_answer(&f->call, 201, "", "{\"kind\":\"Status\",\"status\":\"Success\"}");
    expect_outcome(f, KUBE_BOUND, "");
    assert_false(pthread_equal(f->thread, pthread_self()));
}

static void test_it_is_bound_and_said_otherwise(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 200, "", "");
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_a_pod_without_uid(void **state) {
    struct fixture *f = *state;
    f->what.uid = STR("");
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    assert_null(memmem(f->call.body.p, f->call.body.n, "uid", 3));
    api_answer(&f->call, 409, "", "{}");
    show(f, 200, SEEN("u-2", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void expect_final(struct fixture *f, int status) {
    char why[64];
    f->times = 0;
    bind_and_answer(f, status, "", STATUS("no"));
    (void)snprintf(why, sizeof why, "the API server says %d: no", status);
    expect_outcome(f, KUBE_NOT_BOUND, why);
}

static void test_it_is_refused(void **state) {
    struct fixture *f = *state;
    expect_final(f, 400);
    expect_final(f, 403);
    expect_final(f, 404);
    expect_final(f, 422);
}

static void test_it_is_refused_without_a_status(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 403, "Content-Type: text/html\r\n", "<html>Go away</html>");
    expect_outcome(f, KUBE_NOT_BOUND,
                   "the API server says 403: an HTML page instead of an answer of the API");
}

/* ---- a conflict ---- */

static void test_conflict_and_it_is_here(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", STATUS("already assigned"));
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_conflict_and_it_is_elsewhere(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", STATUS("already assigned"));
    show(f, 200, SEEN("u-1", ON("node-b")));
    expect_outcome(f, KUBE_NOT_BOUND, "the pod is bound to node 'node-b' already");
}

static void test_conflict_and_it_is_another(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", STATUS("precondition failed"));
    show(f, 200, SEEN("u-2", ON("node-a")));
    expect_outcome(f, KUBE_NOT_BOUND, "the pod is gone; another pod has its name");
}

static void test_conflict_and_it_is_gone(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", STATUS("precondition failed"));
    show(f, 404, STATUS("pods \\\"web-1\\\" not found"));
    expect_outcome(f, KUBE_NOT_BOUND, "the API server says 404: pods \"web-1\" not found");
}

static void test_conflict_and_it_is_nowhere(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", STATUS("try again"));
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 201, "", "{}");
    expect_outcome(f, KUBE_BOUND, "");
}

/* ---- doubt ---- */

static void test_error_and_it_is_here(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 500, "", STATUS("etcd"));
    pause_over(f);
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_error_and_it_is_nowhere(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 500, "", STATUS("etcd"));
    pause_over(f);
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 201, "", "{}");
    expect_outcome(f, KUBE_BOUND, "");
}

static void cut(struct fixture *f) {
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    api_close(&f->call);
    pause_over(f);
}

static void test_cut_and_it_is_here(void **state) {
    struct fixture *f = *state;
    cut(f);
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_cut_and_it_is_nowhere(void **state) {
    struct fixture *f = *state;
    cut(f);
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 201, "", "{}");
    expect_outcome(f, KUBE_BOUND, "");
}

/* The refusal is the second try's; the first may still be under way in the server. */
static void test_cut_and_then_refused(void **state) {
    struct fixture *f = *state;
    cut(f);
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 403, "", STATUS("no"));
    expect_outcome(f, KUBE_UNKNOWN, "the API server says 403: no");
}

static void test_error_and_then_refused(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 504, "", STATUS("timeout"));
    pause_over(f);
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 422, "", STATUS("no"));
    expect_outcome(f, KUBE_UNKNOWN, "the API server says 422: no");
}

static void test_cut_and_then_gone(void **state) {
    struct fixture *f = *state;
    cut(f);
    show(f, 200, SEEN("u-1", ""));
    pause_over(f);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 404, "", STATUS("gone"));
    expect_outcome(f, KUBE_NOT_BOUND, "the API server says 404: gone");
}

static void test_nobody_listens_at_first(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    bind_within(f, LONG_MS);
    go_round(f);
    api_listen(&f->api);
    pause_over(f);
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_it_cannot_be_looked_at_first(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 409, "", "{}");
    show(f, 200, "<html>Log in</html>");
    pause_over(f);
    show(f, 403, STATUS("no"));
    pause_over(f);
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

/* 429: not before the server wishes. */
static void test_the_server_is_busy(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 429, "Retry-After: 7\r\n", STATUS("busy"));
    go_round(f);
    f->clock.at_ms += 6999;
    go_round(f);
    assert_true(api_is_quiet(&f->api));
    f->clock.at_ms++;
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

static void test_the_server_is_too_busy(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 429, "Retry-After: 61\r\n", STATUS("busy"));
    expect_outcome(f, KUBE_UNKNOWN, "the API server says 429: busy");
}

/* A token may have been renewed just now. */
static void test_the_token_is_refused(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 401, "", STATUS("Unauthorized"));
    pause_over(f);
    show(f, 200, SEEN("u-1", ON("node-a")));
    expect_outcome(f, KUBE_BOUND, "");
}

/* ---- no more time ---- */

static void test_no_answer_in_time(void **state) {
    struct fixture *f = *state;
    bind_within(f, 50);
    expect(f, "POST", BINDING);
    f->clock.at_ms += 50;
    wait_sem(&f->done, "the outcome");
    assert_int_equal(f->outcome, KUBE_UNKNOWN);
    assert_contains(f->why, "the API server does not answer: ");
    assert_int_equal(f->times, 1);
}

static void test_errors_until_there_is_no_time(void **state) {
    struct fixture *f = *state;
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    api_answer(&f->call, 500, "", STATUS("first"));
    pause_over(f);
    expect(f, "GET", POD);
    f->clock.at_ms += LONG_MS - 150; /* less than the second pause is left */
    api_answer(&f->call, 503, "", STATUS("second"));
    expect_outcome(f, KUBE_UNKNOWN, "the API server says 503: second");
}

/* ---- the end ---- */

static void end_client(struct fixture *f) {
    kube_client_free(f->client);
    f->client = NULL;
}

static void test_the_end_while_asking(void **state) {
    struct fixture *f = *state;
    bind_within(f, LONG_MS);
    expect(f, "POST", BINDING);
    end_client(f);
    expect_outcome(f, KUBE_UNKNOWN, "the API server does not answer: the program is stopping");
}

static void test_the_end_in_a_pause(void **state) {
    struct fixture *f = *state;
    bind_and_answer(f, 500, "", STATUS("etcd"));
    go_round(f);
    end_client(f);
    expect_outcome(f, KUBE_UNKNOWN, "the API server does not answer: the program is stopping");
}

/* Every binding comes to an end, whenever the end comes. */
static void test_the_end_at_any_moment(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    for (unsigned i = 0; i < 100; i++) {
        f->times = 0;
        for (int n = 0; n < 3; n++)
            bind_within(f, LONG_MS);
        for (unsigned pause = 0; pause < i; pause++)
            (void)sched_yield();
        end_client(f);
        assert_int_equal(f->times, 3);
        assert_int_equal(f->outcome, KUBE_UNKNOWN);
        assert_int_equal(kube_client_new(&f->access, &f->clock.clock, &f->client, NULL), 0);
    }
}

/* ---- names ---- */

static void expect_bad(struct fixture *f, struct kube_binding what) {
    struct err err;
    assert_int_equal(kube_bind(f->client, &f->clock.clock, &what, LONG_MS, on_bound, f, &err),
                     -EINVAL);
    assert_contains(err.text, "names have a-z, 0-9, '-' and '.'");
}

/* Nothing of them may become part of a path that means something else. */
static void test_names_that_cannot_be(void **state) {
    struct fixture *f = *state;
    static const char *const bad[] = {"",    ".",   "..",    "../x", "a/b", "A",  "a b",
                                      "a?b", "a#b", "a%2fb", "a:b",  "a_b", "\n", "\xc3\xa4"};
    char long_name[255];
    struct kube_binding what;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        what = f->what, what.name = str_of(bad[i]);
        expect_bad(f, what);
        what = f->what, what.namespace = str_of(bad[i]);
        expect_bad(f, what);
        what = f->what, what.node = str_of(bad[i]);
        expect_bad(f, what);
    }
    memset(long_name, 'a', sizeof long_name);
    what = f->what, what.name = (struct str){long_name, 254};
    expect_bad(f, what);
    end_client(f);
    assert_int_equal(f->times, 0);
    assert_true(api_is_quiet(&f->api));
}

static void test_long_names(void **state) {
    struct fixture *f = *state;
    char name[253], path[1024];
    memset(name, 'a', sizeof name);
    f->what.name = f->what.namespace = f->what.node = (struct str){name, sizeof name};
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/%.253s/pods/%.253s/binding", name, name);
    bind_within(f, LONG_MS);
    expect(f, "POST", path);
    api_answer(&f->call, 201, "", "{}");
    expect_outcome(f, KUBE_BOUND, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_bound),
        TEST(test_it_is_bound_and_said_otherwise),
        TEST(test_a_pod_without_uid),
        TEST(test_it_is_refused),
        TEST(test_it_is_refused_without_a_status),
        TEST(test_conflict_and_it_is_here),
        TEST(test_conflict_and_it_is_elsewhere),
        TEST(test_conflict_and_it_is_another),
        TEST(test_conflict_and_it_is_gone),
        TEST(test_conflict_and_it_is_nowhere),
        TEST(test_error_and_it_is_here),
        TEST(test_error_and_it_is_nowhere),
        TEST(test_cut_and_it_is_here),
        TEST(test_cut_and_it_is_nowhere),
        TEST(test_cut_and_then_refused),
        TEST(test_error_and_then_refused),
        TEST(test_cut_and_then_gone),
        TEST(test_nobody_listens_at_first),
        TEST(test_it_cannot_be_looked_at_first),
        TEST(test_the_server_is_busy),
        TEST(test_the_server_is_too_busy),
        TEST(test_the_token_is_refused),
        TEST(test_no_answer_in_time),
        TEST(test_errors_until_there_is_no_time),
        TEST(test_the_end_while_asking),
        TEST(test_the_end_in_a_pause),
        TEST(test_the_end_at_any_moment),
        TEST(test_names_that_cannot_be),
        TEST(test_long_names),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("binding", tests, NULL, NULL);
}
