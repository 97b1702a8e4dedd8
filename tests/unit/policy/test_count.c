/* How many pods policies are for. */
#include "policy/count.h"

#include "base/limits.h"
#include "cache/internal.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

struct fixture {
    struct cluster c;
    struct policy_source *policies;
    struct policy_count *count;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.count = NULL};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b x");
    assert_int_equal(policy_source_new(NULL, 0, &f.policies, NULL), 0);
    f.count = policy_count_new(f.policies, f.c.cache);
    assert_non_null(f.count);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    policy_count_free(f->count);
    policy_source_free(f->policies);
    cluster_close(&f->c);
    return 0;
}

/* A policy with these members of its spec, each with a comma in front. */
static void apply(struct fixture *f, const char *name, const char *members) {
    char object[512];
    (void)snprintf(
        object, sizeof object,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\","
        "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}%s}}",
        name, members); /* fits */
    assert_int_equal(policy_live_apply(f->policies, str_of(object), NULL), 0);
}

#define OBJECTS(label) ",\"match\":{\"objectSelector\":{\"matchLabels\":{\"" label "\":\"\"}}}"
#define NAMESPACES(team)                                                                           \
    ",\"match\":{\"namespaceSelector\":{\"matchLabels\":{\"team\":\"" team "\"}}}"

static void count_all(struct fixture *f) {
    for (int steps = 0; !policy_count_step(f->count); steps++)
        assert_true(steps < 1000);
}

static int64_t count_of(struct fixture *f, const char *name) {
    return policy_count_of(f->count, &(struct policy){.name = str_of(name)});
}

/* The first policy that matches counts a pod, and no other. */
static void the_first_that_matches(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "a:2 b:1 x:bar a:foo+bar a:~1");
    apply(f, "rest", "");
    apply(f, "bars", OBJECTS("bar") ",\"priority\":1");
    apply(f, "none", OBJECTS("other") ",\"priority\":2");
    apply(f, "broken", ",\"match\":{\"exclude\":{\"objectSelector\":{}}},\"priority\":3");
    assert_int_equal(count_of(f, "rest"), -1);
    count_all(f);
    assert_int_equal(count_of(f, "rest"), 3); /* the one that is going is not counted */
    assert_int_equal(count_of(f, "bars"), 2);
    assert_int_equal(count_of(f, "none"), 0);
    assert_int_equal(count_of(f, "broken"), 0);
    assert_int_equal(count_of(f, "res"), -1);
    assert_int_equal(count_of(f, "zzz"), -1);
}

/* Nobody knows which policy a pod is for whose labels are not kept. */
static void labels_that_are_not_kept(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "a:2");
    f->c.cache->options.max_label_bytes = 1;
    cluster_pods(&f->c, "a:1 a:bar");
    apply(f, "rest", "");
    apply(f, "bars", OBJECTS("bar") ",\"priority\":1");
    count_all(f);
    assert_int_equal(count_of(f, "rest"), 3);
    assert_int_equal(count_of(f, "bars"), 0);
    f->c.cache->options.max_label_bytes = LIMIT_LABELS_BYTES;
    cluster_pods(&f->c, "a:bar");
    count_all(f);
    assert_int_equal(count_of(f, "bars"), 1);
}

#define OWNED(api, kind, name)                                                                     \
    "\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" name      \
    "\",\"controller\":true}]"
#define FOR(group, kind)                                                                           \
    ",\"match\":{\"ownerKinds\":[{\"group\":\"" group "\",\"kind\":\"" kind "\"}]},\"priority\":1"

static void run_pod(struct fixture *f, const char *name, const char *metadata, const char *spec) {
    char object[512];
    (void)snprintf(object, sizeof object,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"%s\"%s%s},"
                   "\"spec\":{\"nodeName\":\"a\"%s}}",
                   name, name, metadata[0] != '\0' ? "," : "", metadata, spec); /* fits */
    cluster_apply_json(&f->c, OBJECT_POD, object);
}

/* The owners of running pods are known, and those above them. */
static void owners_count(void **state) {
    struct fixture *f = *state;
    static const char of_web[] =
        "\"labels\":{\"pod-template-hash\":\"7c\"}," OWNED("apps/v1", "ReplicaSet", "web-7c");
    run_pod(f, "w1", of_web, "");
    run_pod(f, "w2", of_web, "");
    run_pod(f, "r", OWNED("batch/v1", "Job", "report-29300000"), "");
    run_pod(f, "j", OWNED("batch/v1", "Job", "once"), "");
    run_pod(f, "alone", "", "");
    apply(f, "rest", "");
    apply(f, "deployment", FOR("apps", "Deployment"));
    apply(f, "cronjob", FOR("batch", "CronJob"));
    apply(f, "job", FOR("batch", "Job"));
    apply(f, "bare", FOR("", "Pod"));
    count_all(f);
    assert_int_equal(count_of(f, "deployment"), 2);
    assert_int_equal(count_of(f, "cronjob"), 1);
    assert_int_equal(count_of(f, "job"), 1); /* the other one's policy comes first by name */
    assert_int_equal(count_of(f, "bare"), 1);
    assert_int_equal(count_of(f, "rest"), 0);
}

/* Nothing is injected into these, so they are nobody's. */
static void pods_that_are_left_alone(void **state) {
    struct fixture *f = *state;
    apply(f, "all", "");
    apply(f, "mine",
          ",\"match\":{\"objectSelector\":{\"matchLabels\":{\"a\":\"\"}}},\"priority\":1");
    run_pod(f, "plain", "", "");
    run_pod(f, "default", "", ",\"schedulerName\":\"default-scheduler\"");
    run_pod(f, "other", "", ",\"schedulerName\":\"other\"");
    run_pod(f, "others", "\"labels\":{\"a\":\"\"}", ",\"schedulerName\":\"other\"");
    run_pod(f, "out", "\"labels\":{\"evenkeel.io/inject\":\"disabled\"}", "");
    run_pod(f, "daemon", OWNED("apps/v1", "DaemonSet", "d"), "");
    run_pod(f, "mirror", OWNED("v1", "Node", "a"), "");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 2);
    assert_int_equal(count_of(f, "mine"), 0);
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"default\",\"labels\":{\"evenkeel.io/inject\":"
                       "\"disabled\"}}}");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 0);
}

static void end_pod(struct fixture *f, const char *name) {
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD,
                                           .pod = {.meta = {.namespace = STR("default"),
                                                            .name = str_of(name),
                                                            .uid = str_of(name)}}});
}

/* Of pods that are alike only those count that have a choice of nodes, whoever comes and goes. */
static void pods_that_may_use_one_node_only(void **state) {
    struct fixture *f = *state;
#define ON_NODE(values)                                                                            \
    ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[" values "]}]}]}}}"
    apply(f, "all", "");
    run_pod(f, "free", "", "");
    run_pod(f, "tied", "", ON_NODE("\"a\""));
    run_pod(f, "tied too", "", ON_NODE("\"a\""));
    count_all(f);
    assert_int_equal(count_of(f, "all"), 1);
    run_pod(f, "tied", "", ""); /* as no API server has it */
    count_all(f);
    assert_int_equal(count_of(f, "all"), 2);
    run_pod(f, "free", "", ON_NODE("\"b\""));
    run_pod(f, "tied too", "", ",\"affinity\":{}");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 2);
    end_pod(f, "free");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 2);
    run_pod(f, "last", "", ON_NODE("\"a\""));
    end_pod(f, "tied");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 1);
}

/* What binds counts pods that would rather not be bound. */
static void require_does_not_heed_the_label(void **state) {
    struct fixture *f = *state;
    apply(f, "all", ",\"mode\":\"Require\"");
    run_pod(f, "out", "\"labels\":{\"evenkeel.io/inject\":\"disabled\"}", "");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 1);
}

/* Of a namespace that is not known nothing can be said, where it matters. */
static void namespaces_count(void **state) {
    struct fixture *f = *state;
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"ns1\",\"labels\":{\"team\":\"red\"}}}");
    cluster_pods(&f->c, "a:1 ns1/b:2 ns2/x:1");
    apply(f, "red", NAMESPACES("red"));
    apply(f, "unknown",
          ",\"match\":{\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"team\","
          "\"operator\":\"DoesNotExist\"}]}}");
    count_all(f);
    assert_int_equal(count_of(f, "red"), 2);
    assert_int_equal(count_of(f, "unknown"), 0);
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"ns2\",\"labels\":{\"team\":\"red\"}}}");
    count_all(f);
    assert_int_equal(count_of(f, "red"), 3);
}

/* Results stay until the next round has ended, whatever becomes of pods and policies. */
static void rounds(void **state) {
    struct fixture *f = *state;
    count_all(f);
    apply(f, "all", "");
    cluster_pods(&f->c, "a:3");
    count_all(f);
    assert_int_equal(count_of(f, "all"), 3);
    apply(f, "new", OBJECTS("foo") ",\"priority\":1");
    cluster_unpods(&f->c, "a:1");
    assert_int_equal(count_of(f, "all"), 3);
    assert_int_equal(count_of(f, "new"), -1);
    count_all(f);
    assert_int_equal(count_of(f, "all"), 0);
    assert_int_equal(count_of(f, "new"), 2);
}

/* A count is of one generation, and of the API server's policy, not of a file's. */
static void a_count_is_of_one_generation(void **state) {
    struct fixture *f = *state;
    struct policy policy = {.name = STR("a"), .generation = 1};
#define OF_GENERATION(generation)                                                                  \
    STR("{\"metadata\":{\"name\":\"a\",\"generation\":" generation                                 \
        "},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"       \
        "\"ScheduleAnyway\"}]}}}")
    cluster_pods(&f->c, "a:3");
    assert_int_equal(policy_live_apply(f->policies, OF_GENERATION("1"), NULL), 0);
    count_all(f);
    assert_int_equal(policy_count_of(f->count, &policy), 3);
    policy.generation = 2;
    assert_int_equal(policy_count_of(f->count, &policy), -1);
    assert_int_equal(policy_live_apply(f->policies, OF_GENERATION("2"), NULL), 0);
    count_all(f);
    assert_int_equal(policy_count_of(f->count, &policy), 3);
    /* one that cannot be decoded */
    assert_int_equal(policy_live_apply(f->policies,
                                       STR("{\"metadata\":{\"name\":\"a\",\"generation\":3},"
                                           "\"spec\":{\"pods\":7}}"),
                                       NULL),
                     0);
    count_all(f);
    policy.generation = 3;
    assert_int_equal(policy_count_of(f->count, &policy), 0);
}

/* Many policies make many steps, each of which is short. */
static void steps(void **state) {
    struct fixture *f = *state;
    enum { PODS = 100, POLICIES = 2000 };
    char object[256];
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(object, sizeof object,
                       "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"default\",\"uid\":\"u%d\","
                       "\"labels\":{\"n\":\"%d\"}},\"spec\":{\"nodeName\":\"a\"}}",
                       i, i, i); /* fits */
        cluster_apply_json(&f->c, OBJECT_POD, object);
    }
    policy_live_begin(f->policies);
    for (int i = 0; i < POLICIES; i++) {
        char name[16], members[128];
        (void)snprintf(name, sizeof name, "p%d", i);
        (void)snprintf(members, sizeof members,
                       ",\"match\":{\"objectSelector\":{\"matchLabels\":{\"n\":\"%d\"}}}", i);
        apply(f, name, members);
    }
    assert_int_equal(policy_live_end(f->policies, NULL), 0);
    int count = 1;
    while (!policy_count_step(f->count))
        count++;
    assert_int_equal(count, PODS / 16 + 1);
    assert_int_equal(count_of(f, "p0"), 1);
    assert_int_equal(count_of(f, "p99"), 1);
    assert_int_equal(count_of(f, "p100"), 0);
    assert_int_equal(count_of(f, "p1999"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Of each pod once, however many of its parts are the policy's. */
static void a_policy_with_several_parts_counts_a_pod_once(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "a:2 b:1");
    assert_int_equal(
        policy_live_apply(
            f->policies,
            STR("{\"metadata\":{\"name\":\"parts\"},\"spec\":{\"priority\":1,\"pods\":{"
                "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                "\"ScheduleAnyway\"}],\"weights\":{\"spread\":1,\"locality\":1}}}}"),
            NULL),
        0);
    apply(f, "rest", "");
    count_all(f);
    assert_int_equal(count_of(f, "parts"), 3);
    assert_int_equal(count_of(f, "rest"), 0);
}

/* What a policy would do if it were enforced is counted, beside who does it now. */
static void audited_policies_count(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "a:2 b:bar");
    apply(f, "now", "");
    apply(f, "later", ",\"mode\":\"Audit\",\"priority\":1");
    apply(f, "bars",
          ",\"mode\":\"Audit\",\"priority\":2,\"match\":{\"objectSelector\":{"
          "\"matchLabels\":{\"bar\":\"\"}}}");
    count_all(f);
    assert_int_equal(count_of(f, "now"), 3);
    assert_int_equal(count_of(f, "bars"), 1);
    assert_int_equal(count_of(f, "later"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_first_that_matches),
        TEST(labels_that_are_not_kept),
        TEST(owners_count),
        TEST(pods_that_are_left_alone),
        TEST(pods_that_may_use_one_node_only),
        TEST(require_does_not_heed_the_label),
        TEST(audited_policies_count),
        TEST(a_policy_with_several_parts_counts_a_pod_once),
        TEST(namespaces_count),
        TEST(rounds),
        TEST(a_count_is_of_one_generation),
        TEST(steps),
    };
    return cmocka_run_group_tests_name("policy count", tests, NULL, NULL);
}
