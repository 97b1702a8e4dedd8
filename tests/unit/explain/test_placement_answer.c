/* One question about a Placement: which policy's terms it gets, and which answer each verb gives.
 */
#include "explain/placement_answer.h"

#include "unit/hub.h"
#include "unit/json_agrees.h"
#include "yaml/yaml.h"

#include <errno.h>
#include <stdio.h>

enum { POLICIES = 4 };

struct known_policies {
    struct policy items[POLICIES];
    uint32_t count;
};

/* A policy named so, whose spec is this. */
static void add_policy(struct hub *f, struct known_policies *p, const char *name,
                       const char *spec) {
    struct yaml_json made;
    struct json_reader r;
    struct err err;
    char yaml[1024];
    (void)snprintf(yaml, sizeof yaml, "{metadata: {name: %s}, spec: %s}", name, spec);
    assert_int_equal(
        yaml_to_json(arena_str(&f->arena, str_of(yaml)), false, &f->arena, &made, &err), 0);
    json_reader_init(&r, made.documents[0], &f->arena, "TopologyPolicy");
    policy_decode(&r, &p->items[p->count++]);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    policies_sort(p->items, p->count);
}

static struct str answer(struct hub *f, const struct known_policies *p, enum placement_verb verb,
                         const char *placement) {
    const struct placement_request request = {
        .placement = hub_placement(f, placement),
        .policies = {p != NULL ? p->items : NULL, p != NULL ? p->count : 0},
        .now_ms = f->now_ms,
        .verb = verb,
        .has_names = f->names != NULL,
        .names = f->names,
        .name_count = f->name_count,
        .how = {f->limit, f->with_rounds}};
    struct fleet_view view;
    struct strbuf out = {0};
    struct err err;
    fleet_view_open(f->fleet, &view);
    if (placement_answer(&view, &request, &f->arena, &out, &err) != 0)
        fail_msg("%s", err.text);
    fleet_view_close(&view);
    const struct str text = arena_str(&f->arena, strbuf_str(&out));
    strbuf_done(&out);
    return text;
}

#define SPREAD(key) "placements: {spread: [{topologyKey: " key "}]}"
#define POLICY(key) "{match: {}, " SPREAD(key) "}"
#define EXPECT(placement, yaml)                                                                    \
    hub_expect(f, answer(f, &policies, PLACEMENT_SELECT, placement), yaml)

static void terms_come_from_the_first_policy(void **state) {
    struct hub *f = *state;
    struct known_policies policies = {.count = 0};
    hub_clusters(f, "c1(zone=a,region=r) c2(zone=a,region=s)");
    EXPECT("{}", "{policy: null, terms: [], warnings: []}");
    add_policy(f, &policies, "b", POLICY("zone"));
    EXPECT("{}", "{policy: b, terms: [{topologyKey: zone, topologyKeyType: Label, maxSkew: 1, "
                 "whenUnsatisfiable: ScheduleAnyway, minDomains: 0, skew: 0}], domains: [{path: "
                 "[a]}], spreadSatisfied: {reason: Even}}");
    add_policy(f, &policies, "a", POLICY("region"));
    EXPECT("{}", "{policy: a, terms: [{topologyKey: region}], spreadSatisfied: {reason: Even}}");
    add_policy(f, &policies, "c", "{priority: 1, match: {}, " SPREAD("other") "}");
    EXPECT("{}", "{policy: c, terms: [{topologyKey: other}]}");
    /* one without the section is passed by */
    add_policy(f, &policies, "d",
               "{priority: 2, match: {}, pods: {spread: [{topologyKey: zone, maxSkew: 1, "
               "whenUnsatisfiable: ScheduleAnyway}]}}");
    EXPECT("{}", "{policy: c}");
    EXPECT("{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Claim}]}}",
           "{policy: null, terms: [{topologyKeyType: Claim}]}");
}

static void an_audited_policy_in_front_leaves_no_terms(void **state) {
    struct hub *f = *state;
    struct known_policies policies = {.count = 0};
    hub_clusters(f, "c1(zone=a)");
    add_policy(f, &policies, "b", POLICY("zone"));
    add_policy(f, &policies, "c", "{mode: Audit, match: {}, " SPREAD("other") "}");
    EXPECT("{}", "{policy: b, warnings: []}"); /* behind another, it has no say */
    add_policy(
        f, &policies, "a",
        "{mode: Audit, match: {}, placements: {spread: [{topologyKey: region}, {topologyKey: "
        "zone}]}}");
    EXPECT("{}", "{policy: null, terms: [], spreadSatisfied: null, warnings: [\"policy 'a' (Audit) "
                 "would spread by region, zone\"]}");
    EXPECT("{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Label}]}}",
           "{policy: null, terms: [{topologyKey: zone}], warnings: []}");
}

#define IN_TEAM(key) "{match: {namespaceSelector: {matchLabels: {team: a}}}, " SPREAD(key) "}"

static void a_namespace_decides(void **state) {
    struct hub *f = *state;
    struct known_policies policies = {.count = 0};
    hub_clusters(f, "c1(zone=a)");
    add_policy(f, &policies, "team", IN_TEAM("zone"));
    EXPECT("{}", "{policy: null, terms: [], warnings: [\"namespace 'ns1' is not known: its labels "
                 "decide which policy spreads its Placements\"]}");
    hub_object(f, "{kind: Namespace, metadata: {name: ns1, labels: {team: b}}}");
    EXPECT("{}", "{policy: null, warnings: []}");
    hub_object(f, "{kind: Namespace, metadata: {name: ns1, labels: {other: x, team: a}}}");
    EXPECT("{}", "{policy: team, warnings: []}");
    /* its name is always among its labels */
    add_policy(f, &policies, "named",
               "{priority: 1, match: {namespaceSelector: {matchLabels: "
               "{kubernetes.io/metadata.name: ns1}}}, " SPREAD("zone") "}");
    EXPECT("{}", "{policy: named}");
    EXPECT("{metadata: {name: p, namespace: ns2}, spec: {}}",
           "{policy: null, warnings: {$has: [namespace 'ns2' is not known]}}");
}

static void labels_of_the_placement_decide(void **state) {
    struct hub *f = *state;
    struct known_policies policies = {.count = 0};
    hub_clusters(f, "c1(zone=a)");
    add_policy(f, &policies, "web",
               "{match: {objectSelector: {matchLabels: {app: web}}}, " SPREAD("zone") "}");
    EXPECT("{}", "{policy: null}");
    EXPECT("{metadata: {name: p, namespace: ns1, labels: {app: web}}, spec: {}}", "{policy: web}");
}

static void each_verb_has_its_answer(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=b)");
    f->with_rounds = true;
    f->limit = 1;
    hub_expect(f, answer(f, NULL, PLACEMENT_FILTER, "{}"),
               "{$is: {clusterNames: [c1, c2], failedClusters: {}, error: ''}}");
    hub_expect(
        f, answer(f, NULL, PLACEMENT_PRIORITIZE, "{}"),
        "{$is: {scores: [{cluster: c1, score: 100, by: {Balance: 100, Steady: 0}}, {cluster: "
        "c2, score: 100, by: {Balance: 100, Steady: 0}}], error: ''}}");
    hub_expect(f, answer(f, NULL, PLACEMENT_SELECT, "{}"),
               "{selected: [c1], rounds: [{picked: c1}], omitted: {selected: 1}}");
    static const struct str names[] = {{"c2", 2}};
    f->names = names;
    f->name_count = 1;
    hub_expect(f, answer(f, NULL, PLACEMENT_SELECT, "{}"), "{available: [c2], selected: [c2]}");
}

static void what_fails_leaves_no_bytes(void **state) {
    struct hub *f = *state;
    const struct placement_request request = {.placement = hub_placement(f, "{}"),
                                              .verb = PLACEMENT_SELECT};
    CLEANUP(arena_done) struct arena arena;
    struct strbuf out = {0};
    struct fleet_view view;
    struct err err;
    hub_clusters(f, "c1");
    strbuf_append_char(&out, 'x');
    fleet_view_open(f->fleet, &view);
    arena_init(&arena, 1 << 20);
    arena.steps.max = 1;
    assert_int_equal(placement_answer(&view, &request, &arena, &out, &err), -E2BIG);
    assert_contains(err.text, "takes more steps than it may");
    arena_reset(&arena);
    arena.steps.max = 0;
    arena.max = 64;
    assert_int_equal(placement_answer(&view, &request, &arena, &out, &err), -ENOMEM);
    assert_int_equal(out.n, 1);
    fleet_view_close(&view);
    strbuf_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(terms_come_from_the_first_policy),
        HUB_TEST(an_audited_policy_in_front_leaves_no_terms),
        HUB_TEST(a_namespace_decides),
        HUB_TEST(labels_of_the_placement_decide),
        HUB_TEST(each_verb_has_its_answer),
        HUB_TEST(what_fails_leaves_no_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
