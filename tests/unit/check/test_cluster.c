/*
 * `evenkeel check cluster` against an API server that allows everything: what it says of nodes.
 */
#include "base/file.h"
#include "check/cluster.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct fixture {
    struct api api;
    struct arena arena;
    struct findings findings;
    struct configuration configuration;
    char kubeconfig[40];
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
    findings_init(&f.findings, &f.arena);
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
            api_answer(&call, 200, "", "{\"gitVersion\":\"v1.36.3\",\"minor\":\"36\"}");
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

static bool is_found(const struct fixture *f, struct str path, const char *problem) {
    for (uint32_t i = 0; i < f->findings.count; i++)
        if (str_eq(f->findings.items[i].path, path) &&
            str_eq(f->findings.items[i].problem, str_of(problem)))
            return true;
    return false;
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
        TEST(a_hub_that_is_not_asked_is_named),
    };
    return cmocka_run_group_tests_name("check_cluster", tests, NULL, NULL);
}
