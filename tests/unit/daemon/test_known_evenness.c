/*
 * Which workloads a policy's status names as uneven: those that the webhook would spread by it, and
 * no others. Every workload here has all of its pods on one node, so it is uneven by zone.
 */
#include "daemon/known_evenness.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

struct fixture {
    struct cluster c;
    struct policy_source *policies;
    struct evenness_latest *latest;
    struct known_evenness *known;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.known = NULL};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a o q");
    assert_int_equal(policy_source_new(NULL, 0, &f.policies, NULL), 0);
    f.latest = evenness_latest_new();
    const struct known_evenness_options options = {
        .cache = f.c.cache, .policies = f.policies, .latest = f.latest};
    assert_int_equal(known_evenness_start(&options, &f.known, NULL), 0);
    cache_write_begin(f.c.cache);
    cache_sync_begin(f.c.cache, CACHE_ALL_KINDS);
    cache_sync_end(f.c.cache, CACHE_ALL_KINDS); /* of nothing */
    cache_write_end(f.c.cache);
    cluster_nodes(&f.c, "a o q");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    known_evenness_free(f->known);
    evenness_latest_free(f->latest);
    policy_source_free(f->policies);
    cluster_close(&f->c);
    return 0;
}

/* Three pods on node a. */
static void run(struct fixture *f, const char *api, const char *kind, const char *name,
                const char *labels, const char *spec) {
    char pod[512];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(
            pod, sizeof pod,
            "{\"metadata\":{\"name\":\"%s-%d\",\"namespace\":\"shop\",\"labels\":{%s},"
            "\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
            "\"controller\":true}]},\"spec\":{\"nodeName\":\"a\"%s}}",
            name, i, labels, api, kind, name, spec); /* fits */
        cluster_apply_json(&f->c, OBJECT_POD, pod);
    }
}

static void apply(struct fixture *f, const char *name, const char *members) {
    char object[512];
    (void)snprintf(
        object, sizeof object,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\","
        "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}%s}}",
        name, members); /* fits */
    assert_int_equal(policy_live_apply(f->policies, str_of(object), NULL), 0);
}

static void expect(struct fixture *f, const char *policy, const char *want) {
    CLEANUP(strbuf_done) struct strbuf note = {0};
    evenness_latest_note(f->latest, str_of(policy), &note);
    assert_str(strbuf_str(&note), want);
}

static void what_the_webhook_never_touches_is_not_named(void **state) {
    struct fixture *f = *state;
    apply(f, "all", "");
    run(f, "apps/v1", "StatefulSet", "plain", "", "");
    run(f, "apps/v1", "StatefulSet", "out", "\"evenkeel.io/inject\":\"disabled\"", "");
    run(f, "apps/v1", "StatefulSet", "other", "", ",\"schedulerName\":\"other\"");
    run(f, "apps/v1", "DaemonSet", "agent", "", "");
    known_evenness_poll(f->known);
    expect(f, "all", "{\"workloads\":1,\"worst\":[\"shop/plain\"]}");
}

static void owners_are_those_that_policies_ask_for(void **state) {
    struct fixture *f = *state;
#define FOR(group, kind)                                                                           \
    ",\"match\":{\"ownerKinds\":[{\"group\":\"" group "\",\"kind\":\"" kind "\"}]},\"priority\":1"
    apply(f, "cron", FOR("batch", "CronJob"));
    apply(f, "deployment", FOR("apps", "Deployment"));
    apply(f, "rest", "");
    run(f, "batch/v1", "Job", "night-29381760", "", "");
    run(f, "batch/v1", "Job", "once", "", "");
    run(f, "apps/v1", "ReplicaSet", "web-7c", "\"pod-template-hash\":\"7c\"", "");
    known_evenness_poll(f->known);
    expect(f, "cron", "{\"workloads\":1,\"worst\":[\"shop/night\"]}");
    expect(f, "deployment", "{\"workloads\":1,\"worst\":[\"shop/web\"]}");
    expect(f, "rest", "{\"workloads\":1,\"worst\":[\"shop/once\"]}");
}

static void require_names_those_that_opted_out(void **state) {
    struct fixture *f = *state;
    apply(f, "all", ",\"mode\":\"Require\"");
    run(f, "apps/v1", "StatefulSet", "out", "\"evenkeel.io/inject\":\"disabled\"", "");
    known_evenness_poll(f->known);
    expect(f, "all", "{\"workloads\":1,\"worst\":[\"shop/out\"]}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_the_webhook_never_touches_is_not_named),
        TEST(owners_are_those_that_policies_ask_for),
        TEST(require_names_those_that_opted_out),
    };
    return cmocka_run_group_tests_name("known evenness", tests, NULL, NULL);
}
