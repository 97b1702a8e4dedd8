/* The whole of a decision. Texts: upstream, karmada v1.18.1 pkg/scheduler/core
 * generic_scheduler.go; the plugin Capacity: contract 4 of fleets. */
#include "karmada/schedule.h"

#include <errno.h>

#include "unit/karmada/fleet.h"

/* Has so many cpus and free pods, and serves Deployments. */
#define CLUSTER(name, cpu, spec)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "},\"status\":{\"apiEnablements\":[{"  \
    "\"groupVersion\":\"apps/v1\",\"resources\":[{\"kind\":\"Deployment\"}]}],"                    \
    "\"resourceSummary\":{\"allocatable\":{\"cpu\":\"" cpu "\",\"pods\":\"110\"}}}}"
#define DEPLOYMENT                                                                                 \
    "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"},\"replicaRequirements\":{"  \
    "\"resourceRequest\":{\"cpu\":\"1\"}}"
#define THREE "[" CLUSTER("m1", "3", "") "," CLUSTER("m2", "10", "") "," CLUSTER("m3", "9", "") "]"
#define DUPLICATED "\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}"
#define AGGREGATED                                                                                 \
    "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\",\"replicaDivisionPreference\":"  \
    "\"Aggregated\"}"

static struct test_fleet fleet;
static struct karmada_decision decision;

static void make(const char *clusters, const char *spec) {
    test_fleet_make(clusters, spec, "", &fleet);
}

/* "m1=3 m2=4", or the kind of the error, a colon and its text. */
static void schedule(const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct err err;
    if (karmada_schedule(&fleet.question, &decoding_arena, &decision, &err) != 0)
        fail_msg("%s", err.text);
    if (decision.kind != KARMADA_OK)
        strbuf_appendf(&got, "%.*s:%.*s", STR_ARG(karmada_error_names[decision.kind]),
                       STR_ARG(decision.error));
    for (uint32_t i = 0; i < decision.assignment.count; i++)
        strbuf_appendf(&got, "%s%.*s=%d", i > 0 ? " " : "",
                       STR_ARG(decision.assignment.clusters[i].name),
                       decision.assignment.clusters[i].replicas);
    assert_str(strbuf_str(&got), wanted);
}

static void allocatable_is(int64_t a, int64_t b, int64_t c) {
    assert_int_equal(decision.filtered.count, 3);
    assert_int_equal(decision.filtered.candidates[0].allocatable, a);
    assert_int_equal(decision.filtered.candidates[1].allocatable, b);
    assert_int_equal(decision.filtered.candidates[2].allocatable, c);
}

static void capacity(void **state) {
    (void)state;
    make(THREE, "{" DEPLOYMENT ",\"replicas\":10,\"placement\":{" DUPLICATED "}}");
    schedule("m1=10 m2=10 m3=10");
    allocatable_is(3, 10, 9);
    fleet.options.plugins |= 1u << PLUGIN_CAPACITY;
    schedule("m2=10");
    assert_int_equal(decision.filtered.verdicts[0].pass, CLUSTER_REFUSED);
    assert_int_equal(decision.filtered.verdicts[0].plugin, PLUGIN_CAPACITY);
    assert_int_equal(decision.estimates[0].summary, 10);
    assert_int_equal(decision.filtered.clusters[0], 1);
    fleet.spec.replicas = 11;
    schedule("FitError:0/3 clusters are available: 3 cluster(s) cannot hold all replicas.");
    /* what runs there today counts */
    make(THREE, "{" DEPLOYMENT ",\"replicas\":10,\"clusters\":[{\"name\":\"m3\",\"replicas\":1}]"
                ",\"placement\":{" DUPLICATED "}}");
    fleet.options.plugins |= 1u << PLUGIN_CAPACITY;
    schedule("m2=10 m3=10");
    assert_true(decision.filtered.is_target[1]);
    /* without replicaScheduling all are duplicated; what is divided is not looked at */
    make(THREE, "{" DEPLOYMENT ",\"replicas\":10,\"placement\":{}}");
    fleet.options.plugins |= 1u << PLUGIN_CAPACITY;
    schedule("m2=10");
    make(THREE, "{" DEPLOYMENT ",\"replicas\":22,\"placement\":{" AGGREGATED "}}");
    fleet.options.plugins |= 1u << PLUGIN_CAPACITY;
    schedule("m1=3 m2=10 m3=9");
    make(THREE, "{" DEPLOYMENT ",\"placement\":{" DUPLICATED "}}");
    fleet.options.plugins |= 1u << PLUGIN_CAPACITY;
    fleet.options.empty_propagation = true;
    schedule("m1=0 m2=0 m3=0");
}

static void estimates(void **state) {
    (void)state;
    static const int64_t accurate[] = {2, ESTIMATE_UNKNOWN, 20};
    make(THREE, "{" DEPLOYMENT ",\"replicas\":5,\"clusters\":[{\"name\":\"m1\",\"replicas\":7}],"
                "\"placement\":{" DUPLICATED "}}");
    fleet.question.accurate = accurate;
    schedule("m1=5 m2=5 m3=5");
    allocatable_is(2, 10, 9);
    assert_int_equal(decision.filtered.candidates[0].available, 9);
    assert_int_equal(decision.filtered.candidates[0].previous, 7);
    assert_int_equal(decision.estimates[0].accurate, 2);
    assert_int_equal(decision.estimates[0].summary, 3);
    assert_int_equal(decision.estimates[1].accurate, ESTIMATE_UNKNOWN);
    /* nobody is asked about what has no replicas */
    make(THREE, "{" DEPLOYMENT ",\"placement\":{" DUPLICATED "}}");
    schedule("");
    allocatable_is(ESTIMATE_MAX, ESTIMATE_MAX, ESTIMATE_MAX);
    assert_int_equal(decision.estimates[0].summary, ESTIMATE_UNKNOWN);
    make(THREE, "{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"},"
                "\"components\":[{\"name\":\"a\",\"replicas\":1}],\"placement\":{}}");
    schedule("m1=0 m2=0 m3=0");
    allocatable_is(110, 110, 110);
}

static void errors(void **state) {
    (void)state;
    make("[]", "{" DEPLOYMENT ",\"replicas\":5}");
    schedule("FitError:0/0 clusters are available: no cluster exists.");
    assert_int_equal(decision.selection.count, 0);
    make(THREE, "{" DEPLOYMENT ",\"replicas\":5,\"placement\":{\"spreadConstraints\":[{"
                "\"spreadByField\":\"cluster\",\"minGroups\":4,\"maxGroups\":5}]}}");
    schedule("error:failed to select clusters: the number of feasible clusters is less than "
             "spreadConstraint.MinGroups");
    make(THREE, "{" DEPLOYMENT ",\"replicas\":23,\"placement\":{" AGGREGATED "}}");
    schedule("UnschedulableError:failed to assign replicas: failed to scale up: Clusters available "
             "replicas 22 are not enough to schedule.");
    assert_int_equal(decision.selection.count, 3);
    make(THREE, "{" DEPLOYMENT ",\"replicas\":2,\"placement\":{\"replicaScheduling\":{}}}");
    schedule("error:failed to assign replicas: unsupported replica scheduling strategy, "
             "replicaSchedulingType: Divided, replicaDivisionPreference: , please try another "
             "scheduling strategy");
}

/* What the term in force overflows to is divided in tiers. */
static void overflow(void **state) {
    (void)state;
    test_fleet_make(THREE,
                    "{" DEPLOYMENT ",\"replicas\":12,\"placement\":{\"clusterAffinities\":[{"
                    "\"affinityName\":\"g\",\"clusterNames\":[\"m3\"],\"overflowAffinities\":[{"
                    "\"clusterNames\":[\"m2\"]}]}]," AGGREGATED "}}",
                    "g", &fleet);
    schedule("m2=3 m3=9");
    assert_int_equal(decision.filtered.candidates[0].overflow_order, 1);
}

static void without_steps_or_memory(void **state) {
    (void)state;
    struct err err;
    make(THREE, "{" DEPLOYMENT ",\"replicas\":22,\"placement\":{" AGGREGATED "}}");
    decoding_arena.steps = (struct steps){.used = 0};
    schedule("m1=3 m2=10 m3=9");
    const uint64_t enough = decoding_arena.steps.used;
    for (uint64_t max = 1; max < enough; max++) {
        decoding_arena.steps = (struct steps){.max = max};
        assert_int_equal(karmada_schedule(&fleet.question, &decoding_arena, &decision, &err),
                         -E2BIG);
    }
    decoding_arena.steps = (struct steps){.max = enough};
    schedule("m1=3 m2=10 m3=9");
    decoding_arena.steps = (struct steps){0};

    struct arena small;
    int r = -ENOMEM;
    for (size_t bytes = 1024; r == -ENOMEM && bytes < 1u << 20; bytes += 1024) {
        arena_init(&small, bytes);
        r = karmada_schedule(&fleet.question, &small, &decision, &err);
        arena_done(&small);
    }
    assert_int_equal(r, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(capacity),
        DECODING_TEST(estimates),
        DECODING_TEST(errors),
        DECODING_TEST(overflow),
        DECODING_TEST(without_steps_or_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
