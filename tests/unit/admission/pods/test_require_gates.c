/*
 * Pods with schedulingGates: nobody places them, and who may change them may narrow where they go.
 * So they are validated once more when their last gate goes, whoever takes it away. Who creates
 * which pods is in test_require.c. upstream: pkg/apis/core/validation ValidatePodUpdate, for what
 * may be changed meanwhile.
 */
#include "admission/pods/require.h"

#include "unit/cluster_builder.h"

#define TWO_ZONES                                                                                  \
    "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","               \
    "\"minDomains\":2}]"
#define GATE(name) "\"schedulingGates\":[{\"name\":\"" name "\"}]"
#define LABELS "\"labels\":{\"app\":\"web\"}"
#define OWNED(group, kind)                                                                         \
    ",\"ownerReferences\":[{\"apiVersion\":\"" group "\",\"kind\":\"" kind                         \
    "\",\"name\":\"o\",\"uid\":\"o\",\"controller\":true}]"
/* What the webhook has injected: its author's request had none. */
#define SPREAD_BY(selector, more)                                                                  \
    "\"topologySpreadConstraints\":[{\"topologyKey\":\"zone\",\"maxSkew\":1,"                      \
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{" selector        \
    "}}" more "}]"
#define SPREAD SPREAD_BY("\"app\":\"web\"", ",\"minDomains\":2")
#define INJECTED ",\"managedFields\":[{\"fieldsV1\":{\"f:spec\":{\"f:containers\":{}}}}]"
#define POD(metadata, spec) "{\"metadata\":{" metadata "},\"spec\":{" spec "}}"
#define TERM(term)                                                                                 \
    ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[" term "]}}}"
#define PINNED                                                                                     \
    TERM("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}")
#define ZONES(zones)                                                                               \
    TERM("{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[" zones "]}]}")

struct fixture {
    struct cluster c;
    struct policy policy;
    struct review review;
    struct pod_evasion found;
    struct review_answer answer;
    enum admission result;
};

static void set_mode(struct fixture *f, const char *mode, const char *more) {
    struct json_reader r;
    struct err err;
    struct str text = arena_printf(&f->c.arena,
                                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"%s\","
                                   "\"pods\":{" TWO_ZONES "%s}}}",
                                   mode, more);
    json_reader_init(&r, text, &f->c.arena, "policy");
    policy_decode(&r, &f->policy);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(f->policy.problem, "");
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.review = {.uid = STR("u"),
                                    .resource = STR("pods"),
                                    .operation = STR("UPDATE"),
                                    .namespace = STR("shop"),
                                    .user = STR("ann")}};
    cluster_open(&f.c);
    set_mode(&f, "Require", "");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static void review(struct fixture *f, const struct admitted_kind *kind) {
    const struct pod_options options = {.head.policies = &f->policy,
                                        .head.policy_count = 1,
                                        .cache = f->c.cache,
                                        .evasion = &f->found};
    struct patch patch;
    f->found = (struct pod_evasion){.evasion = EVASION_NONE};
    f->result = admit_object(kind, &options.head, &f->review, &f->c.arena, &patch, &f->answer);
    assert_int_equal(patch.count, 0);
}

static void update(struct fixture *f, const char *old, const char *pod) {
    f->review.old_object = str_of(old);
    f->review.object = str_of(pod);
    review(f, &validated_pods);
}

static void expect(const struct fixture *f, const char *name, enum evasion want) {
    if (f->found.evasion != want)
        fail_msg("%s: '%s', not '%s'", name, evasion_reason(f->found.evasion),
                 evasion_reason(want));
}

static void is_left_alone(const struct fixture *f, const char *why) {
    expect(f, why, EVASION_NONE);
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_true(f->answer.allowed);
    assert_int_equal(f->answer.warning_count, 0);
    assert_int_equal(f->answer.annotation_count, 1);
    assert_str(f->answer.annotations[0].key, "unchanged");
    assert_str(f->answer.annotations[0].value, why);
}

#define GATED POD(LABELS, GATE("a.example/b") "," SPREAD)
/* What only a pod that evades has. */
#define BAD(gates) POD(LABELS, gates SPREAD PINNED)

/* ---- which updates are validated ---- */

static void only_when_the_last_gate_goes(void **state) {
    static const char *const others[][2] = {
        /* it keeps one; it has two and loses one; it had none, as a list or at all */
        {GATED, BAD(GATE("a.example/b") ",")},
        {POD(LABELS, "\"schedulingGates\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
         BAD(GATE("b") ",")},
        {POD(LABELS, "\"schedulingGates\":[]"), BAD("")},
        {POD(LABELS, "\"schedulingGates\":null"), BAD("")},
        {POD(LABELS, ""), BAD("")},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        update(f, others[i][0], others[i][1]);
        is_left_alone(f, "a pod whose last scheduling gate is not removed by this change");
    }
    update(f, GATED, BAD("\"schedulingGates\":[],"));
    expect(f, "an empty list of gates", EVASION_NODE_CHOSEN);
    update(f, GATED, BAD(""));
    expect(f, "no gates", EVASION_NODE_CHOSEN);
    /* Not Kueue's only. */
    update(f, POD(LABELS, GATE("kueue.x-k8s.io/admission")), BAD(""));
    expect(f, "a gate of Kueue's", EVASION_NODE_CHOSEN);
}

/* Else nobody could take its finalizers away. */
static void a_pod_that_is_going_may_go(void **state) {
    struct fixture *f = *state;
    update(f, GATED, POD(LABELS ",\"deletionTimestamp\":\"2025-01-01T00:00:00Z\"", SPREAD PINNED));
    is_left_alone(f, "a pod that is being deleted");
}

static void the_mutating_webhook_sees_no_updates(void **state) {
    struct fixture *f = *state;
    f->review.old_object = STR(GATED);
    f->review.object = STR(POD(LABELS, ""));
    review(f, &admitted_pods);
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_int_equal(f->answer.annotation_count, 0);
}

static void a_pod_that_cannot_be_read_as_it_was(void **state) {
    struct fixture *f = *state;
    update(f, "{\"spec\":[]}", BAD(""));
    assert_int_equal(f->result, ADMISSION_FAILED);
    assert_true(f->answer.allowed);
    assert_int_equal(f->answer.warning_count, 1);
    assert_contains(arena_cstr(&f->c.arena, f->answer.warnings[0]), "old Pod.spec: expected");
}

/* ---- what is held against the pod then ---- */

static const struct {
    const char *name, *old, *pod;
    enum evasion want;
    const char *why; /* NULL: it is admitted */
} rows[] = {
    {"as it was", GATED, POD(LABELS, SPREAD), EVASION_NONE, NULL},
    {"of Kueue, which the webhook has softened", POD(LABELS, GATE("kueue.x-k8s.io/admission")),
     POD(LABELS INJECTED, SPREAD_BY("\"app\":\"web\"", "")), EVASION_NONE, NULL},
    {"with a nodeSelector of another key", GATED,
     POD(LABELS, SPREAD ",\"nodeSelector\":{\"disk\":\"ssd\"}"), EVASION_NONE, NULL},
    {"with as many zones as are wanted", GATED, POD(LABELS, SPREAD ZONES("\"a\",\"b\"")),
     EVASION_NONE, NULL},
    {"with one zone by affinity", GATED, POD(LABELS, SPREAD ZONES("\"a\"")), EVASION_NODE_TERMS,
     "names 1 domains of 'zone', and the policy wants 2"},
    {"with one zone by selector", GATED, POD(LABELS, SPREAD ",\"nodeSelector\":{\"zone\":\"a\"}"),
     EVASION_NODE_TERMS, "names 1 domains"},
    {"with one zone from the beginning", POD(LABELS, GATE("g") "," SPREAD ZONES("\"a\"")),
     POD(LABELS, SPREAD ZONES("\"a\"")), EVASION_NODE_TERMS, "names 1 domains"},
    {"with a node", GATED, POD(LABELS, SPREAD PINNED), EVASION_NODE_CHOSEN,
     "it was changed by 'ann'"},
    {"with a DaemonSet that is new", GATED,
     POD(LABELS OWNED("apps/v1", "DaemonSet"), SPREAD PINNED), EVASION_DAEMON_SET,
     "but changed by 'ann'"},
    {"with the DaemonSet that it was created for",
     POD(LABELS OWNED("apps/v1", "DaemonSet"), GATE("g") PINNED),
     POD(LABELS OWNED("apps/v1", "DaemonSet"), "\"hostNetwork\":true" PINNED), EVASION_NONE, NULL},
    {"of a DaemonSet no more", POD(LABELS OWNED("apps/v1", "DaemonSet"), GATE("g") PINNED),
     POD(LABELS, SPREAD PINNED), EVASION_NODE_CHOSEN, "only DaemonSets choose nodes"},
    {"with a Node", GATED, POD(LABELS OWNED("v1", "Node"), SPREAD), EVASION_MIRROR,
     "names Node 'o' as its controller"},
    {"with a Node that was added before", POD(LABELS OWNED("v1", "Node"), GATE("g")),
     POD(LABELS OWNED("v1", "Node"), SPREAD), EVASION_MIRROR, "names Node 'o'"},
    {"without labels", GATED, POD("\"labels\":{}", SPREAD), EVASION_NO_GROUP, "lacks the labels"},
    {"with the mark of a unit", GATED,
     POD("\"labels\":{\"app\":\"web\",\"leaderworkerset.sigs.k8s.io/name\":\"l\","
         "\"leaderworkerset.sigs.k8s.io/worker-index\":\"3\"}",
         SPREAD ZONES("\"a\"")),
     EVASION_UNIT, "not the first pod of its unit"},
    {"with a scheduler that the policy does not list", GATED,
     POD(LABELS, SPREAD ",\"schedulerName\":\"mine\""), EVASION_SCHEDULER, "'mine'"},
    {"with a constraint of its author's that asks for less", GATED,
     POD(LABELS, SPREAD_BY("\"app\":\"web\"", "")), EVASION_CONSTRAINT_WEAKER, "minDomains 1"},
    {"with a constraint that counts others", GATED,
     POD(LABELS, SPREAD_BY("\"app\":\"db\"", ",\"minDomains\":2")), EVASION_CONSTRAINT_NARROWER,
     "does not count"},
};

static void what_it_is_by_then_counts(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        update(f, rows[i].old, rows[i].pod);
        expect(f, rows[i].name, rows[i].want);
        assert_int_equal(f->answer.allowed, rows[i].why == NULL);
        assert_int_equal(f->answer.warning_count, 0);
        if (rows[i].why != NULL) {
            assert_int_equal(f->answer.code, 403);
            assert_contains(arena_cstr(&f->c.arena, f->answer.message), rows[i].why);
        }
    }
}

/* A controller that takes gates away is no creator, and a kubelet may not be one. */
static void whoever_takes_the_gate_away(void **state) {
    static const char *const users[] = {
        "system:node:n",
        "system:kube-controller-manager",
        "system:serviceaccount:kube-system:daemon-set-controller",
        "system:serviceaccount:kueue-system:kueue-controller-manager",
        "",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        f->review.user = str_of(users[i]);
        update(f, GATED, BAD(""));
        expect(f, users[i], EVASION_NODE_CHOSEN);
        update(f, GATED, POD(LABELS, SPREAD));
        expect(f, users[i], EVASION_NONE);
    }
}

static void what_was_not_injected_is_no_evasion(void **state) {
    struct fixture *f = *state;
    update(f, POD(LABELS, GATE("g")), POD(LABELS, ""));
    expect(f, "without the constraint", EVASION_NOT_INJECTED);
    assert_true(f->answer.allowed);
    assert_int_equal(f->answer.warning_count, 1);
}

static void without_require_it_is_only_counted(void **state) {
    struct fixture *f = *state;
    set_mode(f, "Enforce", "");
    update(f, GATED, BAD(""));
    expect(f, "mode Enforce", EVASION_NODE_CHOSEN);
    assert_int_equal(f->found.mode, POLICY_ENFORCE);
    assert_true(f->answer.allowed);
}

/* The pod itself is among those that live, with all of its labels. */
static void it_is_not_asked_for_company(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a x");
    cache_write_begin(f->c.cache);
    cache_sync_begin(f->c.cache, CACHE_ALL_KINDS);
    cache_sync_end(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
    cluster_nodes(&f->c, "a x");
    cluster_pods(&f->c, "shop/a:app=web+me=1");
    const char *pod = POD("\"labels\":{\"app\":\"web\",\"me\":\"2\"}",
                          SPREAD_BY("\"app\":\"web\",\"me\":\"2\"", ",\"minDomains\":2"));
    f->review.operation = STR("CREATE");
    update(f, "", pod);
    expect(f, "a group of one", EVASION_GROUP_OF_ONE);
    f->review.operation = STR("UPDATE");
    update(f, POD(LABELS, GATE("g")), pod);
    expect(f, "an update", EVASION_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_when_the_last_gate_goes),
        TEST(a_pod_that_is_going_may_go),
        TEST(the_mutating_webhook_sees_no_updates),
        TEST(a_pod_that_cannot_be_read_as_it_was),
        TEST(what_it_is_by_then_counts),
        TEST(whoever_takes_the_gate_away),
        TEST(what_was_not_injected_is_no_evasion),
        TEST(without_require_it_is_only_counted),
        TEST(it_is_not_asked_for_company),
    };
    return cmocka_run_group_tests_name("require_gates", tests, NULL, NULL);
}
