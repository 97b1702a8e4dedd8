/* PolicyLocality: the tiers of a TopologyPolicy, for pods that are Fluid's and for others. */
#include "unit/data/fluid/world.h"

#include <errno.h>

#define POD(labels, spec)                                                                          \
    "{'metadata':{'name':'p','labels':{" labels "}},'spec':{'volumes':[{'name':'v',"               \
    "'persistentVolumeClaim':{'claimName':'d'}}]" spec "}}"
#define WITHOUT_DATA "{'metadata':{'name':'p'},'spec':{}}"
#define SERVERFUL "'fuse.serverful.fluid.io/inject':'true'"
#define AFFINITY(affinity) ",'affinity':{'nodeAffinity':{" affinity "}}"

/* How many zones have the label of dataset d; -1: out of memory. */
static int places;

static int find_places(const void *ctx, const char *label, const char *key, const struct str **ret,
                       uint32_t *ret_count) {
    static const struct str zones[] = {{"z1", 2}, {"z2", 2}};
    (void)ctx;
    assert_string_equal(label, "fluid.io/s-default-d");
    *ret = zones;
    *ret_count = places > 0 && strcmp(key, "zone") == 0 ? (uint32_t)places : 0;
    return places < 0 ? -ENOMEM : 0;
}

static const struct fluid_tier tiers[] = {{"kubernetes.io/hostname", 90}, {"zone", 30}};

static struct fluid_locality preferred(void) {
    return (struct fluid_locality){.tiers = tiers, .tier_count = 2, .places = find_places};
}

static struct fluid_locality required(void) {
    struct fluid_locality l = preferred();
    l.required = true;
    return l;
}

static int setup(void **state) {
    static struct world w;
    world_init(&w);
    world_dataset(&w, "d", "'fuse':{'nodeSelector':{'disk':'ssd'}}", "");
    places = 2;
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    world_done(*state);
    return 0;
}

static void comes_out(struct world *w, const struct fluid_locality *l, const char *pod,
                      const char *affinity) {
    w->locality = l;
    world_mutate(w, pod);
    assert_int_equal(w->outcome.result, FLUID_EDITED);
    assert_string_equal(world_affinity(w), affinity);
    world_mutate_again(w);
    assert_string_equal(world_affinity(w), affinity);
}

static void tiers_are_where_the_workers_are(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = preferred();
    comes_out(w, &l, POD("", ""),
              "REQ {disk In ssd} PREF 90 {fluid.io/s-default-d In true}; 30 {zone In z1,z2}");
    places = 0;
    comes_out(w, &l, POD("", ""), "REQ {disk In ssd} PREF 90 {fluid.io/s-default-d In true}");
}

static void without_tiers_it_is_the_host(void **state) {
    const struct fluid_locality l = {.places = find_places},
                                must = {.required = true, .places = find_places};
    comes_out(*state, &l, POD("", ""), "REQ {disk In ssd} PREF 100 {fluid.io/s-default-d In true}");
    comes_out(*state, &must, POD("", ""), "REQ {disk In ssd & fluid.io/s-default-d In true}");
}

/* The widest tier must hold, nearer ones are better; with nobody near, a node that has the data. */
static void required_is_the_widest_tier(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = required();
    comes_out(w, &l, POD("", ""),
              "REQ {disk In ssd & zone In z1,z2} PREF 90 {fluid.io/s-default-d In true}");
    places = 0;
    comes_out(w, &l, POD("", ""),
              "REQ {disk In ssd & fluid.io/s-default-d In true} PREF 90 {fluid.io/s-default-d In "
              "true}");
}

static void a_pods_own_label_requires_too(void **state) {
    const struct fluid_locality l = preferred();
    comes_out(*state, &l, POD("'fluid.io/dataset.d.sched':'required'", ""),
              "REQ {disk In ssd & zone In z1,z2}");
}

static void a_pods_own_word_takes_the_place_of_preferences(void **state) {
    const struct fluid_locality l = preferred();
    comes_out(*state, &l, POD("", ",'nodeSelector':{'zone':'z9'}"), "REQ {disk In ssd}");
    comes_out(*state, &l, POD("", ",'nodeSelector':{'kubernetes.io/hostname':'n9'}"),
              "REQ {disk In ssd}");
}

/* One harmless term of the pod's own must not do away with what the platform requires. */
static void what_is_required_is_required_beside_a_pods_own_word(void **state) {
    const struct fluid_locality l = required();
    comes_out(*state, &l, POD("", ",'nodeSelector':{'zone':'z9'}"),
              "REQ {disk In ssd & zone In z1,z2}");
    comes_out(*state, &l,
              POD("", AFFINITY("'requiredDuringSchedulingIgnoredDuringExecution':{"
                               "'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':"
                               "'Exists'}]}]}")),
              "REQ {zone Exists & disk In ssd & zone In z1,z2}");
}

/* Every branch of what the pod requires gets the condition. */
static void no_branch_is_widened(void **state) {
    const struct fluid_locality l = required();
    comes_out(*state, &l,
              POD("", AFFINITY("'requiredDuringSchedulingIgnoredDuringExecution':{"
                               "'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':"
                               "'Exists'}]},{'matchExpressions':[{'key':'b','operator':'Exists'}]}"
                               "]}")),
              "REQ {a Exists & disk In ssd & zone In z1,z2} | {b Exists & disk In ssd & zone In "
              "z1,z2} PREF 90 {fluid.io/s-default-d In true}");
}

/* Of Fluid's own pods the profile's chain is run, with the policy's tiers in it, in every mode. */
static void takes_the_place_of_the_profiles_tiers(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = preferred();
    for (enum fluid_compat compat = FLUID_CORRECT; compat <= FLUID_LEGACY; compat++) {
        w->options.compat = compat;
        w->locality = &l;
        world_mutate(w, POD(SERVERFUL, ""));
        assert_string_equal(
            world_affinity(w),
            "REQ {disk In ssd} PREF 90 {fluid.io/s-default-d In true}; 30 {zone In z1,z2}");
        for (uint32_t i = 0; i < w->outcome.ran_count; i++)
            assert_ptr_not_equal(w->outcome.ran[i], &fluid_node_affinity_with_cache);
        assert_string_equal(doc_string(doc_object(doc_object(w->pod, "metadata"), "annotations"),
                                       "fluid.io/datasets-in-use"),
                            "d");
    }
}

static void others_keep_off(void **state) {
    struct fluid_locality l = preferred();
    comes_out(*state, &l, WITHOUT_DATA, "");
    l.keep_others_off = 100;
    comes_out(*state, &l, WITHOUT_DATA, "PREF 100 {fluid.io/dataset-num DoesNotExist}");
    comes_out(*state, &l, POD("'fluid.io/enable-injection':'true'", ""),
              "REQ {disk In ssd} PREF 90 {fluid.io/s-default-d In true}; 30 {zone In z1,z2}");
}

static void others_must_keep_off(void **state) {
    struct fluid_locality l = preferred();
    l.keep_others_off = 100;
    l.requires_others_off = true;
    comes_out(*state, &l, WITHOUT_DATA, "REQ {fluid.io/dataset-num DoesNotExist}");
    comes_out(*state, &l,
              "{'metadata':{'name':'w','labels':{'fluid.io/dataset':'default-d','role':"
              "'alluxio-worker'}},'spec':{}}",
              "");
    comes_out(
        *state, &l,
        "{'metadata':{'name':'p'},'spec':{'affinity':{'nodeAffinity':{"
        "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"
        "'matchExpressions':[{'key':'a','operator':'Exists'}]},{'matchExpressions':[{'key':"
        "'b','operator':'Exists'}]}]}}}}}",
        "REQ {a Exists & fluid.io/dataset-num DoesNotExist} | {b Exists & fluid.io/dataset-num "
        "DoesNotExist}");
}

static void opting_out_is_for_policies_too(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = preferred();
    w->locality = &l;
    world_mutate(w, POD("'fluid.io/enable-injection':'false'", ""));
    assert_int_equal(w->outcome.result, FLUID_SKIPPED);
    assert_string_equal(world_affinity(w), "");
}

static void what_is_not_known_matters_where_it_is_required(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = preferred(), must = required();
    fluid_store_remove(w->store, (struct fluid_key){FLUID_DATASET, "default", "d"});
    w->locality = &l;
    world_mutate(w, POD("", ""));
    assert_int_equal(w->outcome.result, FLUID_SKIPPED);
    assert_contains(w->outcome.message, "'d'");
    w->locality = &must;
    world_mutate(w, POD("", ""));
    assert_int_equal(w->outcome.result, FLUID_FAILED);
}

static void scale_in_is_avoided(void **state) {
    struct world *w = *state;
    const struct fluid_locality l = preferred();
    w->options.scale_in = true;
    comes_out(w, &l, POD("", ""),
              "REQ {disk In ssd & data.fluid.io/storage-scalein-default-d NotIn true} PREF 90 "
              "{fluid.io/s-default-d In true}; 30 {zone In z1,z2}");
}

static void memory_runs_out(void **state) {
    struct world *w = *state;
    struct err err = {0};
    const struct fluid_locality l = preferred();
    struct world_pod pod;
    world_read(world_text(w, POD("", "")), &w->arena, &pod);
    struct fluid_question q = {
        .pod = &pod.pod, .details = &pod.details, .namespace = STR("default"), .locality = &l};
    places = -1;
    assert_int_equal(fluid_mutate(w->store, &w->options, &q, &w->arena, &w->outcome, &err),
                     -ENOMEM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(tiers_are_where_the_workers_are),
        TEST(without_tiers_it_is_the_host),
        TEST(required_is_the_widest_tier),
        TEST(a_pods_own_label_requires_too),
        TEST(a_pods_own_word_takes_the_place_of_preferences),
        TEST(what_is_required_is_required_beside_a_pods_own_word),
        TEST(no_branch_is_widened),
        TEST(takes_the_place_of_the_profiles_tiers),
        TEST(others_keep_off),
        TEST(others_must_keep_off),
        TEST(opting_out_is_for_policies_too),
        TEST(what_is_not_known_matters_where_it_is_required),
        TEST(scale_in_is_avoided),
        TEST(memory_runs_out),
    };
    return cmocka_run_group_tests_name("policy locality", tests, NULL, NULL);
}
