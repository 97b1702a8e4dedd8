/*
 * What a pod's own podAffinity and podAntiAffinity say of its group: which topology keys they name,
 * of which kind each is, sorted and each of them once.
 */
#include "admission/pods/own_terms.h"

#include "base/limits.h"
#include "unit/cluster_builder.h"

#include <errno.h>

static struct cluster c;
static struct policy policy;
static uint64_t budget; /* steps */

static int setup(void **state) {
    (void)state;
    policy = (struct policy){.name = {"p", 1}};
    budget = LIMIT_REVIEW_STEPS;
    cluster_open(&c);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cluster_close(&c);
    return 0;
}

#define LEADER                                                                                     \
    ",\"leaderworkerset.sigs.k8s.io/name\":\"l\",\"leaderworkerset.sigs.k8s.io/worker-index\":"    \
    "\"0\",\"leaderworkerset.sigs.k8s.io/group-key\":\"g\","                                       \
    "\"leaderworkerset.sigs.k8s.io/group-index\":\"3\""
#define TERM(key, selector) "{\"topologyKey\":\"" key "\"" selector "}"
#define BY(selector) ",\"labelSelector\":{" selector "}"
#define LABEL(key, value) "\"matchLabels\":{\"" key "\":\"" value "\"}"
#define OWN BY(LABEL("app", "web"))
#define OTHER BY(LABEL("app", "db"))
#define EXPRESSION(key, op, values)                                                                \
    BY("\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\"" values "}]")
#define KEY(key) "leaderworkerset.sigs.k8s.io/" key

static int find(const char *labels, const char *beside, const char *apart, struct own_terms *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct pod_options options = {.cache = c.cache};
    struct pod_question q = {.head = {.options = &options.head, .arena = &c.arena},
                             .policy = &policy};
#define REQUIRED "\"requiredDuringSchedulingIgnoredDuringExecution\":"
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"me\",\"namespace\":\"shop\",\"labels\":{\"app\":"
                   "\"web\"%s}},\"spec\":{\"affinity\":{\"podAffinity\":{" REQUIRED
                   "[%s]},\"podAntiAffinity\":{" REQUIRED "[%s]}}}}",
                   labels, beside, apart);
    q.pod = cluster_object(&c, OBJECT_POD, arena_cstr(&c.arena, strbuf_str(&text))).pod;
    c.arena.steps = (struct steps){.max = budget};
    int r = own_terms_find(&q, ret);
    c.arena.steps = (struct steps){.max = 0};
    return r;
}

/* "together: a b; from others: c" */
static void are_terms(const char *labels, const char *beside, const char *apart, const char *want) {
    static const char *const kinds[] = {
        [TERM_TOGETHER] = "together",
        [TERM_UNIT] = "unit",
        [TERM_APART] = "apart",
        [TERM_WITH_OTHERS] = "with others",
        [TERM_FROM_OTHERS] = "from others",
    };
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct own_terms terms;
    assert_int_equal(find(labels, beside, apart, &terms), 0);
    for (int kind = 0; kind < OWN_TERMS; kind++) {
        for (uint32_t i = 0; i < terms.keys[kind].count; i++) {
            const struct str key = terms.keys[kind].items[i];
            if (i == 0)
                strbuf_appendf(&text, "%s%s:", text.n > 0 ? "; " : "", kinds[kind]);
            strbuf_appendf(&text, " %.*s", STR_ARG(key));
            assert_true(own_terms_have(&terms, (enum own_term)kind, key));
        }
        assert_false(own_terms_have(&terms, (enum own_term)kind, STR("never")));
        assert_false(own_terms_have(&terms, (enum own_term)kind, STR("zzz")));
    }
    assert_str(strbuf_str(&text), want);
}

static void each_term_is_of_one_kind(void **state) {
    (void)state;
    are_terms("", "", "", "");
    are_terms("", TERM("zone", OWN), "", "together: zone");
    are_terms("", TERM("zone", OTHER), "", "with others: zone");
    are_terms("", "", TERM("zone", OWN), "apart: zone");
    are_terms("", "", TERM("zone", OTHER), "from others: zone");
    are_terms("", TERM("zone", OWN) "," TERM("host", OTHER),
              TERM("rack", OWN) "," TERM("row", OTHER),
              "together: zone; apart: rack; with others: host; from others: row");
    /* A selector that is not there means no pods; the empty one means all. */
    are_terms("", TERM("zone", ""), TERM("zone", ""), "");
    are_terms("", TERM("zone", BY("")), TERM("zone", BY("")), "together: zone; apart: zone");
}

static void keys_are_sorted_and_unique(void **state) {
    (void)state;
    are_terms("", TERM("c", OWN) "," TERM("a", OWN) "," TERM("b", OWN) "," TERM("a", OWN), "",
              "together: a b c");
    are_terms("", "",
              TERM("b", OTHER) "," TERM("a", OWN) "," TERM("b", OWN) "," TERM("a", OTHER) "," TERM(
                  "b", OTHER),
              "apart: a b; from others: a b");
}

/* The terms themselves, each of them: what they mean is asked of the cache. */
static void terms_on_others_are_kept(void **state) {
    struct own_terms terms;
    (void)state;
    assert_int_equal(find("", TERM("x", OTHER),
                          TERM("b", OTHER) "," TERM("a", OWN) "," TERM("b", OTHER), &terms),
                     0);
    assert_int_equal(terms.from_others.term_count, 2);
    assert_str(terms.from_others.terms[0].topology_key, "b");
    assert_str(terms.from_others.terms[1].topology_key, "b");
}

/* upstream: lws pkg/webhooks/pod_webhook.go: SetExclusiveAffinities. Of the first pod of a unit a
 * term that selects by what tells its unit, or pods, from others means its unit only. */
static void terms_of_units(void **state) {
    static const struct {
        const char *labels, *selector, *want;
    } cases[] = {
        {LEADER, BY(LABEL(KEY("group-key"), "g")), "unit: zone"},
        {LEADER, EXPRESSION(KEY("group-key"), "In", ",\"values\":[\"g\"]"), "unit: zone"},
        {LEADER, BY(LABEL(KEY("group-index"), "3")), "unit: zone"},
        {LEADER, EXPRESSION(KEY("group-index"), "In", ",\"values\":[\"3\"]"), "unit: zone"},
        /* what all units' pods have, or all first ones */
        {LEADER, OWN, "together: zone"},
        {LEADER, BY(LABEL(KEY("name"), "l")), "together: zone"},
        {LEADER, BY(LABEL(KEY("worker-index"), "0")), "together: zone"},
        {LEADER, EXPRESSION(KEY("group-key"), "Exists", ""), "together: zone"},
        {LEADER, EXPRESSION(KEY("group-key"), "NotIn", ",\"values\":[\"h\"]"), "together: zone"},
        {LEADER, BY("\"matchLabels\":{\"app\":\"web\",\"" KEY("group-key") "\":\"g\"}"),
         "unit: zone"},
        /* another unit's */
        {LEADER, BY(LABEL(KEY("group-key"), "h")), "with others: zone"},
        /* a pod of no unit */
        {",\"" KEY("group-key") "\":\"g\"", BY(LABEL(KEY("group-key"), "g")), "together: zone"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf term = {0};
        strbuf_appendf(&term, TERM("zone", "%s"), cases[i].selector);
        strbuf_append_char(&term, '\0');
        are_terms(cases[i].labels, term.p, "", cases[i].want);
    }
    /* To be away from its unit's pods is to be away from its group's. */
    are_terms(LEADER, "", TERM("zone", BY(LABEL(KEY("group-key"), "g"))), "apart: zone");
}

/* A user may write any number of them: each takes steps, and sorting them does. */
static void too_many_terms_are_refused(void **state) {
    enum { TERMS = 1000 };
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct own_terms terms;
    (void)state;
    for (int i = 0; i < TERMS; i++)
        strbuf_appendf(&text, "%s" TERM("k%d", OTHER), i > 0 ? "," : "", i);
    strbuf_append_char(&text, '\0');
    assert_int_equal(find("", text.p, text.p, &terms), 0);
    assert_int_equal(terms.keys[TERM_WITH_OTHERS].count, TERMS);
    assert_int_equal(terms.keys[TERM_FROM_OTHERS].count, TERMS);
    budget = 2 * TERMS;
    assert_int_equal(find("", text.p, "", &terms), -E2BIG);
    assert_int_equal(find("", "", text.p, &terms), -E2BIG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_term_is_of_one_kind),   TEST(keys_are_sorted_and_unique),
        TEST(terms_on_others_are_kept),   TEST(terms_of_units),
        TEST(too_many_terms_are_refused),
    };
    return cmocka_run_group_tests_name("own_terms", tests, NULL, NULL);
}
