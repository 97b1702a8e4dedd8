/* What a workload is, which pods count, and what a report says of them. */
#include "cache/placed.h"
#include "evenness/evenness.h"
#include "evenness/latest.h"
#include "model/workload.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

static const struct str zone = {"zone", 4};

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c); /* a and b in zone1, o in zone3, q and r in zone2 */
    cluster_nodes(&c, "a b o q r");
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

struct owned {
    const char *api, *kind, *name; /* NULL: it has no controller */
    const char *labels, *spec;
};

static void add_to(struct cluster *c, const char *namespace, const char *node,
                   const struct owned *owned) {
    static int number;
    char owner[200] = "", text[900];
    if (owned->kind != NULL)
        (void)snprintf(owner, sizeof owner,
                       ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\","
                       "\"name\":\"%s\",\"controller\":true}]",
                       owned->api, owned->kind, owned->name);
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"%s\",\"labels\":{%s}%s},"
                   "\"spec\":{\"nodeName\":\"%s\"%s}}",
                   number++, namespace, owned->labels != NULL ? owned->labels : "", owner, node,
                   owned->spec != NULL ? owned->spec : "");
    cluster_apply_json(c, OBJECT_POD, text);
}

static void add(struct cluster *c, const char *nodes, struct owned owned) {
    struct str rest = str_of(nodes), word;
    while (next_word(&rest, " ", &word))
        add_to(c, "shop", arena_cstr(&c->arena, word), &owned);
}

static struct evenness_report *measure(struct cluster *c, const struct str *keys, uint32_t count) {
    struct evenness_report *report = NULL;
    struct err err;
    if (evenness_measure(c->cache, keys, count, &report, &err) != 0)
        fail_msg("%s", err.text);
    return report;
}

/* "Deployment web zone1:2 zone2:0 skew 2 best 1 uneven", a line for each workload. */
static void expect_by(struct cluster *c, struct str by, const char *want) {
    struct evenness_report *report = measure(c, &by, 1);
    const struct evenness_key *key = &report->keys[0];
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < report->workload_count; i++) {
        const struct evenness_workload *w = &report->workloads[i];
        const struct evenness_result *r = &key->results[i];
        strbuf_appendf(&got, "%.*s %.*s", STR_ARG(w->kind), STR_ARG(w->name));
        for (uint32_t d = 0; d < r->count; d++) {
            const struct evenness_count *count = &key->counts[r->first + d];
            strbuf_appendf(&got, " %.*s:%u%s", STR_ARG(key->domains[count->domain].name),
                           count->pods, count->feasible ? "" : "!");
        }
        strbuf_appendf(&got, " skew %u best %u %s\n", r->skew, r->best,
                       evenness_state_names[r->state]);
    }
    strbuf_append_char(&got, '\0');
    assert_string_equal(got.p, want);
    evenness_report_free(report);
}

static void expect(struct cluster *c, const char *want) {
    expect_by(c, zone, want);
}

/* ---- workloads ---- */

static void owners_are_followed_to_the_top(void **state) {
    struct cluster *c = *state;
    const char *hash = "\"pod-template-hash\":\"6f\"";
    add(c, "a", (struct owned){"apps/v1", "ReplicaSet", "web-6f", hash, NULL});
    add(c, "o q",
        (struct owned){"apps/v1", "ReplicaSet", "web-7c", "\"pod-template-hash\":\"7c\"", NULL});
    add(c, "a", (struct owned){"apps/v1", "ReplicaSet", "alone", hash, NULL});
    add(c, "a",
        (struct owned){"apps/v1", "ReplicaSet", "roll-1", "\"rollouts-pod-template-hash\":\"1\"",
                       NULL});
    add(c, "a", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "a", (struct owned){"apps.kruise.io/v1alpha1", "CloneSet", "cl", NULL, NULL});
    add(c, "a", (struct owned){"batch/v1", "Job", "night-29381760", NULL, NULL});
    add(c, "o", (struct owned){"batch/v1", "Job", "night-29383200", NULL, NULL});
    add(c, "a", (struct owned){"batch/v1", "Job", "load-20260131", NULL, NULL});
    add(c, "a", (struct owned){"batch/v1", "Job", "build-48123450", NULL, NULL}); /* in 2061 */
    expect(c, "ReplicaSet alone zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "Job build-48123450 zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "CloneSet cl zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "StatefulSet db zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "Job load-20260131 zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "CronJob night zone1:1 zone2:0 zone3:1 skew 1 best 1 even\n"
              "Rollout roll zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "Deployment web zone1:1 zone2:1 zone3:1 skew 0 best 0 even\n");
}

/* Workloads with the same name that differ in namespace, group or kind alone. */
static void a_name_is_one_of_a_namespace_a_group_and_a_kind(void **state) {
    struct cluster *c = *state;
    const struct owned kruise = {"apps.kruise.io/v1beta1", "StatefulSet", "db", NULL, NULL};
    add_to(c, "mall", "a", &(struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "o o", (struct owned){"apps/v1", "CloneSet", "db", NULL, NULL});
    add(c, "q", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "o", kruise);
    expect(c, "StatefulSet db zone1:1 zone2:0 zone3:0 skew 1 best 1 even\n"
              "CloneSet db zone1:0 zone2:0 zone3:2 skew 2 best 1 uneven\n"
              "StatefulSet db zone1:0 zone2:1 zone3:0 skew 1 best 1 even\n"
              "StatefulSet db zone1:0 zone2:0 zone3:1 skew 1 best 1 even\n");
}

static void pods_whose_place_nobody_chooses(void **state) {
    struct cluster *c = *state;
    add(c, "a a a", (struct owned){NULL, NULL, NULL, NULL, NULL});
    add(c, "a a a", (struct owned){"apps/v1", "DaemonSet", "ds", NULL, NULL});
    add(c, "a a a", (struct owned){"v1", "Node", "a", NULL, NULL});
    add(c, "a a a",
        (struct owned){"apps.kruise.io/v1beta1", "AdvancedSet", "x", NULL,
                       ",\"affinity\":{\"nodeAffinity\":{"
                       "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
                       "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                       "\"values\":[\"a\"]}]}]}}}"});
    expect(c, "");
    struct evenness_report *report = measure(c, &zone, 1);
    assert_int_equal(report->pods, 12);
    assert_int_equal(report->keys[0].domains[0].pods, 12);
    assert_int_equal(report->keys[0].domains[0].nodes, 2);
    evenness_report_free(report);
}

/* ---- domains ---- */

static void pods_outside_of_what_is_feasible(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "c,-zone");
    add(c, "a a a o nowhere c", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect(c, "StatefulSet db zone1:3 zone2:0 zone3:1 skew 3 best 1 uneven\n");
    struct evenness_report *report = measure(c, &zone, 1);
    assert_int_equal(report->workloads[0].pods, 6);
    evenness_report_free(report);
    cluster_nodes(c, "q,! r,!"); /* a taint that is not tolerated */
    expect(c, "StatefulSet db zone1:3 zone3:1 skew 2 best 0 uneven\n");
    cluster_nodes(c, "a,! b,!");
    expect(c, "StatefulSet db zone1:3! zone3:1 skew 0 best 0 even\n");
}

static void cordons_are_heeded(void **state) {
    struct cluster *c = *state;
    add(c, "a a a o", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "a a a o",
        (struct owned){"apps/v1", "StatefulSet", "tough", NULL,
                       ",\"tolerations\":[{\"key\":\"node.kubernetes.io/unschedulable\","
                       "\"operator\":\"Exists\"}]"});
    cluster_apply_json(c, OBJECT_NODE,
                       "{\"metadata\":{\"name\":\"o\",\"labels\":{\"zone\":\"zone3\"}},"
                       "\"spec\":{\"unschedulable\":true}}");
    expect(c, "StatefulSet db zone1:3 zone2:0 zone3:1! skew 3 best 1 uneven\n"
              "StatefulSet tough zone1:3 zone2:0 zone3:1 skew 3 best 1 uneven\n");
}

/* Six can only be in zone1, so the gap is nobody's fault. */
static void a_gap_that_cannot_be_closed(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a,+disk=ssd b,+disk=ssd");
    add(c, "a b a b a b",
        (struct owned){"apps/v1", "StatefulSet", "db", NULL,
                       ",\"nodeSelector\":{\"disk\":\"ssd\"}"});
    add(c, "o q", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect(c, "StatefulSet db zone1:6 zone2:1 zone3:1 skew 5 best 5 unavoidable\n");
}

static void a_key_that_nobody_has(void **state) {
    struct cluster *c = *state;
    add(c, "a a a", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect_by(c, STR("rack"), "StatefulSet db skew 0 best 0 even\n");
}

static void the_empty_value_is_a_domain(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "o,+zone");
    add(c, "a a o", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect(c, "StatefulSet db :1 zone1:2 zone2:0 skew 2 best 0 uneven\n");
}

/* With many domains, those without pods are not named; they count all the same. */
static void many_domains(void **state) {
    struct cluster *c = *state;
    char text[200];
    for (int i = 0; i < 150; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"rack\":\"r%03d\"}}}", i, i);
        cluster_apply_json(c, OBJECT_NODE, text);
    }
    add(c, "n7 n3 n7", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect_by(c, STR("rack"), "StatefulSet db r003:1 r007:2 skew 2 best 1 uneven\n");
}

enum { RACKS = 20 };

/* A node in each rack, and a pod there that its disk keeps where it is. */
static void add_racks(struct cluster *c, int pods) {
    char text[200], node[8];
    for (int i = 0; i < RACKS; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"rack\":\"r%02d\"}}}", i, i);
        cluster_apply_json(c, OBJECT_NODE, text);
        (void)snprintf(text, sizeof text, ",\"nodeSelector\":{\"rack\":\"r%02d\"}", i);
        (void)snprintf(node, sizeof node, "n%d", i);
        if (i < pods)
            add(c, node, (struct owned){"apps/v1", "StatefulSet", "db", NULL, text});
    }
}

/* Each of them is a set of domains of its own, and however many there are, the best is known. */
static void local_disks(void **state) {
    struct cluster *c = *state;
    add_racks(c, LIMIT_EVENNESS_SETS + 2);
    add(c, "n0 n0",
        (struct owned){"apps/v1", "StatefulSet", "db", NULL,
                       ",\"nodeSelector\":{\"rack\":\"r00\"}"});
    expect_by(c, STR("rack"),
              "StatefulSet db r00:3 r01:1 r02:1 r03:1 r04:1 r05:1 r06:1 r07:1 r08:1 r09:1 "
              "skew 2 best 2 unavoidable\n");
}

/* The same, and new pods that can go anywhere: there are enough of them to fill up all racks but
 * one, so 3 less 0 is what remains. */
static void local_disks_and_new_pods(void **state) {
    struct cluster *c = *state;
    add_racks(c, LIMIT_EVENNESS_SETS + 2);
    add(c, "n0 n0",
        (struct owned){"apps/v1", "StatefulSet", "db", NULL,
                       ",\"nodeSelector\":{\"rack\":\"r00\"}"});
    add(c, "n1 n1 n1 n1 n1 n1 n1 n1 n1",
        (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    expect_by(c, STR("rack"),
              "StatefulSet db r00:3 r01:10 r02:1 r03:1 r04:1 r05:1 r06:1 r07:1 r08:1 r09:1 "
              "r10:0 r11:0 r12:0 r13:0 r14:0 r15:0 r16:0 r17:0 r18:0 r19:0 "
              "skew 10 best 3 uneven\n");
}

static void too_many_kinds_of_pods(void **state) {
    struct cluster *c = *state;
    char text[300];
    add_racks(c, 0);
    for (int i = 0; i < LIMIT_EVENNESS_SETS + 1; i++) {
        (void)snprintf(
            text, sizeof text,
            ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
            "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"In\","
            "\"values\":[\"r%02d\",\"r%02d\"]}]}]}}}",
            i, i + 1); /* fits */
        add(c, "n1", (struct owned){"apps/v1", "StatefulSet", "db", NULL, text});
    }
    expect_by(c, STR("rack"), "StatefulSet db r01:9! skew 0 best 0 unknown\n");
}

/* ---- bounds ---- */

static void a_namespace_with_very_many_workloads(void **state) {
    struct cluster *c = *state;
    char name[20];
    const struct owned other = {"apps/v1", "StatefulSet", "db", NULL, NULL};
    for (uint32_t i = 0; i < LIMIT_EVENNESS_OF_A_NAMESPACE + 5; i++) {
        const struct owned owned = {"apps/v1", "StatefulSet", name, NULL, NULL};
        (void)snprintf(name, sizeof name, "w%u", i);
        add_to(c, "many", "a", &owned);
    }
    add_to(c, "shop", "a", &other);
    struct evenness_report *report = measure(c, &zone, 1);
    assert_int_equal(report->workload_count, LIMIT_EVENNESS_OF_A_NAMESPACE + 1);
    assert_int_equal(report->not_measured, 5);
    assert_int_not_equal(evenness_find(report, STR("shop"), STR("db"), STR("")), UINT32_MAX);
    evenness_report_free(report);
}

static void add_many(struct cluster *c, const char *namespace, uint32_t count) {
    char name[20];
    struct object pod = {.kind = OBJECT_POD};
    pod.pod = (struct pod){.meta = {.name = {name, 0},
                                    .namespace = str_of(namespace),
                                    .controller_api = STR("apps/v1"),
                                    .controller_kind = STR("StatefulSet"),
                                    .controller_name = {name, 0}},
                           .node_name = STR("a")};
    for (uint32_t i = 0; i < count; i++) {
        const int n = snprintf(name, sizeof name, "w%u", i);
        pod.pod.meta.name.n = pod.pod.meta.controller_name.n = (size_t)n;
        cluster_apply(c, &pod);
    }
}

/* Of all namespaces together, one fewer than may be, as many, and one more. */
static void very_many_workloads(void **state) {
    enum { REST = LIMIT_EVENNESS_WORKLOADS - 2 * LIMIT_EVENNESS_OF_A_NAMESPACE };
    struct cluster *c = *state;
    add_many(c, "first", LIMIT_EVENNESS_OF_A_NAMESPACE);
    add_many(c, "second", LIMIT_EVENNESS_OF_A_NAMESPACE);
    for (int more = -1; more <= 1; more++) {
        add_many(c, "third", (uint32_t)(REST + more));
        struct evenness_report *report = measure(c, &zone, 1);
        assert_int_equal(report->workload_count, LIMIT_EVENNESS_WORKLOADS + (more < 0 ? -1 : 0));
        assert_int_equal(report->not_measured, more > 0);
        evenness_report_free(report);
    }
}

/* A workload of one pod with so many terms, which no other pod has. */
static void add_with_terms(struct cluster *c, const char *namespace, uint32_t number,
                           uint32_t terms) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"%s\",\"ownerReferences\":[{"
                   "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"w%u\","
                   "\"controller\":true}]},\"spec\":{\"nodeName\":\"a\",\"affinity\":{"
                   "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                   "\"nodeSelectorTerms\":[",
                   number, namespace, number);
    for (uint32_t i = 0; i < terms; i++)
        strbuf_appendf(&text,
                       "%s{\"matchExpressions\":[{\"key\":\"%c%u-%u\",\"operator\":\"Exists\"}]}",
                       i > 0 ? "," : "", namespace[0], number, i);
    strbuf_append_str(&text, STR("]}}}}}"));
    strbuf_append_char(&text, '\0');
    cluster_apply_json(c, OBJECT_POD, text.p);
    arena_done(&c->arena); /* the cache has what it needs */
    arena_init(&c->arena, 64u << 20);
}

/* A namespace has a quarter of the steps: one that asks for more leaves the others theirs. */
static void a_namespace_that_asks_for_very_much(void **state) {
    enum { NODES = 1000, TERMS = 20, PODS = 900 }; /* which take some 38 million steps */
    struct cluster *c = *state;
    char node[100];
    uint32_t unknown = 0;
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(node, sizeof node, "{\"metadata\":{\"name\":\"n%d\"}}", i); /* fits */
        cluster_apply_json(c, OBJECT_NODE, node);
    }
    for (uint32_t i = 0; i < PODS; i++)
        add_with_terms(c, "greedy", i, TERMS);
    add_with_terms(c, "shop", 0, TERMS);
    struct evenness_report *report = measure(c, &zone, 1);
    const struct evenness_key *key = &report->keys[0];
    assert_int_equal(report->workload_count, PODS + 1);
    for (uint32_t i = 0; i < report->workload_count; i++)
        unknown += str_eq(report->workloads[i].namespace, STR("greedy")) &&
                   key->results[i].state == EVENNESS_UNKNOWN;
    assert_in_range(unknown, PODS / 10, PODS - 1); /* all that came after it was spent */
    uint32_t shop = evenness_find(report, STR("shop"), STR("w0"), STR(""));
    assert_int_not_equal(key->results[shop].state, EVENNESS_UNKNOWN);
    evenness_report_free(report);
}

/* One that takes too long to match with all nodes, which is done in one piece; and its neighbour.
 */
static void a_very_long_affinity(void **state) {
    struct cluster *c = *state;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char node[100];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(node, sizeof node,
                       "{\"metadata\":{\"name\":\"n%d\",\"labels\":{\"zone\":\"zone1\"}}}",
                       i); /* fits */
        cluster_apply_json(c, OBJECT_NODE, node);
    }
    strbuf_append_str(
        &text, STR("{\"metadata\":{\"name\":\"p\",\"namespace\":\"shop\",\"ownerReferences\":[{"
                   "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"long\","
                   "\"controller\":true}]},\"spec\":{\"nodeName\":\"n1\",\"affinity\":{"
                   "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                   "\"nodeSelectorTerms\":["));
    for (int i = 0; i < 400; i++)
        strbuf_appendf(&text,
                       "%s{\"matchExpressions\":[{\"key\":\"k%d\",\"operator\":\"Exists\"}]}",
                       i > 0 ? "," : "", i);
    strbuf_append_str(&text, STR("]}}}}}"));
    strbuf_append_char(&text, '\0');
    cluster_apply_json(c, OBJECT_POD, text.p);
    add(c, "a o q", (struct owned){"apps/v1", "StatefulSet", "web", NULL, NULL});
    expect(c, "StatefulSet long zone1:1! skew 0 best 0 unknown\n"
              "StatefulSet web zone1:1 zone2:1 zone3:1 skew 0 best 0 even\n");
}

/* Writers come and go between the pieces of a round. */
static void a_node_goes_during_a_round(void **state) {
    struct cluster *c = *state;
    struct evenness_round *round;
    struct evenness_report *report = NULL;
    struct err err;
    int r;
    cluster_nodes(c, "c,-zone");
    add(c, "a a q", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    assert_int_equal(evenness_round_new(c->cache, &zone, 1, &round, &err), 0);
    assert_int_equal(evenness_round_step(round, &report, &err), 1);
    struct object gone = cluster_object(c, OBJECT_NODE, "{\"metadata\":{\"name\":\"c\"}}");
    cluster_remove(c, &gone);
    cluster_nodes(c, "z,+zone=zone9"); /* takes its slot */
    add(c, "z", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    while ((r = evenness_round_step(round, &report, &err)) > 0)
        ;
    assert_int_equal(r, 0);
    assert_int_equal(report->keys[0].domain_count, 4);
    assert_int_equal(report->keys[0].results[0].skew, 2);
    assert_int_equal(report->keys[0].results[0].count, 4);
    evenness_report_free(report);
    evenness_round_free(round);
}

static void the_worst_are_first(void **state) {
    struct cluster *c = *state;
    add(c, "a o q", (struct owned){"apps/v1", "StatefulSet", "even", NULL, NULL});
    add(c, "a a a", (struct owned){"apps/v1", "StatefulSet", "bad", NULL, NULL});
    add(c, "a a a a a a", (struct owned){"apps/v1", "StatefulSet", "worse", NULL, NULL});
    struct evenness_report *report = measure(c, &zone, 1);
    const struct evenness_key *key = &report->keys[0];
    assert_str(report->workloads[key->worst[0]].name, "worse");
    assert_str(report->workloads[key->worst[1]].name, "bad");
    assert_str(report->workloads[key->worst[2]].name, "even");
    assert_int_equal(key->totals[EVENNESS_UNEVEN], 2);
    assert_int_equal(key->totals[EVENNESS_EVEN], 1);
    evenness_report_free(report);
}

/* ---- tags ---- */

static uint32_t tag_by_label(void *ctx, const struct cache_view *v, uint32_t group) {
    struct str value;
    (*(uint32_t *)ctx)++;
    return cache_placed_label(v, group, STR("tag"), &value) ? (uint32_t)(value.p[0] - '0')
                                                            : UINT32_MAX;
}

static void note(struct evenness_latest *latest, const char *about, const char *want) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    evenness_latest_note(latest, str_of(about), &got);
    assert_str(strbuf_str(&got), want);
}

/* Those that are uneven by a key of the tag, once each, and five names. */
static void what_is_said_of_a_tag(void **state) {
    struct cluster *c = *state;
    const struct str keys[] = {STR("zone"), STR("node")};
    const struct evenness_tag tags[] = {
        {STR("x"), 3}, {STR("nobody"), 1}, {STR("by-node"), 2}, {STR("without"), 0}};
    struct evenness_latest *latest = evenness_latest_new();
    struct evenness_round *round;
    struct evenness_report *report = NULL;
    struct err err;
    uint32_t asked = 0;
    int r;
    for (int i = 0; i < 7; i++) {
        const char name[] = {'w', (char)('0' + i), '\0'};
        for (int p = 0; p < i; p++)
            add(c, "a", (struct owned){"apps/v1", "StatefulSet", name, "\"tag\":\"0\"", NULL});
    }
    add(c, "a o q", (struct owned){"apps/v1", "StatefulSet", "even", "\"tag\":\"0\"", NULL});
    add(c, "a a o o q q", (struct owned){"apps/v1", "StatefulSet", "n", "\"tag\":\"2\"", NULL});
    add(c, "a a a a", (struct owned){"apps/v1", "StatefulSet", "other", NULL, NULL});
    assert_int_equal(evenness_round_new(c->cache, keys, 2, &round, &err), 0);
    evenness_round_tag(round, tag_by_label, &asked, 1);
    while ((r = evenness_round_step(round, &report, &err)) > 0)
        ;
    assert_int_equal(r, 0);
    assert_int_equal(asked, 9);
    assert_int_equal(evenness_report_note(report, tags, 4), 0);
    assert_int_equal(evenness_latest_set(latest, report), 0);
    note(latest, "x",
         "{\"workloads\":5,\"worst\":[\"shop/w6\",\"shop/w5\",\"shop/w4\","
         "\"shop/w3\",\"shop/w2\"]}");
    note(latest, "nobody", "{\"workloads\":0,\"worst\":[]}");
    note(latest, "by-node", "{\"workloads\":1,\"worst\":[\"shop/n\"]}");
    note(latest, "without", "");
    note(latest, "unheard-of", "");
    evenness_round_free(round);
    evenness_latest_free(latest);
}

static struct evenness_report *measure_tagged(struct cluster *c, const struct str *keys,
                                              uint32_t count) {
    struct evenness_round *round;
    struct evenness_report *report = NULL;
    struct err err;
    uint32_t asked = 0;
    assert_int_equal(evenness_round_new(c->cache, keys, count, &round, &err), 0);
    evenness_round_tag(round, tag_by_label, &asked, 1);
    assert_int_equal(evenness_round_run(round, &report, &err), 0);
    evenness_round_free(round);
    return report;
}

/* EVENNESS_WORST names, one fewer, as many, and one more: all are counted. */
static void so_many_names_of_a_tag(void **state) {
    static const char *const want[] = {
        "{\"workloads\":4,\"worst\":[\"shop/w5\",\"shop/w4\",\"shop/w3\",\"shop/w2\"]}",
        "{\"workloads\":5,\"worst\":[\"shop/w6\",\"shop/w5\",\"shop/w4\",\"shop/w3\",\"shop/w2\"]}",
        "{\"workloads\":6,\"worst\":[\"shop/w7\",\"shop/w6\",\"shop/w5\",\"shop/w4\",\"shop/w3\"]}",
        "{\"workloads\":7,\"worst\":[\"shop/w8\",\"shop/w7\",\"shop/w6\",\"shop/w5\",\"shop/w4\"]}",
    };
    const struct evenness_tag tags[] = {{STR("x"), 1}, {STR("y"), 1}};
    struct cluster *c = *state;
    add(c, "a a a", (struct owned){"apps/v1", "StatefulSet", "other", "\"tag\":\"1\"", NULL});
    for (int i = 2; i <= 8; i++) {
        const char name[] = {'w', (char)('0' + i), '\0'};
        for (int p = 0; p < i; p++)
            add(c, "a", (struct owned){"apps/v1", "StatefulSet", name, "\"tag\":\"0\"", NULL});
        if (i < 5)
            continue;
        struct evenness_latest *latest = evenness_latest_new();
        struct evenness_report *report = measure_tagged(c, &zone, 1);
        assert_int_equal(evenness_report_note(report, tags, 2), 0);
        assert_int_equal(evenness_latest_set(latest, report), 0);
        note(latest, "x", want[i - 5]);
        note(latest, "y", "{\"workloads\":1,\"worst\":[\"shop/other\"]}");
        evenness_latest_free(latest);
    }
}

/* By the keys of a tag only: `both` is uneven by both, `by-zone` by the zone alone and `by-node` by
 * the node alone. */
static void a_tag_has_keys(void **state) {
    const struct str keys[] = {STR("zone"), STR("node")};
    const struct evenness_tag tags[] = {
        {STR("none"), 0}, {STR("zone"), 1}, {STR("node"), 2}, {STR("all"), 3}};
    static const char *const want[] = {
        "", "{\"workloads\":1,\"worst\":[\"shop/by-zone\"]}",
        "{\"workloads\":2,\"worst\":[\"shop/both\",\"shop/by-node\"]}",
        "{\"workloads\":0,\"worst\":[]}"};
    struct cluster *c = *state;
    struct evenness_latest *latest = evenness_latest_new();
    cluster_nodes(c, "p"); /* a b, o p, q r */
    add(c, "a b", (struct owned){"apps/v1", "StatefulSet", "by-zone", "\"tag\":\"1\"", NULL});
    add(c, "a b", (struct owned){"apps/v1", "StatefulSet", "zoned", "\"tag\":\"2\"", NULL});
    add(c, "a a o o q q",
        (struct owned){"apps/v1", "StatefulSet", "by-node", "\"tag\":\"2\"", NULL});
    add(c, "a a a", (struct owned){"apps/v1", "StatefulSet", "both", "\"tag\":\"2\"", NULL});
    struct evenness_report *report = measure_tagged(c, keys, 2);
    assert_int_equal(evenness_report_note(report, tags, 4), 0);
    assert_int_equal(evenness_latest_set(latest, report), 0);
    for (int i = 0; i < 4; i++) {
        char about[8];
        (void)snprintf(about, sizeof about, "%.*s", STR_ARG(tags[i].about));
        note(latest, about, want[i]);
    }
    evenness_latest_free(latest);
}

/* By what can be mended first, then by what differs; what cannot be helped comes behind, and what
 * is even last. */
static void the_order_of_the_worst(void **state) {
#define PINNED ",\"nodeSelector\":{\"disk\":\"ssd\"}"
    static const char *const want[] = {"gap3", "tied", "two", "unavoidable", "even"};
    struct cluster *c = *state;
    cluster_nodes(c, "a,+disk=ssd b,+disk=ssd");
    add(c, "a o q", (struct owned){"apps/v1", "StatefulSet", "even", NULL, NULL});
    add(c, "a a a", (struct owned){"apps/v1", "StatefulSet", "gap3", NULL, NULL});
    add(c, "a b a b a b", (struct owned){"apps/v1", "StatefulSet", "tied", NULL, PINNED});
    add(c, "q q", (struct owned){"apps/v1", "StatefulSet", "tied", NULL, NULL}); /* 6, 5 at best */
    add(c, "a a", (struct owned){"apps/v1", "StatefulSet", "two", NULL, NULL});  /* 2, 1 at best */
    add(c, "a b a b", (struct owned){"apps/v1", "StatefulSet", "unavoidable", NULL, PINNED});
    add(c, "o q", (struct owned){"apps/v1", "StatefulSet", "unavoidable", NULL, NULL});
    struct evenness_report *report = measure(c, &zone, 1);
    const struct evenness_key *key = &report->keys[0];
    for (int i = 0; i < 5; i++)
        assert_str(report->workloads[key->worst[i]].name, want[i]);
    evenness_report_free(report);
}

/* By namespace, name and kind; "" is any kind: the first. */
static void workloads_are_found_by_name(void **state) {
    struct cluster *c = *state;
    static const struct {
        const char *namespace, *name, *kind;
        int want; /* -1: none */
    } cases[] = {
        {"mall", "db", "", 0},
        {"shop", "db", "", 1},
        {"shop", "db", "CloneSet", 1},
        {"shop", "db", "StatefulSet", 2},
        {"shop", "db", "Deployment", -1},
        {"shop", "db", "Alpha", -1},
        {"shop", "db", "Zeta", -1},
        {"shop", "d", "", -1},
        {"shop", "dba", "", -1},
        {"shop", "web", "StatefulSet", 3},
        {"shop", "web", "CloneSet", -1},
        {"zoo", "db", "", -1},
        {"a", "db", "", -1},
    };
    add_to(c, "mall", "a", &(struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "a", (struct owned){"apps.kruise.io/v1", "CloneSet", "db", NULL, NULL});
    add(c, "a", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    add(c, "a", (struct owned){"apps/v1", "StatefulSet", "web", NULL, NULL});
    struct evenness_report *report = measure(c, &zone, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t got = evenness_find(report, str_of(cases[i].namespace), str_of(cases[i].name),
                                     str_of(cases[i].kind));
        if (got != (cases[i].want < 0 ? UINT32_MAX : (uint32_t)cases[i].want))
            fail_msg("%s/%s, kind '%s': %u", cases[i].namespace, cases[i].name, cases[i].kind, got);
    }
    evenness_report_free(report);
}

/* ---- pods in no domain ---- */

/* `others`: workloads beside db, all of which have Pending pods only. */
static void expect_missing(struct cluster *c, uint32_t pending, uint32_t of_db, uint32_t lost,
                           uint32_t others) {
    struct evenness_report *report = measure(c, &zone, 1);
    assert_int_equal(report->pending, pending);
    assert_int_equal(report->lost, lost);
    assert_int_equal(report->workload_count, 1 + others);
    assert_int_equal(report->workloads[0].pending, of_db);
    assert_int_equal(report->workloads[0].lost, lost);
    assert_int_equal(report->keys[0].totals[EVENNESS_UNKNOWN], others);
    for (uint32_t i = 1; i <= others; i++) {
        assert_int_equal(report->workloads[i].pods, 0);
        assert_int_equal(report->keys[0].results[i].state, EVENNESS_UNKNOWN);
    }
    evenness_report_free(report);
}

#define PENDING(name, members)                                                                     \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\",\"ownerReferences\":[{"           \
    "\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"db\",\"controller\":true}]},"  \
    "\"spec\":{" members "}}"

static void list_pods(struct cluster *c, const char *pod) {
    cache_write_begin(c->cache);
    cache_sync_begin(c->cache, CACHE_KIND(OBJECT_POD));
    cache_write_end(c->cache);
    cluster_apply_json(c, OBJECT_POD, pod);
    cache_write_begin(c->cache);
    cache_sync_end(c->cache, CACHE_KIND(OBJECT_POD));
    cache_write_end(c->cache);
}

static void pods_without_a_node(void **state) {
    struct cluster *c = *state;
    cluster_apply_json(c, OBJECT_POD, PENDING("d0", "\"nodeName\":\"a\""));
    expect_missing(c, 0, 0, 0, 0);
    cluster_apply_json(c, OBJECT_POD, PENDING("d1", ""));
    cluster_apply_json(c, OBJECT_POD, PENDING("d1", "")); /* seen again */
    cluster_apply_json(c, OBJECT_POD, PENDING("d2", ""));
    add_to(c, "shop", "", &(struct owned){"apps/v1", "DaemonSet", "agent", NULL, NULL});
    add_to(c, "shop", "", &(struct owned){"apps/v1", "StatefulSet", "other", NULL, NULL});
    expect_missing(c, 4, 2, 0, 1);
    cluster_apply_json(c, OBJECT_POD, PENDING("d1", "\"nodeName\":\"gone\""));
    expect_missing(c, 3, 1, 1, 1);
    list_pods(c, PENDING("d0", "\"nodeName\":\"a\"")); /* the others are gone */
    expect_missing(c, 0, 0, 0, 0);
}

static void what_nodes_are(void **state) {
    struct cluster *c = *state;
    add(c, "a", (struct owned){"apps/v1", "StatefulSet", "db", NULL, NULL});
    cluster_apply_json(
        c, OBJECT_NODE,
        "{\"metadata\":{\"name\":\"a\",\"labels\":{\"zone\":\"zone1\"}},\"spec\":{"
        "\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}");
    cluster_apply_json(c, OBJECT_NODE,
                       "{\"metadata\":{\"name\":\"b\",\"labels\":{\"zone\":\"zone1\"}},\"spec\":{"
                       "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}");
    cluster_apply_json(c, OBJECT_NODE,
                       "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[{\"key\":\"k\","
                       "\"effect\":\"PreferNoSchedule\"}]}}");
    struct evenness_report *report = measure(c, &zone, 1);
    const struct evenness_domain *zone1 = &report->keys[0].domains[0],
                                 *without = &report->keys[0].without;
    assert_true(zone1->nodes == 2 && zone1->cordoned == 1 && zone1->tainted == 1);
    assert_true(without->nodes == 1 && without->cordoned == 0 && without->tainted == 0);
    evenness_report_free(report);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(owners_are_followed_to_the_top),
        T(a_name_is_one_of_a_namespace_a_group_and_a_kind),
        T(pods_whose_place_nobody_chooses),
        T(pods_outside_of_what_is_feasible),
        T(cordons_are_heeded),
        T(a_gap_that_cannot_be_closed),
        T(a_key_that_nobody_has),
        T(the_empty_value_is_a_domain),
        T(many_domains),
        T(local_disks),
        T(local_disks_and_new_pods),
        T(too_many_kinds_of_pods),
        T(a_namespace_with_very_many_workloads),
        T(very_many_workloads),
        T(a_namespace_that_asks_for_very_much),
        T(a_very_long_affinity),
        T(a_node_goes_during_a_round),
        T(the_worst_are_first),
        T(what_is_said_of_a_tag),
        T(so_many_names_of_a_tag),
        T(a_tag_has_keys),
        T(the_order_of_the_worst),
        T(workloads_are_found_by_name),
        T(pods_without_a_node),
        T(what_nodes_are),
    };
    return CLUSTER_RUN_TESTS("evenness", tests);
}
