/*
 * InterPodAffinity. Each row is what runs, a pod, and what each of the nodes a, b (zone1) and x
 * (zone2) is told; the expectation is read from upstream's plugin (v1.36.3).
 * tests/e2e/kube/differential runs the plugin itself on random clusters.
 */
#include "cache/neighbours.h"

#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

#define TERM(key, selector, more)                                                                  \
    "{\"topologyKey\":\"" key "\",\"labelSelector\":" selector more "}"
#define REQUIRED(kind, terms)                                                                      \
    "\"" kind "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" terms "]}"
#define BESIDE(terms) "\"affinity\":{" REQUIRED("podAffinity", terms) "},"
#define APART(terms) "\"affinity\":{" REQUIRED("podAntiAffinity", terms) "},"
#define LONG_TERM                                                                                  \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":["      \
    "{\"topologyKey\":\"node\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"app\","         \
    "\"operator\":\"In\",\"values\":["
#define WEB "{\"matchLabels\":{\"app\":\"web\"}}"
#define DB "{\"matchLabels\":{\"app\":\"db\"}}"
#define EVERY_NAMESPACE ",\"namespaceSelector\":{}"
#define TEAM(op, value)                                                                            \
    ",\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"team\",\"operator\":\"" op           \
    "\",\"values\":[\"" value "\"]}]}"
/* What runs: a pod "default/name on node with app=... and a spec". */
#define POD(namespace, node, app, spec)                                                            \
    "{\"metadata\":{\"name\":\"on-" node "-" app                                                   \
    "\",\"namespace\":\"" namespace "\",\"labels\":{\"app\":\"" app "\"}},\"spec\":{" spec         \
                                    "\"nodeName\":\"" node "\"}}"
#define ENDING(node, app)                                                                          \
    "{\"metadata\":{\"name\":\"ending\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","           \
    "\"labels\":{\"app\":\"" app "\"}},\"spec\":{\"nodeName\":\"" node "\"}}"

/* p: passes. B: no pod to be beside, unresolvable. A: a pod to be apart from. E: a pod there wants
 * to be apart. */
static const struct row {
    const char *running[3];
    const char *labels, *spec, *answers; /* of a, b, x */
} rows[] = {
    {{NULL}, "app=web", "", "ppp"},
    /* beside */
    {{POD("default", "a", "db", "")}, "app=web", BESIDE(TERM("zone", DB, "")), "ppB"},
    {{POD("default", "a", "db", "")}, "app=web", BESIDE(TERM("node", DB, "")), "pBB"},
    {{POD("default", "a", "db", "")}, "app=web", BESIDE(TERM("none", DB, "")), "BBB"},
    {{ENDING("a", "db")}, "app=web", BESIDE(TERM("zone", DB, "")), "ppB"},
    {{POD("default", "gone", "db", "")}, "app=web", BESIDE(TERM("zone", DB, "")), "BBB"},
    /* one pod must match all terms: no zone has one */
    {{POD("default", "a", "db", ""), POD("default", "b", "web", "")},
     "app=web",
     BESIDE(TERM("zone", DB, "") "," TERM("zone", WEB, "")),
     "BBB"},
    /* the first pod of its own group, and the second */
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, "")), "ppp"},
    {{NULL}, "app=web", BESIDE(TERM("none", WEB, "")), "BBB"},
    {{NULL}, "app=web", BESIDE(TERM("zone", DB, "")), "BBB"},
    {{POD("default", "x", "web", "")}, "app=web", BESIDE(TERM("zone", WEB, "")), "BBp"},
    {{POD("other", "x", "web", "")}, "app=web", BESIDE(TERM("zone", WEB, "")), "ppp"},
    /* ... by the labels of its namespace, which are team=b, or of another one */
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, TEAM("In", "b"))), "ppp"},
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, TEAM("In", "a"))), "BBB"},
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, TEAM("NotIn", "a"))), "ppp"},
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, ",\"namespaces\":[\"other\"]")), "BBB"},
    {{NULL},
     "app=web",
     BESIDE(TERM("zone", WEB, ",\"namespaces\":[\"other\",\"default\"]")),
     "ppp"},
    {{NULL}, "app=web", BESIDE(TERM("zone", WEB, "") "," TERM("zone", DB, "")), "BBB"},
    {{POD("other", "x", "web", "")}, "app=web", BESIDE(TERM("zone", WEB, EVERY_NAMESPACE)), "BBp"},
    /* namespaces: by name, by labels of known ones; a selector that is content without labels means
     * all of them */
    {{POD("other", "x", "db", "")},
     "app=web",
     BESIDE(TERM("zone", DB, ",\"namespaces\":[\"other\"]")),
     "BBp"},
    {{POD("other", "x", "db", "")}, "app=web", BESIDE(TERM("zone", DB, TEAM("In", "a"))), "BBp"},
    {{POD("strange", "x", "db", "")}, "app=web", BESIDE(TERM("zone", DB, TEAM("In", "a"))), "BBB"},
    {{POD("other", "x", "db", "")}, "app=web", BESIDE(TERM("zone", DB, TEAM("NotIn", "a"))), "BBp"},
    {{POD("strange", "x", "db", "")}, "app=web", BESIDE(TERM("zone", DB, EVERY_NAMESPACE)), "BBp"},
    /* apart */
    {{POD("default", "a", "db", "")}, "app=web", APART(TERM("zone", DB, "")), "AAp"},
    {{POD("default", "a", "db", "")}, "app=web", APART(TERM("node", DB, "")), "App"},
    {{POD("default", "a", "db", "")}, "app=web", APART(TERM("none", DB, "")), "ppp"},
    {{POD("default", "a", "web", "")},
     "app=web",
     APART(TERM("node", DB, "") "," TERM("node", WEB, "")),
     "App"},
    {{POD("other", "a", "db", "")}, "app=web", APART(TERM("zone", DB, "")), "ppp"},
    {{ENDING("a", "db")}, "app=web", APART(TERM("node", DB, "")), "App"},
    /* keys to be matched are merged into the selector by an API server only */
    {{POD("default", "a", "db", "")},
     "app=web",
     APART(TERM("zone", DB, ",\"mismatchLabelKeys\":[\"app\"]")),
     "AAp"},
    /* pods that run want to be apart */
    {{POD("default", "a", "db", APART(TERM("zone", WEB, "")))}, "app=web", "", "EEp"},
    {{POD("default", "a", "db", APART(TERM("zone", WEB, "")))}, "app=db", "", "ppp"},
    {{POD("other", "a", "db", APART(TERM("zone", WEB, "")))}, "app=web", "", "ppp"},
    {{POD("other", "a", "db", APART(TERM("zone", WEB, EVERY_NAMESPACE)))}, "app=web", "", "EEp"},
    {{POD("other", "a", "db", APART(TERM("node", WEB, TEAM("In", "b"))))}, "app=web", "", "Epp"},
    {{POD("other", "a", "db", APART(TERM("node", WEB, TEAM("In", "a"))))}, "app=web", "", "ppp"},
    {{POD("other", "a", "db",
          APART(TERM("node", WEB, ",\"namespaces\":[\"default\",\"x\",\"b\"]")))},
     "app=web",
     "",
     "Epp"},
    /* a pod that wants to be beside others refuses nobody */
    {{POD("default", "a", "db", BESIDE(TERM("zone", WEB, "")))}, "app=web", "", "ppp"},
    /* a selector that does not parse: no API server stores it, and none of the terms holds */
    {{POD("default", "a", "db",
          APART(TERM("zone", WEB, "") "," TERM("zone",
                                               "{\"matchExpressions\":[{\"key\":\"a\","
                                               "\"operator\":\"What\"}]}",
                                               "")))},
     "app=web",
     "",
     "ppp"},
    /* the order: beside, apart, and then what pods there want */
    {{POD("default", "a", "db", APART(TERM("zone", WEB, "")))},
     "app=web",
     APART(TERM("node", DB, "")),
     "AEp"},
};

static const char *const names_of[] = {"a", "b", "x"};

static void open_row(struct cluster *c, const struct row *row) {
    cluster_open(c);
    cluster_nodes(c, "a b x");
    cluster_apply_json(c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"other\",\"labels\":{\"team\":\"a\"}}}");
    cluster_apply_json(c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"default\",\"labels\":{\"team\":\"b\"}}}");
    for (size_t i = 0; i < 3 && row->running[i] != NULL; i++)
        cluster_apply_json(c, OBJECT_POD, row->running[i]);
    c->options.filters = FILTER_INTER_POD_AFFINITY;
}

static int ask(struct cluster *c, const char *labels, const char *spec, struct filter_result *ret,
               struct err *err) {
    struct str names[] = {str_of(names_of[0]), str_of(names_of[1]), str_of(names_of[2])};
    struct candidates candidates = {names, 3};
    struct pod pod = cluster_pod(c, labels, "", spec);
    return engine_filter(&c->options, c->cache, &pod, &candidates, &c->arena, ret, err);
}

static char letter_of(const struct filter_result *result, uint32_t i) {
    static const struct {
        char letter;
        enum verdict verdict;
        const char *reason;
    } answers[] = {
        {'p', VERDICT_PASS, ""},
        {'B', VERDICT_UNRESOLVABLE, "node(s) didn't match pod affinity rules"},
        {'A', VERDICT_UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules"},
        {'E', VERDICT_UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules"},
    };
    for (size_t a = 0; a < sizeof answers / sizeof answers[0]; a++)
        if (result->verdicts[i] == answers[a].verdict &&
            str_eq(result->reason_texts[result->reasons[i]], str_of(answers[a].reason)))
            return answers[a].letter;
    return '?';
}

static void verdicts_and_reasons_are_upstreams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cluster c;
        struct filter_result result;
        struct err err;
        char letters[4] = "";
        open_row(&c, &rows[i]);
        if (ask(&c, rows[i].labels, rows[i].spec, &result, &err) != 0)
            fail_msg("%s", err.text);
        for (uint32_t n = 0; n < 3; n++)
            letters[n] = letter_of(&result, n);
        print_message("# row %zu\n", i);
        assert_string_equal(letters, rows[i].answers);
        cluster_close(&c);
    }
}

static void what_an_api_server_would_not_store(void **state) {
    (void)state;
    struct cluster c;
    struct filter_result result;
    struct err err;
    open_row(&c, &rows[0]);
    assert_int_equal(ask(&c, "app=web",
                         BESIDE(TERM("zone",
                                     "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":"
                                     "\"What\"}]}",
                                     "")),
                         &result, &err),
                     -EINVAL);
    assert_contains(err.text, "spec.affinity");
    cluster_close(&c);
}

/* Would the pod fit on its node once the other is gone? */
static void victims_go(void **state) {
    (void)state;
    static const char *const specs[] = {APART(TERM("zone", DB, "")), "",
                                        BESIDE(TERM("zone", DB, ""))};
    for (size_t i = 0; i < 3; i++) {
        struct cluster c;
        struct object_meta victim = {.name = STR("on-a-db"), .namespace = STR("default")};
        struct preemption preemptions[] = {{STR("a"), &victim, 1}, {STR("b"), NULL, 0}};
        struct err err;
        bool *fits;
        open_row(&c, &(struct row){
                         .running = {POD("default", "a", "db", APART(TERM("zone", WEB, "")))}});
        struct pod pod = cluster_pod(&c, "app=web", "", specs[i]);
        assert_int_equal(
            engine_preempt(&c.options, c.cache, &pod, preemptions, 2, &c.arena, &fits, &err), 0);
        assert_int_equal(fits[0], i < 2); /* and nobody is there any more to be beside */
        assert_false(fits[1]);
        cluster_close(&c);
    }
}

static uint32_t unknown(struct cluster *c) {
    struct cache_view view;
    cache_view_open(c->cache, &view);
    uint32_t count = cache_terms_unknown(&view);
    cache_view_close(&view);
    return count;
}

/* A pod as before, with a term that has so many values. */
static void apply_long(struct cluster *c, uint32_t values) {
    struct strbuf json = {0};
    strbuf_append_str(&json, STR("{\"metadata\":{\"name\":\"long\"},\"spec\":{" LONG_TERM));
    for (uint32_t i = 0; i < values; i++)
        strbuf_appendf(&json, "%s\"v%u\"", i > 0 ? "," : "", i);
    strbuf_append_str(&json, STR("]}]}}]}},\"nodeName\":\"a\"}}"));
    strbuf_append_char(&json, '\0');
    cluster_apply_json(c, OBJECT_POD, json.p);
    strbuf_done(&json);
}

/* Terms beyond the limit are not kept, and the answer says so. */
static void terms_that_are_too_long(void **state) {
    (void)state;
    struct cluster c;
    struct filter_result result;
    struct err err;
    open_row(&c, &rows[0]);
    apply_long(&c, LIMIT_POD_TERMS_BYTES / 8);
    assert_int_equal(unknown(&c), 1);
    assert_int_equal(ask(&c, "app=v1", "", &result, &err), 0);
    assert_int_equal(result.unknown.terms, 1);
    assert_int_equal(letter_of(&result, 0), 'p');
    apply_long(&c, LIMIT_POD_TERMS_BYTES / 8 + 1);
    assert_int_equal(unknown(&c), 1);
    apply_long(&c, 8);
    assert_int_equal(unknown(&c), 0);
    assert_int_equal(ask(&c, "app=v1", "", &result, &err), 0);
    assert_int_equal(letter_of(&result, 0), 'E');
    assert_int_equal(letter_of(&result, 1), 'p');
    apply_long(&c, LIMIT_POD_TERMS_BYTES / 8);
    struct object gone = {.kind = OBJECT_POD,
                          .meta = {.name = STR("long"), .namespace = STR("default")}};
    cluster_remove(&c, &gone);
    assert_int_equal(unknown(&c), 0);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_reasons_are_upstreams),
        cmocka_unit_test(what_an_api_server_would_not_store),
        cmocka_unit_test(victims_go),
        cmocka_unit_test(terms_that_are_too_long),
    };
    return cmocka_run_group_tests_name("pod affinity", tests, NULL, NULL);
}
