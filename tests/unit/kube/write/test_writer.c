/* The writer: what is sent, what becomes of answers, and how a controller leaves. The rules of when
 * something is written are the queue's: test_queue.c. */
#include "kube/write/writer.h"

#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

/* ---- with a client that the test plays ---- */

struct controller {
    struct write_handle *handle;
    enum write_verb verb;
    const char *uid; /* of a deletion; NULL: it is none */
    int answer;      /* of make() */
    unsigned made, done;
    int64_t gate_ms;
    bool wants_again, drops; /* from within done() */
    enum write_end end;
    int status;
    char problem[128];
    char body[32];
};

static struct kube_client client;
static struct writer *writer;
static struct controller one, two;

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct controller *c = ctx;
    c->made++;
    if (c->answer != 0)
        return err_set(err, c->answer, "it cannot be made");
    if (c->uid != NULL)
        write_delete(ret, str_of(c->uid));
    else
        ret->verb = c->verb;
    strbuf_appendf(&ret->path, "/api/v1/things/%.*s", STR_ARG(name));
    if (c->uid == NULL)
        strbuf_append_str(&ret->body, str_of(c->body));
    return 0;
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct controller *c = ctx;
    c->done++;
    c->end = result->end;
    c->status = result->status;
    (void)snprintf(c->problem, sizeof c->problem, "%.*s", STR_ARG(result->problem));
    if (c->wants_again)
        writer_want(c->handle, name, 0);
    if (c->drops)
        writer_drop(c->handle, name);
}

static int64_t may_write_ms(void *ctx) {
    const struct controller *c = ctx;
    return c->gate_ms;
}

static void join_as(struct controller *c, const char *what, const char *manager) {
    *c = (struct controller){.verb = WRITE_MERGE, .gate_ms = INT64_MAX, .body = "{}"};
    const struct write_owner owner = {.what = what,
                                      .manager = manager,
                                      .lane = {.objects = 2,
                                               .retry_ms = 1000,
                                               .retry_max_ms = 60000,
                                               .may_write_ms = may_write_ms,
                                               .ctx = c},
                                      .make = make,
                                      .done = done,
                                      .ctx = c};
    assert_int_equal(writer_join(writer, &owner, &c->handle, NULL), 0);
}

static void join(struct controller *c, const char *what) {
    join_as(c, what, NULL);
}

static void leave(struct controller *c) {
    writer_leave(c->handle);
    c->handle = NULL;
}

static int set_up(void **state) {
    (void)state;
    fake_init(&client);
    const struct writer_options options = {
        .client = &client,
        .clock = &client.clock.clock,
        .io = &fake_io,
        .limits = {.under_way = 1, .burst = 100, .per_second = 1000}};
    assert_int_equal(writer_new(&options, &writer, NULL), 0);
    join(&one, "ones");
    join(&two, "twos");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    leave(&one);
    leave(&two);
    writer_free(writer);
    fake_done(&client);
    metrics_reset();
    return 0;
}

static void answer(int status, const char *body) {
    assert_non_null(client.request);
    fake_answer(&client, status, str_of(body), -1);
}

static void test_what_is_sent(void **state) {
    (void)state;
    static const struct {
        enum write_verb verb;
        const char *method, *content_type, *query;
    } verbs[] = {
        {WRITE_CREATE, "POST", NULL, "?fieldManager=evenkeel"},
        {WRITE_REPLACE, "PUT", NULL, "?fieldManager=evenkeel"},
        {WRITE_MERGE, "PATCH", "application/merge-patch+json", "?fieldManager=evenkeel"},
        {WRITE_STRATEGIC, "PATCH", "application/strategic-merge-patch+json",
         "?fieldManager=evenkeel"},
        {WRITE_APPLY, "PATCH", "application/apply-patch+yaml", "?fieldManager=evenkeel&force=true"},
        {WRITE_DELETE, "DELETE", NULL, ""}, /* no field is written */
    };
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        char path[128];
        one.verb = verbs[i].verb;
        writer_want(one.handle, STR("a"), 0);
        (void)snprintf(path, sizeof path, "/api/v1/things/a%s", verbs[i].query);
        assert_non_null(client.request); /* at once */
        assert_string_equal(client.request->path, path);
        assert_string_equal(client.request->method, verbs[i].method);
        if (verbs[i].content_type != NULL)
            assert_string_equal(client.request->content_type, verbs[i].content_type);
        else
            assert_null(client.request->content_type);
        assert_str(client.request->body, "{}");
        assert_int_equal(client.request->timeout_ms, 10000);
        answer(201, "{}");
        assert_int_equal(one.end, WRITE_DONE);
        assert_int_equal(one.status, 201);
        assert_string_equal(one.problem, "");
    }
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"success\"}") == 6);
}

/* ---- deletions ---- */

static void expect_deletion(const char *uid, const char *body) {
    one.uid = uid;
    writer_want(one.handle, STR("a"), 0);
    assert_non_null(client.request);
    assert_string_equal(client.request->method, "DELETE");
    assert_string_equal(client.request->path, "/api/v1/things/a");
    assert_null(client.request->content_type); /* JSON */
    assert_str(client.request->body, body);
}

/* upstream: apimachinery meta/v1 DeleteOptions, Preconditions. */
static void test_deletion(void **state) {
    (void)state;
    expect_deletion("", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
    answer(200, "{}");
    assert_int_equal(one.end, WRITE_DONE);
    expect_deletion("u-1", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                           "\"preconditions\":{\"uid\":\"u-1\"}}");
    answer(202, "{}"); /* finalizers hold it */
    assert_int_equal(one.end, WRITE_DONE);
}

/* It is over for the queue, as after other writes: nothing is there to be tried again. */
static void test_deletion_of_what_is_gone(void **state) {
    (void)state;
    expect_deletion("u-1", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                           "\"preconditions\":{\"uid\":\"u-1\"}}");
    answer(404, "{}");
    assert_int_equal(one.end, WRITE_GONE);
    assert_int_equal(one.status, 404);
    fake_pass(&client, 100000);
    assert_null(client.request);
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"error\"}") == 1);
}

/* Another object has the name now: the owner sees it and thinks again. */
static void test_deletion_of_another_object(void **state) {
    (void)state;
    expect_deletion("u-1", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                           "\"preconditions\":{\"uid\":\"u-1\"}}");
    answer(409, "{}");
    assert_int_equal(one.end, WRITE_CONFLICT);
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"conflict\"}") == 1);
    one.uid = "u-2";
    writer_refresh(one.handle, STR("a"));
    assert_str(client.request->body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                                     "\"preconditions\":{\"uid\":\"u-2\"}}");
    answer(200, "{}");
    assert_int_equal(one.end, WRITE_DONE);
}

/* What one controller applies is not taken away by what another one does not apply. */
static void test_a_manager_of_its_own(void **state) {
    (void)state;
    leave(&two);
    join_as(&two, "twos", "evenkeel-twos");
    two.verb = WRITE_APPLY;
    writer_want(two.handle, STR("a"), 0);
    assert_string_equal(client.request->path,
                        "/api/v1/things/a?fieldManager=evenkeel-twos&force=true");
    answer(200, "{}");
    one.verb = WRITE_APPLY;
    writer_want(one.handle, STR("a"), 0);
    assert_string_equal(client.request->path, "/api/v1/things/a?fieldManager=evenkeel&force=true");
    answer(200, "{}");
}

/* What is wanted last is what is sent: the write is made when its turn comes. */
static void test_the_last_wanted_state(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 0);
    (void)snprintf(two.body, sizeof two.body, "old");
    writer_want(two.handle, STR("b"), 0);
    assert_true(metric_now("evenkeel_writes_waiting{what=\"twos\"}") == 1);
    assert_true(metric_now("workqueue_depth{name=\"twos\"}") == 1);
    (void)snprintf(two.body, sizeof two.body, "new");
    writer_want(two.handle, STR("b"), 0);
    answer(200, "{}");
    assert_str(client.request->body, "new");
    answer(200, "{}");
    assert_null(client.request);
    assert_int_equal(two.made, 1);
    assert_true(metric_now("evenkeel_writes_waiting{what=\"twos\"}") == 0);
}

static void test_wanted_again_when_it_is_done(void **state) {
    (void)state;
    one.wants_again = true;
    writer_want(one.handle, STR("a"), 0);
    for (int i = 0; i < 3; i++)
        answer(200, "{}");
    one.wants_again = false;
    answer(200, "{}");
    assert_null(client.request);
    assert_int_equal(one.done, 4);
}

/* What failed is not tried again then. */
static void test_dropped_when_it_is_done(void **state) {
    (void)state;
    one.drops = true;
    writer_want(one.handle, STR("a"), 0);
    answer(409, "{}");
    writer_want(one.handle, STR("b"), 0);
    answer(500, "{}");
    fake_pass(&client, 600000);
    assert_int_equal(one.done, 2);
}

static void test_what_needs_no_write(void **state) {
    (void)state;
    one.verb = WRITE_NOTHING;
    writer_want(one.handle, STR("a"), 0);
    writer_want(two.handle, STR("b"), 0);
    assert_int_equal(one.made, 1);
    assert_int_equal(one.done, 0);
    answer(200, "{}"); /* of b */
    assert_int_equal(two.done, 1);
    assert_null(client.request);
}

static void test_what_cannot_be_made(void **state) {
    (void)state;
    one.answer = -EINVAL;
    writer_want(one.handle, STR("a"), 0);
    assert_int_equal(one.end, WRITE_FAILED);
    assert_string_equal(one.problem, "it cannot be made");
    fake_pass(&client, 999);
    assert_int_equal(one.made, 1);
    one.answer = 0;
    fake_pass(&client, 1);
    answer(200, "{}");
    assert_int_equal(one.done, 2);
}

static void test_what_went_wrong_is_told(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 0);
    answer(422, "{\"kind\":\"Status\",\"message\":\"no such field\"}");
    assert_int_equal(one.end, WRITE_FAILED);
    assert_int_equal(one.status, 422);
    assert_string_equal(one.problem, "no such field");
    fake_pass(&client, 1000);
    fake_fail(&client, -ECONNREFUSED);
    assert_int_equal(one.status, 0);
    assert_string_equal(one.problem, "unreachable");
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"error\"}") == 2);
    assert_true(metric_now("controller_runtime_reconcile_errors_total{controller=\"ones\"}") == 2);
    assert_true(metric_now("workqueue_retries_total{name=\"ones\"}") == 2);
}

static void test_a_conflict_and_a_fresh_object(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 0);
    answer(409, "{}");
    assert_int_equal(one.end, WRITE_CONFLICT);
    assert_null(client.request);
    writer_refresh(one.handle, STR("a"));
    assert_int_equal(one.made, 2);
    answer(200, "{}");
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"conflict\"}") == 1);
    const char *requeued =
        "controller_runtime_reconcile_total{controller=\"ones\",result=\"requeue\"}";
    assert_true(metric_now(requeued) == 1);
    assert_true(metric_now("workqueue_retries_total{name=\"ones\"}") >= 1);
}

static void test_retry_after(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 0);
    fake_answer(&client, 429, STR("{}"), 7000);
    assert_int_equal(one.end, WRITE_BUSY);
    writer_want(two.handle, STR("b"), 0);
    fake_pass(&client, 6999);
    assert_null(client.request);
    fake_pass(&client, 1);
    answer(200, "{}");
    answer(200, "{}");
}

static void test_the_gate(void **state) {
    (void)state;
    one.gate_ms = 0;
    writer_want(one.handle, STR("a"), 0);
    fake_pass(&client, 600000);
    assert_int_equal(one.made, 0);
    one.gate_ms = 2500;
    fake_pass(&client, 1000);
    assert_non_null(client.request);
    assert_int_equal(client.request->timeout_ms, 2500);
    answer(200, "{}");
}

static void test_what_finds_no_place_is_counted(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 1000);
    writer_want(one.handle, STR("b"), 1000);
    writer_want(one.handle, STR("c"), 1000);
    assert_true(metric_now("evenkeel_writes_total{what=\"ones\",result=\"dropped\"}") == 1);
    writer_drop(one.handle, STR("a"));
    writer_drop(one.handle, STR("b"));
    fake_pass(&client, 10000);
    assert_null(client.request);
}

/* Nothing wakes up for what nobody wants any more. */
static void test_no_timer_without_a_wish(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 1000);
    assert_int_equal(fake_next_timer(&client), 1000);
    writer_want(two.handle, STR("b"), 3000);
    writer_drop(one.handle, STR("a"));
    assert_int_equal(fake_next_timer(&client), 3000);
    writer_drop(two.handle, STR("b"));
    assert_int_equal(fake_next_timer(&client), -1);
}

static void test_leaving(void **state) {
    (void)state;
    writer_want(one.handle, STR("a"), 0);
    writer_want(one.handle, STR("b"), 0);
    writer_want(two.handle, STR("c"), 0);
    leave(&one);
    assert_int_equal(one.done, 0); /* nothing is told any more */
    assert_non_null(client.request);
    assert_string_equal(client.request->path, "/api/v1/things/c?fieldManager=evenkeel");
    answer(200, "{}");
    assert_int_equal(two.done, 1);
    writer_leave(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_sent),
        TEST(test_deletion),
        TEST(test_deletion_of_what_is_gone),
        TEST(test_deletion_of_another_object),
        TEST(test_a_manager_of_its_own),
        TEST(test_the_last_wanted_state),
        TEST(test_wanted_again_when_it_is_done),
        TEST(test_what_needs_no_write),
        TEST(test_what_cannot_be_made),
        TEST(test_dropped_when_it_is_done),
        TEST(test_what_went_wrong_is_told),
        TEST(test_a_conflict_and_a_fresh_object),
        TEST(test_retry_after),
        TEST(test_the_gate),
        TEST(test_what_finds_no_place_is_counted),
        TEST(test_no_timer_without_a_wish),
        TEST(test_leaving),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
