/* Node affinity; upstream's own answers are in tests/conformance/test_kube_primitives.c. */
#include "model/affinity.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

/* {"nodeSelector":{...},"affinity":{...}} */
static struct node_affinity decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct node_affinity affinity = {0};
    struct str key;
    assert_true(json_object(&r));
    while (json_member(&r, &key))
        if (str_eq(key, STR("nodeSelector")))
            affinity.node_selector = labels_decode(&r);
        else
            affinity_decode(&r, &affinity);
    decoding_good(&r);
    return affinity;
}

#define TERMS(terms)                                                                               \
    "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"         \
    "{\"nodeSelectorTerms\":[" terms "]}}}}"
#define EXPRESSION(key, op, values)                                                                \
    "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"
#define TERM(expressions) "{\"matchExpressions\":[" expressions "]}"
#define NAMED(op, values) "{\"matchFields\":[" EXPRESSION("metadata.name", op, values) "]}"

static bool matches(const struct node_affinity *affinity, const char *name, const char *labels) {
    struct json_reader r = decoding_reader(labels);
    struct labels decoded = labels_decode(&r);
    decoding_good(&r);
    return node_affinity_matches(affinity, str_of(name), labels_lookup, &decoded);
}

static void selector_and_terms_must_hold(void **state) {
    (void)state;
    struct node_affinity affinity =
        decode("{\"nodeSelector\":{\"a\":\"1\"},\"affinity\":{\"nodeAffinity\":{"
               "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" TERM(
                   EXPRESSION("b", "Exists", "")) "]}}}}");
    assert_true(matches(&affinity, "n", "{\"a\":\"1\",\"b\":\"\"}"));
    assert_false(matches(&affinity, "n", "{\"a\":\"1\"}"));
    assert_false(matches(&affinity, "n", "{\"b\":\"\"}"));
    assert_false(matches(&affinity, "n", "{\"a\":\"2\",\"b\":\"\"}"));
}

static void one_term_is_enough_but_all_of_it(void **state) {
    (void)state;
    struct node_affinity affinity = decode(TERMS(TERM(EXPRESSION("a", "Exists", "") "," EXPRESSION(
        "b", "Exists", "")) "," TERM(EXPRESSION("c", "Exists", ""))));
    assert_true(matches(&affinity, "n", "{\"a\":\"\",\"b\":\"\"}"));
    assert_true(matches(&affinity, "n", "{\"c\":\"\"}"));
    assert_false(matches(&affinity, "n", "{\"a\":\"\"}"));
    affinity = decode(TERMS("{\"matchExpressions\":[" EXPRESSION(
        "a", "Exists", "") "],\"matchFields\":[" EXPRESSION("metadata.name", "In", "\"n\"") "]}"));
    assert_true(matches(&affinity, "n", "{\"a\":\"\"}"));
    assert_false(matches(&affinity, "m", "{\"a\":\"\"}"));
    assert_false(matches(&affinity, "n", "{}"));
}

#define PREFERRED(term)                                                                            \
    "{\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"        \
    "[{\"weight\":1,\"preference\":" term "}]}}}"
#define NO_TERMS                                                                                   \
    "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"         \
    "{\"nodeSelectorTerms\":null}}}}"

static void what_is_absent_asks_nothing(void **state) {
    (void)state;
    static const char *const all[] = {
        "{}",
        "{\"affinity\":null}",
        "{\"affinity\":{}}",
        "{\"affinity\":{\"podAffinity\":{\"x\":[1]},\"nodeAffinity\":null}}",
        "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":null}}"
        "}",
        PREFERRED(TERM(EXPRESSION("a", "Exists", ""))),
        "{\"nodeSelector\":null}",
    };
    static const char *const none[] = {
        TERMS(""),     TERMS("{}"),
        TERMS("null"), TERMS("{\"matchExpressions\":null,\"matchFields\":[]}"),
        NO_TERMS,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct node_affinity affinity = decode(all[i]);
        assert_false(affinity.required);
        assert_true(matches(&affinity, "n", "{}"));
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct node_affinity affinity = decode(none[i]);
        assert_true(affinity.required);
        assert_false(matches(&affinity, "n", "{\"a\":\"\"}"));
    }
}

static void what_does_not_parse_spoils_its_term_only(void **state) {
    (void)state;
    static const char *const bad[] = {
        TERM(EXPRESSION("a b", "Exists", "")),
        TERM(EXPRESSION("a", "exists", "")),
        TERM(EXPRESSION("a", "In", "")),
        TERM(EXPRESSION("a", "Gt", "\"x\"")),
        TERM(EXPRESSION("a", "Lt", "\"1\",\"2\"")),
        TERM(EXPRESSION("a", "Gt", "\"1\",\"1\"")),
        TERM(EXPRESSION("a", "Exists", "") "," EXPRESSION("a", "Exists", "\"x\"")),
        NAMED("Exists", ""),
        NAMED("In", ""),
        NAMED("In", "\"n\",\"m\""),
        NAMED("Gt", "\"1\""),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char json[512];
        (void)snprintf(json, sizeof json, TERMS("%s,%s"), bad[i],
                       TERM(EXPRESSION("b", "Exists", "")));
        struct node_affinity affinity = decode(json);
        assert_int_equal(affinity.term_count, 2);
        assert_true(affinity.terms[0].invalid);
        assert_false(affinity.terms[1].invalid);
        assert_false(matches(&affinity, "n", "{\"a\":\"3\"}"));
        assert_true(matches(&affinity, "n", "{\"a\":\"3\",\"b\":\"\"}"));
    }
}

static void fields_other_than_the_name_are_empty(void **state) {
    (void)state;
    struct node_affinity affinity =
        decode(TERMS("{\"matchFields\":[" EXPRESSION("metadata.uid", "NotIn", "\"n\"") "]}"));
    assert_true(matches(&affinity, "n", "{}"));
    affinity = decode(TERMS("{\"matchFields\":[" EXPRESSION("metadata.uid", "In", "\"\"") "]}"));
    assert_true(matches(&affinity, "n", "{}"));
    affinity = decode(TERMS(NAMED("NotIn", "\"n\"")));
    assert_false(matches(&affinity, "n", "{}"));
    assert_true(matches(&affinity, "m", "{}"));
    affinity = decode(TERMS(NAMED("In", "\"Any Name, Even This\"")));
    assert_true(matches(&affinity, "Any Name, Even This", "{}"));
}

#define A EXPRESSION("a", "In", "\"1\",\"2\"")
#define B EXPRESSION("b", "Exists", "")
#define C EXPRESSION("c", "Gt", "\"3\"")
#define BAD EXPRESSION("d", "Near", "")

static void terms_imply_those_of_which_they_have_all(void **state) {
    (void)state;
    static const struct {
        const char *before, *now;
        bool implies;
    } cases[] = {
        {"{}", TERMS(TERM(A)), true},
        {"{}", "{}", true},
        {TERMS(TERM(A)), "{}", false},
        {TERMS(TERM(A)), TERMS(TERM(A)), true},
        {TERMS(TERM(A)), TERMS(TERM(B "," A)), true},
        {TERMS(TERM(A "," B)), TERMS(TERM(B "," C "," A)), true},
        {TERMS(TERM(A "," B)), TERMS(TERM(B "," C)), false},
        {TERMS(TERM(A)), TERMS(TERM(B)), false},
        {TERMS(TERM(A)), TERMS(TERM(EXPRESSION("a", "In", "\"1\",\"2\",\"3\""))), false},
        {TERMS(TERM(C)), TERMS(TERM(EXPRESSION("c", "Gt", "\"2\""))), false},
        {TERMS(TERM(A)), TERMS(TERM(A) "," TERM(B)), false}, /* another branch */
        {TERMS(TERM(A) "," TERM(B)), TERMS(TERM(B "," C)), true},
        {TERMS(TERM(A) "," TERM(B)), TERMS(TERM(B "," C) "," TERM(A) "," TERM(B)), true},
        {TERMS(TERM(A) "," TERM(B)), TERMS(TERM(C) "," TERM(A)), false},
        {TERMS(NAMED("In", "\"n\"")), TERMS(NAMED("In", "\"n\"")), true},
        {TERMS(NAMED("In", "\"n\"")), TERMS(NAMED("In", "\"m\"")), false},
        {TERMS(NAMED("In", "\"n\"")), TERMS(TERM(A)), false},
        {TERMS("{}"), TERMS("{}"), true}, /* matches nothing */
        {TERMS("{}"), TERMS(TERM(A)), false},
        {TERMS(TERM(A)), TERMS("{}"), true},
        {TERMS(""), TERMS(TERM(A)), false},
        {TERMS(TERM(BAD)), TERMS(TERM(A)), false},
        {TERMS(TERM(A)), TERMS(TERM(A) "," TERM(BAD)), true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct node_affinity before = decode(cases[i].before), now = decode(cases[i].now);
        if (node_affinity_implies(&now, &before, &(struct steps){0}) != cases[i].implies)
            fail_msg("case %zu", i);
        assert_int_equal(node_affinity_invalid(&now), strstr(cases[i].now, "Near") != NULL);
    }
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"[]", "expected an object, found an array"},
        {"{\"nodeAffinity\":1}", "doc.nodeAffinity: expected an object"},
        {"{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
         "\"nodeSelectorTerms\":{}}}}",
         "nodeSelectorTerms: expected an array"},
        {"{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
         "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":1}]}]}}}",
         "matchExpressions[0].key: expected a string"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct node_affinity affinity = {0};
        affinity_decode(&r, &affinity);
        decoding_refused(&r, wrong[i][1]);
    }
}

/* ---- keys and copies ---- */

static const char *const different[] = {
    "{}",
    TERMS(""),
    TERMS("{}"),
    TERMS("{},{}"),
    TERMS(NAMED("Exists", "")), /* invalid */
    TERMS(NAMED("Exists", "") "," NAMED("Exists", "")),
    TERMS("{}," NAMED("Exists", "")),
    TERMS(TERM(EXPRESSION("a", "Exists", ""))),
    TERMS(TERM(EXPRESSION("a", "DoesNotExist", ""))),
    TERMS(TERM(EXPRESSION("a", "Exists", "")) ",{}"),
    TERMS(TERM(EXPRESSION("a", "In", "\"1\",\"2\""))),
    TERMS(TERM(EXPRESSION("a", "In", "\"1\"")) "," TERM(EXPRESSION("a", "In", "\"2\""))),
    TERMS(TERM(EXPRESSION("a", "Gt", "\"1\""))),
    TERMS(TERM(EXPRESSION("a", "Lt", "\"1\""))),
    TERMS(NAMED("In", "\"n\"")),
    TERMS(NAMED("NotIn", "\"n\"")),
    TERMS(TERM(EXPRESSION("metadata.name", "In", "\"n\""))),
    "{\"nodeSelector\":{\"a\":\"1\"}}",
    "{\"nodeSelector\":{\"a\":\"\"}}",
    "{\"nodeSelector\":{\"a1\":\"\"}}",
    "{\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"}}",
};

static struct str key_of(const struct node_affinity *affinity) {
    struct strbuf out = {0};
    node_affinity_key(affinity, &out);
    struct str kept = arena_str(&decoding_arena, strbuf_str(&out));
    strbuf_done(&out);
    return kept;
}

/* None begins another: what follows a key cannot make it another one's. */
static void keys_tell_affinities_apart(void **state) {
    (void)state;
    size_t n = sizeof different / sizeof different[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            struct node_affinity a = decode(different[i]), b = decode(different[j]);
            if (str_has_prefix(key_of(&a), key_of(&b)) != (i == j))
                fail_msg("%s and %s", different[i], different[j]);
        }
}

static void a_copy_owns_its_strings(void **state) {
    (void)state;
    struct arena own;
    arena_init(&own, 1u << 20);
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s", different[i]); /* fits */
        struct node_affinity copy, affinity = decode(text);
        struct str key = key_of(&affinity);
        assert_int_equal(node_affinity_copy(&affinity, &own, &copy), 0);
        bool before = matches(&affinity, "n", "{\"a\":\"1\"}");
        memset(text, 'x', sizeof text - 1);
        assert_true(str_eq(key_of(&copy), key));
        assert_int_equal(matches(&copy, "n", "{\"a\":\"1\"}"), before);
    }
    arena_done(&own);
}

static void memory_may_run_out(void **state) {
    (void)state;
    struct node_affinity affinity =
        decode(TERMS(TERM(EXPRESSION("a", "In", "\"1\",\"2\"")) "," NAMED("In", "\"n\"")));
    bool copied = false;
    for (size_t size = 0; size < 4096; size += 16) {
        struct arena small;
        struct node_affinity copy;
        arena_init(&small, size);
        int r = node_affinity_copy(&affinity, &small, &copy);
        assert_true(r == 0 || (r == -ENOMEM && !copied));
        copied = copied || r == 0;
        arena_done(&small);
    }
    assert_true(copied);
}

/* Each list is as long as it is, and not as long as the text behind it could make it. */
static void many_short_lists_take_little_memory(void **state) {
    (void)state;
    struct strbuf text = {0};
    strbuf_appendf(&text, "%s",
                   "{\"affinity\":{\"nodeAffinity\":{"
                   "\"requiredDuringSchedulingIgnoredDuringExecution\":"
                   "{\"nodeSelectorTerms\":[");
    for (int i = 0; i < 1000; i++)
        strbuf_appendf(&text, "%s" TERM(EXPRESSION("k%d", "In", "\"a\",\"b\"")), i > 0 ? "," : "",
                       i);
    strbuf_appendf(&text, "]}}}}%c", '\0');
    struct node_affinity affinity = decode(text.p);
    assert_int_equal(affinity.term_count, 1000);
    assert_in_range(decoding_arena.total, 1, 2 << 20);
    strbuf_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(selector_and_terms_must_hold),
        DECODING_TEST(one_term_is_enough_but_all_of_it),
        DECODING_TEST(what_is_absent_asks_nothing),
        DECODING_TEST(what_does_not_parse_spoils_its_term_only),
        DECODING_TEST(fields_other_than_the_name_are_empty),
        DECODING_TEST(terms_imply_those_of_which_they_have_all),
        DECODING_TEST(wrong_types_are_refused),
        DECODING_TEST(keys_tell_affinities_apart),
        DECODING_TEST(many_short_lists_take_little_memory),
        DECODING_TEST(a_copy_owns_its_strings),
        DECODING_TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("node affinity", tests, NULL, NULL);
}
