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
     "[[{'matchExpressions':[" E1("f", "1") "]}]]", "REQ {r In 1 & f In 1 & F:metadata.name In a}"},
    {"head: repeated", FLUID_HEAD, "[" T(E1("a", "1")) "]", "[[" T(E1("a", "1")) "]]",
     "REQ {a In 1 & a In 1}"},

    {"legacy: no affinity", FLUID_LEGACY, NULL, "[[" T(E1("a", "1")) "],[" T(E1("b", "2")) "]]",
     "REQ {a In 1} | {b In 2}"},
    {"legacy: the first term only", FLUID_LEGACY, "[" T(E1("x", "1")) "," T(E1("y", "2")) "]",
     "[[" T(E1("a", "1")) "],[" T(E1("b", "2")) "]]", "REQ {x In 1 & a In 1 & b In 2} | {y In 2}"},
    {"legacy: into a term of fields", FLUID_LEGACY,
     "[{'matchFields':[" E1("metadata.name", "n") "]}]", "[[" T(E1("a", "1")) "]]",
     "REQ {a In 1 & F:metadata.name In n}"},

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

static void read_alternative(struct world *w, const cJSON *term, struct fluid_alternative *ret) {
    const cJSON *item, *value;
    *ret = (struct fluid_alternative){.count = 0};
    cJSON_ArrayForEach(item, doc_array(term, "matchExpressions")) {
        struct str *values = arena_array(&w->arena, 8, sizeof *values);
        struct label_expression e = {.key = world_text(w, doc_string(item, "key")),
                                     .op = world_text(w, doc_string(item, "operator")),
                                     .values = values};
        cJSON_ArrayForEach(value, doc_array(item, "values")) values[e.value_count++] =
            world_text(w, value->valuestring);
        assert_int_equal(affinity_alternative_add(ret, &e, &w->arena), 0);
    }
}

static void read_conjuncts(struct world *w, const char *json, struct fluid_conjuncts *ret) {
    cJSON *doc = world_document(json);
    const cJSON *list, *term;
    *ret = (struct fluid_conjuncts){.count = 0};
    cJSON_ArrayForEach(list, doc) {
        struct fluid_conjunct conjunct = {.count = 0};
        cJSON_ArrayForEach(term, list) {
            struct fluid_alternative alternative;
            read_alternative(w, term, &alternative);
            assert_int_equal(affinity_conjunct_add(&conjunct, &alternative, &w->arena), 0);
        }
        assert_int_equal(affinity_conjuncts_add(ret, &conjunct, &w->arena), 0);
    }
    cJSON_Delete(doc);
}

/* An edit of a pod that is about to begin. */
static void begin(struct world *w, const char *pod, enum fluid_compat compat,
                  struct world_pod *ret_pod, struct fluid_edit *ret) {
    world_read(world_text(w, pod), &w->arena, ret_pod);
    *ret = (struct fluid_edit){.pod = &ret_pod->pod,
                               .details = &ret_pod->details,
                               .compat = compat,
                               .steps = &w->arena.steps,
                               .arena = &w->arena};
    assert_int_equal(affinity_begin(ret), 0);
}

/* The node affinity that an edit leaves. */
static void describe(struct world *w, const struct world_pod *pod, const struct fluid_edit *e,
                     char *ret, size_t size) {
    struct str document = world_edit(pod, &e->edits, &w->arena);
    cJSON *doc = cJSON_ParseWithLength(document.p, document.n);
    assert_non_null(doc);
    world_describe(world_node_affinity(doc), ret, size);
    cJSON_Delete(doc);
}

static void require(struct world *w, const struct scenario *s, char *ret, size_t size) {
    struct err err = {0};
    struct fluid_conjuncts conjuncts;
    struct world_pod pod;
    struct fluid_edit e;
    char json[2048] = "{'spec':{}}";
    if (s->terms != NULL)
        (void)snprintf(json, sizeof json,
                       "{'spec':{'affinity':{'nodeAffinity':{'" WORLD_REQUIRED
                       "':{'nodeSelectorTerms':%s}}}}}",
                       s->terms);
    read_conjuncts(w, s->conjuncts, &conjuncts);
    begin(w, json, s->compat, &pod, &e);
    if (affinity_require(&e, &conjuncts, s->compat, &err) != 0)
        fail_msg("%s", err.text);
    describe(w, &pod, &e, ret, size);
    if (s->compat == FLUID_CORRECT) { /* twice is once */
        char again[4096];
        assert_int_equal(affinity_require(&e, &conjuncts, s->compat, &err), 0);
        describe(w, &pod, &e, again, sizeof again);
        assert_string_equal(again, ret);
        struct str edited = world_edit(&pod, &e.edits, &w->arena);
        begin(w, arena_cstr(&w->arena, edited), s->compat, &pod, &e);
        assert_int_equal(affinity_require(&e, &conjuncts, s->compat, &err), 0);
        assert_false(e.edits.requires);
    }
}

static void merges(void **state) {
    const struct scenario *s = *state;
    struct world w;
    char text[4096];
    world_init(&w);
    require(&w, s, text, sizeof text);
    assert_string_equal(text, s->want);
    world_done(&w);
}

/* 9 times 9 alternatives are more than 64 terms. */
static void product_has_a_limit(void **state) {
    (void)state;
    static const struct str values[] = {{"1", 1}, {"2", 1}, {"3", 1}, {"4", 1}, {"5", 1},
                                        {"6", 1}, {"7", 1}, {"8", 1}, {"9", 1}};
    struct err err = {0};
    struct world w;
    struct world_pod pod;
    struct fluid_edit e;
    struct fluid_conjuncts conjuncts = {.count = 0};
    world_init(&w);
    for (int i = 0; i < 2; i++) {
        struct fluid_conjunct conjunct = {.count = 0};
        for (int k = 0; k < 9; k++) {
            struct fluid_alternative one = {.count = 0};
            struct label_expression in = affinity_requirement(i == 0 ? "a" : "b", "In", &values[k]);
            assert_int_equal(affinity_alternative_add(&one, &in, &w.arena), 0);
            assert_int_equal(affinity_conjunct_add(&conjunct, &one, &w.arena), 0);
        }
        assert_int_equal(affinity_conjuncts_add(&conjuncts, &conjunct, &w.arena), 0);
    }
    begin(&w, "{}", FLUID_CORRECT, &pod, &e);
    assert_int_equal(affinity_require(&e, &conjuncts, FLUID_CORRECT, &err), -E2BIG);
    assert_contains(err.text, "81 required terms, at most 64");
    world_done(&w);
}

static void prefer(const char *json, enum fluid_compat compat, int32_t weight, const char *want) {
    char text[256];
    struct err err = {0};
    struct world w;
    struct world_pod pod;
    struct fluid_edit e;
    const struct label_expression exists = affinity_requirement("a", "Exists", NULL);
    world_init(&w);
    begin(&w, json, compat, &pod, &e);
    assert_int_equal(affinity_prefer(&e, weight, &exists, &err), 0);
    describe(&w, &pod, &e, text, sizeof text);
    assert_string_equal(text, want);
    world_done(&w);
}

static void null_is_absent(void **state) {
    (void)state;
    prefer("{'spec':{'affinity':null}}", FLUID_CORRECT, 7, "PREF 7 {a Exists}");
    prefer("{'spec':{'affinity':{'nodeAffinity':null}}}", FLUID_CORRECT, 7, "PREF 7 {a Exists}");
    prefer("{'spec':{'affinity':{'nodeAffinity':{'" WORLD_PREFERRED "':null}}}}", FLUID_CORRECT, 7,
           "PREF 7 {a Exists}");
    prefer("{'spec':{'affinity':{'nodeAffinity':{'" WORLD_PREFERRED "':[]}}}}", FLUID_CORRECT, 7,
           "PREF 7 {a Exists}");
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        prefer("{}", cases[i].compat, cases[i].weight, cases[i].want);
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
        cmocka_unit_test(null_is_absent),
        cmocka_unit_test(weights_stay_in_range),
    };
    int failed = _cmocka_run_group_tests("merges", merge_tests, count, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
