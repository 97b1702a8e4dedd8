/* The plugin "fluid": what it patches, what it leaves alone, when it warns and when it denies. */
#include "admission/pods/pods.h"

#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
    struct cluster c;
    struct fluid_profile profile;
    struct pod_data data;
    struct fluid_store *store;
    struct pod_options options;
    struct policy policy;
    struct review review;
    struct patch patch;
    struct review_answer answer;
    enum admission result;
};

static void put(struct fixture *f, const char *object) {
    struct err err;
    cJSON *doc = cJSON_Parse(object);
    assert_non_null(doc);
    if (fluid_store_put(f->store, doc, &err) != 0)
        fail_msg("%s", err.text);
    cJSON_Delete(doc);
}

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){0};
    cluster_open(&f.c);
    f.store = fluid_store_new();
    assert_non_null(f.store);
    assert_int_equal(fluid_profile_default(&f.c.arena, &f.profile, &err), 0);
    f.data = (struct pod_data){.store = f.store, .options = {.profile = &f.profile}};
    f.options = (struct pod_options){.cache = f.c.cache, .data = &f.data};
    f.review = (struct review){.uid = STR("u"),
                               .resource = STR("pods"),
                               .operation = STR("CREATE"),
                               .namespace = STR("shop")};
    put(&f, "{\"apiVersion\":\"data.fluid.io/v1alpha1\",\"kind\":\"Dataset\",\"metadata\":{"
            "\"name\":\"ds\",\"namespace\":\"shop\"},\"status\":{\"phase\":\"Bound\",\"runtimes\":"
            "[{\"name\":\"ds\",\"namespace\":\"shop\",\"type\":\"alluxio\"}]}}");
    put(&f, "{\"apiVersion\":\"data.fluid.io/v1alpha1\",\"kind\":\"AlluxioRuntime\",\"metadata\":{"
            "\"name\":\"ds\",\"namespace\":\"shop\"}}");
    put(&f, "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
            "\"ds\",\"namespace\":\"shop\",\"labels\":{\"fluid.io/s-shop-ds\":\"true\"}}}");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    fluid_store_free(f->store);
    cluster_close(&f->c);
    return 0;
}

static void admit(struct fixture *f, const char *pod) {
    f->review.object = arena_str(&f->c.arena, str_of(pod));
    f->result = admit_object(&admitted_pods, &f->options.head, &f->review, &f->c.arena, &f->patch,
                             &f->answer);
}

static void patch_is(struct fixture *f, const char *patch) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    patch_write(&f->patch, &w);
    assert_str(strbuf_str(&out), patch);
    strbuf_done(&out);
}

static struct str annotation(const struct fixture *f, const char *key) {
    for (uint32_t i = 0; i < f->answer.annotation_count; i++)
        if (str_eq(f->answer.annotations[i].key, str_of(key)))
            return f->answer.annotations[i].value;
    return STR("");
}

#define META(labels, more) META_AND_SPEC(labels, more, "")
#define META_AND_SPEC(labels, more, spec)                                                          \
    "{\"metadata\":{\"name\":\"p\",\"labels\":{" labels "}" more "},\"spec\":{" spec               \
    "\"containers\":[{"                                                                            \
    "\"name\":\"c\",\"future\":12345678901234567890123,\"volumeMounts\":[{\"name\":\"v\","         \
    "\"mountPath\":\"/d\"}]}],\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{"            \
    "\"claimName\":\"ds\"}}]}}"
/* A pod of a DaemonSet of this API, and what the controllers of both kinds write into it. */
#define OWNED(api, spec)                                                                           \
    META_AND_SPEC(ASKS,                                                                            \
                  ",\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"DaemonSet\","      \
                  "\"name\":\"d\",\"uid\":\"1\",\"controller\":true}]",                            \
                  spec)
#define ONE_NODE                                                                                   \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[\"n1\"]}]}]}}},"
#define ASKS "\"fuse.serverful.fluid.io/inject\":\"true\""
#define ANNOTATION                                                                                 \
    "{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{"                               \
    "\"fluid.io/datasets-in-use\":\"ds\"}}"
#define PROPAGATION                                                                                \
    "{\"op\":\"add\",\"path\":\"/spec/containers/0/volumeMounts/0/mountPropagation\",\"value\":"   \
    "\"HostToContainer\"}"
#define AFFINITY                                                                                   \
    "{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{"                    \
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":100,\"preference\":{"        \
    "\"matchExpressions\":[{\"key\":\"fluid.io/s-shop-ds\",\"operator\":\"In\",\"values\":["       \
    "\"true\"]}]}}]}}}"

static void is_unchanged(struct fixture *f, const char *note) {
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_int_equal(f->patch.count, 0);
    assert_str(annotation(f, "fluid"), note);
}

static void edits_what_is_fluids_and_nothing_else(void **state) {
    struct fixture *f = *state;
    char document[2048];
    admit(f, META(ASKS, ""));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    assert_int_equal(f->answer.warning_count, 0);
    patch_is(f, "[" ANNOTATION "," PROPAGATION "," AFFINITY "]");
    assert_str(annotation(f, "fluid"),
               "ran: FilePrefetcher, RequireNodeWithFuse, NodeAffinityWithCache, "
               "MountPropagationInjector, DatasetUsageInjector");
    assert_in_range(f->patch.document.n, 1, sizeof document - 1);
    memcpy(document, f->patch.document.p, f->patch.document.n);
    document[f->patch.document.n] = '\0';
    assert_non_null(strstr(document, "12345678901234567890123"));
    admit(f, document); /* again */
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
}

static void runs_before_spread_which_sees_its_edits(void **state) {
    struct fixture *f = *state;
    struct policy_spread spread = {.topology_key = STR("zone"), .max_skew = 1};
    f->policy = (struct policy){.name = STR("all"), .spread = &spread, .spread_count = 1};
    f->options.head.policies = &f->policy;
    f->options.head.policy_count = 1;
    admit(f, META(ASKS, ""));
    assert_int_equal(f->patch.count, 4);
    assert_str(f->patch.operations[2].path, "/spec/affinity");
    assert_str(f->patch.operations[3].path, "/spec/topologySpreadConstraints");
}

static void most_pods_are_none_of_its_business(void **state) {
    struct fixture *f = *state;
    admit(f, META("\"app\":\"web\"", ""));
    is_unchanged(f, "");
    admit(f, META(ASKS ",\"fluid.io/enable-injection\":\"false\"", ""));
    is_unchanged(f, "the pod's label 'fluid.io/enable-injection' opts out");
    f->options.data = NULL;
    admit(f, META(ASKS, ""));
    is_unchanged(f, "");
}

/* Not only the usual one: whatever fluid_mutate() decides by has something to say. */
static void each_label_that_decides_is_seen(void **state) {
    struct fixture *f = *state;
    static const char *const pods[] = {
        META("\"serverless.fluid.io/inject\":\"true\"", ""),
        META("\"fuse.sidecar.fluid.io/inject\":\"true\"", ""),
        META("\"Fluid-Injection\":\"enabled\"", ""),
        META("\"Fluid-Injection\":\"disabled\"", ""),
        META("\"done.sidecar.fluid.io/inject\":\"true\"", ""),
        META("\"example.com/platform\":\"\"", ""),
    };
    f->data.options.serverless_platform_key = "example.com/platform";
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        admit(f, pods[i]);
        assert_false(str_empty(annotation(f, "fluid")));
    }
    f->data.options.serverless_platform_key = NULL;
    for (size_t i = 0; i + 1 < sizeof pods / sizeof pods[0]; i++) {
        admit(f, pods[i]);
        assert_false(str_empty(annotation(f, "fluid")));
    }
}

static void a_namespace_opts_in(void **state) {
    struct fixture *f = *state;
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"shop\",\"labels\":{"
                       "\"Fluid-Injection\":\"enabled\"}}}");
    admit(f, META("", ""));
    patch_is(f, "[" ANNOTATION "," PROPAGATION "," AFFINITY "]");
}

static void a_settled_pod_gets_all_but_affinity(void **state) {
    struct fixture *f = *state;
    admit(f, META(ASKS, ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\","
                        "\"name\":\"d\",\"uid\":\"1\",\"controller\":true}]"));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    patch_is(f, "[" ANNOTATION "," PROPAGATION "]");
    assert_str(annotation(f, "unchanged"), "");
    admit(f, META(ASKS, ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}"));
    is_unchanged(f, "");
    assert_str(annotation(f, "unchanged"), "a mirror pod");
}

/* Both plugins go by one definition: a pod that one of them takes to be placed, the other does too.
 */
static void both_plugins_mean_the_same_pods(void **state) {
    struct fixture *f = *state;
    struct policy_spread spread = {.topology_key = STR("zone"), .max_skew = 1};
    f->policy = (struct policy){.name = STR("all"), .spread = &spread, .spread_count = 1};
    f->options.head.policies = &f->policy;
    f->options.head.policy_count = 1;
    static const struct {
        const char *pod;
        bool placed;
    } cases[] = {
        {OWNED("apps/v1", ""), true},
        {OWNED("apps.kruise.io/v1alpha1", ONE_NODE), true},
        {OWNED("apps.kruise.io/v1alpha1", ""), false},
        {META(ASKS, ""), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool affinity = false, constraints = false;
        admit(f, cases[i].pod);
        assert_int_equal(f->result, ADMISSION_PATCHED);
        for (uint32_t k = 0; k < f->patch.count; k++) {
            struct str path = f->patch.operations[k].path;
            affinity = affinity || str_has_prefix(path, STR("/spec/affinity"));
            constraints = constraints || str_has_prefix(path, STR("/spec/topologySpread"));
        }
        if (affinity == cases[i].placed || constraints == cases[i].placed)
            fail_msg("case %zu: affinity %d, constraints %d", i, affinity, constraints);
    }
}

#define PREFERS(weight, key, values)                                                               \
    "{\"weight\":" weight ",\"preference\":{\"matchExpressions\":[{\"key\":\"" key                 \
    "\",\"operator\":\"In\",\"values\":[" values "]}]}}"

/* Pods that are not Fluid's own; the zones are those of nodes with the dataset's label. */
static void a_policy_asks_for_locality(void **state) {
    struct fixture *f = *state;
    static const struct policy_tier tiers[] = {{STR("kubernetes.io/hostname"), 100},
                                               {STR("zone"), 25}};
    f->policy = (struct policy){.name = STR("near"),
                                .locality = POLICY_LOCALITY_PREFERRED,
                                .tiers = tiers,
                                .tier_count = 2};
    f->options.head.policies = &f->policy;
    f->options.head.policy_count = 1;
    cluster_apply_json(&f->c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"shop\"}}");
    cluster_nodes(&f->c, "x,+fluid.io/s-shop-ds=true a,+fluid.io/s-shop-ds=true");
    admit(f, META("", ""));
    assert_int_equal(f->answer.warning_count, 0);
    patch_is(f, "[{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":[" PREFERS(
                    "100", "fluid.io/s-shop-ds",
                    "\"true\"") "," PREFERS("25", "zone", "\"zone1\",\"zone2\"") "]}}}]");
    assert_str(annotation(f, "fluid"), "ran: RequireNodeWithFuse, PolicyLocality");
    f->policy.locality = POLICY_LOCALITY_DISABLED;
    admit(f, META("", ""));
    is_unchanged(f, "");
}

/* A dataset that is missing: a warning, or in upstream's modes a denial. */
static uint64_t steps_with_locality(struct fixture *f) {
    static const struct policy_tier tiers[] = {{STR("zone"), 25}, {STR("rack"), 5}};
    f->policy = (struct policy){.name = STR("near"),
                                .locality = POLICY_LOCALITY_PREFERRED,
                                .tiers = tiers,
                                .tier_count = 2};
    f->options.head.policies = &f->policy;
    f->options.head.policy_count = 1;
    admit(f, META("", ""));
    assert_int_equal(f->answer.warning_count, 0);
    return f->answer.steps;
}

/* For each tier all nodes are looked at, under the cache's lock. */
static void nodes_that_are_looked_at_are_counted(void **state) {
    enum { MANY = 100, TIERS = 2 };
    struct fixture *f = *state;
    cluster_apply_json(&f->c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"shop\"}}");
    cluster_nodes(&f->c, "x,+fluid.io/s-shop-ds=true,+rack=r");
    uint64_t few = steps_with_locality(f);
    for (int i = 0; i < MANY; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "n%d", i); /* fits */
        cluster_nodes(&f->c, name);
    }
    assert_in_range(steps_with_locality(f) - few, TIERS * MANY, 10 * TIERS * MANY);
}

static void denies_only_where_upstream_does(void **state) {
    struct fixture *f = *state;
    fluid_store_remove(f->store, (struct fluid_key){FLUID_DATASET, "shop", "ds"});
    admit(f, META(ASKS, ""));
    assert_int_equal(f->result, ADMISSION_FAILED);
    assert_true(f->answer.allowed);
    assert_int_equal(f->answer.warning_count, 1);
    assert_true(str_has_prefix(f->answer.warnings[0], STR("evenkeel: fluid: ")));
    assert_int_equal(f->patch.count, 0);
    static const enum fluid_compat modes[] = {FLUID_HEAD, FLUID_LEGACY};
    for (size_t i = 0; i < 2; i++) {
        f->data.options.compat = modes[i];
        admit(f, META(ASKS, ""));
        assert_int_equal(f->result, ADMISSION_DENIED);
        assert_false(f->answer.allowed);
        assert_int_equal(f->answer.code, 500);
        assert_false(str_empty(f->answer.message));
        assert_int_equal(f->answer.warning_count, 0);
        assert_int_equal(f->patch.count, 0);
    }
}

/* What only text can hold stays what it is. */
static void nothing_else_is_written_anew(void **state) {
    struct fixture *f = *state;
    admit(f, META(ASKS, ",\"future\":\"a\\u0000b\""));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    patch_is(f, "[" ANNOTATION "," PROPAGATION "," AFFINITY "]");
    assert_non_null(memmem(f->patch.document.p, f->patch.document.n, "a\\u0000b", 8));
}

static void memory_that_runs_out_leaves_the_pod_as_it_is(void **state) {
    struct fixture *f = *state;
    uint32_t failed = 0, patched = 0;
    f->review.object = STR(META(ASKS, ""));
    for (size_t bytes = 1; bytes < 128u << 10; bytes += 256) {
        struct arena small;
        arena_init(&small, bytes);
        enum admission result = admit_object(&admitted_pods, &f->options.head, &f->review, &small,
                                             &f->patch, &f->answer);
        assert_true(f->answer.allowed);
        if (result == ADMISSION_FAILED)
            assert_int_equal(f->patch.count, 0);
        else
            assert_int_equal(f->patch.count, 3);
        failed += result == ADMISSION_FAILED;
        patched += result == ADMISSION_PATCHED;
        arena_done(&small);
    }
    assert_true(failed > 0 && patched > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edits_what_is_fluids_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_before_spread_which_sees_its_edits, setup, teardown),
        cmocka_unit_test_setup_teardown(most_pods_are_none_of_its_business, setup, teardown),
        cmocka_unit_test_setup_teardown(each_label_that_decides_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_namespace_opts_in, setup, teardown),
        cmocka_unit_test_setup_teardown(a_settled_pod_gets_all_but_affinity, setup, teardown),
        cmocka_unit_test_setup_teardown(both_plugins_mean_the_same_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(a_policy_asks_for_locality, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_that_are_looked_at_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(denies_only_where_upstream_does, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_else_is_written_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_that_runs_out_leaves_the_pod_as_it_is, setup,
                                        teardown),
    };
    return cmocka_run_group_tests_name("fluid plugin", tests, NULL, NULL);
}
