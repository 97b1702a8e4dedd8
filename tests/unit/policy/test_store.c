/* Policies fed by a watch of a fake API server. */
#include "policy/store.h"

#include "base/log.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <unistd.h>

#define PATH "/apis/evenkeel.io/v1alpha1/topologypolicies?*"
#define POLICY(name, version, more)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version                          \
    "\"},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"         \
    "\"ScheduleAnyway\"}]}" more "}}"
#define SERIES(name) "evenkeel_watch_" name "{resource=\"topologypolicies\"}"

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct policy_source *policies;
    struct kube_client *client;
    struct informer *watch;
    sem_t changed;
};

static void on_change(void *ctx) {
    struct fixture *f = ctx;
    (void)sem_post(&f->changed);
}

static void start(struct fixture *f) {
    struct err err;
    if (kube_client_new(&f->access, &f->clock.clock, &f->client, &err) != 0)
        fail_msg("%s", err.text);
    const struct informer_watch watch = {.client = f->client, .clock = &f->clock.clock, .seed = 1};
    policy_live_on_change(f->policies, on_change, f);
    assert_int_equal(informer_new(&policy_store, f->policies, &f->watch, &err), 0);
    assert_int_equal(informer_watch(f->watch, &watch, &err), 0);
}

static void finish(struct fixture *f) {
    informer_free(f->watch);
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
    assert_int_equal(sem_init(&f.changed, 0, 0), 0);
    assert_int_equal(policy_source_new(NULL, 0, &f.policies, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    policy_source_free(f->policies);
    (void)sem_destroy(&f->changed);
    api_call_done(&f->call);
    api_done(&f->api);
    metrics_reset();
    return 0;
}

/* Once something has changed: the names, with "!" behind those that cannot work. */
static void becomes(struct fixture *f, const char *wanted) {
    struct strbuf got = {0};
    uint32_t count;
    wait_sem(&f->changed, "a change of the policies");
    struct policies *held = policies_hold(f->policies);
    const struct policy *items = policies_items(held, &count);
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(&got, "%s%.*s%s", i > 0 ? " " : "", STR_ARG(items[i].name),
                       str_empty(items[i].problem) ? "" : "!");
    assert_str(strbuf_str(&got), wanted);
    strbuf_done(&got);
    policies_release(held);
}

static void say(struct fixture *f, const char *text) {
    assert_true(api_say(&f->call, text));
}

static void policies_come_and_go(void **state) {
    struct fixture *f = *state;
    start(f);
    assert_false(informer_listed(f->watch));
    api_expect(&f->api, &f->call, "GET", PATH);
    say(f, STREAM EVENT("ADDED", POLICY("a", "1", "")) EVENT("ADDED", POLICY("b", "2", ""))
               MARKER("3"));
    becomes(f, "a b"); /* one change */
    assert_int_equal(sem_trywait(&f->changed), -1);
    say(f, EVENT("MODIFIED", POLICY("b", "4", ",\"priority\":1")));
    becomes(f, "b a");
    say(f, EVENT("MODIFIED", POLICY("b", "5", ",\"newer\":1")));
    becomes(f, "a b!");
    say(f, EVENT("DELETED", POLICY("a", "6", "")));
    becomes(f, "b!");
    metric_becomes(SERIES("events_total"), 5);
    metric_becomes(SERIES("absent"), 0);
    assert_true(informer_listed(f->watch));
}

/* A cluster without the kind has no policies, and may get it later. */
static void the_kind_may_be_installed_later(void **state) {
    struct fixture *f = *state;
    start(f);
    api_expect(&f->api, &f->call, "GET", PATH);
    api_answer(&f->call, 404, "Content-Type: text/plain\r\n", "404 page not found\n");
    becomes(f, "");
    metric_becomes(SERIES("absent"), 1);
    assert_true(informer_listed(f->watch));
    assert_true(api_is_quiet(&f->api));
    f->clock.at_ms += 60000;
    metric_becomes(SERIES("absent"),
                   1); /* the clock is the client's, which looks at it when woken */
    struct kube_timer wake = {.fn = on_change, .ctx = f};
    kube_timer_start(f->client, &wake, 0);
    wait_sem(&f->changed, "the client to go round");
    api_expect(&f->api, &f->call, "GET", PATH);
    say(f, STREAM EVENT("ADDED", POLICY("a", "1", "")) MARKER("2"));
    becomes(f, "a");
    metric_becomes(SERIES("absent"), 0);
}

/* Who may not read policies must not wait for them for ever. */
static void a_refusal_settles_too(void **state) {
    struct fixture *f = *state;
    start(f);
    api_expect(&f->api, &f->call, "GET", PATH);
    assert_false(informer_listed(f->watch));
    api_answer(&f->call, 403, "", "{\"kind\":\"Status\",\"code\":403}");
    metric_becomes(SERIES("errors_total"), 1);
    assert_true(informer_listed(f->watch));
}

static void the_end_at_any_moment(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 20; i++) {
        start(f);
        if (i % 2 == 0)
            api_expect(&f->api, &f->call, "GET", PATH);
        finish(f);
        assert_true(metric_now(SERIES("absent")) == -1);
        if (i % 2 == 0)
            api_close(&f->call);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(policies_come_and_go),
        TEST(the_kind_may_be_installed_later),
        TEST(a_refusal_settles_too),
        TEST(the_end_at_any_moment),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("policy store", tests, NULL, NULL);
}
