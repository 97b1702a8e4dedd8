/*
 * How required terms meet those of the pod, in the three modes. The scenarios of FLUID_HEAD are
 * those of upstream's own tests of the merge; what FLUID_LEGACY did to them is upstream's defect
 * that the newer merge mended.
 */
#include "data/fluid/affinity.h"

#include "unit/data/fluid/world.h"

#include <errno.h>
#include <stdio.h>

#define E1(key, value) "{'key':'" key "','operator':'In','values':['" value "']}"
#define T(...) "{'matchExpressions':[" __VA_ARGS__ "]}"

static const struct scenario {
    const char *name;
    enum fluid_compat compat;
    const char *terms;     /* the pod's; NULL: none */
    const char *conjuncts; /* lists of lists of terms */
    const char *want;
} scenarios[] = {
    {"head: nothing injected", FLUID_HEAD, "[]", "[]", "REQ"},
    {"head: no affinity", FLUID_HEAD, NULL, "[[" T(E1("a", "v")) "]]", "REQ {a In v}"},
    {"head: one meets one", FLUID_HEAD, "[" T(E1("a", "1")) "]", "[[" T(E1("b", "2")) "]]",
     "REQ {a In 1 & b In 2}"},
    {"head: two meet two", FLUID_HEAD, "[" T(E1("zone", "z1")) "," T(E1("region", "r1")) "]",
     "[[" T(E1("disk", "ssd")) "],[" T(E1("cpu", "amd")) "]]",
     "REQ {zone In z1 & disk In ssd} | {zone In z1 & cpu In amd} | {region In r1 & disk In ssd} | "
     "{region In r1 & cpu In amd}"},
    {"head: the pod's empty terms go", FLUID_HEAD, "[{}," T(E1("r", "1")) "]",
     "[[" T(E1("f", "1")) "]]", "REQ {r In 1 & f In 1}"},
    {"head: injected empty terms go", FLUID_HEAD, "[" T(E1("r", "1")) "]",
     "[[{}," T(E1("f", "1")) "]]", "REQ {r In 1 & f In 1}"},
    {"head: only empty injected", FLUID_HEAD, "[" T(E1("r", "1")) "]", "[[{}]]", "REQ {r In 1}"},
    {"head: the pod has only empty terms", FLUID_HEAD, "[{}]", "[[{}," T(E1("f", "1")) "]]",
     "REQ {f In 1}"},
    {"head: all empty", FLUID_HEAD, "[{}]", "[[{}]]", "REQ {}"},
    {"head: fields", FLUID_HEAD,
     "[{'matchExpressions':[" E1("r", "1") "],'matchFields':[" E1("metadata.name", "a") "]}]",
     "[[{'matchExpressions':[" E1("f", "1") "],'matchFields':[" E1("metadata.name", "b") "]}]]",
     "REQ {r In 1 & f In 1 & F:metadata.name In a & F:metadata.name In b}"},
    {"head: repeated", FLUID_HEAD, "[" T(E1("a", "1")) "]", "[[" T(E1("a", "1")) "]]",
     "REQ {a In 1 & a In 1}"},

    {"legacy: no affinity", FLUID_LEGACY, NULL, "[[" T(E1("a", "1")) "],[" T(E1("b", "2")) "]]",
     "REQ {a In 1} | {b In 2}"},
    {"legacy: the first term only", FLUID_LEGACY, "[" T(E1("x", "1")) "," T(E1("y", "2")) "]",
     "[[" T(E1("a", "1")) "],[" T(E1("b", "2")) "]]", "REQ {x In 1 & a In 1 & b In 2} | {y In 2}"},
    {"legacy: fields are forgotten", FLUID_LEGACY, "[" T(E1("x", "1")) "]",
     "[[{'matchFields':[" E1("metadata.name", "b") "]}]]", "REQ {x In 1}"},

    {"correct: conjuncts are AND-ed", FLUID_CORRECT, NULL,
     "[[" T(E1("a", "1")) "],[" T(E1("b", "2")) "]]", "REQ {a In 1 & b In 2}"},
    {"correct: every branch", FLUID_CORRECT, "[" T(E1("x", "1")) "," T(E1("y", "2")) "]",
     "[[" T(E1("a", "1")) "]]", "REQ {x In 1 & a In 1} | {y In 2 & a In 1}"},
    {"correct: alternatives multiply", FLUID_CORRECT, "[" T(E1("x", "1")) "]",
     "[[" T(E1("a", "1")) "," T(E1("a", "2")) "],[" T(E1("b", "1")) "]]",
     "REQ {x In 1 & a In 1 & b In 1} | {x In 1 & a In 2 & b In 1}"},
    {"correct: what is implied stays as it is", FLUID_CORRECT,
     "[" T(E1("a", "2") "," E1("x", "1")) "," T(E1("y", "1")) "]",
     "[[" T(E1("a", "1")) "," T(E1("a", "2")) "]]",
     "REQ {a In 2 & x In 1} | {y In 1 & a In 1} | {y In 1 & a In 2}"},
    {"correct: an empty term stays", FLUID_CORRECT, "[{}," T(E1("r", "1")) "]",
     "[[" T(E1("f", "1")) "]]", "REQ {} | {r In 1 & f In 1}"},
    {"correct: nothing but an empty term", FLUID_CORRECT, "[{}]", "[[" T(E1("f", "1")) "]]",
     "REQ {}"},
    {"correct: an empty list stays", FLUID_CORRECT, "[]", "[[" T(E1("f", "1")) "]]", "REQ"},
    {"correct: a list that is null stays", FLUID_CORRECT, "null", "[[" T(E1("f", "1")) "]]", "REQ"},
    {"correct: a conjunct without alternatives", FLUID_CORRECT, NULL, "[[]]", ""},
    {"correct: nothing twice", FLUID_CORRECT, NULL,
     "[[" T(E1("a", "1")) "," T(E1("a", "1")) "],[" T(E1("a", "1")) "]]", "REQ {a In 1}"},
    {"correct: values have no order", FLUID_CORRECT,
     "[{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}]",
     "[[{'matchExpressions':[{'key':'a','operator':'In','values':['2','1']}]}]]", "REQ {a In 1,2}"},
    {"correct: fewer values are another requirement", FLUID_CORRECT,
     "[{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}]",
     "[[" T(E1("a", "1")) "]]", "REQ {a In 1,2 & a In 1}"},
    {"correct: fields keep a term from being empty", FLUID_CORRECT,
     "[{'matchFields':[" E1("metadata.name", "n") "]}]", "[[" T(E1("f", "1")) "]]",
     "REQ {f In 1 & F:metadata.name In n}"},
};

static void require(const struct scenario *s, const cJSON *conjuncts, char *ret, size_t size) {
    struct err err = {0};
    struct fluid_edit e = {.compat = s->compat, .pod = world_document("{'spec':{}}")};
    if (s->terms != NULL) {
        char json[2048];
        (void)snprintf(json, sizeof json,
                       "{'spec':{'affinity':{'nodeAffinity':{'" AFFINITY_REQUIRED
                       "':{'nodeSelectorTerms':%s}}}}}",
                       s->terms);
        cJSON_Delete(e.pod);
        e.pod = world_document(json);
    }
    if (affinity_require(&e, conjuncts, s->compat, &err) != 0)
        fail_msg("%s", err.text);
    world_describe(affinity_of(e.pod), ret, size);
    if (s->compat == FLUID_CORRECT) { /* twice is once */
        char again[4096];
        assert_int_equal(affinity_require(&e, conjuncts, s->compat, &err), 0);
        world_describe(affinity_of(e.pod), again, sizeof again);
        assert_string_equal(again, ret);
    }
    cJSON_Delete(e.pod);
}

static void merges(void **state) {
    const struct scenario *s = *state;
    char text[4096];
    cJSON *conjuncts = world_document(s->conjuncts);
    require(s, conjuncts, text, sizeof text);
    cJSON_Delete(conjuncts);
    assert_string_equal(text, s->want);
}

/* 9 times 9 alternatives are more than 64 terms. */
static void product_has_a_limit(void **state) {
    (void)state;
    struct err err = {0};
    cJSON *conjuncts = cJSON_CreateArray();
    for (int i = 0; i < 2; i++) {
        cJSON *alternatives = cJSON_CreateArray();
        for (int k = 0; k < 9; k++) {
            char value[8];
            (void)snprintf(value, sizeof value, "%d", k);
            cJSON *term = cJSON_CreateObject();
            assert_int_equal(
                affinity_term_add(term, affinity_requirement(i == 0 ? "a" : "b", "In", value)), 0);
            assert_int_equal(doc_push(alternatives, term), 0);
        }
        assert_int_equal(doc_push(conjuncts, alternatives), 0);
    }
    struct fluid_edit e = {.pod = world_document("{}")};
    assert_int_equal(affinity_require(&e, conjuncts, FLUID_CORRECT, &err), -E2BIG);
    assert_contains(err.text, "81 required terms, at most 64");
    cJSON_Delete(conjuncts);
    cJSON_Delete(e.pod);
}

/* Something else stands where an object must be: nothing is overwritten. */
static void strange_documents_are_refused(void **state) {
    (void)state;
    static const char *const pods[] = {
        "{'spec':3}", "{'spec':{'affinity':[]}}", "{'spec':{'affinity':{'nodeAffinity':'x'}}}",
        "{'spec':{'affinity':{'nodeAffinity':{'" AFFINITY_PREFERRED "':{}}}}}"};
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        struct err err = {0};
        struct fluid_edit e = {.pod = world_document(pods[i])};
        cJSON *before = cJSON_Duplicate(e.pod, true);
        assert_int_equal(affinity_prefer(&e, 1, affinity_requirement("a", "Exists", NULL), &err),
                         -EINVAL);
        assert_true(cJSON_Compare(before, e.pod, true));
        cJSON_Delete(before);
        cJSON_Delete(e.pod);
    }
}

static void null_is_absent(void **state) {
    (void)state;
    char text[256];
    struct err err = {0};
    struct fluid_edit e = {.pod = world_document("{'spec':{'affinity':null}}")};
    assert_int_equal(affinity_prefer(&e, 7, affinity_requirement("a", "Exists", NULL), &err), 0);
    world_describe(affinity_of(e.pod), text, sizeof text);
    assert_string_equal(text, "PREF 7 {a Exists}");
    cJSON_Delete(e.pod);
}

/* What the API server would refuse is not injected; upstream does. */
static void weights_stay_in_range(void **state) {
    (void)state;
    static const struct {
        enum fluid_compat compat;
        int32_t weight;
        const char *want;
    } cases[] = {{FLUID_CORRECT, 0, ""},
                 {FLUID_CORRECT, -5, ""},
                 {FLUID_CORRECT, 1, "PREF 1 {a Exists}"},
                 {FLUID_CORRECT, 100, "PREF 100 {a Exists}"},
                 {FLUID_CORRECT, 101, "PREF 100 {a Exists}"},
                 {FLUID_HEAD, 101, "PREF 101 {a Exists}"},
                 {FLUID_HEAD, -5, "PREF -5 {a Exists}"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct err err = {0};
        struct fluid_edit e = {.pod = world_document("{}"), .compat = cases[i].compat};
        assert_int_equal(
            affinity_prefer(&e, cases[i].weight, affinity_requirement("a", "Exists", NULL), &err),
            0);
        world_describe(affinity_of(e.pod), text, sizeof text);
        assert_string_equal(text, cases[i].want);
        cJSON_Delete(e.pod);
    }
}

int main(void) {
    static struct CMUnitTest merge_tests[sizeof scenarios / sizeof scenarios[0]];
    size_t count = sizeof scenarios / sizeof scenarios[0];
    for (size_t i = 0; i < count; i++)
        merge_tests[i] = (struct CMUnitTest){.name = scenarios[i].name,
                                             .test_func = merges,
                                             .initial_state = (void *)(uintptr_t)&scenarios[i]};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_has_a_limit),
        cmocka_unit_test(strange_documents_are_refused),
        cmocka_unit_test(null_is_absent),
        cmocka_unit_test(weights_stay_in_range),
    };
    int failed = _cmocka_run_group_tests("merges", merge_tests, count, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
