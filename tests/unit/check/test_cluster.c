/*
 * `evenkeel check cluster` against an API server that allows everything: what it says of nodes.
 */
#include "base/file.h"
#include "base/time.h"
#include "check/cluster.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    struct api api;
    struct arena arena;
    struct check_report findings;
    struct configuration configuration;
    char kubeconfig[40];
    char date[64]; /* a header of each answer, or "" */
};

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    f = (struct fixture){.kubeconfig = "/tmp/evenkeel-kubeconfig-XXXXXX"};
    int fd = mkstemp(f.kubeconfig);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    api_init(&f.api);
    strbuf_appendf(&text,
                   "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, "
                   "context: {cluster: a, user: a}}], clusters: [{name: a, cluster: {server: "
                   "\"%s\"}}], users: [{name: a, user: {}}]}",
                   f.api.url);
    assert_int_equal(file_write_atomic(f.kubeconfig, strbuf_str(&text), 0600, &err), 0);
    arena_init(&f.arena, 64 << 20);
    check_report_init(&f.findings, &f.arena);
    configuration_init(&f.configuration);
    f.configuration.kubernetes.kubeconfig = f.kubeconfig;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    assert_int_equal(unlink(f->kubeconfig), 0);
    configuration_done(&f->configuration);
    arena_done(&f->arena);
    api_done(&f->api);
    return 0;
}

static void *run_check(void *ctx) {
    struct fixture *f = ctx;
    const char *server;
    cluster_check(&f->configuration, &f->findings, &server);
    return NULL;
}

static bool asks_for_more(struct str path) {
    return memmem(path.p, path.n, "continue=next", 13) != NULL;
}

/* Answers until the last thing that is asked for: nodes in one list, or in two. */
static void check_two(struct fixture *f, const char *nodes, const char *more) {
    pthread_t thread;
    bool last = false;
    assert_int_equal(pthread_create(&thread, NULL, run_check, f), 0);
    while (!last) {
        struct api_call call = {0};
        api_take(&f->api, &call);
        last = str_has_prefix(call.path, STR("/api/v1/namespaces?watch=1"));
        if (str_has_prefix(call.path, STR("/version")))
            api_answer(&call, 200, f->date, "{\"gitVersion\":\"v1.36.3\",\"minor\":\"36\"}");
        else if (str_has_prefix(call.path, STR("/api/v1/nodes")))
            api_answer(&call, 200, "", asks_for_more(call.path) ? more : nodes);
        else if (last)
            api_answer(&call, 400, "", "{}");
        else
            api_answer(&call, 201, "", "{\"status\":{\"allowed\":true}}");
        api_call_done(&call);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void check(struct fixture *f, const char *nodes) {
    check_two(f, nodes, "{}");
}

/* What is said of nodes, one line each. */
static void findings_of_nodes(const struct fixture *f, struct strbuf *out) {
    for (uint32_t i = 0; i < f->findings.count; i++)
        if (str_eq(f->findings.items[i].path, STR("nodes")))
            strbuf_appendf(out, "%.*s\n", STR_ARG(f->findings.items[i].problem));
}

#define ZONE(zone) ",\"topology.kubernetes.io/zone\":\"" zone "\""
#define NODE(name, labels)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"kubernetes.io/hostname\":\"" name          \
    "\"" labels "}}}"
#define LIST(items) "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[" items "]}"

static void nodes_without_a_label_are_named(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf got = {0};
    check(f, LIST(NODE("a", ZONE("1")) "," NODE("edge-1", "") "," NODE("b", ZONE("2")) "," NODE(
                 "edge-2", "")));
    findings_of_nodes(f, &got);
    assert_str(strbuf_str(&got),
               "4 nodes\n"
               "2 of 4 nodes have no label topology.kubernetes.io/zone: edge-1, edge-2\n");
}

static void the_first_three_of_many_are(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf got = {0};
    check(f, LIST(NODE("e1", "") "," NODE("e2", "") "," NODE("a", ZONE("1")) "," NODE(
                 "e3", "") "," NODE("e4", "") "," NODE("e5", "")));
    findings_of_nodes(f, &got);
    assert_str(strbuf_str(&got), "6 nodes\n"
                                 "5 of 6 nodes have no label topology.kubernetes.io/zone: e1, e2, "
                                 "e3 and 2 more\n");
}

/* A list of some thousand nodes is longer than an answer may be. */
static void nodes_come_in_pages(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf got = {0};
    check_two(f,
              "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"next\"},"
              "\"items\":[" NODE("edge-1", "") "]}",
              LIST(NODE("a", ZONE("1")) "," NODE("edge-2", "")));
    findings_of_nodes(f, &got);
    assert_str(strbuf_str(&got),
               "3 nodes\n"
               "2 of 3 nodes have no label topology.kubernetes.io/zone: edge-1, edge-2\n");
}

static void nodes_that_have_it_are_not(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf got = {0};
    check(f, LIST(NODE("a", ZONE("1")) "," NODE("b", ZONE("1"))));
    findings_of_nodes(f, &got);
    assert_str(strbuf_str(&got), "2 nodes\nall nodes have the same topology.kubernetes.io/zone, "
                                 "'1': there is nothing to spread over\n");
}

static void one_node_has_nothing_to_spread_over(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf got = {0};
    check(f, LIST(NODE("a", ZONE("1"))));
    findings_of_nodes(f, &got);
    assert_str(strbuf_str(&got), "1 nodes\n");
}

static bool is_found(const struct fixture *f, struct str path, const char *problem) {
    for (uint32_t i = 0; i < f->findings.count; i++)
        if (str_eq(f->findings.items[i].path, path) &&
            str_eq(f->findings.items[i].problem, str_of(problem)))
            return true;
    return false;
}

/* A pod that must spread over the key may be of any rule, so the hardest term counts. */
static void a_key_that_one_rule_needs_is_an_error(void **state) {
    static const struct spread_constraint hard = {
        .topology_key = {"topology.kubernetes.io/zone", 27}, .max_skew = 1, .hard = true};
    static const struct spread_constraint soft = {
        .topology_key = {"topology.kubernetes.io/zone", 27}, .max_skew = 1};
    static const struct ordered_rule rules[] = {
        {.name = {"first", 5}, .terms = &hard, .term_count = 1},
        {.name = {"second", 6}, .terms = &soft, .term_count = 1},
    };
    const struct {
        const struct ordered_rule *rules;
        uint32_t count;
        enum severity severity;
    } rows[] = {
        {rules, 0, SEVERITY_WARNING},
        {rules, 1, SEVERITY_ERROR},
        {rules + 1, 1, SEVERITY_WARNING},
        {rules, 2, SEVERITY_ERROR},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t found = 0;
        f->findings.count = 0;
        f->configuration.engine.ordered_rules = rows[i].rules;
        f->configuration.engine.ordered_rule_count = rows[i].count;
        check(f, LIST(NODE("a", ZONE("1")) "," NODE("b", ZONE("2")) "," NODE("edge", "")));
        for (uint32_t n = 0; n < f->findings.count; n++)
            if (str_eq(f->findings.items[n].problem,
                       STR("1 of 3 nodes have no label topology.kubernetes.io/zone: edge"))) {
                assert_int_equal(f->findings.items[n].severity, rows[i].severity);
                found++;
            }
        assert_int_equal(found, 1);
    }
}

/* ---- the clock ---- */

/* The finding about it when the API server's Date is so many seconds from now, "" without one. */
static struct str clock_finding(struct fixture *f, int64_t server_ahead_s) {
    const time_t date = (time_t)(kube_wall_us() / 1000000 + server_ahead_s);
    struct tm utc;
    assert_non_null(gmtime_r(&date, &utc));
    assert_int_not_equal(
        strftime(f->date, sizeof f->date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc), 0);
    f->findings.count = 0;
    check(f, LIST(NODE("a", ZONE("1"))));
    for (uint32_t i = 0; i < f->findings.count; i++)
        if (str_eq(f->findings.items[i].path, STR("clock"))) {
            assert_int_equal(f->findings.items[i].severity, SEVERITY_WARNING);
            return f->findings.items[i].problem;
        }
    return STR("");
}

/* A minute and more, either way; a test may take a while between Date and comparison. */
static void a_clock_that_is_wrong_is_named(void **state) {
    struct fixture *f = *state;
    assert_str(clock_finding(f, 0), "");
    assert_str(clock_finding(f, 50), "");
    assert_str(clock_finding(f, -10), "");
    const struct str behind = clock_finding(f, 7200);
    assert_true(str_has_prefix(behind, STR("this machine's clock is 7")));
    assert_true(str_has_suffix(behind, STR(" s behind the API server's")));
    const struct str ahead = clock_finding(f, -7200);
    assert_true(str_has_prefix(ahead, STR("this machine's clock is 7")));
    assert_true(str_has_suffix(ahead, STR(" s ahead of the API server's")));
}

static void a_hub_that_is_not_asked_is_named(void **state) {
    static const char problem[] =
        "it was not asked: nothing is watched at the hub, because fleet.clusters and "
        "ocm.enabled are off";
    struct fixture *f = *state;
    check(f, LIST(NODE("a", ZONE("1"))));
    assert_false(is_found(f, STR("hub"), problem));
    f->configuration.hub.kubeconfig = f->kubeconfig;
    check(f, LIST(NODE("a", ZONE("1"))));
    assert_true(is_found(f, STR("hub"), problem));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nodes_without_a_label_are_named),
        TEST(the_first_three_of_many_are),
        TEST(nodes_come_in_pages),
        TEST(nodes_that_have_it_are_not),
        TEST(one_node_has_nothing_to_spread_over),
        TEST(a_key_that_one_rule_needs_is_an_error),
        TEST(a_clock_that_is_wrong_is_named),
        TEST(a_hub_that_is_not_asked_is_named),
    };
    return cmocka_run_group_tests_name("check_cluster", tests, NULL, NULL);
}
