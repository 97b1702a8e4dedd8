/*
 * Which pods are edited, by which plugins, and how: everything but what the recorded pods of
 * tests/conformance/test_fluid_pods.c say already.
 */
#include "data/fluid/mutate.h"

#include "unit/data/fluid/world.h"

#include <errno.h>
#include <stdio.h>

#define VOLUME(claim) "{'name':'v-" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define SERVERFUL "'fuse.serverful.fluid.io/inject':'true'"
/* A pod that mounts dataset d; more labels, annotations and members of spec can be given. */
#define POD_OF(volumes, labels, annotations, spec)                                                 \
    "{'metadata':{'name':'p','labels':{" labels "},'annotations':{" annotations                    \
    "}},'spec':{'volumes':[" volumes "]" spec "}}"
#define POD(labels, spec) POD_OF(VOLUME("d"), labels, "", spec)
#define REQUIRED(terms)                                                                            \
    ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"              \
    "'nodeSelectorTerms':" terms "}}}"
#define CACHED(terms)                                                                              \
    "'cacheAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"                          \
    "'nodeSelectorTerms':" terms "}}"
#define IN(key, value) "{'key':'" key "','operator':'In','values':['" value "']}"
#define ZONE "topology.kubernetes.io/zone"

/* ---- which pods ---- */

static void labels_decide(void **state) {
    (void)state;
    static const struct {
        const char *labels, *namespace_label;
        enum fluid_compat compat;
        enum fluid_result want;
    } cases[] = {
        {"", "", FLUID_CORRECT, FLUID_SKIPPED},
        {SERVERFUL, "", FLUID_CORRECT, FLUID_EDITED},
        {"'fuse.serverful.fluid.io/inject':'True'", "", FLUID_CORRECT, FLUID_SKIPPED},
        {SERVERFUL ",'fluid.io/enable-injection':'false'", "", FLUID_CORRECT, FLUID_SKIPPED},
        {SERVERFUL ",'fluid.io/enable-injection':'no'", "", FLUID_CORRECT, FLUID_EDITED},
        {SERVERFUL ",'done.sidecar.fluid.io/inject':'true'", "", FLUID_HEAD, FLUID_SKIPPED},
        /* the original design's words */
        {"'Fluid-Injection':'enabled'", "", FLUID_CORRECT, FLUID_EDITED},
        {"'Fluid-Injection':'enabled'", "", FLUID_HEAD, FLUID_SKIPPED},
        {"", "enabled", FLUID_CORRECT, FLUID_EDITED},
        {"", "enabled", FLUID_HEAD, FLUID_SKIPPED},
        {"", "'Fluid-Injection':'disabled'", FLUID_CORRECT, FLUID_SKIPPED},
        {"'Fluid-Injection':'disabled'", "enabled", FLUID_CORRECT, FLUID_SKIPPED},
        {SERVERFUL ",'Fluid-Injection':'disabled'", "", FLUID_CORRECT, FLUID_SKIPPED},
        {SERVERFUL ",'Fluid-Injection':'disabled'", "", FLUID_HEAD, FLUID_EDITED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        char json[1024];
        struct err err = {0};
        world_init(&w);
        world_dataset(&w, "d", "", "");
        w.options.compat = cases[i].compat;
        (void)snprintf(json, sizeof json, POD("%s", ""), cases[i].labels);
        struct world_pod pod;
        world_read(world_text(&w, json), &w.arena, &pod);
        const struct label label = {STR("Fluid-Injection"), str_of(cases[i].namespace_label)};
        const struct labels labels = {&label, label.value.n > 0};
        struct fluid_question q = {.pod = &pod.pod,
                                   .details = &pod.details,
                                   .namespace = STR("default"),
                                   .namespace_labels = &labels};
        assert_int_equal(fluid_mutate(w.store, &w.options, &q, &w.arena, &w.outcome, &err), 0);
        if (w.outcome.result != cases[i].want)
            fail_msg("case %zu: %d %s", i, w.outcome.result, w.outcome.message);
        assert_int_equal(w.outcome.message[0] != '\0', cases[i].want == FLUID_SKIPPED);
        world_done(&w);
    }
}

static void serverless_wins(void **state) {
    (void)state;
    static const char *const labels[] = {
        SERVERFUL ",'serverless.fluid.io/inject':'true'",
        "'fuse.sidecar.fluid.io/inject':'true'",
        SERVERFUL ",'platform':''",
    };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        struct world w;
        char json[1024];
        world_init(&w);
        world_dataset(&w, "d", "", "");
        w.options.serverless_platform_key = "platform";
        (void)snprintf(json, sizeof json, POD("%s", ""), labels[i]);
        world_mutate(&w, json);
        assert_int_equal(w.outcome.result, FLUID_EDITED);
        assert_int_equal(w.outcome.ran_count, 2);
        assert_string_equal(w.outcome.ran[1]->name, "FuseSidecar");
        assert_true(w.outcome.left_to_fluid);
        assert_contains(w.outcome.notes[0], "FuseSidecar");
        assert_string_equal(world_affinity(&w), "");
        world_done(&w);
    }
}

static void prefetcher_has_work_when_asked(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_dataset(&w, "d", "", "");
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_false(w.outcome.left_to_fluid);
    world_mutate(&w,
                 POD_OF(VOLUME("d"), SERVERFUL, "'file-prefetcher.fluid.io/inject':'true'", ""));
    assert_true(w.outcome.left_to_fluid);
    assert_int_equal(w.outcome.ran_count, 5); /* the others run all the same */
    world_mutate(&w, POD_OF(VOLUME("d"), SERVERFUL,
                            "'file-prefetcher.fluid.io/inject':'true',"
                            "'file-prefetcher.fluid.io/inject-done':'true'",
                            ""));
    assert_false(w.outcome.left_to_fluid);
    world_done(&w);
}

static void namespaces_must_agree(void **state) {
    (void)state;
    static const struct {
        const char *pod, *request;
        int code;
    } cases[] = {{"", "n", 200}, {"n", "n", 200}, {"n", "m", 403}, {"n", "", 403}, {"", "", 500}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        bool head = i % 2 == 0;
        const int code = cases[i / 2].code;
        struct world w;
        struct err err = {0};
        char json[128];
        world_init(&w);
        w.options.compat = head ? FLUID_HEAD : FLUID_CORRECT;
        (void)snprintf(json, sizeof json, "{'metadata':{'namespace':'%s'}}", cases[i / 2].pod);
        struct world_pod pod;
        world_read(world_text(&w, json), &w.arena, &pod);
        struct fluid_question q = {
            .pod = &pod.pod, .details = &pod.details, .namespace = str_of(cases[i / 2].request)};
        assert_int_equal(fluid_mutate(w.store, &w.options, &q, &w.arena, &w.outcome, &err), 0);
        assert_int_equal(w.outcome.code, head ? code : 200);
        assert_int_equal(w.outcome.result, code == 200 ? FLUID_SKIPPED
                                           : head      ? FLUID_DENIED
                                                       : FLUID_FAILED);
        world_done(&w);
    }
}

/* In FLUID_HEAD a pod is refused for a missing claim before anyone asks whether it is Fluid's. */
static void failures_follow_the_mode(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_int_equal(w.outcome.result, FLUID_FAILED);
    assert_int_equal(w.outcome.code, 200);
    assert_contains(w.outcome.message, "'d'");
    assert_int_equal(w.outcome.missing.count, 1);
    world_mutate(&w, POD("", ""));
    assert_int_equal(w.outcome.result, FLUID_SKIPPED);
    w.options.compat = FLUID_HEAD;
    world_mutate(&w, POD("", ""));
    assert_int_equal(w.outcome.result, FLUID_DENIED);
    assert_int_equal(w.outcome.code, 500);
    assert_contains(w.outcome.message, "'d'");
    world_done(&w);
}

/* ---- placement ---- */

static void placed_pods_are_not_placed(void **state) {
    (void)state;
    static const char *const pods[] = {
        POD(SERVERFUL, ",'nodeName':'n1'"),
        POD_OF(VOLUME("d"), SERVERFUL, "'kubernetes.io/config.mirror':'x'", ""),
        "{'metadata':{'labels':{" SERVERFUL "},'ownerReferences':[{'apiVersion':'apps/v1',"
        "'kind':'DaemonSet','controller':true}]},'spec':{'volumes':[" VOLUME("d") "]}}",
    };
    struct world w;
    world_init(&w);
    world_dataset(&w, "d", "'fuse':{'nodeSelector':{'a':'1'}}", "");
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        w.options.compat = FLUID_CORRECT;
        world_mutate(&w, pods[i]);
        assert_string_equal(world_affinity(&w), "");
        assert_int_equal(w.outcome.ran_count, 3);
        assert_contains(w.outcome.notes[0], "RequireNodeWithFuse does not place");
        assert_non_null(doc_at(w.pod, "metadata.annotations"));
        w.options.compat = FLUID_HEAD;
        world_mutate(&w, pods[i]);
        assert_string_equal(world_affinity(&w),
                            "REQ {a In 1} PREF 100 {fluid.io/s-default-d In true}");
    }
    world_done(&w);
}

/* Only the controller says where a pod comes from. */
static void other_owners_are_no_daemon_sets(void **state) {
    (void)state;
    static const char *const owners[] = {"{'kind':'ReplicaSet','controller':true}",
                                         "{'kind':'DaemonSet','controller':false}",
                                         "{'kind':'DaemonSet'}",
                                         ("{'apiVersion':'apps.kruise.io/v1alpha1',"
                                          "'kind':'DaemonSet','controller':true}")};
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        char json[512];
        (void)snprintf(json, sizeof json,
                       "{'metadata':{'labels':{" SERVERFUL "},'ownerReferences':[%s]}}", owners[i]);
        world_mutate(&w, json);
        assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/dataset-num DoesNotExist}");
    }
    world_done(&w);
}

static void without_datasets_stays_away(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_mutate(&w, POD_OF("", SERVERFUL, "", ""));
    assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/dataset-num DoesNotExist}");
    world_mutate_again(&w);
    assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/dataset-num DoesNotExist}");
    w.options.compat = FLUID_LEGACY;
    world_mutate_again(&w);
    assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/dataset-num DoesNotExist}; "
                                            "100 {fluid.io/dataset-num DoesNotExist}");
    world_done(&w);
}

static void original_meaning_of_fuse(void **state) {
    (void)state;
    struct world w;
    struct err err = {0};
    world_init(&w);
    world_dataset(&w, "d", "'fuse':{'nodeSelector':{'a':'1'}}", "");
    w.options.original_fuse = true;
    world_mutate(&w, POD(SERVERFUL, REQUIRED("[{'matchExpressions':[" IN("x", "1") "]}]")));
    assert_string_equal(world_affinity(&w), "REQ {x In 1 & fluid.io/f-default-d In true} "
                                            "PREF 100 {fluid.io/s-default-d In true}");
    w.options.original_fuse = false;
    assert_int_equal(fluid_profile_parse(STR("plugins: {serverful: {withDataset: "
                                             "[RequireNodesWithFuse, PreferNodesWithCache]}}"),
                                         &w.arena, &w.profile, &err),
                     0);
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_string_equal(world_affinity(&w), "REQ {fluid.io/f-default-d In true} "
                                            "PREF 100 {fluid.io/s-default-d In true}");
    world_done(&w);
}

static void scale_in_narrows_every_branch(void **state) {
    (void)state;
    static const char *const pod = POD_OF(
        VOLUME("b") "," VOLUME("a"),
        SERVERFUL ",'fluid.io/dataset.a.sched':'required','fluid.io/dataset.b.sched':'required'",
        "",
        REQUIRED(
            "[{'matchExpressions':[" IN("x", "1") "]},{'matchExpressions':[" IN("y", "1") "]}]"));
    struct world w;
    world_init(&w);
    world_dataset(&w, "a", "", "");
    world_dataset(&w, "b", "", "");
    w.options.scale_in = true;
    for (int i = 0; i < 2; i++) {
        i == 0 ? world_mutate(&w, pod) : world_mutate_again(&w);
        assert_string_equal(world_affinity(&w),
                            "REQ {x In 1 & fluid.io/s-default-a In true & fluid.io/s-default-b In "
                            "true & data.fluid.io/storage-scalein-default-a NotIn true & "
                            "data.fluid.io/storage-scalein-default-b NotIn true} | "
                            "{y In 1 & fluid.io/s-default-a In true & fluid.io/s-default-b In "
                            "true & data.fluid.io/storage-scalein-default-a NotIn true & "
                            "data.fluid.io/storage-scalein-default-b NotIn true}");
    }
    /* in every mode, whatever the others do */
    w.options.compat = FLUID_LEGACY;
    world_mutate(
        &w, POD_OF(VOLUME("b") "," VOLUME("a"), SERVERFUL, "", ",'nodeSelector':{'" ZONE "':'z'}"));
    assert_string_equal(world_affinity(&w),
                        "REQ {data.fluid.io/storage-scalein-default-a NotIn true & "
                        "data.fluid.io/storage-scalein-default-b NotIn true}");
    w.options.scale_in = false;
    world_mutate(&w, POD_OF(VOLUME("b"), SERVERFUL, "", ",'nodeSelector':{'" ZONE "':'z'}"));
    assert_string_equal(world_affinity(&w), "");
    world_done(&w);
}

/* Keys that stand together in a term of cacheAffinity stay together, and tiers are AND-ed. */
static void required_tiers_stay_together(void **state) {
    (void)state;
    static const struct {
        const char *required, *cached, *want, *note;
    } cases[] = {
        {"[fluid.io/node, z, r]",
         "[{'matchExpressions':[" IN("z", "1") "," IN("disk", "ssd") "," IN(
             "r", "1") "]},{'matchExpressions':[" IN("z", "2") "," IN("r", "1") "]}]",
         "REQ {fluid.io/s-default-d In true & z In 1 & r In 1} | "
         "{fluid.io/s-default-d In true & z In 2 & r In 1}",
         NULL},
        {"[z]", "[{'matchExpressions':[" IN("z", "1") "]},{'matchExpressions':[" IN("z", "2") "]}]",
         "REQ {z In 1} | {z In 2}", NULL},
        /* one place says nothing about the zone: any zone will do */
        {"[z]",
         "[{'matchExpressions':[" IN("z", "1") "]},{'matchExpressions':[" IN("disk", "s") "]}]", "",
         "not every required tier"},
        {"[z]", "[]", "", "not every required tier"},
        {"[fluid.io/node, z]", "[]", "REQ {fluid.io/s-default-d In true}",
         "not every required tier"},
        {"[z, r]", "[{'matchExpressions':[" IN("z", "1") "]}]", "REQ {z In 1}",
         "not every required tier"},
        {"[fluid.io/fuse, fluid.io/node]", "[]",
         "REQ {fluid.io/s-default-d In true & fluid.io/f-default-d In true}", NULL},
        {"[]", "[]", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        char text[1024];
        struct err err = {0};
        world_init(&w);
        (void)snprintf(text, sizeof text, CACHED("%s"), cases[i].cached);
        world_dataset(&w, "d", "", text);
        (void)snprintf(text, sizeof text,
                       "plugins: {serverful: {withDataset: [NodeAffinityWithCache]}}\n"
                       "pluginConfig: [{name: NodeAffinityWithCache, args: '{preferred: [{name: "
                       "w, weight: 3}], required: %s}'}]",
                       cases[i].required);
        if (fluid_profile_parse(str_of(text), &w.arena, &w.profile, &err) != 0)
            fail_msg("%s", err.text);
        for (int again = 0; again < 2; again++) {
            if (again == 0)
                world_mutate(&w, POD(SERVERFUL ",'fluid.io/dataset.d.sched':'required'", ""));
            else
                world_mutate_again(&w);
            assert_string_equal(world_affinity(&w), cases[i].want);
            if (again == 0)
                assert_int_equal(w.outcome.note_count, cases[i].note != NULL);
            if (again == 0 && cases[i].note != NULL)
                assert_contains(w.outcome.notes[0], cases[i].note);
        }
        world_done(&w);
    }
}

static void own_word_counts_per_dataset(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_dataset(&w, "a", "", "");
    world_dataset(&w, "b", "", "");
    world_mutate(&w, POD_OF(VOLUME("a") "," VOLUME("b"), SERVERFUL, "",
                            ",'nodeSelector':{'fluid.io/s-default-a':'true'}"));
    assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/s-default-b In true}");
    w.options.compat = FLUID_HEAD;
    world_mutate(&w, POD_OF(VOLUME("a") "," VOLUME("b"), SERVERFUL, "",
                            ",'nodeSelector':{'fluid.io/s-default-a':'true'}"));
    assert_string_equal(world_affinity(&w), "PREF 100 {fluid.io/s-default-a In true}; "
                                            "100 {fluid.io/s-default-b In true}");
    world_done(&w);
}

static void too_many_terms_fail_open(void **state) {
    (void)state;
    struct world w;
    struct err err = {0};
    struct strbuf terms = {0};
    for (int i = 0; i < 9; i++)
        strbuf_appendf(&terms, "%s{'matchExpressions':[" IN("z", "%d") "]}", i > 0 ? "," : "", i);
    char status[2048];
    world_init(&w);
    (void)snprintf(status, sizeof status, CACHED("[%.*s]"), (int)terms.n, terms.p);
    world_dataset(&w, "a", "", status);
    for (char *c = status; *c != '\0'; c++) /* another key */
        if (strncmp(c, "'z'", 3) == 0)
            c[1] = 'k';
    world_dataset(&w, "b", "", status);
    assert_int_equal(
        fluid_profile_parse(STR("plugins: {serverful: {withDataset: [NodeAffinityWithCache]}}\n"
                                "pluginConfig: [{name: NodeAffinityWithCache, args: '{required: "
                                "[z, k]}'}]"),
                            &w.arena, &w.profile, &err),
        0);
    world_mutate(&w, POD_OF(VOLUME("a") "," VOLUME("b"),
                            SERVERFUL ",'fluid.io/dataset.a.sched':'required',"
                                      "'fluid.io/dataset.b.sched':'required'",
                            "", ""));
    assert_int_equal(w.outcome.result, FLUID_FAILED);
    assert_int_equal(w.outcome.code, 200);
    assert_contains(w.outcome.message, "NodeAffinityWithCache: cannot add node affinity: 81");
    strbuf_done(&terms);
    world_done(&w);
}

/* A label that the API server would refuse is never asked for. */
static void long_names_without_uid_are_left_out(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_dataset(&w, "d", "", "");
    world_put(&w, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'d',"
                  "'labels':{'fluid.io/s-x':'','fluid.io/dataset.referring-namespace':'"
                  "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn','fluid.io/dataset.referring-name':'"
                  "dddddddddddddddddddddddddddddddddddddddd'}}}");
    w.options.scale_in = true;
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_string_equal(world_affinity(&w), "");
    assert_int_equal(w.outcome.result, FLUID_EDITED);
    assert_contains(w.outcome.notes[0], "too long a name");
    world_done(&w);
}

/* A clock that goes on by `step` each time someone looks. */
struct moving_clock {
    struct clock clock;
    int64_t now, step;
};

static int64_t move(struct clock *clock) {
    struct moving_clock *moving = (struct moving_clock *)clock;
    return moving->now += moving->step;
}

static void slow_plugins_fail_open(void **state) {
    (void)state;
    struct world w;
    struct moving_clock clock = {.clock.now_ms = move, .step = 20};
    world_init(&w);
    world_dataset(&w, "d", "", "");
    w.options.clock = &clock.clock;
    w.options.plugin_budget_ms = 20;
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_int_equal(w.outcome.result, FLUID_EDITED);
    clock.step = 21;
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_int_equal(w.outcome.result, FLUID_FAILED);
    assert_int_equal(w.outcome.ran_count, 1);
    assert_string_equal(w.outcome.message,
                        "FilePrefetcher: took 21 ms, more than its limit of 20 ms");
    w.options.plugin_budget_ms = 0;
    world_mutate(&w, POD(SERVERFUL, ""));
    assert_int_equal(w.outcome.result, FLUID_EDITED);
    world_done(&w);
}

/* ---- mounts and annotation ---- */

static void mounts_of_datasets_propagate(void **state) {
    (void)state;
    static const char *const pod = POD(
        SERVERFUL,
        ",'containers':[{'volumeMounts':[{'name':'v-d'},{'name':'v-d','mountPropagation':'None'},"
        "{'name':'other'}]}],'initContainers':[{'volumeMounts':[{'name':'v-d',"
        "'mountPropagation':null}]}]");
    struct world w;
    world_init(&w);
    world_dataset(&w, "d", "", "");
    for (int head = 0; head < 2; head++) {
        w.options.compat = head ? FLUID_HEAD : FLUID_CORRECT;
        world_mutate(&w, pod);
        cJSON *want = world_document(
            "[{'volumeMounts':[{'name':'v-d','mountPropagation':'HostToContainer'},{'name':'v-d',"
            "'mountPropagation':'None'},{'name':'other'}]}]");
        assert_true(cJSON_Compare(doc_at(w.pod, "spec.containers"), want, true));
        cJSON_Delete(want);
        want = world_document(head ? "[{'volumeMounts':[{'name':'v-d','mountPropagation':null}]}]"
                                   : "[{'volumeMounts':[{'name':'v-d','mountPropagation':"
                                     "'HostToContainer'}]}]");
        assert_true(cJSON_Compare(doc_at(w.pod, "spec.initContainers"), want, true));
        cJSON_Delete(want);
    }
    world_done(&w);
}

static void usage_is_annotated(void **state) {
    (void)state;
    static const struct {
        const char *was, *want;
    } cases[] = {
        {"", "a,b"},           {"b", "a,b"},       {"old-dataset", "a,b,old-dataset"},
        {" z , a,,", "a,b,z"}, {"ab,a", "a,ab,b"}, {",", "a,b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        char json[1024];
        world_init(&w);
        world_dataset(&w, "a", "", "");
        world_dataset(&w, "b", "", "");
        (void)snprintf(json, sizeof json,
                       POD_OF(VOLUME("b") "," VOLUME("a"), SERVERFUL,
                              "'fluid.io/datasets-in-use':'%s','other':'x'", ""),
                       cases[i].was);
        for (int again = 0; again < 2; again++) {
            again == 0 ? world_mutate(&w, json) : world_mutate_again(&w);
            const cJSON *annotations = doc_at(w.pod, "metadata.annotations");
            assert_string_equal(doc_string(annotations, "fluid.io/datasets-in-use"), cases[i].want);
            assert_string_equal(doc_string(annotations, "other"), "x");
        }
        world_done(&w);
    }
}

/* What an arena of so many bytes makes of a pod that gets all there is. */
static int ask_within(struct world *w, struct str text, size_t bytes, struct str *ret) {
    struct arena arena;
    struct err err = {0};
    struct world_pod pod;
    arena_init(&arena, bytes);
    world_read(text, &w->arena, &pod);
    struct fluid_question q = {
        .pod = &pod.pod, .details = &pod.details, .namespace = STR("default")};
    int r = fluid_mutate(w->store, &w->options, &q, &arena, &w->outcome, &err);
    if (r == 0)
        *ret = world_edit(&pod, &w->outcome.edits, &w->arena);
    arena_done(&arena);
    return r;
}

/* Memory ends after every so many bytes: nothing half done is called done. */
static void memory_can_run_out(void **state) {
    (void)state;
    static const char *const pod =
        POD_OF(VOLUME("a") "," VOLUME("b"), SERVERFUL ",'fluid.io/dataset.a.sched':'required'", "",
               ",'containers':[{'volumeMounts':[{'name':'v-a'}]}]" REQUIRED(
                   "[{'matchExpressions':[" IN("x", "1") "]}]"));
    for (enum fluid_compat mode = FLUID_CORRECT; mode <= FLUID_LEGACY; mode++) {
        struct world w;
        struct str want = {0}, got = {0};
        int failures = 0;
        world_init(&w);
        for (int i = 0; i < 2; i++)
            world_dataset(&w, i == 0 ? "a" : "b", "'fuse':{'nodeSelector':{'f':'1'}}",
                          CACHED("[{'matchExpressions':[" IN(ZONE, "1") "]}]"));
        w.options.compat = mode;
        w.options.scale_in = true;
        struct str text = world_text(&w, pod);
        assert_int_equal(ask_within(&w, text, 1u << 20, &want), 0);
        for (size_t max = 0; max < 40000; max += 64) {
            int r = ask_within(&w, text, max, &got);
            assert_true(r == 0 || r == -ENOMEM);
            assert_true(r != 0 || str_eq(got, want));
            failures += r != 0;
        }
        assert_in_range(failures, 10, 40000 / 64 - 1);
        world_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_decide),
        cmocka_unit_test(serverless_wins),
        cmocka_unit_test(prefetcher_has_work_when_asked),
        cmocka_unit_test(namespaces_must_agree),
        cmocka_unit_test(failures_follow_the_mode),
        cmocka_unit_test(placed_pods_are_not_placed),
        cmocka_unit_test(other_owners_are_no_daemon_sets),
        cmocka_unit_test(without_datasets_stays_away),
        cmocka_unit_test(original_meaning_of_fuse),
        cmocka_unit_test(scale_in_narrows_every_branch),
        cmocka_unit_test(required_tiers_stay_together),
        cmocka_unit_test(own_word_counts_per_dataset),
        cmocka_unit_test(too_many_terms_fail_open),
        cmocka_unit_test(long_names_without_uid_are_left_out),
        cmocka_unit_test(slow_plugins_fail_open),
        cmocka_unit_test(mounts_of_datasets_propagate),
        cmocka_unit_test(usage_is_annotated),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
