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
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POLICY(name, generation, more)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation                              \
    "},\"spec\":{\"match\":{\"objectSelector\":{\"matchExpressions\":[{\"key\":\"not-" name        \
    "\",\"operator\":\"DoesNotExist\"}]}},\"pods\":{\"spread\":[{\"topologyKey\":\"zone\","        \
    "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}" more "}"
#define BROKEN(name, generation, more)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"generation\":" generation "},\"spec\":{\"pods\":{}"    \
    "}" more "}"
#define CONDITION(type, status, generation, since, reason, message)                                \
    "{\"type\":\"" type "\",\"status\":\"" status "\",\"observedGeneration\":" generation          \
    ",\"lastTransitionTime\":\"" since "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define READY(generation, since)                                                                   \
    CONDITION("Ready", "True", generation, since, "InForce", "the policy is in force")
#define CANNOT(generation, since)                                                                  \
    CONDITION("Ready", "False", generation, since, "CannotWork",                                   \
              "spec.pods has none of spread, locality and weights: it asks for nothing")
#define UNKNOWN(generation, since)                                                                 \
    CONDITION("Effective", "Unknown", generation, since, "NodesNotKnown",                          \
              "the nodes of the cluster are not known")
#define NOT_READY(generation, since)                                                               \
    CONDITION("Effective", "False", generation, since, "NotReady", "the policy cannot work")
#define ALONE(generation, since)                                                                   \
    CONDITION("Shadowed", "False", generation, since, "NotShadowed",                               \
              "Evenkeel knows no policy before it that leaves it without effect")
#define STATUS(generation, more, conditions)                                                       \
    "\"status\":{\"observedGeneration\":" generation "," more "\"conditions\":[" conditions "]}"
#define ZONE "\"topologyKeys\":[\"zone\"],\"spread\":\"zone\","
#define NO_KEYS "\"topologyKeys\":[],"
#define GOOD(generation, since)                                                                    \
    STATUS(generation, ZONE,                                                                       \
           READY(generation, since) "," UNKNOWN(generation, since) "," ALONE(generation, since))
#define BAD(generation, since)                                                                     \
    STATUS(                                                                                        \
        generation, NO_KEYS,                                                                       \
        CANNOT(generation, since) "," NOT_READY(generation, since) "," ALONE(generation, since))
#define APPLY(name, status)                                                                        \
    "{\"apiVersion\":\"evenkeel.io/v1alpha1\",\"kind\":\"TopologyPolicy\",\"metadata\":{\"name\":" \
    "\"" name "\"}," status "}"
#define NOW "2023-11-14T22:13:20Z"
#define THEN "2020-01-01T00:00:00Z"
#define PATH(name)                                                                                 \
    "/apis/evenkeel.io/v1alpha1/topologypolicies/" name "/status?fieldManager=evenkeel&force=true"

struct fixture {
    struct kube_client client;
    struct writer *writer;
    struct policy_source *policies;
    struct policy_status_controller *controller;
    struct cache *cache;            /* NULL: pods are not counted */
    struct evenness_latest *latest; /* NULL: nothing is said of workloads */
    struct event_recorder *events;  /* NULL: none are written */
};

static const struct policy_evasion_row evasions[POLICY_EVASIONS] = {
    [1] = {"Weaker", "pods ask for less", true},
    [2] = {"Missing", "something is missing", false},
};

static void start(struct fixture *f, const struct elector *elector) {
    const struct policy_status_controller_options options = {.policies = f->policies,
                                                             .client = &f->client,
                                                             .writer = f->writer,
                                                             .evasions = evasions,
                                                             .events = f->events,
                                                             .cache = f->cache,
                                                             .latest = f->latest,
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
    assert_string_equal(f->client.request->content_type, "application/apply-patch+yaml");
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
    writes(f, PATH("a"), APPLY("a", GOOD("1", "2023-11-14T22:13:31Z")));
    answer(f, 200);
    is_quiet(f, 199);
    fake_pass(&f->client, 1);
    writes(f, PATH("b"), APPLY("b", BAD("2", "2023-11-14T22:13:31Z")));
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
    writes(f, PATH("a"), APPLY("a", GOOD("2", THEN)));
    answer(f, 200);
    fake_pass(&f->client, 200);
    writes(f, PATH("b"),
           APPLY("b", STATUS("2", NO_KEYS,
                             CANNOT("2", NOW) "," NOT_READY("2", NOW) "," ALONE("2", THEN))));
}

/* Each part that differs is a reason to write. */
static void what_counts_as_wrong(void **state) {
    struct fixture *f = *state;
    static const char *const statuses[] = {
        ",\"status\":{}",
        ",\"status\":7",
#define OTHERS UNKNOWN("5", THEN) "," ALONE("5", THEN)
        "," STATUS("4", "", READY("5", THEN) "," OTHERS),
        "," STATUS("5", "", READY("4", THEN) "," OTHERS),
        "," STATUS("5", "", OTHERS),
        "," STATUS("5", "", READY("5", THEN)),
        "," STATUS("5", "", READY("5", THEN) "," UNKNOWN("5", THEN)),
        "," STATUS(
            "5", "",
            CONDITION("Ready", "False", "5", THEN, "InForce", "the policy is in force") "," OTHERS),
        "," STATUS(
            "5", "",
            CONDITION("Ready", "True", "5", THEN, "Other", "the policy is in force") "," OTHERS),
        "," STATUS("5", "",
                   CONDITION("Ready", "True", "5", THEN, "InForce", "another sentence") "," OTHERS),
        ",\"status\":{\"observedGeneration\":5,\"conditions\":[{\"type\":\"Other\"}]}",
    };
    start(f, NULL);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        char object[2048];
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

/* Three refusals in a row, of whatever is written. What has been logged is in `text`. */
static void refuse_three(struct fixture *f, char *text, size_t size) {
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; f->client.request == NULL && s < 600; s++)
            fake_pass(&f->client, 1000);
        assert_non_null(f->client.request);
        answer(f, 403);
    }
    ssize_t n = pread(log, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

/* Without the permission that is said once. */
static void a_refusal_is_logged_once(void **state) {
    struct fixture *f = *state;
    static char text[4096];
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    refuse_three(f, text, sizeof text);
    const char *first = strstr(text, "the status of a policy was not written");
    assert_non_null(first);
    assert_null(strstr(first + 1, "the status of a policy was not written"));
}

static void sync_cache(struct cluster *c, void (*step)(struct cache *cache, uint32_t kinds)) {
    cache_write_begin(c->cache);
    step(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void body_has(struct fixture *f, const char *part) {
    char text[4096];
    if (f->client.request == NULL)
        fail_msg("nothing is written");
    assert_in_range(f->client.request->body.n, 1, sizeof text - 1);
    memcpy(text, f->client.request->body.p, f->client.request->body.n);
    text[f->client.request->body.n] = '\0';
    assert_contains(text, part);
}

#define SUITS(generation, since)                                                                   \
    CONDITION("Effective", "True", generation, since, "NodesSuit",                                 \
              "1 node has its key; the fewest domains are 1, of 'zone'")

/* Pods are counted where it is known which there are, and written at most once a minute. */
static void how_many_pods(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    cluster_open(&c);
    f->cache = c.cache;
    apply(f, POLICY("a", "1", "," GOOD("1", NOW)));
    start(f, NULL);
    is_quiet(f, 10000); /* before the pods are known there is no number */
    sync_cache(&c, cache_sync_begin);
    cluster_nodes(&c, "a");
    cluster_pods(&c, "a:2");
    sync_cache(&c, cache_sync_end);
    fake_pass(&f->client, 1000);
    body_has(f, "\"status\":{\"observedGeneration\":1,\"matched\":2,");
    answer(f, 200);
    apply(f, POLICY("a", "1",
                    "," STATUS("1", "\"matched\":2," ZONE,
                               READY("1", NOW) "," SUITS("1", NOW) "," ALONE("1", NOW))));
    is_quiet(f, 70000);
    cluster_pods(&c, "a:1");
    for (int s = 0; s < 60 && f->client.request == NULL; s++)
        fake_pass(&f->client, 1000);
    body_has(f, "\"status\":{\"observedGeneration\":1,\"matched\":3,");
    answer(f, 200);
    is_quiet(f, 59000); /* what was written has not come back */
    fake_pass(&f->client, 2000);
    assert_non_null(f->client.request);
    finish(f);
    cluster_close(&c);
}

#define FOR_NONE(generation, more)                                                                 \
    "{\"metadata\":{\"name\":\"a\",\"generation\":" generation                                     \
    "},\"spec\":{\"match\":{\"objectSelector\":{\"matchLabels\":{\"no\":\"pod\"}}},\"pods\":{"     \
    "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}" more "}"

static void open_counted(struct fixture *f, struct cluster *c) {
    cluster_open(c);
    f->cache = c->cache;
    sync_cache(c, cache_sync_begin);
    cluster_nodes(c, "a");
    cluster_pods(c, "a:2");
    sync_cache(c, cache_sync_end);
}

#define TWO_PODS                                                                                   \
    STATUS("1", "\"matched\":2," ZONE, READY("1", NOW) "," SUITS("1", NOW) "," ALONE("1", NOW))

/* Another match is for other pods: the number of before says nothing, wherever it stands. */
static void a_changed_match_is_counted_first(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    open_counted(f, &c);
    apply(f, POLICY("a", "1", "," TWO_PODS));
    start(f, NULL);
    is_quiet(f, 10000);
    apply(f, FOR_NONE("2", "," TWO_PODS));
    fake_pass(&f->client, 10000);
    body_has(f, "\"observedGeneration\":2,\"matched\":0,");
    body_has(f, "\"reason\":\"NoPods\"");
    answer(f, 200);
    finish(f);
    cluster_close(&c);
}

/* ... nor is it written beside a new generation that nobody has counted. */
static void an_old_number_goes(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "2", "," TWO_PODS));
    start(f, NULL);
    fake_run(&f->client);
    body_has(f, "\"observedGeneration\":2,\"topologyKeys\"");
}

/* While writes fail, pods are counted as seldom as ever. */
static void failing_writes_count_nothing_again(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    open_counted(f, &c);
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    fake_pass(&f->client, 6000);
    body_has(f, "\"matched\":2,");
    cluster_pods(&c, "a:1");
    for (int i = 0; i < 5; i++) {
        body_has(f, "\"matched\":2,");
        answer(f, 500);
        fake_pass(&f->client, 6000);
    }
    answer(f, 500);
    fake_pass(&f->client, 30000);
    answer(f, 500);
    fake_pass(&f->client, 6000);
    body_has(f, "\"matched\":3,");
    finish(f);
    cluster_close(&c);
}

/* A workload that is scaled to zero leaves its policy as effective as it was. */
static void pods_of_this_generation_stay_enough(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    open_counted(f, &c);
    apply(f, POLICY("a", "1", "," TWO_PODS));
    start(f, NULL);
    is_quiet(f, 10000);
    cluster_unpods(&c, "a:1 a:1");
    for (int s = 0; s < 70 && f->client.request == NULL; s++)
        fake_pass(&f->client, 1000);
    body_has(f, "\"matched\":0,");
    body_has(f, "NodesSuit");
    answer(f, 200);
    apply(f, POLICY("a", "1",
                    "," STATUS("1", "\"matched\":0," ZONE,
                               READY("1", NOW) "," SUITS("1", NOW) "," ALONE("1", NOW))));
    is_quiet(f, 200000); /* nor does a later look change it */
    apply(f, POLICY("a", "2",
                    "," STATUS("1", "\"matched\":0," ZONE,
                               READY("1", NOW) "," SUITS("1", NOW) "," ALONE("1", NOW))));
    fake_pass(&f->client, 10000);
    body_has(f, "\"reason\":\"NoPods\""); /* of the next generation nothing is known */
    finish(f);
    cluster_close(&c);
}

static void note(struct fixture *f, struct cluster *c, uint32_t keys) {
    const struct str key = STR("zone");
    const struct evenness_tag tag = {STR("a"), keys};
    struct evenness_report *report = NULL;
    assert_int_equal(evenness_measure(c->cache, &key, 1, &report, NULL), 0);
    for (uint32_t i = 0; i < report->workload_count; i++)
        report->workloads[i].tag = 0;
    assert_int_equal(evenness_report_note(report, &tag, 1), 0);
    assert_int_equal(evenness_latest_set(f->latest, report), 0);
}

#define UNEVEN                                                                                     \
    "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"shop\",\"ownerReferences\":[{\"apiVersion\":" \
    "\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"db\",\"controller\":true}]},\"spec\":{"       \
    "\"nodeName\":\"a\"}}"

/* Workloads that could be more even are written, and stay while there is no report. */
static void which_workloads_are_uneven(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    char text[400];
    cluster_open(&c);
    f->latest = evenness_latest_new();
    cluster_nodes(&c, "a q");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text, UNEVEN, i);
        cluster_apply_json(&c, OBJECT_POD, text);
    }
    apply(f, POLICY("a", "1", "," GOOD("1", NOW)));
    start(f, NULL);
    is_quiet(f, 10000);
    note(f, &c, 1);
    fake_pass(&f->client, 1000);
    body_has(f, "\"uneven\":{\"workloads\":1,\"worst\":[\"shop/db\"]},");
    answer(f, 200);
    apply(f, POLICY("a", "1",
                    "," STATUS("1", ZONE "\"uneven\":{\"workloads\":1,\"worst\":[\"shop/db\"]},",
                               READY("1", NOW) "," UNKNOWN("1", NOW) "," ALONE("1", NOW))));
    is_quiet(f, 70000);
    note(f, &c, 0); /* it is not said any more */
    is_quiet(f, 70000);
    finish(f);
    evenness_latest_free(f->latest);
    f->latest = NULL;
    cluster_close(&c);
}

/* Nodes come and go, and what they make of a policy is written when it changes. */
static void what_the_cluster_can_do(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    cluster_open(&c);
    f->cache = c.cache;
    apply(f, "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{\"pods\":{\"spread\":[{"
             "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":2},{"
             "\"topologyKey\":\"racks\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}}");
    start(f, NULL);
    sync_cache(&c, cache_sync_begin);
    cluster_nodes(&c, "a");
    sync_cache(&c, cache_sync_end);
    fake_run(&f->client);
    body_has(f, "\"reason\":\"NoNodeHasKey\",\"message\":\"no node has the label 'racks'\"");
    answer(f, 200);
    cluster_nodes(&c, "b,+racks=r"); /* of the same zone */
    fake_pass(&f->client, 6000);
    body_has(f, "\"reason\":\"TooFewDomains\",\"message\":\"nodes have 1 domains of 'zone', and "
                "minDomains is 2\"");
    answer(f, 200);
    cluster_nodes(&c, "x,+racks=r");
    fake_pass(&f->client, 6000);
    body_has(f, "\"type\":\"Effective\",\"status\":\"Unknown\"");
    body_has(f, "\"reason\":\"NoPods\",\"message\":\"the policy is for no pod that runs\"");
    answer(f, 200);
    cluster_pods(&c, "x:1");
    for (int s = 0; s < 60; s++) { /* until pods are counted again */
        fake_pass(&f->client, 1000);
        if (f->client.request != NULL && s < 59)
            answer(f, 200);
    }
    body_has(f, "\"reason\":\"NodesSuit\",\"message\":\"3 nodes have its keys; the fewest domains "
                "are 1, of 'racks'\"");
    answer(f, 200);
    finish(f);
    cluster_close(&c);
}

#define MIN_DOMAINS(more)                                                                          \
    "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{\"pods\":{\"spread\":[{"            \
    "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":5}]}}" more   \
    "}"

/* The number of domains in a message changes with every zone of an autoscaler. */
static void too_few_domains_are_written_once_a_minute(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    cluster_open(&c);
    f->cache = c.cache;
    apply(f, MIN_DOMAINS(""));
    start(f, NULL);
    sync_cache(&c, cache_sync_begin);
    cluster_nodes(&c, "a");
    sync_cache(&c, cache_sync_end);
    fake_run(&f->client);
    body_has(f, "nodes have 1 domains of 'zone', and minDomains is 5");
    answer(f, 200);
    apply(f, MIN_DOMAINS("," STATUS(
                 "1", "\"matched\":0," ZONE,
                 READY("1", NOW) "," CONDITION("Effective", "False", "1", NOW, "TooFewDomains",
                                               "nodes have 1 domains of 'zone', and minDomains is "
                                               "5") "," ALONE("1", NOW))));
    cluster_nodes(&c, "x"); /* of another zone */
    is_quiet(f, 59000);
    fake_pass(&f->client, 2000);
    body_has(f, "nodes have 2 domains of 'zone', and minDomains is 5");
    finish(f);
    cluster_close(&c);
}

/* A kind of owners that no pod has, whatever the nodes are. */
static void owners_that_no_pod_has(void **state) {
    struct fixture *f = *state;
    apply(f,
          "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{\"match\":{\"ownerKinds\":[{"
          "\"group\":\"example.com\",\"kind\":\"foo\"},{\"group\":\"apps\",\"kind\":\"deployment\"}"
          "]},"
          "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
          "\"DoNotSchedule\"}]}}}");
    start(f, NULL);
    fake_run(&f->client);
    body_has(
        f, "\"reason\":\"NoSuchOwnerKind\",\"message\":\"ownerKinds[1] matches no pod: there is no "
           "kind 'deployment' in the API group 'apps'; write kind: Deployment, group: apps\"");
    finish(f);
}

#define PLACEMENTS(generation, spec, more)                                                         \
    "{\"metadata\":{\"name\":\"a\",\"generation\":" generation "},\"spec\":{" spec                 \
    "\"placements\":{\"spread\":[{\"topologyKey\":\"region\",\"minDomains\":9}]}}" more "}"
#define FOR_PLACEMENTS(generation, since)                                                          \
    CONDITION("Effective", "Unknown", generation, since, "ClustersNotKnown",                       \
              "the policy is for Placements only: Evenkeel does not check whether clusters have "  \
              "its keys and domains")

/* Nodes say nothing of what is for Placements, whose keys they need not have. */
static void nodes_do_not_matter_to_placements(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    cluster_open(&c);
    f->cache = c.cache;
    apply(f, PLACEMENTS("1", "", ""));
    start(f, NULL);
    sync_cache(&c, cache_sync_begin);
    cluster_nodes(&c, "a");
    cluster_pods(&c, "a:2");
    sync_cache(&c, cache_sync_end);
    fake_run(&f->client);
    writes(f, PATH("a"),
           APPLY("a", STATUS("1", "\"matched\":0," NO_KEYS,
                             READY("1", NOW) "," FOR_PLACEMENTS("1", NOW) "," ALONE("1", NOW))));
    answer(f, 200);
    /* with a part for pods, that part is looked at */
    apply(f, PLACEMENTS("2",
                        "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                        "\"DoNotSchedule\",\"minDomains\":2}]},",
                        ""));
    fake_pass(&f->client, 6000);
    body_has(f, "\"reason\":\"TooFewDomains\",\"message\":\"nodes have 1 domains of 'zone'");
    finish(f);
    cluster_close(&c);
}

/* A process that begins knows less than the one before it, and takes nothing back. */
static void what_was_known_of_nodes_stays_until_they_are(void **state) {
    struct fixture *f = *state;
#define LACKS(generation)                                                                          \
    CONDITION("Effective", "False", generation, THEN, "NoNodeHasKey", "no node has the label 'x'")
#define KNOWN STATUS("1", ZONE, READY("1", THEN) "," LACKS("1") "," ALONE("1", THEN))
    apply(f, POLICY("a", "1", "," KNOWN));
    start(f, NULL);
    is_quiet(f, 10000);
    apply(f, POLICY("a", "2", "," KNOWN));
    fake_pass(&f->client, 1000);
    body_has(f, "NodesNotKnown"); /* of another policy nothing is known */
}

/* During a listing a policy is not in force yet: nothing is said of who shadows whom. */
static void nothing_is_said_during_a_listing(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    policy_live_begin(f->policies);
    apply(f, POLICY("a", "1", ""));
    is_quiet(f, 10000);
    assert_int_equal(policy_live_end(f->policies, NULL), 0);
    fake_pass(&f->client, 1000);
    body_has(f, "InForce");
}

/* An older Evenkeel has written the status: the column of lists is filled. */
static void keys_for_people(void **state) {
    struct fixture *f = *state;
    apply(f, "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{\"pods\":{\"spread\":[{"
             "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"},{"
             "\"topologyKey\":\"racks\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}"
             "," STATUS("1", "\"topologyKeys\":[\"zone\",\"racks\"],\"reviews\":{\"injected\":1},",
                        READY("1", NOW) "," UNKNOWN("1", NOW) "," ALONE("1", NOW)) "}");
    start(f, NULL);
    fake_run(&f->client);
    body_has(f, "\"status\":{\"observedGeneration\":1,\"topologyKeys\":[\"zone\",\"racks\"],"
                "\"spread\":\"zone, racks\",\"conditions\":[");
    answer(f, 200);
}

static void body_lacks(struct fixture *f, const char *part) {
    if (f->client.request == NULL)
        fail_msg("nothing is written");
    const struct str body = f->client.request->body;
    if (memmem(body.p, body.n, part, strlen(part)) != NULL)
        fail_msg("%.*s has %s", STR_ARG(body), part);
}

/* The answer of kube-apiserver 1.36 to an apply with a field that the definition does not have. */
static void answer_undeclared(struct fixture *f, const char *field) {
    char text[400];
    (void)snprintf(text, sizeof text,
                   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                   "\"Failure\",\"message\":\"failed to create typed patch object (/a; "
                   "evenkeel.io/v1alpha1, Kind=TopologyPolicy): .status.%s: field not declared in "
                   "schema\",\"code\":500}",
                   field); /* fits */
    fake_answer(&f->client, 500, str_of(text), -1);
}

/* Without the field, the status that came back is right. */
#define WITHOUT(keys) STATUS("1", keys, READY("1", NOW) "," UNKNOWN("1", NOW) "," ALONE("1", NOW))

/* The definition is of an earlier release: the rest is written, and the fields are tried again
 * after ten minutes, by one policy. */
static void fields_that_the_definition_lacks(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    fake_run(&f->client);
    body_has(f, "\"spread\":\"zone\"");
    answer_undeclared(f, "topologyKeys");
    fake_pass(&f->client, 5200);
    body_lacks(f, "topologyKeys");
    answer_undeclared(f, "spread");
    fake_pass(&f->client, 5200);
    body_lacks(f, "topologyKeys");
    body_lacks(f, "\"spread\"");
    body_has(f, "InForce");
    answer(f, 200);
    apply(f, POLICY("a", "1", "," WITHOUT("")));
    apply(f, POLICY("b", "1", "," WITHOUT("")));
    is_quiet(f, 590000);
    fake_pass(&f->client, 20000);
    body_has(f, "\"topologyKeys\":[\"zone\"],\"spread\":\"zone\"");
    answer_undeclared(f, "spread");
    is_quiet(f, 590000); /* nor is the other policy's written */
    fake_pass(&f->client, 20000);
    body_has(f, "\"spread\":\"zone\""); /* the definition is new now */
    answer(f, 200);
    fake_pass(&f->client, 200);
    body_has(f, "\"spread\":\"zone\"");
}

/* ... which the log reports once for each field. */
static void a_field_that_is_left_out_is_logged_once(void **state) {
    struct fixture *f = *state;
    char text[8192];
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    apply(f, POLICY("a", "1", ""));
    start(f, NULL);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; f->client.request == NULL && s < 700; s++)
            fake_pass(&f->client, 1000);
        answer_undeclared(f, "spread");
    }
    ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
    const char *first = strstr(text, "update the CustomResourceDefinition");
    assert_non_null(first);
    assert_contains(first, "field=spread");
    assert_null(strchr(strchr(first, '\n') + 1, '\n'));
}

/* Somebody takes the text away again and again: it is not written with every look. */
static void keys_that_do_not_stay(void **state) {
    struct fixture *f = *state;
    apply(f, POLICY("a", "1", "," WITHOUT("")));
    start(f, NULL);
    fake_run(&f->client);
    body_has(f, "\"spread\":\"zone\"");
    answer(f, 200);
    is_quiet(f, 599000);
    fake_pass(&f->client, 2000);
    body_has(f, "\"spread\":\"zone\"");
}

/* Numbers alone are written a minute after they were: not sooner, and not later. */
static void numbers_wait_for_a_minute(void **state) {
    struct fixture *f = *state;
    struct cluster c;
    char text[400];
    cluster_open(&c);
    f->latest = evenness_latest_new();
    cluster_nodes(&c, "a q");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text, UNEVEN, i);
        cluster_apply_json(&c, OBJECT_POD, text);
    }
    apply(f, POLICY("a", "1", "," GOOD("1", NOW)));
    start(f, NULL);
    is_quiet(f, 10000);
    note(f, &c, 1);
    fake_pass(&f->client, 1000);
    answer(f, 200);
    int64_t ms = 0; /* what was written has not come back, so it is wanted again */
    for (; f->client.request == NULL && ms < 120000; ms++)
        fake_pass(&f->client, 1);
    assert_int_equal(ms, 60000);
    answer(f, 200);
    finish(f);
    evenness_latest_free(f->latest);
    f->latest = NULL;
    cluster_close(&c);
}

/* Neither what cannot be read nor what no path can name is written to. */
/* The next Event has these words, and is written. */
static void tells(struct kube_client *client, const char *reason, const char *note) {
    char want[200];
    fake_run(client);
    assert_non_null(client->request);
    struct str body = client->request->body;
    (void)snprintf(want, sizeof want, "\"reason\":\"%s\"", reason);
    assert_non_null(memmem(body.p, body.n, want, strlen(want)));
    (void)snprintf(want, sizeof want, "\"note\":\"%s", note);
    assert_non_null(memmem(body.p, body.n, want, strlen(want)));
    assert_non_null(memmem(body.p, body.n, "\"kind\":\"TopologyPolicy\"", 23));
    fake_answer(client, 201, STR("{}"), -1);
}

static void is_silent(struct kube_client *client) {
    fake_run(client);
    assert_null(client->request);
}

static void start_with_events(struct fixture *f, struct kube_client *client) {
    fake_init(client);
    const struct event_options options = {
        .client = client, .clock = &client->clock.clock, .instance = "me", .io = &fake_io};
    assert_int_equal(event_recorder_new(&options, &f->events, NULL), 0);
    start(f, NULL);
}

static void finish_events(struct fixture *f, struct kube_client *client) {
    finish(f);
    event_recorder_free(f->events);
    f->events = NULL;
    fake_done(client);
}

static void conditions_that_change_are_events(void **state) {
    struct fixture *f = *state;
    struct kube_client client;
    start_with_events(f, &client);
    apply(f, POLICY("a", "1", ""));
    fake_pass(&f->client, 1000);
    assert_non_null(f->client.request);
    answer(f, 200);
    is_silent(&client); /* it begins well */
    apply(f, POLICY("a", "1", "," GOOD("1", THEN)));
    apply(f, BROKEN("a", "2", "," GOOD("1", THEN)));
    fake_pass(&f->client, 10000);
    assert_non_null(f->client.request);
    is_silent(&client); /* not before it is written */
    answer(f, 500);
    is_silent(&client);
    fake_pass(&f->client, 10000);
    assert_non_null(f->client.request);
    answer(f, 200);
    tells(&client, "PolicyProblem", "Ready is False (CannotWork): spec.pods has none");
    tells(&client, "PolicyProblem", "Effective is False (NotReady)");
    is_silent(&client);
    apply(f, POLICY("a", "3", "," BAD("2", THEN)));
    fake_pass(&f->client, 10000);
    assert_non_null(f->client.request);
    answer(f, 200);
    tells(&client, "PolicyRecovered", "Ready is True (InForce)");
    finish_events(f, &client);
}

/* More policies change, one after the other, than writes may be under way: each is told of. */
static void every_policy_that_changes_is_an_event(void **state) {
    struct fixture *f = *state;
    struct kube_client client;
    char object[2048];
    start_with_events(f, &client);
    for (int i = 0; i < 9; i++) {
        (void)snprintf(object, sizeof object, BROKEN("p%d", "2", "," GOOD("1", THEN)),
                       i); /* fits */
        apply(f, object);
        fake_pass(&f->client, 2000);
        assert_non_null(f->client.request);
        fake_pass(&client, 60000); /* there is room for Events again */
        answer(f, 200);
        tells(&client, "PolicyProblem", "Ready is False (CannotWork): spec.pods has none");
        tells(&client, "PolicyProblem", "Effective is False (NotReady)");
        is_silent(&client);
        (void)snprintf(object, sizeof object, BROKEN("p%d", "2", "," BAD("2", NOW)), i); /* fits */
        apply(f, object);
    }
    finish_events(f, &client);
}

/* What is not known is neither a problem nor the end of one. */
static void what_is_not_known_is_no_event(void **state) {
    struct fixture *f = *state;
    struct kube_client client;
    start_with_events(f, &client);
    apply(f, PLACEMENTS("2", "", "," GOOD("1", THEN)));
    fake_pass(&f->client, 1000);
    body_has(f, "ClustersNotKnown");
    answer(f, 200);
    is_silent(&client);
    apply(f, PLACEMENTS("3", "", "," BAD("2", THEN)));
    fake_pass(&f->client, 10000);
    body_has(f, "ClustersNotKnown");
    answer(f, 200);
    tells(&client, "PolicyRecovered", "Ready is True (InForce)");
    is_silent(&client);
    finish_events(f, &client);
}

/* Effective was False, then Unknown for want of pods: the recovery comes with the pods. Another
 * replica may have reported the problem, so the status shows it. */
static void a_recovery_by_way_of_unknown_is_an_event(void **state) {
    struct fixture *f = *state;
    struct kube_client client;
    struct cluster c;
    open_counted(f, &c);
    cluster_unpods(&c, "a:1 a:1");
#define LACKED(generation)                                                                         \
    STATUS(generation, "\"matched\":0," ZONE,                                                      \
           READY(generation, THEN) "," LACKS(generation) "," ALONE(generation, THEN))
#define NO_PODS(generation)                                                                        \
    STATUS(generation, "\"matched\":0," ZONE,                                                      \
           READY(generation, THEN) "," CONDITION(                                                  \
               "Effective", "Unknown", generation, THEN, "NoPods",                                 \
               "the policy is for no pod that runs") "," ALONE(generation, THEN))
    apply(f, POLICY("a", "2", "," LACKED("1")));
    start_with_events(f, &client);
    fake_pass(&f->client, 10000);
    body_has(f, "NoPods");
    answer(f, 200);
    is_silent(&client);
    apply(f, POLICY("a", "2", "," NO_PODS("2")));
    is_quiet(f, 10000);
    cluster_pods(&c, "a:1");
    for (int i = 0; i < 2; i++) { /* the first write fails */
        for (int s = 0; s < 70 && f->client.request == NULL; s++)
            fake_pass(&f->client, 1000);
        body_has(f, "NodesSuit");
        is_silent(&client);
        answer(f, i == 0 ? 500 : 200);
    }
    tells(&client, "PolicyRecovered", "Effective is True (NodesSuit)");
    apply(f, POLICY("a", "2", "," TWO_PODS));
    fake_pass(&f->client, 2000);
    apply(f, POLICY("a", "3", "," NO_PODS("3")));
    fake_pass(&f->client, 70000);
    body_has(f, "NodesSuit");
    answer(f, 200);
    is_silent(&client); /* it was good meanwhile */
    finish_events(f, &client);
    cluster_close(&c);
}

static void evasions_are_events(void **state) {
    struct fixture *f = *state;
    struct kube_client client;
    struct policy_tallies *tallies = policy_source_tallies(f->policies);
    start_with_events(f, &client);
    apply(f, POLICY("a", "1", "," GOOD("1", THEN)));
    policy_tallies_add(tallies, STR("a"), 1);
    policy_tallies_add(tallies, STR("a"), 2);
    fake_pass(&f->client, 1000);
    tells(&client, "PodEvades", "Weaker: pods ask for less; ");
    tells(&client, "PodNotSpread", "Missing: something is missing; ");
    if (f->client.request != NULL)
        answer(f, 200);
    fake_pass(&f->client, 5000);
    is_silent(&client); /* nothing new */
    finish_events(f, &client);
}

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
        TEST(a_refusal_is_logged_once),
        TEST(the_leader_writes),
        TEST(how_many_pods),
        TEST(a_changed_match_is_counted_first),
        TEST(an_old_number_goes),
        TEST(failing_writes_count_nothing_again),
        TEST(pods_of_this_generation_stay_enough),
        TEST(which_workloads_are_uneven),
        TEST(what_the_cluster_can_do),
        TEST(too_few_domains_are_written_once_a_minute),
        TEST(owners_that_no_pod_has),
        TEST(nodes_do_not_matter_to_placements),
        TEST(keys_for_people),
        TEST(fields_that_the_definition_lacks),
        TEST(a_field_that_is_left_out_is_logged_once),
        TEST(keys_that_do_not_stay),
        TEST(numbers_wait_for_a_minute),
        TEST(what_was_known_of_nodes_stays_until_they_are),
        TEST(nothing_is_said_during_a_listing),
        TEST(conditions_that_change_are_events),
        TEST(every_policy_that_changes_is_an_event),
        TEST(what_is_not_known_is_no_event),
        TEST(a_recovery_by_way_of_unknown_is_an_event),
        TEST(evasions_are_events),
        TEST(what_is_not_written_to),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    return cmocka_run_group_tests_name("policy controller", tests, NULL, NULL);
}
