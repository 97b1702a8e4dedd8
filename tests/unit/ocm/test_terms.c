/*
 * Decisions with spread terms: where the terms are from, what they change, and what is said of
 * them. Which clusters rounds pick is in test_plan.c; here are the vectors of OCM's enhancement 70
 * through the whole decision.
 */
#include "unit/hub.h"

#include <stdio.h>

#define EXACT "prioritizerPolicy: {mode: Exact}"
#define SPREAD(terms) "spreadPolicy: {spreadConstraints: [" terms "]}"
#define SOFT(key) "{topologyKey: " key ", topologyKeyType: Label}"
#define HARD(key, skew)                                                                            \
    "{topologyKey: " key ", topologyKeyType: Label, maxSkew: " skew                                \
    ", whenUnsatisfiable: DoNotSchedule}"
#define WEIGHT(weight)                                                                             \
    "prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: Spread}, "      \
    "weight: " weight "}]}"

/* ---- vectors ---- */

static void open_worked_example(struct hub *f) {
    hub_clusters(f, "c1(region=us-east,zone=1a) c2(region=us-east,zone=1a) "
                    "c3(region=us-east,zone=1b) c4(region=us-west,zone=1a) "
                    "c5(region=us-west,zone=1a)");
    for (const char *const *c = (const char *const[]){"c1", "c2", "c5", NULL}; *c != NULL; c++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s/r: s=50", *c);
        hub_scored(f, text);
    }
}

#define EXAMPLE(policy)                                                                            \
    "{numberOfClusters: 2, " SPREAD(SOFT("region") ", " HARD("zone", "1")) ", " policy "}"
#define FIFTY "{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: s}}, weight: 1}"

static void worked_example(void **state) {
    struct hub *f = *state;
    open_worked_example(f);
    f->with_rounds = true;
    hub_decides(
        f, EXAMPLE("prioritizerPolicy: {mode: Exact, configurations: [" FIFTY "]}"),
        "{selected: [c1, c5], unscheduled: 0, rounds: [{picked: c1, dropped: [], raw: {$is: {c1: "
        "0, "
        "c2: 0, c3: 0, c4: 0, c5: 0}}}, {picked: c5, dropped: [c2], raw: {$is: {c3: 63, c4: 4032, "
        "c5: 4032}}, final: {$absent: 1}}], terms: [{topologyKey: region, topologyKeyType: Label, "
        "maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 0, skew: 0}, {topologyKey: "
        "zone, "
        "whenUnsatisfiable: DoNotSchedule, skew: 1}], domains: [{path: [us-east], feasible: 3, "
        "selected: 1}, {path: [us-east, 1a], feasible: 2, selected: 1}, {path: [us-east, 1b], "
        "feasible: 1, selected: 0}, {path: [us-west], feasible: 2, selected: 1}, {path: [us-west, "
        "1a], feasible: 2, selected: 1}], spreadSatisfied: {$is: {status: 'True', reason: Even, "
        "message: 'region: skew 0, maxSkew 1; zone: skew 1, maxSkew 1; 2 clusters'}}}");
    /* the spread is no prioritizer: it changes from round to round */
    hub_decides(
        f,
        EXAMPLE("prioritizerPolicy: {mode: Exact, configurations: [" FIFTY
                ", {scoreCoordinate: {builtIn: Spread}, weight: 2}]}"),
        "{selected: [c1, c5], prioritizers: [{name: AddOn/r/s}], rounds: [{picked: c1, final: "
        "{$is: "
        "{c1: 50, c2: 50, c3: 0, c4: 0, c5: 50}}}, {picked: c5, dropped: [c2], final: {$is: {c3: "
        "-200, c4: 200, c5: 250}}}]}");
    f->with_rounds = false;
    hub_decides(f, EXAMPLE("prioritizerPolicy: {}"), "{rounds: {$absent: 1}}");
}

static void seven_east_and_two_west(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "e0(region=east) e1(region=east) e2(region=east) e3(region=east) "
                    "e4(region=east) e5(region=east) e6(region=east) w0(region=west) "
                    "w1(region=west)");
    hub_decides(f, "{numberOfClusters: 7, " EXACT ", " SPREAD(SOFT("region")) "}",
                "{selected: [e0, w0, e1, w1, e2, e3, e4], unscheduled: 0, spreadSatisfied: "
                "{status: 'False', reason: Skewed, message: 'region: skew 3, maxSkew 1'}, "
                "conditions: [{}, {status: 'True'}]}");
    hub_decides(
        f, "{numberOfClusters: 7, " EXACT ", " SPREAD(HARD("region", "1")) "}",
        "{selected: [e0, w0, e1, w1, e2], unscheduled: 2, terms: [{skew: 1}], spreadSatisfied: "
        "{status: 'False', reason: Unscheduled, message: '2 of 7 clusters are not scheduled: "
        "DoNotSchedule terms allow none of the 4 that are left'}, conditions: [{}, {status: "
        "'False', "
        "reason: NotAllDecisionsScheduled, message: 2 cluster decisions unscheduled}]}");
    hub_decides(f, "{numberOfClusters: 7, " EXACT ", " SPREAD(HARD("region", "2")) "}",
                "{selected: [e0, w0, e1, w1, e2, e3], unscheduled: 1}");
    /* as many as there are: none is missing */
    hub_decides(f, "{" EXACT ", " SPREAD(HARD("region", "1")) "}",
                "{selected: [e0, w0, e1, w1, e2], unscheduled: 0, spreadSatisfied: {status: "
                "'True', reason: Even}, conditions: [{}, {status: 'True'}]}");
    /* that there are no more clusters at all is not the terms' doing */
    hub_decides(f, "{numberOfClusters: 20, " EXACT ", " SPREAD(HARD("region", "5")) "}",
                "{unscheduled: 11, spreadSatisfied: {status: 'True', reason: Even}}");
}

/* ---- a key that is missing ---- */

static void a_hard_key_is_needed(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a,cpu=1/8) c2(cpu=5/8) c3(zone=b,cpu=3/8) c4(!k=v:NoSelect)");
    hub_decides(
        f,
        "{" SPREAD(HARD("zone", "1")) ", prioritizerPolicy: {mode: Exact, configurations: "
                                      "[{scoreCoordinate: {builtIn: ResourceAllocatableCPU}}]}}",
        "{filter: {$is: {c1: {verdict: Pass, reason: ''}, c2: {verdict: TopologyKey, reason: 'no "
        "label zone, which a DoNotSchedule term needs'}, c3: {verdict: Pass, reason: ''}, c4: "
        "{verdict: TaintToleration, reason: 'taint k=v:NoSelect is not tolerated'}}}, "
        /* minimum and maximum are over all that OCM's own filters leave */
        "prioritizers: [{scores: {$is: {c1: -100, c2: 100, c3: 0}}}], sum: {$is: {c1: -100, c3: "
        "0}}, "
        "selected: [c3, c1]}");
    hub_decides(f,
                "{" SPREAD("{topologyKey: zone, topologyKeyType: Claim, whenUnsatisfiable: "
                           "DoNotSchedule}") ", numberOfClusters: 2}",
                "{selected: [], unscheduled: 2, filter: {c1: {verdict: TopologyKey, reason: 'no "
                "claim zone, which a DoNotSchedule term needs'}}, domains: [], terms: [{skew: 0, "
                "topologyKeyType: Claim}], conditions: [{}, {reason: NoManagedClusterMatched}], "
                "spreadSatisfied: {status: 'False', reason: KeyUnknown}}");
    hub_decides(f, "{" SPREAD(SOFT("zone")) ", " EXACT "}",
                "{selected: [c1, c2, c3], domains: [{path: [''], feasible: 1}, {path: [a]}, {path: "
                "[b]}]}");
}

static void the_key_that_is_missing_is_named(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(a=x,b=x,c=x) c2(a=x,c=x) c3(b=x) c4(a=x,b=x)");
    hub_decides(
        f, "{" SPREAD(HARD("a", "9") ", " SOFT("c") ", " HARD("b", "9")) "}",
        "{filter: {c1: {verdict: Pass}, c2: {reason: 'no label b, which a DoNotSchedule term "
        "needs'}, c3: {reason: 'no label a, which a DoNotSchedule term needs'}, c4: "
        "{verdict: Pass}}}");
}

/* ---- where terms are from ---- */

static void use_policy(struct hub *f) {
    static const struct placement_term terms[] = {
        {.key = {"region", 6}, .max_skew = 1, .min_domains = 3, .hard = true}};
    f->policy = (struct ocm_policy_terms){terms, 1, STR("fleet"), {0}};
}

static void terms_of_a_policy(void **state) {
    struct hub *f = *state;
    open_worked_example(f);
    use_policy(f);
    hub_decides(
        f, "{numberOfClusters: 4, " EXACT "}",
        "{policy: fleet, terms: [{topologyKey: region, topologyKeyType: Label, maxSkew: 1, "
        "whenUnsatisfiable: DoNotSchedule, minDomains: 3, skew: 1}], selected: [c1, c4], "
        "unscheduled: 2, spreadSatisfied: {status: 'False', reason: TooFewDomains, message: "
        "'region: 2 domains, minDomains 3'}}");
    /* `{}` is what Go clients write */
    hub_decides(f, "{numberOfClusters: 4, " EXACT ", spreadPolicy: {}}", "{policy: fleet}");
    hub_decides(f, "{numberOfClusters: 4, " EXACT ", " SPREAD("") "}", "{policy: fleet}");
    /* nothing is merged */
    hub_decides(f, "{numberOfClusters: 4, " EXACT ", " SPREAD(SOFT("zone")) "}",
                "{policy: null, terms: [{topologyKey: zone, minDomains: 0, skew: 2}], selected: "
                "[c1, c3, c2, c4]}");
}

static void audited_policies_warn(void **state) {
    struct hub *f = *state;
    open_worked_example(f);
    f->policy.warning = STR("policy 'p' (Audit) would spread by region");
    hub_decides(f, "{" EXACT "}",
                "{policy: null, terms: [], spreadSatisfied: null, warnings: [\"policy 'p' (Audit) "
                "would spread by region\"]}");
    hub_decides(f, "{" EXACT ", " SPREAD(SOFT("zone")) "}", "{warnings: []}");
}

#define WITH(annotations, spec)                                                                    \
    "{metadata: {name: placement, namespace: ns1, annotations: {" annotations "}}, spec: " spec "}"

static void mode_off(void **state) {
    struct hub *f = *state;
    open_worked_example(f);
    use_policy(f);
    f->policy.warning = STR("a warning");
    hub_decides(f, WITH("placements.evenkeel.io/mode: 'Off'", "{numberOfClusters: 4, " EXACT "}"),
                "{policy: null, terms: [], selected: [c1, c2, c3, c4], unscheduled: 0, warnings: "
                "[], spreadSatisfied: null}");
    hub_decides(f,
                WITH("placements.evenkeel.io/mode: 'Off'",
                     "{numberOfClusters: 4, " EXACT ", " SPREAD(HARD("region", "1")) "}"),
                "{policy: null, terms: [], selected: [c1, c2, c3, c4]}");
    /* then the spread's weight is what OCM takes it for */
    hub_decides(f,
                WITH("placements.evenkeel.io/mode: 'Off'",
                     "{" WEIGHT("2") ", " SPREAD(HARD("region", "1")) "}"),
                "{error: 'incorrect builtin prioritizer: Spread', selected: []}");
    for (const char *const *mode = (const char *const[]){"Scores", "Owner", NULL}; *mode != NULL;
         mode++) {
        char text[256];
        (void)snprintf(text, sizeof text, WITH("placements.evenkeel.io/mode: %s", "{" EXACT "}"),
                       *mode);
        hub_decides(f, text, "{policy: fleet, warnings: [a warning]}");
    }
    hub_decides(
        f, WITH("placements.evenkeel.io/mode: 'off'", "{" EXACT "}"),
        "{policy: fleet, warnings: [\"annotation placements.evenkeel.io/mode: 'off' is none "
        "of Scores, Owner, Off: it changes nothing\", a warning]}");
}

/* ---- the weight of the spread ---- */

static void weights_of_the_spread(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b)");
    hub_scored(f, "c1/r: s=400");
    hub_scored(f, "c2/r: s=300");
    f->with_rounds = true;
    static const struct {
        const char *configurations, *expected;
    } cases[] = {
        {"{scoreCoordinate: {builtIn: Spread}, weight: 1}", /* -100 + 300, or 100 + 0 */
         "{selected: [c1, c2]}"},
        {"{scoreCoordinate: {builtIn: Spread}, weight: 2}", "{selected: [c1, c3]}"},
        {"{scoreCoordinate: {builtIn: Spread}, weight: 0}",
         "{selected: [c1, c3], rounds: [{final: {$absent: 1}}, {}]}"},
        {"{scoreCoordinate: {builtIn: Balance}, weight: 0}",
         "{selected: [c1, c3], rounds: [{final: {$absent: 1}}, {}]}"},
        {"{scoreCoordinate: {builtIn: Spread}, weight: -1}", "{selected: [c1, c2]}"},
        {"{scoreCoordinate: {builtIn: Spread}, weight: 5}, {scoreCoordinate: {builtIn: Spread}, "
         "weight: 1}",
         "{selected: [c1, c2]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char placement[512];
        (void)snprintf(placement, sizeof placement,
                       "{numberOfClusters: 2, " SPREAD(SOFT(
                           "zone")) ", prioritizerPolicy: {mode: Exact, configurations: "
                                    "[{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, "
                                    "scoreName: s}}}, %s]}}",
                       cases[i].configurations);
        print_message("# %s\n", cases[i].configurations);
        hub_decides(f, placement, cases[i].expected);
    }
}

/* ---- members ---- */

static void members_are_kept_where_the_rest_is_equal(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b) c4(zone=b)");
    hub_decided_by(f, "ns1/placement: c4 c2");
    hub_decides(f, "{numberOfClusters: 2, " EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{selected: [c2, c4], moves: {add: [], remove: []}}");
    hub_decides(f, "{numberOfClusters: 3, " EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{selected: [c2, c4, c1], moves: {add: [c1], remove: []}}");
    hub_decides(f, "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{selected: [c2], moves: {add: [], remove: [c4]}}");
}

/* ---- spread group ---- */

#define GROUP(selector, spec) WITH("placements.evenkeel.io/spread-group: '" selector "'", spec)

static void a_spread_group_counts(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b) c4(zone=b) out(zone=b,!k=v:NoSelect)");
    hub_object(f, "{kind: Placement, metadata: {name: other, namespace: ns1, labels: {app: web}}, "
                  "spec: {}}");
    hub_object(f, "{kind: Placement, metadata: {name: more, namespace: ns1, labels: {app: db}}, "
                  "spec: {}}");
    hub_object(f, "{kind: Placement, metadata: {name: other, namespace: ns2, labels: {app: web}}, "
                  "spec: {}}");
    hub_object(f, "{kind: Placement, metadata: {name: placement, namespace: ns1, labels: {app: "
                  "web}}, spec: {}}");
    const char *const one =
        GROUP("app=web", "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}");
    hub_decides(f, one, "{selected: [c1], terms: [{skew: 1}]}");
    hub_decided_by(f, "ns1/other: c1");
    hub_decides(f, one, "{selected: [c3], terms: [{skew: 0}]}");
    /* what is filtered out, what is not known, and what others have does not count */
    hub_decided_by(f, "ns1/other: out unknown");
    hub_decided_by(f, "ns1/more: c3 c4");
    hub_decided_by(f, "ns2/other: c3 c4");
    hub_decided_by(f, "ns1/gone: c3 c4");
    /* nor what is decided of itself */
    hub_decided_by(f, "ns1/placement: c4");
    hub_decides(f, one, "{selected: [c4], terms: [{skew: 0}]}");
    hub_decides(f, "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{selected: [c4], terms: [{skew: 1}]}"); /* without the annotation */
    hub_decides(
        f,
        GROUP("app in (web,db)", "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}"),
        "{selected: [c1], terms: [{skew: 0}]}");
    /* every Placement of the namespace */
    hub_decides(f, GROUP("", "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}"),
                "{selected: [c1], warnings: []}");
}

static void an_uneven_group_skews(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b)");
    hub_object(f, "{kind: Placement, metadata: {name: other, namespace: ns1, labels: {app: web}}, "
                  "spec: {}}");
    hub_decided_by(f, "ns1/other: c1 c1 c2");
    hub_decides(f,
                GROUP("app=web", "{numberOfClusters: 1, " EXACT ", " SPREAD(HARD("zone", "1")) "}"),
                "{selected: [c3], terms: [{skew: 2}], spreadSatisfied: {status: 'False', reason: "
                "Skewed, message: 'zone: skew 2, maxSkew 1'}}");
}

static void a_group_that_cannot_be_read(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a)");
    hub_decides(
        f, GROUP("app in", "{" SPREAD(SOFT("zone")) "}"),
        "{selected: [c1], warnings: [{$text: '^annotation "
        "placements.evenkeel.io/spread-group: cannot parse .*: there is no spread group$'}]}");
    hub_decides(f, GROUP("app in", "{" SPREAD(SOFT("zone")) "}"),
                "{spreadSatisfied: {status: 'False', reason: SpreadGroupInvalid, message: {$text: "
                "'^zone: skew 0, maxSkew 1; annotation placements.evenkeel.io/spread-group: cannot "
                "parse .*: there is no spread group$'}}}");
    hub_decides(f, GROUP("app in", "{}"), "{warnings: []}"); /* nobody asks */
}

/* ---- how even it is ---- */

static void too_few_domains_below_a_parent(void **state) {
    static const struct placement_term terms[] = {
        {.key = {"region", 6}, .max_skew = 9, .hard = true},
        {.key = {"zone", 4}, .max_skew = 9, .min_domains = 2, .hard = true}};
    struct hub *f = *state;
    f->policy = (struct ocm_policy_terms){terms, 2, STR("fleet"), {0}};
    hub_clusters(f, "c1(region=a,zone=1) c2(region=a,zone=2) c3(region=b,zone=1) "
                    "c4(region=b,zone=2)");
    hub_decides(f, "{" EXACT "}", "{spreadSatisfied: {status: 'True', reason: Even}}");
    hub_clusters(f, "c5(region=c,zone=1)");
    hub_decides(f, "{" EXACT "}",
                "{spreadSatisfied: {status: 'False', reason: TooFewDomains, message: 'zone: 1 "
                "domain below one parent, minDomains 2'}}");
    hub_clusters(f, "c6(region=c,zone=2)");
    hub_decides(f, "{" EXACT "}", "{spreadSatisfied: {reason: Even}}");
    hub_clusters(f, "c0(region=0,zone=1)"); /* the first parent, now */
    hub_decides(f, "{" EXACT "}", "{spreadSatisfied: {reason: TooFewDomains}}");
    /* no cluster: no domain */
    hub_decides(f,
                "{" EXACT ", predicates: [{requiredClusterSelector: {labelSelector: "
                "{matchLabels: {none: none}}}}]}",
                "{spreadSatisfied: {status: 'False', reason: NoClusters}}");
}

/* A key that only clusters have that do not pass is as unknown as one that nobody has; of soft
 * terms, too, and of one term among several. */
static void a_key_that_no_cluster_has(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=b) c3(regoin=x,zone=b,!k=v:NoSelect)");
    hub_decides(f, "{numberOfClusters: 2, " SPREAD(SOFT("regoin")) "}",
                "{selected: [c1, c2], spreadSatisfied: {status: 'False', reason: KeyUnknown, "
                "message: \"2 of 2 clusters have no label 'regoin'\"}}");
    hub_decides(f,
                "{numberOfClusters: 2, " SPREAD(
                    HARD("zone", "1") ", " HARD("regoin", "1") ", {topologyKey: dc, "
                                                               "topologyKeyType: Claim}") "}",
                "{selected: [], spreadSatisfied: {status: 'False', reason: KeyUnknown, message: "
                "\"2 of 2 clusters have no label 'regoin'; 2 of 2 clusters have no claim "
                "'dc'\"}}");
    hub_decides(f, "{numberOfClusters: 2, " SPREAD(SOFT("zone")) "}",
                "{spreadSatisfied: {status: 'True', reason: Even}}");
    /* one has it, and the others are left out */
    hub_clusters(f, "c4(regoin=x)");
    hub_decides(f, "{numberOfClusters: 2, " SPREAD(HARD("regoin", "2")) "}",
                "{selected: [c4], spreadSatisfied: {status: 'False', reason: Unscheduled, message: "
                "'1 of 2 clusters are not scheduled: DoNotSchedule terms allow none of the 2 that "
                "are left; 2 of 3 clusters lack the key of a DoNotSchedule term'}}");
}

/* A domain that appears evicts nobody: what is above maxSkew since then is named. */
static void kept_clusters_are_named(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "a1(zone=a) a2(zone=a) b1(zone=b) b2(zone=b) c1(zone=c)");
    hub_decided_by(f, "ns1/placement: a1 a2 b1 b2");
    hub_decides(f, "{" EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{selected: [a1, b1, c1, a2, b2], spreadSatisfied: {status: 'True', reason: "
                "Even}}");
    hub_clusters(f, "d1(zone=d) a3(zone=a) a4(zone=a) a5(zone=a) a6(zone=a) a7(zone=a) "
                    "a8(zone=a)");
    hub_decided_by(f, "ns1/placement: a3 a4 a5 a6 a7 a8");
    hub_decides(f, "{" EXACT ", " SPREAD(HARD("zone", "1")) "}",
                "{spreadSatisfied: {status: 'False', reason: Skewed, message: 'zone: skew 7, "
                "maxSkew 1; kept: a3, a4, a5, a6, a7 and 1 more'}}");
}

static void no_clusters(struct hub *f, const char *spec, const char *status, const char *message) {
    char expected[300];
    (void)snprintf(expected, sizeof expected,
                   "{selected: [], spreadSatisfied: {status: '%s', reason: NoClusters, message: "
                   "'%s'}}",
                   status, message);
    hub_decides(f, spec, expected);
}

/* It is never even of nothing, and says why there is nothing. */
static void nothing_is_even_of_no_cluster(void **state) {
    struct hub *f = *state;
    hub_object(f, "{kind: ManagedClusterSet, metadata: {name: other}}");
    no_clusters(f, "{" SPREAD(SOFT("zone")) "}", "False",
                "All ManagedClusterSets [set1] have no member ManagedCluster");
    hub_clusters(f, "c1(zone=a) c2(zone=a,!k=v:NoSelect)");
    no_clusters(f, "{clusterSets: [other], " SPREAD(SOFT("zone")) "}", "False",
                "None of ManagedClusterSets [other] is bound to placement namespace");
    no_clusters(f,
                "{" SPREAD(SOFT("zone")) ", predicates: [{requiredClusterSelector: {labelSelector: "
                                         "{matchLabels: {none: none}}}}]}",
                "False",
                "nothing is selected: none of the 2 clusters that are available passes the "
                "predicates and taints");
    no_clusters(f, "{numberOfClusters: 0, " SPREAD(SOFT("zone")) "}", "Unknown",
                "numberOfClusters is 0: there is nothing to spread");
}

static void nothing_is_even_where_no_set_is_bound(void **state) {
    struct hub *f = *state;
    hub_close(f);
    hub_open_empty(f);
    no_clusters(f, "{" SPREAD(SOFT("zone")) "}", "False",
                "No valid ManagedClusterSetBindings found in placement namespace");
}

/* ---- how even other clusters are ---- */

/* Two zones of three, and what is decided: names, by reason and message of the condition. */
static void what_is_decided_is_judged(void **state) {
    static const struct {
        const char *decided, *reason, *message;
    } cases[] = {
        {"a1 b1", "Even", "zone: skew 0, maxSkew 1; 2 clusters"},
        {"b1 a1", "Even", "zone: skew 0, maxSkew 1; 2 clusters"},
        {"a2 b3", "Even", "zone: skew 0, maxSkew 1; 2 clusters"}, /* not the selected ones */
        {"a1", "Even",
         "zone: skew 1, maxSkew 1; 1 cluster"}, /* the other comes: terms do not forbid it */
        {"a1 a2", "Skewed", "zone: skew 2, maxSkew 1"},
        {"a1 a2 a3 b1", "Skewed", "zone: skew 2, maxSkew 1"},
        {"a1 a2 out", "Skewed", "zone: skew 2, maxSkew 1"}, /* that does not pass counts nowhere */
        {"", "NoClusters", "no cluster is selected, although 6 clusters pass"},
    };
    struct hub *f = *state;
    hub_clusters(f, "a1(zone=a) a2(zone=a) a3(zone=a) b1(zone=b) b2(zone=b) b3(zone=b) "
                    "out(zone=b,!k=v:NoSelect)");
    const struct placement *placement =
        hub_placement(f, "{numberOfClusters: 2, " EXACT ", " SPREAD(SOFT("zone")) "}");
    const struct ocm_question question = {.placement = placement};
    struct fleet_view view;
    struct ocm_decision d;
    fleet_view_open(f->fleet, &view);
    assert_int_equal(ocm_decide(&view, &question, &f->arena, &d, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ocm_spread spread;
        uint32_t slots[8], count = 0;
        char names[40], *rest = names;
        (void)snprintf(names, sizeof names, "%s", cases[i].decided);
        for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;)
            slots[count++] = topology_slot(view.clusters.topology, str_of(name));
        print_message("# %s\n", cases[i].decided);
        assert_int_equal(ocm_spread_judge(&d, slots, count, &f->arena, &spread), 0);
        assert_str(spread.condition.reason, cases[i].reason);
        assert_str(spread.condition.message, cases[i].message);
        assert_int_equal(spread.condition.status == OCM_TRUE, i < 4);
    }
    fleet_view_close(&view);
}

/* What the spread group has counts in what is decided, as in what is selected. */
static void what_is_decided_counts_with_its_group(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b) c4(zone=b)");
    hub_object(f, "{kind: Placement, metadata: {name: other, namespace: ns1, labels: {app: web}}, "
                  "spec: {}}");
    hub_decided_by(f, "ns1/other: c1");
    const struct placement *placement =
        hub_placement(f, GROUP("app=web", "{numberOfClusters: 1, " SPREAD(HARD("zone", "1")) "}"));
    const struct ocm_question question = {.placement = placement};
    struct fleet_view view;
    struct ocm_decision d;
    struct ocm_spread spread;
    fleet_view_open(f->fleet, &view);
    assert_int_equal(ocm_decide(&view, &question, &f->arena, &d, NULL), 0);
    const uint32_t slot = topology_slot(view.clusters.topology, STR("c2"));
    assert_int_equal(ocm_spread_judge(&d, &slot, 1, &f->arena, &spread), 0);
    assert_str(spread.condition.message, "zone: skew 2, maxSkew 1");
    fleet_view_close(&view);
}

static void nothing_is_even_where_nothing_is_decided(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a)");
    hub_decides(f, "{prioritizerPolicy: {mode: Wrong}, " SPREAD(SOFT("zone")) "}",
                "{terms: [{topologyKey: zone, skew: 0}], domains: [], spreadSatisfied: {status: "
                "Unknown, reason: Misconfigured}}");
}

/* ---- what is published ---- */

#define INJECTED(json) "placements.evenkeel.io/injected: '" json "'"

static void members_are_published(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c2(zone=a) c1(zone=a) c3(zone=b)");
    hub_decided_by(f, "ns1/placement: c2");
    const char *const key = INJECTED("{\"weight\": 10, \"added\": [{}], \"key\": \"s3-0a1b2c3d\", "
                                     "\"resource\": \"evenkeel-3\"}");
    char text[512];
    (void)snprintf(text, sizeof text,
                   WITH("%s", "{numberOfClusters: 2, " SPREAD(HARD("zone", "1")) "}"), key);
    hub_decides(f, text,
                "{selected: [c2, c3], publish: [{cluster: c2, resource: evenkeel-3, name: "
                "s3-0a1b2c3d, value: 100}, {cluster: c3, resource: evenkeel-3, name: s3-0a1b2c3d, "
                "value: 100}], warnings: []}");
    (void)snprintf(text, sizeof text, WITH("%s", "{prioritizerPolicy: {mode: Wrong}}"), key);
    hub_decides(f, text, "{publish: []}");
    hub_decides(f, "{}", "{publish: []}");
}

static void an_annotation_that_says_nothing(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decides(f, WITH(INJECTED("{\"key\": \"k\"}"), "{}"),
                "{publish: [], warnings: ['annotation placements.evenkeel.io/injected has no key "
                "or no resource: nothing is published']}");
    hub_decides(f, WITH(INJECTED("{\"resource\": \"r\", \"key\": null}"), "{}"),
                "{publish: [], warnings: {$has: [has no key or no resource]}}");
    hub_decides(f, WITH(INJECTED("k"), "{}"),
                "{publish: [], selected: [c1], warnings: [{$text: '^annotation "
                "placements.evenkeel.io/injected.*at byte 0: nothing is published$'}]}");
    hub_decides(f, WITH(INJECTED("{\"key\": 1, \"resource\": \"r\"}"), "{}"),
                "{publish: [], warnings: {$has: [nothing is published]}}");
}

/* ---- what the webhook has added ---- */

#define OURS                                                                                       \
    "{scoreCoordinate: {type: AddOn, addOn: {resourceName: evenkeel-3, scoreName: s3-0a1b2c3d}}, " \
    "weight: 10}"
#define GATED                                                                                      \
    "predicates: [{requiredClusterSelector: {celSelector: {celExpressions: "                       \
    "['managedCluster.scores(\"evenkeel-3\").exists(s, s.name == \"s3-0a1b2c3d\" && s.value > "    \
    "0)']}}}]"

/* Scores that say what was decided before are no reason to decide it again. */
static void what_is_ours_is_no_part_of_the_question(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b)");
    hub_scored(f, "c2/evenkeel-3: s3-0a1b2c3d=100");
    hub_scored(f, "c3/evenkeel-3: s3-0a1b2c3d=100");
    hub_decides(f,
                "{numberOfClusters: 2, " GATED ", prioritizerPolicy: {configurations: [" OURS
                "]}, " SPREAD(HARD("zone", "1")) "}",
                "{celUnknown: false, selected: [c1, c3], sum: {c1: 100, c2: 100}, prioritizers: "
                "[{name: Balance}, {name: Steady}]}");
}

/* But what is left of it where there are no terms is to OCM what anybody's would be. */
static void what_is_left_of_ours_without_terms(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_scored(f, "c2/evenkeel-3: s3-0a1b2c3d=100");
    hub_decides(f,
                "{numberOfClusters: 1, " GATED ", prioritizerPolicy: {configurations: [" OURS "]}}",
                "{celUnknown: true, selected: [c2], prioritizers: [{name: "
                "AddOn/evenkeel-3/s3-0a1b2c3d, weight: 10}, {name: Balance}, {name: Steady}]}");
}

/* The weight of a builtIn Spread goes on where our prioritizer has taken its place. */
static void the_weight_that_was_replaced(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=a) c3(zone=b)");
    hub_scored(f, "c1/demo: demo=100");
    hub_scored(f, "c2/demo: demo=100");
    const char *const note = INJECTED("{\"key\": \"s3-0a1b2c3d\", \"resource\": \"evenkeel-3\", "
                                      "\"weight\": 1, \"added\": [\"score\"]}");
    const char *const spec =
        "{numberOfClusters: 2, prioritizerPolicy: {mode: Exact, configurations: [%s"
        "{scoreCoordinate: {type: AddOn, addOn: {resourceName: demo, scoreName: demo}}, weight: "
        "4}]}, " SPREAD(SOFT("zone")) "}";
    char injected[1000], was[1000], text[2000];
    (void)snprintf(injected, sizeof injected, spec, OURS ", ");
    (void)snprintf(text, sizeof text, WITH("%s", "%s"), note, injected);
    struct str now = hub_answer(f, text);
    (void)snprintf(was, sizeof was, spec,
                   "{scoreCoordinate: {type: BuiltIn, builtIn: Spread}, weight: 1}, ");
    hub_decides(f, was, "{selected: [c1, c2]}"); /* 1 x 200 is less than 4 x 100 */
    hub_expect(f, now, "{selected: [c1, c2]}");
    (void)snprintf(was, sizeof was, spec, "");
    hub_decides(f, was, "{selected: [c1, c3]}"); /* spread first */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(what_is_ours_is_no_part_of_the_question),
        HUB_TEST(what_is_left_of_ours_without_terms),
        HUB_TEST(the_weight_that_was_replaced),
        HUB_TEST(worked_example),
        HUB_TEST(seven_east_and_two_west),
        HUB_TEST(a_hard_key_is_needed),
        HUB_TEST(the_key_that_is_missing_is_named),
        HUB_TEST(terms_of_a_policy),
        HUB_TEST(audited_policies_warn),
        HUB_TEST(mode_off),
        HUB_TEST(weights_of_the_spread),
        HUB_TEST(members_are_kept_where_the_rest_is_equal),
        HUB_TEST(a_spread_group_counts),
        HUB_TEST(an_uneven_group_skews),
        HUB_TEST(a_group_that_cannot_be_read),
        HUB_TEST(too_few_domains_below_a_parent),
        HUB_TEST(a_key_that_no_cluster_has),
        HUB_TEST(kept_clusters_are_named),
        HUB_TEST(nothing_is_even_of_no_cluster),
        HUB_TEST(nothing_is_even_where_no_set_is_bound),
        HUB_TEST(what_is_decided_is_judged),
        HUB_TEST(what_is_decided_counts_with_its_group),
        HUB_TEST(nothing_is_even_where_nothing_is_decided),
        HUB_TEST(members_are_published),
        HUB_TEST(an_annotation_that_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
