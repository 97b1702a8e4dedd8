/* The elector, with a client that is the test itself and a Lease in memory. */
#include "kube/election/elector.h"

#include "base/log.h"
#include "unit/http/fixture.h"
#include "unit/kube/election/lease_store.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define OTHERS                                                                                     \
    "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,\"acquireTime\":"                   \
    "\"2020-01-01T00:00:00.000000Z\",\"renewTime\":\"2020-01-01T00:00:00.000000Z\","               \
    "\"leaseTransitions\":7}"

static struct kube_client client, events_client;
static struct lease_store store;
static struct event_recorder *recorder;
static struct elector *elector;
static char told[64]; /* "+" for true, "-" for false */

static void on_change(void *ctx, bool leading) {
    size_t n = strlen(told);
    assert_ptr_equal(ctx, &store);
    assert_true(n + 1 < sizeof told);
    assert_true(!leading || elector == NULL || elector_leads(elector));
    told[n] = leading ? '+' : '-';
    told[n + 1] = '\0';
}

static int set_up(void **state) {
    (void)state;
    fake_init(&client);
    fake_init(&events_client);
    log_use_clock(&client.clock.clock);
    told[0] = '\0';
    const struct event_options events = {.client = &events_client,
                                         .clock = &events_client.clock.clock,
                                         .instance = "me",
                                         .io = &fake_io};
    assert_int_equal(event_recorder_new(&events, &recorder, NULL), 0);
    const struct elector_options options = {
        .client = &client,
        .lease = {.namespace = "evenkeel", .name = "controller", .identity = "me"},
        .clock = &client.clock.clock,
        .on_change = on_change,
        .ctx = &store,
        .events = recorder,
        .io = &fake_io};
    return elector_new(&options, &elector, NULL);
}

/* ---- what is logged, which teardown directs elsewhere ---- */

static int logged[2] = {-1, -1}; /* a pipe */

static void read_log(void) {
    assert_return_code(pipe2(logged, O_NONBLOCK), 0);
    log_setup(LOG_INFO, LOG_LOGFMT, logged[1]);
}

/* How many lines that have been logged since the last time contain the text. */
static int lines_with(const char *text) {
    static char lines[64 << 10];
    ssize_t n = read(logged[0], lines, sizeof lines - 1); /* does not wait */
    int count = 0;
    lines[n > 0 ? n : 0] = '\0';
    for (const char *at = lines; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

static int tear_down(void **state) {
    (void)state;
    elector_free(elector);
    elector = NULL;
    event_recorder_free(recorder);
    lease_store_done(&store);
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    for (int i = 0; i < 2 && logged[i] >= 0; i++)
        (void)close(logged[i]);
    logged[0] = logged[1] = -1;
    return 0;
}

/* The request under way is done and answered. */
static void serve(void) {
    struct strbuf answer = {0};
    assert_non_null(client.request);
    int status = lease_store_call(&store, client.request->method, client.request->path,
                                  client.request->body, &answer);
    fake_answer(&client, status, strbuf_str(&answer), -1);
    strbuf_done(&answer);
}

static void serve_one(const char *method) {
    fake_run(&client);
    assert_non_null(client.request);
    assert_string_equal(client.request->method, method);
    serve();
}

static void become_leader(void) {
    serve_one("GET");
    assert_false(elector_leads(elector));
    serve_one("POST");
    assert_true(elector_leads(elector));
}

/* The process stands still: no timer fires. */
static void stand_still(int64_t ms) {
    client.clock.at_ms += ms;
}

static int64_t metric(const char *name) {
    char series[128];
    (void)snprintf(series, sizeof series, "%s{name=\"evenkeel/controller\"}", name); /* fits */
    return (int64_t)metric_now(series);
}

static void expect_event(const char *note) {
    char want[128];
    fake_run(&events_client);
    assert_non_null(events_client.request);
    struct str body = events_client.request->body;
    (void)snprintf(want, sizeof want,
                   "\"reason\":\"LeaderElection\",\"regarding\":{\"apiVersion\":"
                   "\"coordination.k8s.io/v1\",\"kind\":\"Lease\",");
    assert_non_null(memmem(body.p, body.n, want, strlen(want)));
    (void)snprintf(want, sizeof want,
                   "\"namespace\":\"evenkeel\",\"name\":\"controller\",\"uid\":\"uid-1\"},"
                   "\"note\":\"%s\",\"type\":\"Normal\"",
                   note);
    assert_non_null(memmem(body.p, body.n, want, strlen(want)));
    fake_answer(&events_client, 201, STR("{}"), -1);
}

/* ---- stopping, which waits for the client's thread, which is us ---- */

static pthread_t stopper;
static int64_t stop_limit_ms;

static void *stop(void *ctx) {
    (void)ctx;
    elector_stop(elector, stop_limit_ms);
    return NULL;
}

/* Until its timer, which is due at once, has been set and has fired. */
static void begin_stop(int64_t limit_ms) {
    int timers = fake_timer_count(&client);
    stop_limit_ms = limit_ms;
    assert_int_equal(pthread_create(&stopper, NULL, stop, NULL), 0);
    while (fake_timer_count(&client) == timers) /* others may be overdue */
        (void)sched_yield();
    fake_run(&client);
}

static void expect_stopped(void) {
    assert_int_equal(pthread_join(stopper, NULL), 0);
    fake_done(&client);
    assert_false(elector_leads(elector));
}

/* ---- tests ---- */

static void test_a_leader_is_told_and_renews(void **state) {
    (void)state;
    assert_int_equal(metric("evenkeel_leader"), 0);
    assert_int_equal(elector_remaining_ms(elector), 0);
    become_leader();
    assert_string_equal(told, "+");
    assert_int_equal(metric("evenkeel_leader"), 1);
    assert_int_equal(metric("leader_election_master_status"), 1);
    assert_int_equal(elector_remaining_ms(elector), 10000);
    expect_event("me became leader");
    for (int i = 0; i < 10; i++) {
        fake_pass(&client, 2000);
        assert_int_equal(client.request->timeout_ms, 5000);
        serve_one("PUT");
    }
    assert_string_equal(told, "+");
    assert_int_equal(metric("evenkeel_leader_acquisitions_total"), 1);
    assert_int_equal(metric("evenkeel_lease_failures_total"), 0);
    lease_store_label(&store);
    fake_pass(&client, 2000);
    serve_one("PUT");
    serve_one("GET");
    serve_one("PUT");
    assert_int_equal(metric("evenkeel_lease_slow_renewals_total"), 1);
    assert_int_equal(metric("leader_election_slowpath_total"), 1);
}

static void test_the_end_is_told_in_time(void **state) {
    (void)state;
    become_leader();
    fake_pass(&client, 2000);
    fake_fail(&client, -ECONNREFUSED);
    assert_int_equal(metric("evenkeel_lease_failures_total"), 1);
    fake_pass(&client, 7999); /* one more hangs */
    assert_int_equal(elector_remaining_ms(elector), 1);
    assert_string_equal(told, "+");
    fake_pass(&client, 1);
    assert_string_equal(told, "+-");
    assert_false(elector_leads(elector));
    assert_int_equal(metric("evenkeel_leader"), 0);
    expect_event("me became leader");
    expect_event("me stopped leading");
    assert_true(elector_is_alive(elector));
    fake_fail(&client, -ETIMEDOUT);
    fake_pass(&client, 4400);
    serve_one("GET");
    serve_one("PUT");
    assert_string_equal(told, "+-+");
    assert_int_equal(metric("evenkeel_leader_acquisitions_total"), 2);
}

static void test_who_stood_still_does_not_lead(void **state) {
    (void)state;
    become_leader();
    fake_pass(&client, 2000); /* a renewal is under way */
    stand_still(30000);
    assert_false(elector_leads(elector));
    assert_false(elector_somebody_leads(elector));
    assert_true(elector_is_alive(elector));
    stand_still(3000); /* 15 s + 20 s after the last renewal began */
    assert_true(elector_is_alive(elector));
    stand_still(1); /* older than that */
    assert_false(elector_is_alive(elector));
    serve();
    assert_string_equal(told, "+-");
    assert_false(elector_leads(elector));
    assert_true(elector_is_alive(elector));
}

static void test_a_gap_is_told_even_when_it_is_over(void **state) {
    (void)state;
    become_leader();
    fake_pass(&client, 2000);
    stand_still(5000);
    fake_fail(&client, -ETIMEDOUT);
    assert_string_equal(client.request->method, "GET");
    stand_still(2999);
    serve(); /* still leads, for 1 ms */
    assert_string_equal(client.request->method, "PUT");
    assert_true(elector_leads(elector));
    stand_still(100);
    assert_false(elector_leads(elector));
    serve();
    assert_true(elector_leads(elector));
    assert_string_equal(told, "+-+");
}

static void test_followers_are_told_nothing(void **state) {
    (void)state;
    lease_store_set(&store, OTHERS);
    serve_one("GET");
    fake_pass(&client, 4400);
    serve_one("GET");
    assert_string_equal(told, "");
    assert_true(elector_is_alive(elector));
    assert_true(elector_somebody_leads(elector));
    stand_still(3600000);
    assert_true(elector_is_alive(elector));
    assert_false(elector_somebody_leads(elector)); /* its Lease has run out meanwhile */
    begin_stop(3000);
    expect_stopped(); /* nothing to give back */
    assert_string_equal(told, "");
    assert_str(lease_store_spec(&store, "holderIdentity"), "\"other\"");
}

/* A problem that lasts is told once by a candidate, and at each try by a leader. */
static void test_what_is_logged_again(void **state) {
    (void)state;
    read_log();
    lease_store_set(&store, OTHERS);
    serve_one("GET");
    assert_int_equal(lines_with("the lease is held"), 1);
    for (int i = 0; i < 3; i++) {
        fake_pass(&client, 4400);
        fake_fail(&client, -ECONNREFUSED);
    }
    assert_int_equal(lines_with("could not be kept or taken"), 1);
    fake_pass(&client, 4400);
    serve_one("GET");
    assert_int_equal(lines_with("the lease is held"), 0); /* by the same one */
    serve_one("PUT"); /* the other one has been silent for so long */
    assert_true(elector_leads(elector));
    (void)lines_with("became leader");
    for (int i = 0; i < 3; i++) {
        fake_pass(&client, 2000);
        fake_fail(&client, -ECONNREFUSED);
    }
    assert_true(elector_leads(elector));
    assert_int_equal(lines_with("could not be kept or taken"), 3);
}

static void test_stopping_gives_the_lease_back(void **state) {
    (void)state;
    become_leader();
    begin_stop(3000);
    assert_string_equal(told, "+-"); /* before anybody else can lead */
    assert_false(elector_leads(elector));
    assert_int_equal(pthread_tryjoin_np(stopper, NULL), EBUSY);
    serve_one("PUT");
    expect_stopped();
    assert_str(lease_store_spec(&store, "holderIdentity"), "\"\"");
    expect_event("me became leader");
    expect_event("me stopped leading");
}

static void test_stopping_cancels_what_hangs(void **state) {
    (void)state;
    become_leader();
    fake_pass(&client, 2000);
    read_log();
    begin_stop(3000);
    assert_string_equal(told, "+-");
    assert_int_equal(lines_with("level=warn"), 0); /* what it cancelled was no problem */
    serve_one("GET");
    fake_fail(&client, -ECONNREFUSED);
    fake_pass(&client, 400);
    serve_one("GET");
    serve_one("PUT");
    expect_stopped();
    assert_str(lease_store_spec(&store, "holderIdentity"), "\"\"");
}

static void test_stopping_has_a_limit(void **state) {
    (void)state;
    become_leader();
    begin_stop(1000);
    assert_int_equal(client.request->timeout_ms, 1000);
    fake_pass(&client, 1000);
    assert_non_null(client.request);
    fake_fail(&client, -ETIMEDOUT);
    fake_pass(&client, 400);
    expect_stopped();
}

static void test_stopping_before_it_began(void **state) {
    (void)state;
    stop_limit_ms = 1000;
    assert_int_equal(pthread_create(&stopper, NULL, stop, NULL), 0);
    while (pthread_tryjoin_np(stopper, NULL) == EBUSY) {
        fake_run(&client);
        if (client.request != NULL)
            serve();
    }
    fake_done(&client);
}

static void test_bad_options_are_refused(void **state) {
    (void)state;
    struct err err = {0};
    struct elector *e = NULL;
    const struct elector_options options = {
        .client = &client,
        .lease = {.namespace = "a", .name = "b", .identity = "c", .renew_deadline_ms = 20000},
        .io = &fake_io};
    assert_int_equal(elector_new(&options, &e, &err), -EINVAL);
    assert_contains(err.text, "shorter than the lease duration");
    assert_null(e);
    elector_stop(NULL, 1);
    elector_free(NULL);
}

static _Atomic bool asking;

static void *ask(void *ctx) {
    uint64_t *times = ctx;
    while (atomic_load(&asking)) {
        *times += elector_leads(elector) && elector_is_alive(elector);
        (void)sched_yield();
    }
    return NULL;
}

static void test_anybody_may_ask(void **state) {
    (void)state;
    pthread_t thread;
    uint64_t times = 0;
    atomic_store(&asking, true);
    assert_int_equal(pthread_create(&thread, NULL, ask, &times), 0);
    become_leader();
    for (int i = 0; i < 1000; i++) {
        fake_pass(&client, 2000);
        serve_one("PUT");
    }
    atomic_store(&asking, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(elector_leads(elector));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void test_without_an_election_all_lead(void **state) {
    (void)state;
    assert_true(elector_leads(NULL));
    assert_true(elector_somebody_leads(NULL));
    assert_int_equal(elector_remaining_ms(NULL), INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_leader_is_told_and_renews),   TEST(test_the_end_is_told_in_time),
        TEST(test_who_stood_still_does_not_lead), TEST(test_a_gap_is_told_even_when_it_is_over),
        TEST(test_followers_are_told_nothing),    TEST(test_what_is_logged_again),
        TEST(test_stopping_gives_the_lease_back), TEST(test_stopping_cancels_what_hangs),
        TEST(test_stopping_has_a_limit),          TEST(test_stopping_before_it_began),
        TEST(test_bad_options_are_refused),       TEST(test_anybody_may_ask),
        TEST(test_without_an_election_all_lead),
    };
    return cmocka_run_group_tests_name("elector", tests, NULL, NULL);
}
