/* Unknown members of users' objects: misspelt, in another case, at another level. Expected: the
 * types of k8s.io/api v0.36.3, open-cluster-management.io/api v1.2.0 and karmada v1.18.1. */
#include "findings/schemas.h"

#include "unit/unit.h"

#include <errno.h>

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 22);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* Checks an object written with ' for "; `want` is "PATH: MESSAGE. REMEDY|..." */
static void check(const struct schema_document *document, const char *json, const char *want) {
    struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf text = {0}, said = {0};
    for (; *json != '\0'; json++)
        strbuf_append_char(&text, *json == '\'' ? '"' : *json);
    assert_int_equal(schema_check(strbuf_str(&text), document, &f), 0);
    for (uint32_t i = 0; i < f.count; i++) {
        strbuf_append_str(&said, i > 0 ? STR("|") : STR(""));
        assert_int_equal(f.items[i].code, FINDING_UNKNOWN_FIELD);
        finding_say(&f.items[i], &said);
    }
    assert_str(strbuf_str(&said), want);
}

static const struct schema_document *of(const char *group, const char *kind) {
    return schema_of_workload((struct object_type){str_of(group), str_of(kind)});
}

static void pods(void **state) {
    const struct schema_document *pod = of("", "Pod");
    (void)state;
    check(pod, "{'spec':{'topologySpreadConstraint':[]}}",
          "spec.topologySpreadConstraint: 'topologySpreadConstraint' is no field; the nearest is "
          "'topologySpreadConstraints'. Write topologySpreadConstraints");
    check(pod, "{'spec':{'topologyspreadconstraints':[]}}",
          "spec.topologyspreadconstraints: 'topologyspreadconstraints' is no field; the nearest is "
          "'topologySpreadConstraints'. Write topologySpreadConstraints");
    check(pod, "{'tolerations':[],'spec':{}}",
          "tolerations: 'tolerations' is no field here: it belongs to spec. Move it to spec");
    check(pod, "{'spec':{'maxSkew':1}}",
          "spec.maxSkew: 'maxSkew' is no field here: it belongs to "
          "spec.topologySpreadConstraints[]. Move it to spec.topologySpreadConstraints[]");
    check(
        pod,
        "{'spec':{'topologySpreadConstraints':[{'maxSkew':1},{'maxskew':1,'labelSelector':{'"
        "matchLabel':{}}}]}}",
        "spec.topologySpreadConstraints[1].labelSelector.matchLabel: 'matchLabel' is no field; the "
        "nearest is 'matchLabels'. Write matchLabels|spec.topologySpreadConstraints[1].maxskew: "
        "'maxskew' is no field; the nearest is 'maxSkew'. Write maxSkew");
    check(pod, "{'spec':{'affinity':{'nodeAffinity':{'zzz':1}}}}",
          "spec.affinity.nodeAffinity.zzz: 'zzz' is no field. Remove it: it has no effect");
    /* newer members of a pod's spec are not known here */
    check(pod, "{'spec':{'somethingOfTomorrow':1},'extra':{}}", "");
}

static void workloads(void **state) {
    (void)state;
    check(of("apps", "Deployment"), "{'spec':{'topologySpreadConstraints':[],'replicas':1}}",
          "spec.topologySpreadConstraints: 'topologySpreadConstraints' is no field here: it "
          "belongs to spec.template.spec. Move it to spec.template.spec");
    check(of("apps", "Deployment"), "{'spec':{'template':{'nodeSelector':{}}}}",
          "spec.template.nodeSelector: 'nodeSelector' is no field here: it belongs to "
          "spec.template.spec. Move it to spec.template.spec");
    check(of("apps", "StatefulSet"), "{'spec':{'toleration':[]}}",
          "spec.toleration: 'toleration' is no field here: tolerations belongs to "
          "spec.template.spec. Move it to spec.template.spec");
    check(of("batch", "CronJob"), "{'spec':{'affinity':{}}}",
          "spec.affinity: 'affinity' is no field here: it belongs to "
          "spec.jobTemplate.spec.template.spec. Move it to spec.jobTemplate.spec.template.spec");
    check(of("batch", "CronJob"),
          "{'spec':{'jobTemplate':{'spec':{'template':{'spec':{'Tolerations':[]}}}}}}",
          "spec.jobTemplate.spec.template.spec.Tolerations: 'Tolerations' is no field; the nearest "
          "is 'tolerations'. Write tolerations");
}

/* Another kind's own members may have any name; its template is a pod's. */
static void other_kinds(void **state) {
    (void)state;
    assert_null(of("argoproj.io", "Rollout"));
    assert_null(of("example.com", "Deployment"));
    check(&schema_of_template, "{'spec':{'affinity':{'x':1},'templates':{}},'strategy':{}}", "");
    check(&schema_of_template, "{'spec':{'template':{'spec':{'tolerations':[{'keys':'a'}]}}}}",
          "spec.template.spec.tolerations[0].keys: 'keys' is no field; the nearest is 'key'. Write "
          "key");
}

static void placements(void **state) {
    const struct schema_document *p = &schema_of_placement;
    (void)state;
    check(p, "{'spec':{'numberOfCluster':1}}",
          "spec.numberOfCluster: 'numberOfCluster' is no field; the nearest is 'numberOfClusters'. "
          "Write numberOfClusters");
    check(p, "{'spec':{'predicates':[{'requiredClusterSelector':{'numberOfClusters':2}}]}}",
          "spec.predicates[0].requiredClusterSelector.numberOfClusters: 'numberOfClusters' is no "
          "field here: it belongs to spec. Move it to spec");
    check(p, "{'spec':{'spreadPolcy':{}}}",
          "spec.spreadPolcy: 'spreadPolcy' is no field; the nearest is 'spreadPolicy'. Write "
          "spreadPolicy");
    check(p, "{'spec':{'spreadConstraints':[]}}",
          "spec.spreadConstraints: 'spreadConstraints' is no field here: it belongs to "
          "spec.spreadPolicy. Move it to spec.spreadPolicy");
    check(p, "{'spec':{'prioritizerPolicy':{'configurations':[{'name':'Balance'}]}}}", "");
}

static void bindings(void **state) {
    const struct schema_document *b = &schema_of_binding;
    (void)state;
    check(b, "{'spec':{'spreadConstraints':[]}}",
          "spec.spreadConstraints: 'spreadConstraints' is no field here: it belongs to "
          "spec.placement. Move it to spec.placement");
    check(b, "{'spec':{'placement':{'spreadConstraints':[{'spreadByFeld':'region'}]}}}",
          "spec.placement.spreadConstraints[0].spreadByFeld: 'spreadByFeld' is no field; the "
          "nearest is 'spreadByField'. Write spreadByField");
}

/* Values of other types are passed over: whoever reads them says so. */
static void other_types(void **state) {
    (void)state;
    check(of("", "Pod"), "[]", "");
    check(of("", "Pod"), "{'spec':{'tolerations':{'a':1},'affinity':[]}}", "");
    check(of("", "Pod"), "{'spec':null}", "");
}

/* The first ones get the nearest name; all are found, and few are kept. */
static void many_unknown_members(void **state) {
    CLEANUP(arena_done) struct arena own;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct findings f;
    (void)state;
    findings_init(&f, &own);
    strbuf_append_str(&text, STR("{\"spec\":{\"a\":1"));
    for (int i = 0; i < 20000; i++)
        strbuf_appendf(&text, ",\"numberOfCluster%05d\":1", i);
    strbuf_append_str(&text, STR("}}"));
    assert_int_equal(schema_check(strbuf_str(&text), &schema_of_placement, &f), 0);
    assert_int_equal(f.count, 32);
    assert_int_equal(f.omitted, 20001 - 32);
    assert_str(f.items[1].remedy, "Write numberOfClusters");
    findings_add(&f, FINDING_EXPIRED, STR(""), STR(""), "%s", "the state has its place, too");
    assert_int_equal(f.items[0].code, FINDING_EXPIRED);
}

/* A nearest name costs steps for each known name: a Placement has some dozens. */
static void too_few_steps_for_a_nearest_name(void **state) {
    struct findings f = {.arena = &arena};
    (void)state;
    arena.steps.max = 1000;
    assert_int_equal(
        schema_check(STR("{\"spec\":{\"numberOfCluster\":1}}"), &schema_of_placement, &f), 0);
    assert_int_equal(f.count, 0);
    assert_int_equal(f.omitted, 1);
}

static void out_of_steps(void **state) {
    struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    (void)state;
    strbuf_append_str(&text, STR("{\"spec\":{\"a\":1"));
    for (int i = 0; i < 1000; i++)
        strbuf_appendf(&text, ",\"numberOfCluster%d\":1", i);
    strbuf_append_str(&text, STR("}}"));
    arena.steps = (struct steps){.max = 1000};
    assert_int_equal(schema_check(strbuf_str(&text), &schema_of_placement, &f), -E2BIG);
    arena.steps = (struct steps){.max = 0};
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods, setup, teardown),
        cmocka_unit_test_setup_teardown(workloads, setup, teardown),
        cmocka_unit_test_setup_teardown(other_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(placements, setup, teardown),
        cmocka_unit_test_setup_teardown(bindings, setup, teardown),
        cmocka_unit_test_setup_teardown(other_types, setup, teardown),
        cmocka_unit_test_setup_teardown(many_unknown_members, setup, teardown),
        cmocka_unit_test_setup_teardown(too_few_steps_for_a_nearest_name, setup, teardown),
        cmocka_unit_test_setup_teardown(out_of_steps, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
