/* The status of policies: read, judged, and written by whoever leads. */
#include "controllers/policy_status.h"

#include "base/log.h"
#include "unit/cluster_builder.h"
#include "unit/controllers/stored.h"
#include "unit/kube/election/lease_store.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define POLICY(name, generation, more)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation                              \
    "},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"           \
    "\"ScheduleAnyway\"}]"                                                                         \
    "}}" more "}"
#define BROKEN(name, generation, more)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation "},\"spec\":{\"pods\":{}"    \
    "}" more "}"
#define CONDITION(status, generation, since, reason, message)                                      \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status                                     \
    "\",\"observedGeneration\":" generation ",\"lastTransitionTime\":\"" since                     \
    "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}]"
#define STATUS(generation, condition)                                                              \
    "\"status\":{\"observedGeneration\":" generation "," condition "}"
#define GOOD(generation, since)                                                                    \
    STATUS(generation, CONDITION("True", generation, since, "InForce", "the policy is in force"))
#define BAD(generation, since)                                                                     \
    STATUS(generation,                                                                             \
           CONDITION("False", generation, since, "CannotWork",                                     \
                     "spec.pods has none of spread, locality and weights: it asks for nothing"))
#define NOW "2023-11-14T22:13:20Z"
#define THEN "2020-01-01T00:00:00Z"
#define PATH(name)                                                                                 \
    "/apis/evenkeel.io/v1alpha1/topologypolicies/" name "/status?fieldManager=evenkeel"

struct fixture {
    struct kube_client client;
    struct writer *writer;
    struct policy_source *policies;
    struct policy_status_controller *controller;
    struct cache *cache; /* NULL: pods are not counted */
};

static void start(struct fixture *f, const struct elector *elector) {
    const struct policy_status_controller_options options = {.policies = f->policies,
                                                             .client = &f->client,
                                                             .writer = f->writer,
                                                             .cache = f->cache,
                                                             .elector = elector,
                                                             .clock = &f->client.clock.clock,
                                                             .io = &fake_io};
    assert_int_equal(policy_status_controller_start(&options, &f->controller, NULL), 0);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.controller = NULL};
    fake_init(&f.client);
    f.writer = fake_writer(&f.client);
    log_use_clock(&f.client.clock.clock);
    assert_int_equal(policy_source_new(NULL, 0, &f.policies, NULL), 0);
    *state = &f;
    return 0;
}

/* Nothing is left of it. */
static void finish(struct fixture *f) {
    policy_status_controller_free(f->controller);
    writer_free(f->writer);
    f->controller = NULL;
    f->writer = NULL;
    fake_done(&f->client);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    policy_source_free(f->policies);
    log_use_clock(clock_real());
    return 0;
}

static void apply(struct fixture *f, const char *object) {
    assert_int_equal(policy_live_apply(f->policies, str_of(object), NULL), 0);
}

static void writes(struct fixture *f, const char *path, const char *body) {
    assert_non_null(f->client.request);
    assert_string_equal(f->client.request->method, "PATCH");
    assert_string_equal(f->client.request->content_type, "application/merge-patch+json");
    assert_string_equal(f->client.request->path, path);
    assert_str(f->client.request->body, body);
}

static void answer(struct fixture *f, int status) {
    fake_answer(&f->client, status, STR(""), -1);
}

/* Nothing is written for so long. */
static void is_quiet(struct fixture *f, int64_t ms) {
    fake_pass(&f->client, ms);
    assert_null(f->client.request);
}

static void what_is_wrong_is_written(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    is_quiet(f, 10000);
    apply(f, POLICY("a", "1", ""));
    apply(f, BROKEN("b", "2", ""));
    apply(f, POLICY("c", "3", "," GOOD("3", THEN)));
    apply(f, BROKEN("d", "4", "," BAD("4", THEN)));
    fake_pass(&f->client, 1000);
    writes(f, PATH("a"), "{" GOOD("1", "2023-11-14T22:13:31Z") "}");
    answer(f, 200);
    is_quiet(f, 199);
    fake_pass(&f->client, 1);
    writes(f, PATH("b"), "{" BAD("2", "2023-11-14T22:13:31Z") "}");
    answer(f, 200);
    apply(f, POLICY("a", "1", "," GOOD("1", NOW))); /* what was written comes back */
    apply(f, BROKEN("b", "2", "," BAD("2", NOW)));
    is_quiet(f, 100000);
}

/* A condition that stays what it is keeps its time; one that turns gets a new one. */
static void when_it_turned(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "2", "," GOOD("1", THEN)));
    apply(f, BROKEN("b", "2", "," GOOD("2", THEN)));
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("a"), "{" GOOD("2", THEN) "}");
    answer(f, 200);
    fake_pass(&f->client, 200);
    writes(f, PATH("b"), "{" BAD("2", NOW) "}");
}

/* Each part that differs is a reason to write. */
static void what_counts_as_wrong(void **state) {
    struct fixture *f = *state;
    static const char *const statuses[] = {
        ",\"status\":{}",
        ",\"status\":7",
        "," STATUS("4", CONDITION("True", "5", THEN, "InForce", "the policy is in force")),
        "," STATUS("5", CONDITION("True", "4", THEN, "InForce", "the policy is in force")),
        "," STATUS("5", CONDITION("False", "5", THEN, "InForce", "the policy is in force")),
        "," STATUS("5", CONDITION("True", "5", THEN, "Other", "the policy is in force")),
        "," STATUS("5", CONDITION("True", "5", THEN, "InForce", "another sentence")),
        ",\"status\":{\"observedGeneration\":5,\"conditions\":[{\"type\":\"Other\"}]}",
    };
    start(f, NULL);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        char object[1024];
        (void)snprintf(object, sizeof object, POLICY("a", "5", "%s"), statuses[i]); /* fits */
        apply(f, object);
        fake_pass(&f->client, 6000);
        if (f->client.request == NULL)
            fail_msg("%s", statuses[i]);
        answer(f, 200);
    }
    apply(f, POLICY("a", "5", "," GOOD("5", THEN)));
    is_quiet(f, 10000);
}

/* Somebody who keeps writing something else is not fought as fast as one can. */
static void two_who_disagree(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    fake_run(&f->client);
    for (int i = 0; i < 3; i++) {
        assert_non_null(f->client.request);
        answer(f, 200);
        apply(f, POLICY("a", "1", ",\"status\":{\"observedGeneration\":7}"));
        is_quiet(f, 4999);
        fake_pass(&f->client, 201); /* where the next look is */
    }
    assert_non_null(f->client.request);
}

/* A policy that goes while its status is written, and a server that is not well. */
static void writes_that_fail(void **state) {
    struct fixture *f = *state;
    static const int statuses[] = {404, 409, 500, 503};
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    fake_run(&f->client);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        assert_non_null(f->client.request);
        answer(f, statuses[i]);
        is_quiet(f, 4999);
        fake_pass(&f->client, 201); /* where the next look is */
    }
    assert_non_null(f->client.request);
    fake_fail(&f->client, -ECONNREFUSED);
    fake_pass(&f->client, 5200);
    assert_non_null(f->client.request);
    answer(f, 403); /* without the permission there is no hurry */
    is_quiet(f, 59999);
    fake_pass(&f->client, 1);
    assert_non_null(f->client.request);
}

/* Pods are counted where it is known which there are, and written at most once a minute. */
static void how_many_pods(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    cluster_open(&c);
    f->cache = c.cache;
    apply(f, POLICY("a", "1", "," GOOD("1", NOW)));
    start(f, NULL);
    is_quiet(f, 10000); /* before the pods are known there is no number */
    cache_write_begin(c.cache);
    cache_sync_begin(c.cache, CACHE_ALL_KINDS);
    cache_write_end(c.cache);
    cluster_nodes(&c, "a");
    cluster_pods(&c, "a:2");
    cache_write_begin(c.cache);
    cache_sync_end(c.cache, CACHE_ALL_KINDS);
    cache_write_end(c.cache);
    fake_pass(&f->client, 1000);
    assert_non_null(f->client.request);
    assert_true(str_has_prefix(f->client.request->body,
                               STR("{\"status\":{\"observedGeneration\":1,\"matched\":2,")));
    answer(f, 200);
    apply(f, POLICY("a", "1",
                    ",\"status\":{\"observedGeneration\":1,\"matched\":2," CONDITION(
                        "True", "1", NOW, "InForce", "the policy is in force") "}"));
    is_quiet(f, 70000);
    cluster_pods(&c, "a:1");
    for (int s = 0; s < 60 && f->client.request == NULL; s++)
        fake_pass(&f->client, 1000);
    assert_non_null(f->client.request);
    assert_true(str_has_prefix(f->client.request->body,
                               STR("{\"status\":{\"observedGeneration\":1,\"matched\":3,")));
    answer(f, 200);
    is_quiet(f, 59000); /* what was written has not come back */
    fake_pass(&f->client, 2000);
    assert_non_null(f->client.request);
    finish(f);
    cluster_close(&c);
}

/* Neither what cannot be read nor what no path can name is written to. */
static void what_is_not_written_to(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "0", ""));
    apply(f, POLICY("a/b", "1", ""));
    apply(f, POLICY("A", "1", ""));
    start(f, NULL);
    is_quiet(f, 10000);
}

static void the_leader_writes(void **state) {
    struct fixture *f = *state;
    static struct kube_client leases;
    static struct lease_store store;
    struct elector *elector;
    fake_init(&leases);
    const struct elector_options options = {
        .client = &leases,
        .lease = {.namespace = "evenkeel", .name = "controller", .identity = "me"},
        .clock = &leases.clock.clock,
        .io = &fake_io};
    assert_int_equal(elector_new(&options, &elector, NULL), 0);
    apply(f, POLICY("a", "1", ""));
    start(f, elector);
    is_quiet(f, 10000);
    while (!elector_leads(elector)) {
        struct strbuf body = {0};
        fake_run(&leases);
        assert_non_null(leases.request);
        int status = lease_store_call(&store, leases.request->method, leases.request->path,
                                      leases.request->body, &body);
        fake_answer(&leases, status, strbuf_str(&body), -1);
        strbuf_done(&body);
    }
    fake_pass(&f->client, 1000);
    assert_non_null(f->client.request);
    assert_true(f->client.request->timeout_ms <= elector_remaining_ms(elector));
    finish(f);
    elector_free(elector);
    lease_store_done(&store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_wrong_is_written),
        TEST(when_it_turned),
        TEST(what_counts_as_wrong),
        TEST(two_who_disagree),
        TEST(writes_that_fail),
        TEST(the_leader_writes),
        TEST(how_many_pods),
        TEST(what_is_not_written_to),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    return cmocka_run_group_tests_name("policy controller", tests, NULL, NULL);
}
