/* An object that is read in the background, by a thread that looks once in a while. */
#include "kube/client/fetch.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

enum { MOST = 16 };

struct fixture {
    struct api api;
    struct kube_access access;
    struct kube_client *client;
    struct api_call call;
    struct kube_fetch fetch;
};

static int set_up(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    if (kube_client_new(&f.access, NULL, &f.client, &err) != 0)
        fail_msg("%s", err.text);
    kube_fetch_init(&f.fetch, f.client, MOST);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    kube_fetch_end(&f->fetch);
    kube_client_free(f->client);
    api_call_done(&f->call);
    api_done(&f->api);
    return 0;
}

static void start(struct fixture *f) {
    assert_int_equal(kube_fetch_start(&f->fetch, STR("/api/v1/x"), 60000), 0);
    api_expect(&f->api, &f->call, "GET", "/api/v1/x");
}

static void await_end(struct fixture *f) {
    const time_t until = time(NULL) + 60;
    while (!kube_fetch_ended(&f->fetch)) {
        assert_true(time(NULL) < until);
        sched_yield();
    }
}

static void an_answer_is_taken_once(void **state) {
    struct fixture *f = *state;
    assert_false(kube_fetch_ended(&f->fetch));
    start(f);
    assert_true(f->fetch.under_way);
    assert_false(kube_fetch_ended(&f->fetch));
    api_answer(&f->call, 200, "", "{\"a\":1}");
    await_end(f);
    assert_false(f->fetch.under_way);
    assert_int_equal(f->fetch.error, 0);
    assert_int_equal(f->fetch.status, 200);
    assert_true(str_eq(strbuf_str(&f->fetch.body), STR("{\"a\":1}")));
    assert_false(kube_fetch_ended(&f->fetch));
    kube_fetch_forget(&f->fetch);
    assert_int_equal(f->fetch.body.n, 0);
}

static void it_may_be_started_again(void **state) {
    struct fixture *f = *state;
    start(f);
    api_answer(&f->call, 200, "", "first");
    await_end(f);
    start(f); /* with the body still there */
    api_answer(&f->call, 200, "", "next");
    await_end(f);
    assert_true(str_eq(strbuf_str(&f->fetch.body), STR("next")));
}

static void other_statuses_have_no_body(void **state) {
    struct fixture *f = *state;
    start(f);
    api_answer(&f->call, 404, "", "gone");
    await_end(f);
    assert_int_equal(f->fetch.error, 0);
    assert_int_equal(f->fetch.status, 404);
    assert_int_equal(f->fetch.body.n, 0);
}

static void an_answer_has_a_limit(void **state) {
    struct fixture *f = *state;
    start(f);
    api_answer(&f->call, 200, "", "0123456789abcdef");
    await_end(f);
    assert_int_equal(f->fetch.error, 0);
    start(f);
    api_answer(&f->call, 200, "", "0123456789abcdefg");
    await_end(f);
    assert_int_equal(f->fetch.error, -EFBIG);
    assert_int_equal(f->fetch.body.n, 0);
}

static void one_that_is_cancelled_never_ends(void **state) {
    struct fixture *f = *state;
    kube_fetch_cancel(&f->fetch); /* it is not under way */
    start(f);
    kube_fetch_cancel(&f->fetch);
    assert_false(f->fetch.under_way);
    assert_false(kube_fetch_ended(&f->fetch));
    start(f);
    api_answer(&f->call, 200, "", "next");
    await_end(f);
    assert_true(str_eq(strbuf_str(&f->fetch.body), STR("next")));
}

int main(void) {
#define FETCH_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FETCH_TEST(an_answer_is_taken_once),          FETCH_TEST(it_may_be_started_again),
        FETCH_TEST(other_statuses_have_no_body),      FETCH_TEST(an_answer_has_a_limit),
        FETCH_TEST(one_that_is_cancelled_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
