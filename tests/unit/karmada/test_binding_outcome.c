/* Why a binding is scheduled, which term counts, and what is written. upstream, karmada v1.18.1:
 * pkg/scheduler scheduler.go doScheduleBinding(), helper.go, and pkg/util binding.go. */
#include "karmada/binding.h"

#include <errno.h>

#include "unit/karmada/fleet.h"

#define CLUSTER(name, cpu, meta)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\"" meta "},\"status\":{\"apiEnablements\":[{"              \
    "\"groupVersion\":\"apps/v1\",\"resources\":[{\"kind\":\"Deployment\"}]}],"                    \
    "\"resourceSummary\":{\"allocatable\":{\"cpu\":\"" cpu "\",\"pods\":\"110\"}}}}"
#define DEPLOYMENT                                                                                 \
    "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"},\"replicaRequirements\":{"  \
    "\"resourceRequest\":{\"cpu\":\"1\"}}"
#define TWO "[" CLUSTER("m1", "3", "") "," CLUSTER("m2", "10", "") "]"
#define DELETED ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define AGGREGATED                                                                                 \
    "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\",\"replicaDivisionPreference\":"  \
    "\"Aggregated\"}"

static struct test_fleet fleet;
static struct binding binding;
static struct karmada_outcome outcome;

/* A whole binding. */
static void schedule(const char *clusters, const char *json) {
    struct err err;
    test_fleet_make(clusters, "{}", "", &fleet);
    struct json_reader r = decoding_reader(json);
    binding_decode(&r, &binding);
    decoding_good(&r);
    if (karmada_schedule_binding(&binding, &fleet.question, &decoding_arena, &outcome, &err) != 0)
        fail_msg("%s", err.text);
}

static void patches_are(const char *patch, const char *status) {
    struct str got;
    struct err err;
    if (karmada_binding_patch(&binding, &outcome, &decoding_arena, &got, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(got, patch);
    if (karmada_binding_status_patch(&binding, &outcome, 1767323045999, &decoding_arena, &got,
                                     &err) != 0)
        fail_msg("%s", err.text);
    assert_str(got, status);
}

static enum karmada_trigger trigger(const char *clusters, const char *spec, const char *status) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":"
                   "\"{\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Divided\\\","
                   "\\\"replicaDivisionPreference\\\":\\\"Aggregated\\\"}}\"}},\"spec\":{%s},"
                   "\"status\":{%s}}%c",
                   spec, status, 0);
    schedule(clusters, arena_cstr(&decoding_arena, str_of(text.p)));
    return outcome.trigger;
}

#define PLACED                                                                                     \
    DEPLOYMENT ",\"placement\":{" AGGREGATED "},\"replicas\":3,\"clusters\":[{\"name\":"           \
               "\"m1\",\"replicas\":3}]"

static void triggers(void **state) {
    (void)state;
    assert_int_equal(trigger(TWO, PLACED, ""), TRIGGER_NONE);
    assert_int_equal(trigger(TWO,
                             PLACED ",\"clusters\":[{\"name\":\"m1\",\"replicas\":1},{\"name\":"
                                    "\"m2\",\"replicas\":2}]",
                             ""),
                     TRIGGER_NONE);
    assert_int_equal(trigger(TWO, DEPLOYMENT ",\"placement\":{},\"replicas\":3", ""),
                     TRIGGER_PLACEMENT_CHANGED);
    assert_int_equal(trigger(TWO, DEPLOYMENT ",\"replicas\":3", ""), TRIGGER_PLACEMENT_CHANGED);
    assert_int_equal(trigger(TWO, PLACED ",\"replicas\":4", ""), TRIGGER_REPLICAS_CHANGED);
    assert_int_equal(trigger(TWO, PLACED ",\"rescheduleTriggeredAt\":\"2026-01-01T00:00:01Z\"",
                             "\"lastScheduledTime\":\"2026-01-01T00:00:00Z\""),
                     TRIGGER_RESCHEDULE);
    assert_int_equal(trigger(TWO, PLACED ",\"rescheduleTriggeredAt\":\"2026-01-01T00:00:01Z\"",
                             "\"lastScheduledTime\":\"2026-01-01T00:00:01Z\""),
                     TRIGGER_NONE);
    assert_int_equal(trigger(TWO, PLACED ",\"rescheduleTriggeredAt\":\"2026-01-01T00:00:01Z\"", ""),
                     TRIGGER_NONE);
    assert_int_equal(trigger(TWO, PLACED, "\"lastScheduledTime\":\"2026-01-01T00:00:01Z\""),
                     TRIGGER_NONE);
    const char *deleted = "[" CLUSTER("m1", "3", DELETED) "," CLUSTER("m2", "10", "") "]";
    assert_int_equal(trigger(deleted, PLACED, ""), TRIGGER_CLUSTER_DELETED);
    const char *other = "[" CLUSTER("m1", "3", "") "," CLUSTER("m2", "10", DELETED) "]";
    assert_int_equal(trigger(other, PLACED, ""), TRIGGER_NONE);
    /* without anything to run it is scheduled each time */
    assert_int_equal(trigger(TWO, "\"placement\":{" AGGREGATED "}", ""), TRIGGER_ALWAYS);
}

static void duplicated(void **state) {
    (void)state;
    static const char binding_json[] =
        "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":\"%s\"}},\"spec\":"
        "{" DEPLOYMENT ",\"replicas\":2,\"clusters\":[{\"name\":\"m1\",\"replicas\":2},{\"name\":"
        "\"m2\",\"replicas\":%d}],\"placement\":%s}}%c";
    static const struct {
        const char *applied, *placement;
        int replicas;
        enum karmada_trigger trigger;
    } cases[] = {
        {"{}", "{}", 2, TRIGGER_ALWAYS},
        {"{}", "{}", 1, TRIGGER_ALWAYS}, /* without a strategy replicas do not count */
        {"{\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Duplicated\\\"}}",
         "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}}", 2, TRIGGER_ALWAYS},
        {"{\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Duplicated\\\"}}",
         "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}}", 1,
         TRIGGER_REPLICAS_CHANGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_appendf(&text, binding_json, cases[i].applied, cases[i].replicas, cases[i].placement,
                       0);
        schedule(TWO, arena_cstr(&decoding_arena, str_of(text.p)));
        assert_int_equal(outcome.trigger, cases[i].trigger);
    }
}

/* ---- terms ---- */

#define TERM(name, cluster) "{\"affinityName\":\"" name "\",\"clusterNames\":[\"" cluster "\"]}"
#define WITH_TERMS(replicas, observed)                                                             \
    "{\"metadata\":{\"generation\":4},\"spec\":{" DEPLOYMENT ",\"replicas\":" replicas             \
    ",\"clusters\":[{\"name\":\"old\",\"replicas\":1}],\"placement\":{\"clusterAffinities\":"      \
    "[" TERM("g0", "none") "," TERM("g1", "m1") "," TERM(                                          \
        "g2", "m2") "]," AGGREGATED "}},\"status\":{"                                              \
                    "\"schedulerObservingAffinityName\":\"" observed "\"}}"

static void terms_in_order(void **state) {
    (void)state;
    schedule(TWO, WITH_TERMS("2", ""));
    assert_str(outcome.affinity, "g1");
    assert_int_equal(outcome.tried, 2);
    assert_str(outcome.decision.assignment.clusters[0].name, "m1");
    schedule(TWO, WITH_TERMS("4", "")); /* g1 has no room: any error leads on */
    assert_str(outcome.affinity, "g2");
    assert_int_equal(outcome.tried, 3);
    schedule(TWO, WITH_TERMS("2", "g2")); /* never back */
    assert_str(outcome.affinity, "g2");
    assert_int_equal(outcome.tried, 1);
    schedule(TWO, WITH_TERMS("2", "gone"));
    assert_str(outcome.affinity, "g1");
    /* all fail: the first error counts, and the term stays */
    schedule(TWO, WITH_TERMS("11", ""));
    assert_str(outcome.affinity, "");
    assert_int_equal(outcome.tried, 3);
    assert_int_equal(outcome.decision.kind, KARMADA_FIT_ERROR);
    schedule(TWO, WITH_TERMS("11", "g1"));
    assert_str(outcome.affinity, "g1");
    assert_int_equal(outcome.tried, 2);
    assert_int_equal(outcome.decision.kind, KARMADA_UNSCHEDULABLE);
    assert_contains(arena_cstr(&decoding_arena, outcome.decision.error), "replicas 3 are");
}

/* ---- patches ---- */

#define TIME "2026-01-02T03:04:05Z"
#define CONDITION(status, time, reason, message)                                                   \
    "{\"type\":\"Scheduled\",\"status\":\"" status "\",\"lastTransitionTime\":\"" time             \
    "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define SUCCESS(time) CONDITION("True", time, "Success", "Binding has been scheduled successfully.")

static void what_success_writes(void **state) {
    (void)state;
    schedule(TWO, WITH_TERMS("2", ""));
    patches_are(
        "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":\"{"
        "\\\"clusterAffinities\\\":[{\\\"affinityName\\\":\\\"g0\\\",\\\"clusterNames\\\":["
        "\\\"none\\\"]},{\\\"affinityName\\\":\\\"g1\\\",\\\"clusterNames\\\":[\\\"m1\\\"]},{"
        "\\\"affinityName\\\":\\\"g2\\\",\\\"clusterNames\\\":[\\\"m2\\\"]}],"
        "\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Divided\\\","
        "\\\"replicaDivisionPreference\\\":\\\"Aggregated\\\"}}\"}},\"spec\":{\"clusters\":[{"
        "\"name\":\"m1\",\"replicas\":2}]}}",
        "{\"status\":{\"conditions\":[" SUCCESS(
            TIME) "],\"lastScheduledTime\":\"" TIME "\",\"schedulerObservedGeneration\":4,"
                  "\"schedulerObservingAffinityName\":\"g1\"}}");
}

static void what_is_there_is_not_written(void **state) {
    (void)state;
    schedule(
        TWO,
        "{\"metadata\":{\"generation\":4,\"annotations\":{"
        "\"policy.karmada.io/applied-placement\":\"{}\"}},\"spec\":{" DEPLOYMENT
        ",\"replicas\":2,\"clusters\":[{\"name\":\"m2\",\"replicas\":2},{\"name\":"
        "\"m1\",\"replicas\":2}],\"placement\":{}},\"status\":{"
        "\"schedulerObservedGeneration\":4,\"conditions\":[{\"type\":\"FullyApplied\"}," SUCCESS(
            "2025-01-01T00:00:00Z") "],\"lastScheduledTime\":\"" TIME "\"}}");
    patches_are("{}", "{}");
    /* another time, and an old condition that did not hold */
    schedule(TWO, "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":\"{}\"}}"
                  ",\"spec\":{" DEPLOYMENT ",\"replicas\":2,\"clusters\":[{\"name\":\"m2\","
                  "\"replicas\":2},{\"name\":\"m1\",\"replicas\":3}],\"placement\":{}},\"status\":{"
                  "\"schedulerObservedGeneration\":4,\"conditions\":[{\"type\":\"A\"}," CONDITION(
                      "False", "2025-01-01T00:00:00Z", "x",
                      "y") ",{\"type\":\"B\"}],"
                           "\"lastScheduledTime\":\"2026-01-02T03:04:04Z\"}}");
    patches_are("{\"spec\":{\"clusters\":[{\"name\":\"m1\",\"replicas\":2},{\"name\":\"m2\","
                "\"replicas\":2}]}}",
                "{\"status\":{\"conditions\":[{\"type\":\"A\"}," SUCCESS(
                    TIME) ",{\"type\":\"B\"}],\"lastScheduledTime\":\"" TIME
                          "\",\"schedulerObservedGeneration\":null}}");
}

/* The first of its type counts; a generation that was observed is taken away. upstream:
 * apimachinery pkg/api/meta conditions.go */
static void odd_conditions(void **state) {
    (void)state;
    schedule(TWO,
             "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":\"{}\"}}"
             ",\"spec\":{" DEPLOYMENT ",\"replicas\":2,\"clusters\":[{\"name\":\"m1\","
             "\"replicas\":2},{\"name\":\"m2\",\"replicas\":2}],\"placement\":{}},\"status\":{"
             "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\","
             "\"observedGeneration\":1,\"lastTransitionTime\":\"2025-01-01T00:00:00Z\","
             "\"reason\":\"Success\",\"message\":\"Binding has been scheduled successfully.\"},"
             "{\"type\":\"Scheduled\",\"x\":1}],\"lastScheduledTime\":\"2026-01-02T03:04:05Z\"}}");
    patches_are("{}", "{\"status\":{\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\","
                      "\"lastTransitionTime\":\"2025-01-01T00:00:00Z\",\"reason\":\"Success\","
                      "\"message\":\"Binding has been scheduled successfully.\"},{\"type\":"
                      "\"Scheduled\",\"x\":1}]}}");
}

static void what_errors_write(void **state) {
    (void)state;
    /* no cluster fits: the clusters go */
    schedule("[]", "{\"metadata\":{\"generation\":4,\"annotations\":{"
                   "\"policy.karmada.io/applied-placement\":\"{}\"}},\"spec\":{" DEPLOYMENT
                   ",\"replicas\":2,\"clusters\":[{\"name\":\"m2\"}],\"placement\":{}},\"status\":"
                   "{\"conditions\":[" CONDITION("False", "2025-01-01T00:00:00Z", "SchedulerError",
                                                 "m") "]}}");
    patches_are("{\"spec\":{\"clusters\":null}}",
                "{\"status\":{\"conditions\":[" CONDITION(
                    "False", "2025-01-01T00:00:00Z", "NoClusterFit",
                    "0/0 clusters are available: no cluster exists.") "]}}");
    schedule("[]", "{\"spec\":{" DEPLOYMENT ",\"replicas\":2}}");
    patches_are(
        "{\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":\"{}\"}}}",
        "{\"status\":{\"conditions\":[" CONDITION(
            "False", TIME, "NoClusterFit", "0/0 clusters are available: no cluster exists.") "]}}");
    /* any other error leaves them */
    schedule(TWO, "{\"spec\":{" DEPLOYMENT ",\"replicas\":14,\"clusters\":[{\"name\":\"m2\"}],"
                  "\"placement\":{" AGGREGATED "}}}");
    patches_are("{}", "{\"status\":{\"conditions\":[" CONDITION(
                          "False", TIME, "Unschedulable",
                          "failed to assign replicas: failed to scale up: Clusters available "
                          "replicas 13 are not enough to schedule.") "]}}");
    schedule(TWO, "{\"spec\":{" DEPLOYMENT ",\"replicas\":1,\"placement\":{\"spreadConstraints\":[{"
                  "\"spreadByField\":\"cluster\",\"minGroups\":3,\"maxGroups\":3}]}}}");
    patches_are("{}", "{\"status\":{\"conditions\":[" CONDITION(
                          "False", TIME, "SchedulerError",
                          "failed to select clusters: the number of feasible clusters is less than "
                          "spreadConstraint.MinGroups") "]}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(triggers),
        DECODING_TEST(duplicated),
        DECODING_TEST(terms_in_order),
        DECODING_TEST(what_success_writes),
        DECODING_TEST(what_is_there_is_not_written),
        DECODING_TEST(odd_conditions),
        DECODING_TEST(what_errors_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
