/*
 * Questions about fleets, called without a listener: which verb answers which, what is answered
 * before everything has been read, and what is refused, with which status.
 */
#include "clusters/state.h"
#include "handlers/clusters.h"

#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#define KARMADA                                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"cluster.karmada.io/"    \
    "v1alpha1\",\"kind\":\"Cluster\",\"metadata\":"                                                \
    "{\"name\":\"m1\"}}]}"
#define BINDING                                                                                    \
    "\"binding\":{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","       \
    "\"metadata\":{\"name\":\"b\"},\"spec\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":"        \
    "\"ConfigMap\"}}}"
#define PLACEMENT                                                                                  \
    "\"placement\":{\"apiVersion\":\"cluster.open-cluster-management.io/v1beta1\",\"kind\":"       \
    "\"Placement\",\"metadata\":{\"name\":\"p\"}}"

struct fixture {
    struct clusters_state state;
    struct clusters clusters;
    struct http_response response;
    bool ready;
    size_t arena_bytes;
    uint64_t steps_used; /* before the question */
};

static bool is_ready(void *ctx) {
    return ((const struct fixture *)ctx)->ready;
}

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.ready = true, .arena_bytes = 1 << 20};
    assert_int_equal(clusters_state_read(STR(KARMADA), &f.state, NULL), 0);
    f.clusters = (struct clusters){.known = {f.state.fleet, f.state.policies},
                                   .karmada = f.state.karmada,
                                   .options = karmada_defaults,
                                   .is_ready = is_ready,
                                   .ctx = &f};
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    clusters_state_done(&f->state);
    strbuf_done(&f->response.text);
    return 0;
}

static const char *ask(struct fixture *f, http_handler_fn *handle, const char *body) {
    struct arena arena;
    arena_init(&arena, f->arena_bytes);
    arena.steps.used = f->steps_used;
    const struct http_request request = {.body = str_of(body), .arena = &arena};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    handle(&f->clusters, &request, &f->response);
    arena_done(&arena);
    strbuf_append(&f->response.text, "", 1);
    assert_string_equal(f->response.content_type, "application/json");
    return f->response.text.p;
}

static void expect(struct fixture *f, http_handler_fn *handle, const char *body, int status,
                   const char *part) {
    const char *text = ask(f, handle, body);
    assert_int_equal(f->response.status, status);
    assert_int_equal(f->response.retry_after_s, status == 503);
    assert_contains(text, part);
}

/* Clusters that are not read yet are not the same as none. */
static void before_the_first_sync(void **state) {
    struct fixture *f = *state;
    f->ready = false;
    expect(f, clusters_filter, "{" BINDING "}", 503, "\"error\":");
    assert_int_equal(f->response.retry_after_s, 1);
    expect(f, clusters_filter, "{" PLACEMENT "}", 503, "\"error\":");
    expect(f, clusters_filter, "{" BINDING ",\"state\":" KARMADA "}", 200,
           "\"failedClusters\":{\"m1\"");
    expect(f, clusters_estimate, "{\"step\":\"quantity\",\"text\":\"1\"}", 200,
           "\"canonical\":\"1\"");
    f->ready = true;
    expect(f, clusters_filter, "{" BINDING "}", 200, "\"failedClusters\":{\"m1\"");
    assert_int_equal(f->response.retry_after_s, 0);
}

static void nothing_is_known(void **state) {
    struct fixture *f = *state;
    f->clusters.karmada = NULL;
    expect(f, clusters_assign, "{" BINDING "}", 200, "no cluster of Karmada is known here");
    expect(f, clusters_select, "{" PLACEMENT "}", 200, "\"placement\":\"default/p\"");
    f->clusters.known.fleet = NULL;
    expect(f, clusters_select, "{" PLACEMENT "}", 200, "no fleet is known here");
}

static void names_count_once(void **state) {
    struct fixture *f = *state;
    expect(f, clusters_filter, "{" BINDING ",\"clusterNames\":[\"m1\",\"m1\",\"m2\"]}", 200,
           "\"failedClusters\":{\"m1\":\"cluster(s) did not have the API resource\"}");
    expect(f, clusters_filter, "{" BINDING ",\"clusterNames\":[]}", 200, "\"failedClusters\":{}");
}

/* ---- which verb answers what ---- */

enum { VERBS = 5, STEPS = 10 };
static http_handler_fn *const verbs[VERBS] = {clusters_filter, clusters_prioritize, clusters_select,
                                              clusters_assign, clusters_estimate};

static void steps_belong_to_verbs(void **state) {
    static const struct {
        const char *name;
        http_handler_fn *verb;
    } steps[STEPS] = {
        {"plan", clusters_select},        {"groups", clusters_select},
        {"select", clusters_select},      {"assign", clusters_assign},
        {"schedule", clusters_assign},    {"estimate", clusters_estimate},
        {"available", clusters_estimate}, {"unschedulable", clusters_estimate},
        {"quantity", clusters_estimate},  {"wire", clusters_estimate},
    };
    struct fixture *f = *state;
    for (int i = 0; i < STEPS; i++)
        for (int v = 0; v < VERBS; v++) {
            char body[64];
            (void)snprintf(body, sizeof body, "{\"step\":\"%s\"}", steps[i].name); /* fits */
            const bool refused = strstr(ask(f, verbs[v], body), "is no step of this verb") != NULL;
            if (refused != (verbs[v] != steps[i].verb))
                fail_msg("%s, verb %d: %s", steps[i].name, v, f->response.text.p);
            assert_true(!refused || f->response.status == 400);
        }
    expect(f, clusters_filter, "{\"step\":\"quantity\",\"text\":\"1\"}", 400, "there are no steps");
    expect(f, clusters_assign, "{\"step\":\"quantity\",\"text\":\"1\"}", 400,
           "there are: assign, schedule, bind\"");
    expect(f, clusters_estimate, "{\"step\":\"quantity\",\"text\":5}", 400, "text");
    expect(f, clusters_estimate, "{\"step\":\"none\"}", 400, "none");
}

/* Each verb's answer has a member that no other one has. */
static void verbs_answer_placements_and_bindings(void **state) {
    static const char *const of_placement[VERBS] = {
        "\"clusterNames\":", "\"scores\":", "\"placement\":\"default/p\"",
        "this verb answers no question about a Placement",
        "this verb answers no question about a Placement"};
    static const char *const of_binding[VERBS] = {
        "\"failedClusters\":", "\"scores\":", "\"binding\":", "\"errorKind\":", "\"replicas\":"};
    struct fixture *f = *state;
    for (int v = 0; v < VERBS; v++) {
        expect(f, verbs[v], "{" PLACEMENT "}", v < 3 ? 200 : 400, of_placement[v]);
        expect(f, verbs[v], "{" PLACEMENT ",\"state\":" KARMADA "}", v < 3 ? 200 : 400,
               of_placement[v]);
        expect(f, verbs[v], "{" BINDING "}", 200, of_binding[v]);
        expect(f, verbs[v], "{" BINDING ",\"state\":" KARMADA "}", 200, of_binding[v]);
        expect(f, verbs[v], "{" BINDING "," PLACEMENT "}", 400, "a placement and a binding");
        expect(f, verbs[v], "{}", 400, "question.placement: it is missing");
        expect(f, verbs[v], "{\"placement\":null,\"binding\":null}", 400, "it is missing");
        expect(f, verbs[v], "{" BINDING ",\"state\":[]}", 400, "question.state");
        expect(f, verbs[v], "[]", 400, "question");
        expect(f, verbs[v], "{" BINDING ",\"state\":{\"kind\":\"List\",\"items\":5}}", 400,
               "state");
        if (v < 3)
            expect(f, verbs[v], "{" PLACEMENT ",\"state\":{\"kind\":\"List\",\"items\":5}}", 400,
                   "state");
        expect(f, verbs[v], "", 400, "question");
    }
}

/* A cluster of a set that the namespace may use. */
#define HUB_STATE                                                                                  \
    "\"state\":{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"cluster."     \
    "open-"                                                                                        \
    "cluster-management.io/v1\",\"kind\":\"ManagedCluster\",\"metadata\":{\"name\":\"a\"}},{"      \
    "\"apiVersion\":\"cluster.open-cluster-management.io/"                                         \
    "v1beta2\",\"kind\":\"ManagedClusterSet\","                                                    \
    "\"metadata\":{\"name\":\"all\"},\"spec\":{\"clusterSelector\":{\"selectorType\":"             \
    "\"LabelSelector\",\"labelSelector\":{}}}},{\"apiVersion\":\"cluster.open-cluster-management." \
    "io/v1beta2\",\"kind\":\"ManagedClusterSetBinding\",\"metadata\":{\"name\":\"all\","           \
    "\"namespace\":\"default\"},\"spec\":{\"clusterSet\":\"all\"}}]}"

/* A state takes the place of all that is known, for both kinds. */
static void a_state_is_all_that_is_known(void **state) {
#define STATE_OF(api, kind, name)                                                                  \
    "\"state\":{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"" api         \
    "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"}}]}"
    struct fixture *f = *state;
    expect(f, clusters_filter,
           "{" BINDING "," STATE_OF("cluster.karmada.io/v1alpha1", "Cluster", "m9") "}", 200,
           "\"failedClusters\":{\"m9\":");
    assert_null(strstr(f->response.text.p, "\"m1\""));
    expect(f, clusters_filter, "{" BINDING "}", 200, "\"failedClusters\":{\"m1\":");
    expect(f, clusters_filter, "{" PLACEMENT "," HUB_STATE "}", 200, "\"clusterNames\":[\"a\"]");
    expect(f, clusters_filter, "{" PLACEMENT "}", 200, "\"clusterNames\":[]");
    f->clusters.karmada = NULL;
    f->clusters.known.fleet = NULL;
    f->ready = false;
    expect(f, clusters_filter,
           "{" BINDING "," STATE_OF("cluster.karmada.io/v1alpha1", "Cluster", "m9") "}", 200,
           "\"failedClusters\":{\"m9\":");
    expect(f, clusters_select, "{" PLACEMENT "," HUB_STATE "}", 200, "\"selected\":[\"a\"]");
}

/* ---- when ---- */

static void a_question_says_its_time(void **state) {
    struct fixture *f = *state;
    for (int v = 0; v < 3; v++) {
        expect(f, verbs[v], "{" PLACEMENT ",\"now\":\"2026-01-02T03:04:05Z\"}", 200, "{");
        expect(f, verbs[v], "{" PLACEMENT ",\"now\":\"yesterday\"}", 400,
               "'yesterday' is no time such as 2026-01-02T03:04:05Z");
    }
}

/* ---- what runs out ---- */

/* A good question without an answer; the state that it brings is read within its steps, too. */
static void out_of_steps(void **state) {
    static const char *const bodies[] = {"{" PLACEMENT "}", "{" BINDING "}",
                                         "{" PLACEMENT ",\"state\":" KARMADA "}",
                                         "{" BINDING ",\"state\":" KARMADA "}"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        f->steps_used = LIMIT_CLUSTERS_STEPS - strlen(bodies[i]) / 16 - 2; /* it can be read */
        expect(f, clusters_select, bodies[i], 200, "{\"error\":\"");
        f->steps_used = LIMIT_CLUSTERS_STEPS; /* it cannot */
        expect(f, clusters_select, bodies[i], 400, "no steps left to read the question");
        f->steps_used = LIMIT_CLUSTERS_STEPS / 2; /* more than reviews have */
        assert_null(strstr(ask(f, clusters_select, bodies[i]), "{\"error\":\""));
    }
}

#define NAMES                                                                                      \
    "\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\",\"m\",\"n\","         \
    "\"o\",\"p\",\"q\",\"r\",\"s\",\"t\",\"u\",\"v\",\"w\",\"x\",\"y\",\"z\","

/* Whatever the memory that there is, the answer is whole or says so: also where the question alone
 * takes more than there is. */
static void short_of_memory(void **state) {
    static const char *const bodies[] = {
        "{" PLACEMENT "}", "{" BINDING "}", "{" PLACEMENT ",\"state\":" KARMADA "}",
        "{" BINDING ",\"state\":" KARMADA "}",
        "{" BINDING ",\"clusterNames\":[" NAMES NAMES NAMES NAMES "\"a\"]}"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        for (int v = 0; v < 3; v++) {
            unsigned refused = 0;
            f->arena_bytes = 1 << 20;
            char *whole = strdup(ask(f, verbs[v], bodies[i]));
            for (f->arena_bytes = 64; f->arena_bytes <= 1 << 20;
                 f->arena_bytes += f->arena_bytes / 4) {
                if (strcmp(ask(f, verbs[v], bodies[i]), whole) == 0)
                    continue;
                assert_int_equal(f->response.status, 503);
                assert_int_equal(f->response.retry_after_s, 1);
                assert_contains(f->response.text.p, "{\"error\":\"");
                assert_contains(f->response.text.p, "memory");
                refused++;
            }
            assert_true(refused > 1); /* for the question itself, and for what it builds */
            free(whole);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(before_the_first_sync),
        TEST(nothing_is_known),
        TEST(names_count_once),
        TEST(steps_belong_to_verbs),
        TEST(verbs_answer_placements_and_bindings),
        TEST(a_state_is_all_that_is_known),
        TEST(a_question_says_its_time),
        TEST(out_of_steps),
        TEST(short_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
