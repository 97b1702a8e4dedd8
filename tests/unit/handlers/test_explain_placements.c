/*
 * GET /explain/placements/NAMESPACE/NAME, called without a listener: a Placement by its name, with
 * what the planner has done, and everything that is refused.
 */
#include "base/time.h"
#include "clusters/state.h"
#include "handlers/explain.h"
#include "unit/unit.h"

#include <cJSON.h>

#define HUB                                                                                        \
    "{'apiVersion':'v1','kind':'List','items':["                                                   \
    "{'apiVersion':'cluster.open-cluster-management.io/v1','kind':'ManagedCluster','metadata':{"   \
    "'name':'a','labels':{'zone':'x'}}},"                                                          \
    "{'apiVersion':'cluster.open-cluster-management.io/v1','kind':'ManagedCluster','metadata':{"   \
    "'name':'b','labels':{'zone':'y'}}},"                                                          \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta2','kind':'ManagedClusterSet',"       \
    "'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':'LabelSelector',"         \
    "'labelSelector':{}}}},"                                                                       \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta2','kind':"                           \
    "'ManagedClusterSetBinding','metadata':{'name':'all','namespace':'n'},'spec':{'clusterSet':"   \
    "'all'}},"                                                                                     \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':'Placement','metadata':{"   \
    "'name':'p','namespace':'n','uid':'u'},'spec':{'spreadPolicy':{'spreadConstraints':[{"         \
    "'topologyKey':'zone','topologyKeyType':'Label'}]}}}]}"

struct fixture {
    struct clusters_state state;
    struct clusters clusters;
    struct placement_history *history;
    struct explain explain;
    struct http_response response;
    bool ready, from_elsewhere;
    size_t arena_bytes;
    uint64_t steps_used; /* before the question */
    cJSON *answer;
};

static bool is_ready(void *ctx) {
    return ((const struct fixture *)ctx)->ready;
}

static int setup(void **state) {
    static struct fixture f;
    char *hub = strdup(HUB);
    assert_non_null(hub);
    for (char *p = hub; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    f = (struct fixture){.ready = true, .arena_bytes = 1 << 20};
    assert_int_equal(clusters_state_read(str_of(hub), &f.state, NULL), 0);
    free(hub);
    assert_int_equal(placement_history_new(&f.history, NULL), 0);
    f.clusters = (struct clusters){
        .known = {f.state.fleet, f.state.policies}, .is_ready = is_ready, .ctx = &f};
    f.explain = (struct explain){.clusters = &f.clusters, .history = f.history};
    assert_int_equal(explain_access_new(NULL, &f.explain.access, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cJSON_Delete(f->answer);
    strbuf_done(&f->response.text);
    explain_access_free(f->explain.access);
    placement_history_free(f->history);
    clusters_state_done(&f->state);
    return 0;
}

static const char *ask(struct fixture *f, const char *path, const char *query) {
    struct arena arena;
    arena_init(&arena, f->arena_bytes);
    arena.steps.used = f->steps_used;
    const struct http_request request = {.path = str_of(path),
                                         .query = str_of(query),
                                         .arena = &arena,
                                         .is_local = !f->from_elsewhere};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    explain_placement(&f->explain, &request, &f->response);
    arena_done(&arena);
    strbuf_append_char(&f->response.text, '\0');
    return f->response.text.p;
}

/* The member of the answer that stands there, as JSON; until the next question. */
static const char *member(struct fixture *f, const char *name) {
    static char text[4096];
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->answer, name);
    if (item == NULL)
        return "none";
    assert_true(cJSON_PrintPreallocated((cJSON *)(uintptr_t)item, text, sizeof text, false));
    return text;
}

static void ask_well(struct fixture *f, const char *query) {
    const char *text = ask(f, "/explain/placements/n/p", query);
    assert_int_equal(f->response.status, 200);
    cJSON_Delete(f->answer);
    f->answer = cJSON_Parse(text);
    assert_non_null(f->answer);
}

static void refused(struct fixture *f, const char *path, const char *query, int status,
                    const char *part) {
    assert_contains(ask(f, path, query), part);
    assert_int_equal(f->response.status, status);
    assert_int_equal(f->response.retry_after_s, status == 503);
}

static void a_placement_by_its_name(void **state) {
    struct fixture *f = *state;
    ask_well(f, "");
    assert_string_equal(member(f, "placement"), "\"n/p\"");
    assert_string_equal(member(f, "selected"), "[\"a\",\"b\"]");
    assert_string_equal(member(f, "available"), "[\"a\",\"b\"]");
    assert_string_equal(member(f, "omitted"), "none");
    assert_contains(member(f, "replica"), "\"version\"");
    ask_well(f, "limit=1");
    assert_string_equal(member(f, "available"), "[\"a\"]");
    assert_contains(member(f, "omitted"), "\"available\":1");
    ask_well(f, "limit=2");
    assert_string_equal(member(f, "omitted"), "none");
}

static void who_does_not_lead_has_no_history(void **state) {
    struct fixture *f = *state;
    ask_well(f, "");
    assert_string_equal(member(f, "planner"), "{\"leads\":false}");
    assert_string_equal(member(f, "history"), "[]");
    placement_history_lead(f->history, true);
    ask_well(f, "");
    assert_string_equal(member(f, "planner"), "{\"leads\":true}");
    f->explain.history = NULL; /* Placements are not decided here */
    ask_well(f, "");
    assert_string_equal(member(f, "planner"), "null");
    assert_string_equal(member(f, "history"), "[]");
    assert_string_equal(member(f, "historyForgotten"), "0");
}

static void the_leader_tells(void **state) {
    struct fixture *f = *state;
    const struct str to[] = {STR("b")}, from[] = {STR("a"), STR("c")};
    struct owned_answer a = {.mode = OWNED_OURS,
                             .result = OWNED_DECIDED,
                             .uid = STR("u"),
                             .waiting = 3,
                             .waits = OWNED_WAITS_SETTLE,
                             .waits_ms = 7000000,
                             .moves = 2,
                             .why = MOVED_SPREAD,
                             .begun = {to, from, 1, 2}};
    placement_history_lead(f->history, true);
    placement_history_look(f->history, STR("n"), STR("p"), &a, 1767323045678);
    ask_well(f, "");
    /* that was long ago: nothing is left to wait */
    assert_string_equal(member(f, "planner"),
                        "{\"leads\":true,\"mode\":\"Owner\",\"result\":\"Decided\",\"kept\":null,"
                        "\"movesWaiting\":3,\"waitsFor\":\"settleAfter\",\"waitSeconds\":0,"
                        "\"lookedAt\":\"2026-01-02T03:04:05.678000Z\"}");
    assert_string_equal(member(f, "history"),
                        "[{\"time\":\"2026-01-02T03:04:05.678000Z\",\"reason\":\"spread\","
                        "\"result\":\"Decided\",\"add\":[\"b\"],\"remove\":[\"a\",\"c\"]}]");
    a.moves = 0;
    a.waiting = 0;
    a.result = OWNED_KEPT;
    a.kept = "CELNotEvaluated";
    placement_history_look(f->history, STR("n"), STR("p"), &a, 1767323046000);
    ask_well(f, "");
    assert_contains(member(f, "planner"), "\"result\":\"Kept\",\"kept\":\"CELNotEvaluated\"");
    assert_contains(member(f, "planner"), "\"waitsFor\":null,\"waitSeconds\":null");
    assert_contains(member(f, "history"), "\"reason\":null,\"result\":\"Kept\",\"add\":[]");
}

/* What is left of a wait is from when it was said, by a clock that may have been set back since. */
static void a_wait_gets_shorter(void **state) {
    enum { WAIT_S = 7000 };
    struct fixture *f = *state;
    struct owned_answer a = {.mode = OWNED_OURS,
                             .result = OWNED_DECIDED,
                             .uid = STR("u"),
                             .waiting = 1,
                             .waits = OWNED_WAITS_SETTLE,
                             .waits_ms = WAIT_S * 1000};
    static const struct {
        int ago_s;
        int64_t least, most; /* it may take 60 s to be asked */
    } cases[] = {{-3600, WAIT_S, WAIT_S},
                 {0, WAIT_S - 60, WAIT_S},
                 {1000, WAIT_S - 1060, WAIT_S - 1000},
                 {WAIT_S + 1, 0, 0}};
    placement_history_lead(f->history, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        placement_history_look(f->history, STR("n"), STR("p"), &a,
                               kube_wall_us() / 1000 - cases[i].ago_s * 1000);
        ask_well(f, "");
        const cJSON *planner = cJSON_GetObjectItemCaseSensitive(f->answer, "planner");
        const cJSON *left = cJSON_GetObjectItemCaseSensitive(planner, "waitSeconds");
        assert_true(cJSON_IsNumber(left));
        assert_in_range(left->valueint, cases[i].least, cases[i].most);
    }
    a.waits_ms = INT64_MAX;
    placement_history_look(f->history, STR("n"), STR("p"), &a, kube_wall_us() / 1000);
    ask_well(f, "");
    assert_contains(member(f, "planner"), "\"waitSeconds\":null");
}

static void names_that_were_not_kept(void **state) {
    struct fixture *f = *state;
    char text[254];
    struct str names[4];
    memset(text, 'c', 253);
    text[253] = '\0';
    for (int i = 0; i < 4; i++)
        names[i] = str_of(text);
    const struct owned_answer a = {.mode = OWNED_OURS,
                                   .result = OWNED_DECIDED,
                                   .uid = STR("u"),
                                   .moves = 4,
                                   .begun = {names, names, 3, 2}};
    placement_history_lead(f->history, true);
    placement_history_look(f->history, STR("n"), STR("p"), &a, 1);
    ask_well(f, "");
    assert_contains(member(f, "history"), "\"omitted\":{\"add\":1}");
    const struct owned_answer other = {.mode = OWNED_OURS,
                                       .result = OWNED_DECIDED,
                                       .uid = STR("u"),
                                       .moves = 4,
                                       .begun = {names, names, 2, 3}};
    placement_history_look(f->history, STR("n"), STR("p"), &other, 1);
    ask_well(f, "");
    assert_contains(member(f, "history"), "\"omitted\":{\"remove\":1}");
    for (int i = 0; i < 100; i++)
        placement_history_look(f->history, STR("n"), STR("p"), &a, 1);
    ask_well(f, "");
    assert_string_equal(member(f, "historyForgotten"), "82");
}

static void what_is_refused(void **state) {
    struct fixture *f = *state;
    refused(f, "/explain/placements/n/q", "", 404, "no Placement 'n/q' is known");
    refused(f, "/explain/placements/m/p", "", 404, "no Placement 'm/p' is known");
    refused(f, "/explain/placements/n", "", 404, "expected /explain/placements/NAMESPACE/NAME");
    refused(f, "/explain/placements/n/", "", 404, "expected /explain/placements/NAMESPACE/NAME");
    refused(f, "/explain/placements//p", "", 404, "expected /explain/placements/NAMESPACE/NAME");
    refused(f, "/explain/placements/n/p/status", "", 404,
            "expected /explain/placements/NAMESPACE/NAME");
    static const char *const queries[] = {
        "limit=0", "limit=-1", "limit=100001", "limit=", "limit=1x", "limit=1&limit=2", "x=1"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        refused(f, "/explain/placements/n/p", queries[i], 400, "expected limit=1 to 100000");
    ask_well(f, "limit=100000");
    f->from_elsewhere = true;
    refused(f, "/explain/placements/n/p", "", 403, "explain.tokenFile");
    refused(f, "/explain/placements/n/q", "", 403, "explain.tokenFile"); /* nor whether there is */
    f->from_elsewhere = false;
    f->ready = false;
    refused(f, "/explain/placements/n/p", "", 503, "not ready");
    f->clusters.known.fleet = NULL;
    refused(f, "/explain/placements/n/p", "", 404, "no fleet is known here");
    f->explain.clusters = NULL;
    refused(f, "/explain/placements/n/p", "", 404, "no fleet is known here");
}

/* Whatever the memory that there is, the answer is whole or says so. */
static void short_of_memory(void **state) {
    struct fixture *f = *state;
    bool answered = false;
    for (f->arena_bytes = 64; f->arena_bytes <= 1 << 20; f->arena_bytes *= 2) {
        const char *text = ask(f, "/explain/placements/n/p", "");
        answered = f->response.status == 200;
        if (!answered) {
            assert_int_equal(f->response.status, 503);
            assert_int_equal(f->response.retry_after_s, 1);
            assert_contains(text, "memory");
        }
    }
    assert_true(answered);
}

static void out_of_steps(void **state) {
    struct fixture *f = *state;
    f->steps_used = LIMIT_CLUSTERS_STEPS / 2;
    ask_well(f, "");
    f->steps_used = LIMIT_CLUSTERS_STEPS;
    refused(f, "/explain/placements/n/p", "", 503, "");
    assert_true(f->response.text.n > 1);
    refused(f, "/explain/placements/n/q", "", 404, "no Placement 'n/q' is known");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_placement_by_its_name),  TEST(who_does_not_lead_has_no_history),
        TEST(the_leader_tells),         TEST(a_wait_gets_shorter),
        TEST(names_that_were_not_kept), TEST(what_is_refused),
        TEST(short_of_memory),          TEST(out_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
