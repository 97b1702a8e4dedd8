/*
 * How the group of a pod is found, where test_group.c has the pods that operators make: by a
 * controller's selector in all its forms, by what was read of one, and by as many siblings as are
 * looked at. What is compared is what pod_group_write() writes into the constraint.
 */
#include "admission/pods/group.h"

#include "base/limits.h"
#include "owners/memory.h"
#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
    struct cluster c;
    struct owners *owners;
    struct owner_wanted wanted; /* that ought to be read */
    struct policy policy;
    struct pod_group group;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.policy = {.name = {"p", 1}}};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a");
    *state = &f;
    return owners_new(&f.c.clock.clock, &f.owners, NULL);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    owners_free(f->owners);
    cluster_close(&f->c);
    return 0;
}

#define OWNER(api, kind)                                                                           \
    ",\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind                           \
    "\",\"name\":\"web\",\"uid\":\"u\",\"controller\":true}]"
#define SET OWNER("apps/v1", "ReplicaSet")
#define WIDGET OWNER("example.com/v1", "Widget")

static struct object pod_object(struct cluster *c, const char *name, const char *labels,
                                const char *owner, const char *node) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"labels\":{%s}%s},"
                   "\"spec\":{\"nodeName\":\"%s\"}}",
                   name, labels, owner, node);
    return cluster_object(c, OBJECT_POD, arena_cstr(&c->arena, strbuf_str(&text)));
}

/* 0 or -errno; the group is the fixture's. */
static int find(struct fixture *f, const char *labels, const char *owner) {
    const struct pod_options options = {
        .cache = f->c.cache, .owners = f->owners, .owner_wanted = &f->wanted};
    struct pod_question q = {.head = {.options = &options.head, .arena = &f->c.arena},
                             .policy = &f->policy};
    f->wanted = (struct owner_wanted){.unit = false};
    q.pod = pod_object(&f->c, "me", labels, owner, "").pod;
    f->c.arena.steps = (struct steps){.max = LIMIT_REVIEW_STEPS};
    int r = pod_group_find(&q, &f->group);
    f->c.arena.steps = (struct steps){.max = 0};
    return r;
}

/* The group is found from there, and the constraint has this selector. */
static void is_group(struct fixture *f, const char *labels, const char *owner,
                     enum group_source source, const char *want) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    assert_int_equal(find(f, labels, owner), 0);
    json_begin_object(&w);
    pod_group_write(&f->group, &w);
    json_end_object(&w);
    assert_int_equal(f->group.source, source);
    assert_str(strbuf_str(&text), want);
}

static void living(struct fixture *f, int number, const char *labels, const char *owner) {
    char name[20];
    (void)snprintf(name, sizeof name, "p%d", number);
    const struct object pod = pod_object(&f->c, name, labels, owner, "a");
    cluster_apply(&f->c, &pod);
}

#define BY(selector) "{\"labelSelector\":{" selector "}}"
#define BY_REVISION(selector) "{\"labelSelector\":{" selector "},\"matchLabelKeys\":[" HASH "]}"
#define LABELS(labels) "\"matchLabels\":{" labels "}"
#define EXPRESSIONS(list) "\"matchExpressions\":[" list "]"
#define APP "\"app\":\"web\""
#define HASH "\"pod-template-hash\""
#define REVISION APP "," HASH ":\"h\""

/* ---- the controller's selector ---- */

static void keep_selector(struct fixture *f, const char *selector) {
    struct str text =
        arena_printf(&f->c.arena,
                     "{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"},\"spec\":{"
                     "\"selector\":{%s}}}",
                     selector);
    cluster_workload(&f->c, OBJECT_REPLICA_SET, arena_cstr(&f->c.arena, text));
}

/* A key may not be in labelSelector and in matchLabelKeys: the API server refuses that. A selector
 * by what tells pods apart is one of a controller that has one pod. */
static void what_of_a_controllers_selector_is_used(void **state) {
#define IN(key, value) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[\"" value "\"]}"
#define HAS(key) "{\"key\":\"" key "\",\"operator\":\"Exists\"}"
    static const struct {
        const char *selector, *labels;
        enum group_source source;
        const char *want;
    } cases[] = {
        {LABELS(APP), APP ",\"me\":\"1\"", GROUP_SELECTOR, BY(LABELS(APP))},
        {LABELS(REVISION), REVISION, GROUP_SELECTOR, BY_REVISION(LABELS(APP))},
        {EXPRESSIONS(IN("app", "web") "," HAS("me")), REVISION ",\"me\":\"1\"", GROUP_SELECTOR,
         BY_REVISION(EXPRESSIONS(IN("app", "web") "," HAS("me")))},
        {LABELS(APP) "," EXPRESSIONS(HAS("me")), REVISION ",\"me\":\"1\"", GROUP_SELECTOR,
         BY_REVISION(LABELS(APP) "," EXPRESSIONS(HAS("me")))},
        /* its revision is all that it selects by, or one of its expressions */
        {LABELS(HASH ":\"h\""), REVISION, GROUP_LABELS, BY_REVISION(LABELS(APP))},
        {LABELS(APP) "," EXPRESSIONS(IN("pod-template-hash", "h")), REVISION, GROUP_LABELS,
         BY_REVISION(LABELS(APP))},
        /* its own pod's name, as label and as expression */
        {LABELS(APP ",\"strimzi.io/pod-name\":\"w\""), APP ",\"strimzi.io/pod-name\":\"w\"",
         GROUP_LABELS, BY(LABELS(APP))},
        {LABELS(APP) "," EXPRESSIONS(HAS("strimzi.io/pod-name")),
         APP ",\"strimzi.io/pod-name\":\"w\"", GROUP_LABELS, BY(LABELS(APP))},
        /* another pod's */
        {LABELS("\"app\":\"db\""), APP, GROUP_LABELS, BY(LABELS(APP))},
        {EXPRESSIONS(HAS("other")), APP, GROUP_LABELS, BY(LABELS(APP))},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        keep_selector(f, cases[i].selector);
        is_group(f, cases[i].labels, SET, cases[i].source, cases[i].want);
    }
    keep_selector(f, LABELS(APP));
    is_group(f, APP ",\"me\":\"1\"", "", GROUP_LABELS, BY(LABELS(APP ",\"me\":\"1\"")));
}

/* The labels by which the policy groups come before any selector; what names a unit's first pods
 * is known, whatever their controller selects; and revisions of a controller of one pod say
 * nothing. */
static void whom_a_selector_is_not_asked_about(void **state) {
    static const struct str app[] = {{"app", 3}};
#define LEADER                                                                                     \
    APP ",\"leaderworkerset.sigs.k8s.io/name\":\"l\","                                             \
        "\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\""
    struct fixture *f = *state;
    keep_selector(f, LABELS(APP));
    is_group(f, LEADER, SET, GROUP_LABELS, BY(LABELS(LEADER)));
    is_group(f, REVISION ",\"clickhouse.altinity.com/replica\":\"1\",\"tier\":\"x\"", SET,
             GROUP_LABELS, BY(LABELS(APP ",\"tier\":\"x\"")));
    keep_selector(f, LABELS("\"tier\":\"x\""));
    f->policy.group_by = (struct policy_group_by){.given = true, .labels = app, .label_count = 1};
    is_group(f, REVISION ",\"tier\":\"x\"", SET, GROUP_POLICY, BY_REVISION(LABELS(APP)));
    assert_int_equal(find(f, "\"tier\":\"x\"", SET), 0);
    assert_int_equal(f->group.source, GROUP_NONE);
}

/* All labels by which the policy groups, or there is no group. */
static void a_pod_has_all_labels_that_the_policy_groups_by(void **state) {
    static const struct str both[] = {{"app", 3}, {"tier", 4}};
    struct fixture *f = *state;
    f->policy.group_by = (struct policy_group_by){.given = true, .labels = both, .label_count = 2};
    is_group(f, APP ",\"tier\":\"x\"", "", GROUP_POLICY, BY(LABELS(APP ",\"tier\":\"x\"")));
    assert_int_equal(find(f, APP ",\"me\":\"x\"", ""), 0);
    assert_int_equal(f->group.source, GROUP_NONE);
    assert_int_equal(find(f, "\"tier\":\"x\",\"me\":\"x\"", ""), 0);
    assert_int_equal(f->group.source, GROUP_NONE);
}

/* ---- what was read ---- */

static void remember(struct fixture *f, const char *query) {
    const struct owner_ref ref = {STR("shop"), STR("example.com/v1"), STR("Widget"), STR("web")};
    owners_remember(f->owners, OWNER_SELECTOR, &ref, str_of(query), 1000);
}

/* The query of a scale subresource: what a LabelSelector can say of it. upstream:
 * labels.Parse(); a LabelSelector has no Gt and no Lt. */
static void what_of_a_read_selector_is_used(void **state) {
#define MINE APP ",\"n\":\"5\",\"tier\":\"x\""
    static const struct {
        const char *query;
        enum group_source source;
        const char *want;
    } cases[] = {
        {"app=web", GROUP_SELECTOR, BY(LABELS(APP))},
        {"app in (web)", GROUP_SELECTOR, BY(LABELS(APP))},
        {"app in (db,web)", GROUP_SELECTOR,
         BY(EXPRESSIONS("{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"db\",\"web\"]}"))},
        {"app=web,tier notin (y)", GROUP_SELECTOR,
         BY(LABELS(APP) "," EXPRESSIONS(
             "{\"key\":\"tier\",\"operator\":\"NotIn\",\"values\":[\"y\"]}"))},
        {"tier,!other", GROUP_SELECTOR,
         BY(EXPRESSIONS("{\"key\":\"other\",\"operator\":\"DoesNotExist\"},"
                        "{\"key\":\"tier\",\"operator\":\"Exists\"}"))},
        {"app=web,n>4", GROUP_LABELS, BY(LABELS(MINE))},
        {"app=web,n<6", GROUP_LABELS, BY(LABELS(MINE))},
        {"app=db", GROUP_LABELS, BY(LABELS(MINE))},
        {"app=,=", GROUP_LABELS, BY(LABELS(MINE))},
        {"", GROUP_LABELS, BY(LABELS(MINE))},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        remember(f, cases[i].query);
        is_group(f, MINE, WIDGET, cases[i].source, cases[i].want);
        assert_true(str_empty(f->wanted.ref.name));
    }
}

/* What Kubernetes' own controllers select need not be read. */
static void what_is_not_known_is_wanted_of_custom_kinds(void **state) {
    static const struct {
        const char *owner;
        bool wanted;
    } cases[] = {
        {WIDGET, true},
        {OWNER("ray.io/v1", "RayCluster"), true},
        {SET, false},
        {OWNER("batch/v1", "Job"), false},
        {OWNER("v1", "ReplicationController"), false},
        {"", false},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        is_group(f, APP, cases[i].owner, GROUP_LABELS, BY(LABELS(APP)));
        assert_int_equal(!str_empty(f->wanted.ref.name), cases[i].wanted);
    }
    /* ... and not of a pod whose group is found without. */
    assert_int_equal(find(f, LEADER, WIDGET), 0);
    assert_true(str_empty(f->wanted.ref.name));
}

/* ---- siblings ---- */

/* "Up to 64 siblings with different labels are looked at, the latest first." */
static void as_many_siblings_are_looked_at_as_is_said(void **state) {
    enum { LOOKED_AT = 64 };
    (void)state;
    for (int siblings = LOOKED_AT - 1; siblings <= LOOKED_AT + 1; siblings++) {
        struct fixture *f;
        char labels[100];
        assert_int_equal(setup((void **)&f), 0);
        living(f, 0, APP ",\"me\":\"0\",\"of-the-first\":\"yes\"", WIDGET);
        for (int i = 1; i < siblings; i++) {
            (void)snprintf(labels, sizeof labels, APP ",\"me\":\"%d\",\"of-the-first\":\"no\"", i);
            living(f, i, labels, WIDGET);
        }
        is_group(f, APP ",\"me\":\"x\",\"of-the-first\":\"yes\"", WIDGET, GROUP_SIBLINGS,
                 siblings <= LOOKED_AT ? BY(LABELS(APP ",\"of-the-first\":\"yes\""))
                                       : BY(LABELS(APP)));
        assert_int_equal(teardown((void **)&f), 0);
    }
}

/* Of labels that only some siblings have the most common counts first, and then those of the
 * siblings that are left: `c` is of one that does not share `a`. */
static void a_role_is_of_siblings_that_share_the_others(void **state) {
    struct fixture *f = *state;
    living(f, 1, "\"a\":\"1\",\"b\":\"1\",\"c\":\"0\"", WIDGET);
    living(f, 2, "\"a\":\"1\",\"b\":\"0\",\"c\":\"0\"", WIDGET);
    living(f, 3, "\"a\":\"1\",\"b\":\"2\",\"c\":\"0\"", WIDGET);
    living(f, 4, "\"a\":\"0\",\"b\":\"1\",\"c\":\"1\"", WIDGET);
    is_group(f, "\"a\":\"1\",\"b\":\"1\",\"c\":\"1\"", WIDGET, GROUP_SIBLINGS,
             BY(LABELS("\"a\":\"1\",\"b\":\"1\"")));
}

/* ---- the first pods of units ---- */

/* Sorted by key, as labels are, and each of them once. */
static void what_first_pods_have_is_part_of_their_group(void **state) {
    static const struct str app[] = {{"app", 3}};
    struct fixture *f = *state;
    f->policy.group_by = (struct policy_group_by){.given = true, .labels = app, .label_count = 1};
    is_group(f, LEADER, "", GROUP_POLICY,
             BY(LABELS(APP ",\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\"")));
    is_group(f, "\"ray.io/replica-host-index\":\"0\",\"app\":\"web\",\"z\":\"1\"", "", GROUP_POLICY,
             BY(LABELS(APP ",\"ray.io/replica-host-index\":\"0\"")));
    static const struct str zoned[] = {{"z", 1}};
    f->policy.group_by = (struct policy_group_by){.given = true, .labels = zoned, .label_count = 1};
    is_group(f, "\"ray.io/replica-host-index\":\"0\",\"app\":\"web\",\"z\":\"1\"", "", GROUP_POLICY,
             BY(LABELS("\"ray.io/replica-host-index\":\"0\",\"z\":\"1\"")));
    /* The labels that name the unit are not known to tell pods apart: they are there already. */
    f->policy.group_by = (struct policy_group_by){
        .given = true, .unit = POLICY_UNIT_LABEL, .unit_key = STR("spark-app-selector")};
    is_group(f, "\"spark-app-selector\":\"s\",\"spark-role\":\"driver\",\"z\":\"1\"", "",
             GROUP_LABELS, BY(LABELS("\"spark-role\":\"driver\",\"z\":\"1\"")));
}

/* ---- what it costs ---- */

/* The parts and bytes of what is written: keys, values, operators. */
static void what_a_group_costs(void **state) {
    struct fixture *f = *state;
    is_group(f, REVISION, "", GROUP_LABELS, BY_REVISION(LABELS(APP)));
    struct cost cost = pod_group_cost(&f->group);
    assert_int_equal(cost.steps, 2);
    assert_int_equal(cost.bytes, sizeof "appweb" - 1 + sizeof "pod-template-hash" - 1);
    remember(f, "app in (db,web)");
    assert_int_equal(find(f, APP, WIDGET), 0);
    cost = pod_group_cost(&f->group);
    assert_int_equal(cost.steps, 3);
    assert_int_equal(cost.bytes, sizeof "appIndbweb" - 1);
}

/* Each label costs steps, so that none are left for too many of them. */
static void too_many_labels_are_refused(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf labels = {0};
    for (int i = 0; i < 130000; i++)
        strbuf_appendf(&labels, "%s\"k%06d\":\"\"", i > 0 ? "," : "", i);
    strbuf_append_char(&labels, '\0');
    assert_int_equal(find(f, labels.p, ""), -E2BIG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_of_a_controllers_selector_is_used),
        TEST(whom_a_selector_is_not_asked_about),
        TEST(a_pod_has_all_labels_that_the_policy_groups_by),
        TEST(what_of_a_read_selector_is_used),
        TEST(what_is_not_known_is_wanted_of_custom_kinds),
        cmocka_unit_test(as_many_siblings_are_looked_at_as_is_said),
        TEST(a_role_is_of_siblings_that_share_the_others),
        TEST(what_first_pods_have_is_part_of_their_group),
        TEST(what_a_group_costs),
        TEST(too_many_labels_are_refused),
    };
    return cmocka_run_group_tests_name("group_find", tests, NULL, NULL);
}
