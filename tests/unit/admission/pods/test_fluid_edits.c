/* How what Fluid's plugins want comes into the pod's text: where, by which operations, and that all
 * else keeps its bytes. */
#include "admission/pods/fluid_edits.h"

#include "unit/data/fluid/world.h"

#include <stdio.h>

static const struct str ssd = {"ssd", 3}, nvme = {"nvme", 4};

static struct fluid_requirement on_disk(const struct str *value) {
    return (struct fluid_requirement){.is = {STR("disk"), STR("In"), value, 1}};
}
#define SSD "{\"key\":\"disk\",\"operator\":\"In\",\"values\":[\"ssd\"]}"
#define NVME "{\"key\":\"disk\",\"operator\":\"In\",\"values\":[\"nvme\"]}"
#define R "requiredDuringSchedulingIgnoredDuringExecution"
#define P "preferredDuringSchedulingIgnoredDuringExecution"

static int setup(void **state) {
    static struct world w;
    world_init(&w);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    world_done(*state);
    return 0;
}

/* Adds `more` to each of the pod's terms, or without terms makes one of it. */
static struct fluid_edits extend_all(struct world *w, const struct world_pod *pod,
                                     const struct fluid_requirement *more, uint32_t count) {
    const struct written_affinity *own = &pod->details.affinity;
    struct fluid_edits edits = {.requires = true,
                                .term_count = own->term_count > 0 ? own->term_count : 1};
    edits.terms = arena_array(&w->arena, edits.term_count, sizeof *edits.terms);
    for (uint32_t i = 0; i < edits.term_count; i++)
        edits.terms[i] = (struct fluid_term){.own = own->term_count > 0 ? &own->terms[i] : NULL,
                                             .added = more,
                                             .added_count = count};
    return edits;
}

static void comes_out(struct world *w, const struct world_pod *pod, const struct fluid_edits *edits,
                      const char *document, const char *operations) {
    struct patch patch;
    struct err err;
    struct strbuf text = {0};
    struct json_writer out = {.out = &text};
    patch_init(&patch, pod->text, &w->arena);
    if (fluid_edits_write(edits, &pod->details, &patch, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(patch.document, document);
    patch_write(&patch, &out);
    if (operations != NULL)
        assert_str(strbuf_str(&text), operations);
    strbuf_done(&text);
}

#define POD(affinity) "{\"spec\":{\"affinity\":" affinity "}}"

static void few_requirements_are_added_one_by_one(void **state) {
    struct world *w = *state;
    struct world_pod pod;
    const struct fluid_requirement more[] = {on_disk(&ssd), on_disk(&nvme)};
    world_read(STR(POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[{\"new\":1.0,"
                       "\"matchExpressions\":[ {\"key\":\"a\",\"operator\":\"Exists\"} ]},"
                       "{\"matchFields\":[{\"key\":\"f\"}]}]}}}")),
               &w->arena, &pod);
    struct fluid_edits edits = extend_all(w, &pod, more, 2);
    comes_out(w, &pod, &edits,
              POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[{\"new\":1.0,"
                  "\"matchExpressions\":[ {\"key\":\"a\",\"operator\":\"Exists\"}," SSD "," NVME
                  " ]},{\"matchFields\":[{\"key\":\"f\"}],\"matchExpressions\":[" SSD "," NVME
                  "]}]}}}"),
              "[{\"op\":\"add\",\"path\":\"/spec/affinity/nodeAffinity/" R
              "/nodeSelectorTerms/0/matchExpressions/-\",\"value\":" SSD "},"
              "{\"op\":\"add\",\"path\":\"/spec/affinity/nodeAffinity/" R
              "/nodeSelectorTerms/0/matchExpressions/-\",\"value\":" NVME "},"
              "{\"op\":\"add\",\"path\":\"/spec/affinity/nodeAffinity/" R
              "/nodeSelectorTerms/1/matchExpressions\",\"value\":[" SSD "," NVME "]}]");
}

#define SHORT "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}"
#define SHORT_AND "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}," SSD "]}"

static void many_are_one_operation(void **state) {
    struct world *w = *state;
    struct world_pod pod;
    const struct fluid_requirement more[] = {on_disk(&ssd)};
    world_read(STR(POD("{\"nodeAffinity\":{\"" R "\":{\"x\":1e400, \"nodeSelectorTerms\" : [ "
                       "{ \"n\" : 1.50, \"matchExpressions\" : [ {\"key\":\"a\",\"y\":2} ] },"
                       "{\"matchFields\":[{\"key\":\"f\"}]}, {\"matchExpressions\":[],\"z\":3},"
                       "{\"z\":4,\"matchExpressions\":null}," SHORT "," SHORT "," SHORT "," SHORT
                       "," SHORT " ] }}}")),
               &w->arena, &pod);
    struct fluid_edits edits = extend_all(w, &pod, more, 1);
#define TERMS                                                                                      \
    "[{ \"n\" : 1.50, \"matchExpressions\" : [ {\"key\":\"a\",\"y\":2} ," SSD "] },"               \
    "{\"matchExpressions\":[" SSD "],\"matchFields\":[{\"key\":\"f\"}]},"                          \
    "{\"matchExpressions\":[" SSD "],\"z\":3},{\"z\":4,\"matchExpressions\":[" SSD "]}," SHORT_AND \
    "," SHORT_AND "," SHORT_AND "," SHORT_AND "," SHORT_AND "]"
    comes_out(
        w, &pod, &edits,
        POD("{\"nodeAffinity\":{\"" R "\":{\"x\":1e400, \"nodeSelectorTerms\" : " TERMS " }}}"),
        "[{\"op\":\"replace\",\"path\":\"/spec/affinity/nodeAffinity/" R
        "/nodeSelectorTerms\",\"value\":" TERMS "}]");
}

/* Terms that are others than before, as a product of alternatives is. */
static void other_terms_are_one_operation(void **state) {
    struct world *w = *state;
    struct world_pod pod;
    const struct fluid_requirement a = on_disk(&ssd), b = on_disk(&nvme);
    world_read(STR(POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[" SHORT "]}}}")),
               &w->arena, &pod);
    const struct written_term *own = pod.details.affinity.terms;
    struct fluid_term terms[] = {{.own = own, .added = &a, .added_count = 1},
                                 {.own = own},
                                 {.added = &b, .added_count = 1},
                                 {.own = NULL}};
    const struct fluid_edits edits = {.requires = true, .terms = terms, .term_count = 4};
    comes_out(w, &pod, &edits,
              POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[" SHORT_AND "," SHORT
                  ",{\"matchExpressions\":[" NVME "]},{}]}}}"),
              NULL);
}

/* FLUID_LEGACY puts requirements into terms that have none. */
static void empty_terms_get_requirements(void **state) {
    struct world *w = *state;
    static const char *const terms[][2] = {
        {"{}", "{\"matchExpressions\":[" SSD "]}"},
        {"{ }", "{\"matchExpressions\":[" SSD "] }"},
        {"null", "{\"matchExpressions\":[" SSD "]}"},
        {"{\"x\":1}", "{\"matchExpressions\":[" SSD "],\"x\":1}"},
        {"{\"matchExpressions\":[ ]}", "{\"matchExpressions\":[" SSD "]}"},
    };
    const struct fluid_requirement more = on_disk(&ssd);
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        char text[512], want[512];
        struct world_pod pod;
        (void)snprintf(text, sizeof text,
                       POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[%s]}}}"),
                       terms[i][0]);
        (void)snprintf(want, sizeof want,
                       POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[%s,{}]}}}"),
                       terms[i][1]);
        world_read(world_text(w, text), &w->arena, &pod);
        struct fluid_edits edits = extend_all(w, &pod, &more, 1);
        struct fluid_term two[] = {edits.terms[0], {.own = NULL}}; /* so that the list is written */
        edits.terms = two;
        edits.term_count = 2;
        comes_out(w, &pod, &edits, want, NULL);
    }
}

/* Whatever of its parents is missing or null is made by the same operation. */
static void parents_are_made(void **state) {
    struct world *w = *state;
    static const char *const cases[][2] = {
        {"{}", "{\"spec\":{\"affinity\":{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[{"
               "\"matchExpressions\":[" SSD "]}]},\"" P "\":[{\"weight\":7,\"preference\":{"
               "\"matchExpressions\":[" NVME "]}}]}}}}"},
        {POD("null"), POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[{"
                          "\"matchExpressions\":[" SSD "]}]},\"" P "\":[{\"weight\":7,"
                          "\"preference\":{\"matchExpressions\":[" NVME "]}}]}}")},
        {POD("{\"nodeAffinity\":{}}"),
         POD("{\"nodeAffinity\":{\"" R "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[" SSD
             "]}]},\"" P "\":[{\"weight\":7,\"preference\":{\"matchExpressions\":[" NVME "]}}]}}")},
        {POD("{\"nodeAffinity\":{\"" P "\":null,\"" R "\":{\"nodeSelectorTerms\":[]}}}"),
         POD("{\"nodeAffinity\":{\"" P
             "\":[{\"weight\":7,\"preference\":{\"matchExpressions\":[" NVME "]}}],\"" R
             "\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[" SSD "]}]}}}")},
        {POD("{\"nodeAffinity\":{\"" P "\":[{\"weight\":1.0}]}}"),
         POD("{\"nodeAffinity\":{\"" P "\":[{\"weight\":1.0},{\"weight\":7,\"preference\":{"
             "\"matchExpressions\":[" NVME "]}}],\"" R "\":{\"nodeSelectorTerms\":[{"
             "\"matchExpressions\":[" SSD "]}]}}}")},
    };
    const struct fluid_requirement more = on_disk(&ssd);
    struct fluid_preference preference = {7, on_disk(&nvme)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world_pod pod;
        world_read(str_of(cases[i][0]), &w->arena, &pod);
        struct fluid_edits edits = extend_all(w, &pod, &more, 1);
        edits.preferences = &preference;
        edits.preference_count = 1;
        comes_out(w, &pod, &edits, cases[i][1], NULL);
    }
}

static void mounts_and_the_annotation_are_set(void **state) {
    struct world *w = *state;
    struct world_pod pod;
    world_read(STR("{\"metadata\":{\"annotations\":{\"fluid.io/datasets-in-use\":\"a\"}},\"spec\":{"
                   "\"containers\":[{\"volumeMounts\":[{\"name\":\"v\"},{\"name\":\"w\"}]}],"
                   "\"initContainers\":[{},{\"volumeMounts\":[{\"mountPropagation\":null}]}]}}"),
               &w->arena, &pod);
    bool propagates[] = {false, true, true};
    const struct fluid_edits edits = {.datasets_in_use = STR("a,\"b"), .propagates = propagates};
    comes_out(
        w, &pod, &edits,
        "{\"metadata\":{\"annotations\":{\"fluid.io/datasets-in-use\":\"a,\\\"b\"}},\"spec\":{"
        "\"containers\":[{\"volumeMounts\":[{\"name\":\"v\"},{\"name\":\"w\","
        "\"mountPropagation\":\"HostToContainer\"}]}],\"initContainers\":[{},{"
        "\"volumeMounts\":[{\"mountPropagation\":\"HostToContainer\"}]}]}}",
        "[{\"op\":\"add\",\"path\":\"/metadata/annotations/fluid.io~1datasets-in-use\","
        "\"value\":\"a,\\\"b\"},{\"op\":\"add\",\"path\":"
        "\"/spec/containers/0/volumeMounts/1/mountPropagation\",\"value\":"
        "\"HostToContainer\"},{\"op\":\"add\",\"path\":"
        "\"/spec/initContainers/1/volumeMounts/0/mountPropagation\",\"value\":"
        "\"HostToContainer\"}]");
}

static void nothing_is_nothing(void **state) {
    struct world *w = *state;
    struct world_pod pod;
    world_read(STR(POD("{\"nodeAffinity\":{}}")), &w->arena, &pod);
    comes_out(w, &pod, &(struct fluid_edits){.requires = false}, POD("{\"nodeAffinity\":{}}"),
              "[]");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(few_requirements_are_added_one_by_one),
        TEST(many_are_one_operation),
        TEST(other_terms_are_one_operation),
        TEST(empty_terms_get_requirements),
        TEST(parents_are_made),
        TEST(mounts_and_the_annotation_are_set),
        TEST(nothing_is_nothing),
    };
    return cmocka_run_group_tests_name("fluid edits", tests, NULL, NULL);
}
