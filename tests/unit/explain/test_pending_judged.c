/*
 * Why a pod is Pending, with what is known of the nodes now: which are nearest to fit, which
 * constraint stands in the way, which taint, what has changed since kube-scheduler tried. The
 * judgement is written here by hand, as the engine would give it; sentences are those of
 * docs/guides/explain.md, counted by hand.
 */
#include "explain/obstacle.h"
#include "explain/pending.h"

#include "unit/unit.h"

#include <stdio.h>

enum { A = FILTER_NODE_UNSCHEDULABLE, T = FILTER_TAINT_TOLERATION, S = FILTER_NODE_AFFINITY };
enum { N = FILTER_NODE_NAME, R = FILTER_NODE_RESOURCES_FIT, P = FILTER_POD_TOPOLOGY_SPREAD };
enum { O = FILTER_ORDERED_SPREAD };

/* kube-scheduler's words of each filter, by bit. */
static const char *const words[PENDING_FILTERS] = {
    "node(s) were unschedulable",
    "node(s) didn't match the requested node name",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "Insufficient cpu",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod affinity rules",
    "over maxSkew on rack (ordered)",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) had no available volume zone",
};

struct fixture {
    struct pod_state state;
    struct pod pod;
    struct pending_question q;
    struct filter_result now;
    struct strbuf text;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.q = {.state = &f.state, .pod = &f.pod}};
    f.state.created = STR("2026-01-02T03:04:05Z");
    for (size_t i = 0; i < PENDING_FILTERS; i++)
        f.q.filter_reasons[i] = str_of(words[i]);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->text);
    return 0;
}

/* kube-scheduler has tried it, and said this. */
static void tried(struct fixture *f, const char *message) {
    f->state.status = STR("False");
    f->state.reason = STR("Unschedulable");
    f->state.message = str_of(message);
}

static void expect(struct fixture *f, const char *kind, const char *text) {
    strbuf_clear(&f->text);
    const char *got = pending_say(&f->q, &f->text);
    assert_str(strbuf_str(&f->text), text);
    assert_string_equal(got, kind);
}

/* ---- the nodes that are nearest to fit ---- */

#define TAIL "; kube-scheduler: of 4 nodes 4 Insufficient cpu"

static const struct near_row {
    uint32_t refusing[4];
    const char *kind, *text;
} near_rows[] = {
    /* one filter, or two, that all nodes have against the pod */
    {{R, R, R, R}, "Resources", "Pending: all 4 nodes are refused: Insufficient cpu" TAIL},
    {{R | A, R | A | T, R | A, R | A},
     "Cordoned",
     "Pending: all 4 nodes are refused: cordoned and Insufficient cpu" TAIL},
    {{O, O | T, O, O},
     "SpreadRule",
     "Pending: all 4 nodes are refused: over maxSkew on rack (ordered)" TAIL},
    /* none that all have: those with fewest, and how many have exactly these */
    {{R | A, A, T, A},
     "Cordoned",
     "Pending: nearest to fit are 2 of 4 nodes, refused only for: cordoned" TAIL},
    {{A, T, T, T},
     "Cordoned",
     "Pending: nearest to fit are 1 of 4 nodes, refused only for: cordoned" TAIL},
    {{A | T | R, T | P, A | P, T | P},
     "Taint",
     "Pending: nearest to fit are 2 of 4 nodes, refused only for: with a taint that the pod does "
     "not tolerate and in a domain that is full by topologySpreadConstraints" TAIL},
    /* nodes that the pod's owner does not want are not near, however little is against them */
    {{S, S, R | A, R | T},
     "Resources",
     "Pending: all 2 nodes (of 4) that its nodeSelector and node affinity leave are refused: "
     "Insufficient cpu" TAIL},
    {{N, N | S, S, R | T},
     "Taint",
     "Pending: all 1 nodes (of 4) that its nodeSelector and node affinity leave are refused: with "
     "a taint that the pod does not tolerate and Insufficient cpu" TAIL},
    {{S, A | R, T | R | A, P | T},
     "Cordoned",
     "Pending: nearest to fit are 1 of 4 nodes, refused only for: cordoned and Insufficient "
     "cpu" TAIL},
    /* unless it wants none of them */
    {{S, S | R, S, S},
     "NodeSelector",
     "Pending: all 4 nodes are refused: not matching the pod's nodeSelector or node affinity" TAIL},
    {{S, N, S, S},
     "NodeSelector",
     "Pending: nearest to fit are 3 of 4 nodes, refused only for: not matching the pod's "
     "nodeSelector or node affinity" TAIL},
    /* a node passes: then kube-scheduler's reasons alone are said */
    {{R, R, 0, R}, "Resources", "Pending: of 4 nodes 4 Insufficient cpu"},
    {{S, R, 0, R}, "Resources", "Pending: of 4 nodes 4 Insufficient cpu"},
};

static void nearest_to_fit(void **state) {
    struct fixture *f = *state;
    tried(f, "0/4 nodes are available: 4 Insufficient cpu.");
    f->q.nodes = 4;
    for (size_t i = 0; i < sizeof near_rows / sizeof near_rows[0]; i++) {
        f->q.refusing = near_rows[i].refusing;
        expect(f, near_rows[i].kind, near_rows[i].text);
    }
    f->q.nodes = 0; /* the cluster has none */
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
    f->q.nodes = 4;
    f->q.refusing = NULL;
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
}

/* ---- the constraint that stands in the way ---- */

static const struct str reason_texts[] = {
    {"", 0},
    {"node(s) didn't match pod topology spread constraints", 52},
    {"node(s) were unschedulable", 26},
    {"Insufficient cpu", 16},
};
static const char *const reason_filters[] = {"", "PodTopologySpread", "NodeUnschedulable",
                                             "NodeResourcesFit"};

/* Four nodes with these reasons. */
static void judge(struct fixture *f, uint8_t *reasons, const struct applied_constraint *applied,
                  uint32_t count) {
    f->now = (struct filter_result){.reasons = reasons,
                                    .reason_texts = reason_texts,
                                    .reason_filters = reason_filters,
                                    .reason_count = 4,
                                    .applied = applied,
                                    .applied_count = count};
    f->q.now = &f->now;
    f->q.nodes = 4;
}

#define SPREAD "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints."
#define FULL "Pending: of 4 nodes 4 in a domain that is full by topologySpreadConstraints"

static void a_constraint(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {1, 1, 2, 2};
    const struct spread_constraint zone = {
        .topology_key = STR("zone"), .max_skew = 2, .min_domains = 3, .hard = true};
    const struct domain_report reports[] = {
        {.name = STR("b"),
         .counts = true,
         .allowed = true,
         .nodes = 2,
         .refused = {{2, 2}},
         .refused_count = 1},
        {.name = STR("a"), .pods = 2, .counts = true, .nodes = 2},
    };
    struct applied_constraint applied = {
        .constraint = &zone, .domains = 2, .reports = reports, .report_count = 2};
    tried(f, SPREAD);
    judge(f, reasons, &applied, 1);
#define ALLOWED "allowed: b; their 2 nodes are not offered by kube-scheduler: 2 cordoned"
    expect(f, "TopologySpread",
           FULL "; the pod, zone, maxSkew 2: minDomains is 3 and only 2 domains have nodes that "
                "count; " ALLOWED);
    applied.domains = 3; /* as many as there must be */
    expect(f, "TopologySpread", FULL "; the pod, zone, maxSkew 2: " ALLOWED);
    applied.domains = 0; /* not said */
    expect(f, "TopologySpread", FULL "; the pod, zone, maxSkew 2: " ALLOWED);
    applied.origin = CONSTRAINT_OF_DEFAULTS;
    applied.domains = 1;
    expect(f, "TopologySpread",
           FULL "; the defaults, zone, maxSkew 2: minDomains is 3 and only 1 domains have nodes "
                "that count; " ALLOWED);
    applied.origin = CONSTRAINT_OF_RULE; /* rules have no minDomains */
    applied.rule = STR("ours");
    expect(f, "TopologySpread", FULL "; rule ours, zone, maxSkew 2: " ALLOWED);
}

/* ---- the short line ---- */

static void expect_summary(struct fixture *f, const char *kind, const char *text) {
    strbuf_clear(&f->text);
    assert_int_equal(pending_summarize(&f->q, kind, &f->text), text[0] != '\0');
    assert_str(strbuf_str(&f->text), text);
    assert_true(f->text.n <= OBSTACLE_BYTES + 9);
}

#define UNCORDON ". Uncordon nodes there"
#define HONOR ", or set nodeTaintsPolicy: Honor"

/* It begins with the constraint, and names its policy, the allowed domains and a remedy. */
static void a_summary(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {1, 1, 2, 2};
    static const struct policy_spread gives[] = {
        {.topology_key = {"rack", 4}, .max_skew = 1},
        {.topology_key = {"zone", 4}, .max_skew = 2, .hard = true}};
    static const struct policy policy = {.name = {"zones", 5}, .spread = gives, .spread_count = 2};
    struct spread_constraint zone = {
        .topology_key = STR("zone"), .max_skew = 2, .min_domains = 3, .hard = true};
    struct domain_report reports[] = {
        {.name = STR("b"), .allowed = true, .nodes = 2, .refused = {{2, 2}}, .refused_count = 1},
        {.name = STR("a"), .pods = 2, .nodes = 2},
    };
    struct applied_constraint applied = {
        .constraint = &zone, .domains = 2, .reports = reports, .report_count = 2};
    judge(f, reasons, &applied, 1);
    expect_summary(f, "TopologySpread",
                   "Pending: the pod (zone, maxSkew 2) allows only b; its 2 nodes: 2 "
                   "cordoned" UNCORDON HONOR);
    f->q.policy = &policy;
#define OF_POLICY "Pending: policy zones (zone, maxSkew 2) "
    expect_summary(f, "TopologySpread",
                   OF_POLICY "allows only b; its 2 nodes: 2 cordoned" UNCORDON HONOR);
    expect_summary(f, "Resources", ""); /* another cause */
    zone.honor_taints = true;
    expect_summary(f, "SpreadKeyMissing",
                   OF_POLICY "allows only b; its 2 nodes: 2 cordoned" UNCORDON);
    reports[0].refused[1].reason = 3;
    reports[0].refused[0].nodes = reports[0].refused[1].nodes = 1;
    reports[0].refused_count = 2; /* no remedy for both */
    expect_summary(f, "TopologySpread",
                   OF_POLICY "allows only b; its 2 nodes: 1 cordoned, 1 Insufficient cpu");
    reports[0].nodes = 0;
    expect_summary(f, "TopologySpread", OF_POLICY "allows only b, without nodes");
    reports[0].allowed = false;
    expect_summary(f, "TopologySpread",
                   OF_POLICY "wants minDomains 3, and only 2 domains have nodes that count. Lower "
                             "minDomains, or add domains");
    applied.domains = 3;
    expect_summary(f, "TopologySpread", OF_POLICY "allows no domain");
    applied.report_count = 0;
    expect_summary(f, "TopologySpread",
                   OF_POLICY "needs a label that no node has. Label nodes, or correct topologyKey");
    reports[0].allowed = true;
    reports[0].passed = 1;
    applied.report_count = 2; /* no obstacle */
    expect_summary(f, "TopologySpread", "");
}

/* A constraint is the policy's if key, maxSkew and hardness are those of the policy. */
static void whose_constraint(void **state) {
    static const struct {
        struct policy_spread gives;
        enum constraint_origin origin;
        const char *said;
    } rows[] = {
        {{.topology_key = {"zone", 4}, .max_skew = 1, .hard = true},
         CONSTRAINT_OF_POD,
         "policy web"},
        {{.topology_key = {"zone", 4}, .max_skew = 2, .hard = true}, CONSTRAINT_OF_POD, "the pod"},
        {{.topology_key = {"zone", 4}, .max_skew = 1}, CONSTRAINT_OF_POD, "the pod"},
        {{.topology_key = {"rack", 4}, .max_skew = 1, .hard = true}, CONSTRAINT_OF_POD, "the pod"},
        {{.topology_key = {"zone", 4}, .max_skew = 1, .hard = true},
         CONSTRAINT_OF_DEFAULTS,
         "the defaults"},
        {{.topology_key = {"zone", 4}, .max_skew = 1, .hard = true},
         CONSTRAINT_OF_RULE,
         "rule ours"},
    };
    struct fixture *f = *state;
    const struct spread_constraint zone = {
        .topology_key = STR("zone"), .max_skew = 1, .hard = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct policy policy = {
            .name = STR("web"), .spread = &rows[i].gives, .spread_count = 1};
        const struct applied_constraint applied = {
            .constraint = &zone,
            .origin = rows[i].origin,
            .rule = rows[i].origin == CONSTRAINT_OF_RULE ? STR("ours") : STR("")};
        strbuf_clear(&f->text);
        obstacle_say_origin(&applied, &policy, &f->text);
        assert_str(strbuf_str(&f->text), rows[i].said);
    }
}

/* A remedy without room is left out, and a cause that is too long is cut. */
static void long_names(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {2, 2, 2, 2};
    char name[200];
    memset(name, 'z', sizeof name);
    struct spread_constraint zone = {.max_skew = 1, .hard = true};
    const struct domain_report reports[] = {
        {.name = STR("b"), .allowed = true, .nodes = 2, .refused = {{2, 2}}, .refused_count = 1}};
    const struct applied_constraint applied = {
        .constraint = &zone, .reports = reports, .report_count = 1};
    judge(f, reasons, &applied, 1);
    /* "the pod (" and ", maxSkew 1) allows only b; its 2 nodes: 2 cordoned" are 60 bytes, the
     * remedies 54 */
    static const struct {
        size_t name, line;
    } rows[] = {{56, 170}, {57, 117}, {110, 170}, {111, 170}, {200, 170}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        zone.topology_key = (struct str){name, rows[i].name};
        strbuf_clear(&f->text);
        assert_true(pending_summarize(&f->q, "TopologySpread", &f->text));
        assert_int_equal(f->text.n, rows[i].line + strlen("Pending: "));
    }
}

/* Said of every reason that a constraint has, and of no other. */
static void reasons_of_constraints(void **state) {
    static const struct {
        const char *reason, *kind;
        bool said;
    } rows[] = {
        {"over maxSkew on zone (ordered)", "SpreadRule", true},
        {"over maxSkew on zone", "TopologySpread", true},
        {"no label zone", "SpreadKeyMissing", true},
        {"node(s) didn't match pod topology spread constraints (missing required label)",
         "SpreadKeyMissing", true},
        {"waiting for pods in flight on zone", "PodsInFlight", true},
        {"node(s) didn't match pod affinity rules", "PodAffinity", false},
        {"Insufficient cpu", "Resources", false},
    };
    struct fixture *f = *state;
    uint8_t reasons[] = {1, 1, 1, 1};
    const struct spread_constraint zone = {
        .topology_key = STR("zone"), .max_skew = 1, .hard = true};
    const struct applied_constraint applied = {.constraint = &zone,
                                               .reports =
                                                   (const struct domain_report[1]){{.nodes = 4}},
                                               .report_count = 1};
    char message[160];
    judge(f, reasons, &applied, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)snprintf(message, sizeof message, "0/4 nodes are available: 4 %s.", rows[i].reason);
        tried(f, message);
        strbuf_clear(&f->text);
        assert_string_equal(pending_say(&f->q, &f->text), rows[i].kind);
        bool said = memmem(f->text.p, f->text.n, "; the pod, zone, maxSkew 1: ", 28) != NULL;
        if (said != rows[i].said)
            fail_msg("%s: %.*s", rows[i].reason, (int)f->text.n, f->text.p);
    }
}

/* Of the constraints, the first two that leave the pod no node. */
static void obstacles(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {1, 1, 1, 1};
    static const struct spread_constraint
        soft = {.topology_key = {"soft", 4}, .max_skew = 1},
        zone = {.topology_key = {"zone", 4}, .max_skew = 1, .hard = true},
        rack = {.topology_key = {"rack", 4}, .max_skew = 1, .hard = true},
        host = {.topology_key = {"host", 4}, .max_skew = 1, .hard = true};
    /* a domain that is allowed, of which no node passed; one that passed for another constraint */
    static const struct domain_report none[] = {{.nodes = 4}},
                                      refused[] = {{.name = {"b", 1}, .allowed = true},
                                                   {.name = {"a", 1}, .nodes = 4, .passed = 1}},
                                      some[] = {{.name = {"b", 1}, .allowed = true, .nodes = 2},
                                                {.name = {"c", 1},
                                                 .allowed = true,
                                                 .nodes = 2,
                                                 .passed = 1}};
    const struct applied_constraint applied[] = {
        {.constraint = &soft, .reports = none, .report_count = 1},
        {.constraint = &host},                                     /* not reported */
        {.constraint = &host, .reports = some, .report_count = 2}, /* leaves a node */
        {.constraint = &zone, .reports = none, .report_count = 1},
        {.constraint = &rack, .reports = refused, .report_count = 2},
        {.constraint = &host, .reports = none, .report_count = 1}, /* the third */
    };
    tried(f, SPREAD);
    judge(f, reasons, applied, 6);
    expect(f, "TopologySpread",
           FULL "; the pod, zone, maxSkew 1: no domain is allowed; the pod, rack, maxSkew 1: "
                "allowed: b; they have no nodes");
}

/* ---- taints, selectors, claims ---- */

static void a_taint(void **state) {
    struct fixture *f = *state;
    tried(f, "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint(s).");
    expect(f, "Taint",
           "Pending: of 4 nodes 3 with a taint that the pod does not tolerate, 1 Insufficient cpu");
    f->q.taint = STR("gpu=yes:NoSchedule");
    expect(f, "Taint",
           "Pending: of 4 nodes 3 with a taint that the pod does not tolerate, 1 Insufficient "
           "cpu; taint gpu=yes:NoSchedule");
    tried(f, "0/4 nodes are available: 4 Insufficient cpu.");
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
}

#define UNWANTED "Pending: of 4 nodes 4 not matching the pod's nodeSelector or node affinity"

static void a_selector(void **state) {
    struct fixture *f = *state;
    static const struct label pairs[] = {{{"a", 1}, {"1", 1}},
                                         {{"b", 1}, {"2", 1}},
                                         {{"c", 1}, {"3", 1}},
                                         {{"d", 1}, {"4", 1}},
                                         {{"e", 1}, {"5", 1}}};
    static const char *const texts[] = {
        UNWANTED,
        UNWANTED "; nodeSelector a=1",
        UNWANTED "; nodeSelector a=1, b=2",
        UNWANTED "; nodeSelector a=1, b=2, c=3",
        UNWANTED "; nodeSelector a=1, b=2, c=3, d=4",
        UNWANTED "; nodeSelector a=1, b=2, c=3, d=4 and 1 more",
    };
    tried(f, "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.");
    f->pod.affinity.node_selector.items = pairs;
    for (uint32_t n = 0; n <= 5; n++) {
        f->pod.affinity.node_selector.count = n;
        expect(f, "NodeSelector", texts[n]);
    }
    f->pod.affinity.node_selector.count = 1;
    f->pod.affinity.required = true;
    expect(f, "NodeSelector", UNWANTED "; nodeSelector a=1; required node affinity");
    /* the sentence of a PreFilter plugin */
    tried(f, "0/4 nodes are available: pod affinity terms conflict.");
    expect(f, "NodeSelector",
           "Pending: the pod's node affinity names no node; nodeSelector a=1; required node "
           "affinity");
    tried(f, "0/4 nodes are available: 4 Insufficient cpu.");
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
}

static void claims(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
    static const char *const volume =
        "0/4 nodes are available: 4 node(s) had no available volume zone.";
#define ZONE "Pending: of 4 nodes 4 not in the zone of the pod's PersistentVolume"
    f->pod.claims = names;
    tried(f, volume);
    expect(f, "Volume", ZONE);
    f->pod.claim_count = 4;
    expect(f, "Volume", ZONE "; its claims: a, b, c, d");
    f->pod.claim_count = 5;
    expect(f, "Volume", ZONE "; its claims: a, b, c, d and 1 more");
    f->pod.claim_count = 1;
    tried(f, "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
    expect(f, "UnboundClaim",
           "Pending: pod has unbound immediate PersistentVolumeClaims; its claims: a");
    tried(f, "0/4 nodes are available: persistentvolumeclaim \"a\" not found.");
    expect(f, "ClaimMissing", "Pending: persistentvolumeclaim \"a\" not found");
    tried(f, "0/4 nodes are available: 4 Insufficient cpu.");
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
}

/* A dataset can be the cause of each of the three ways in which a volume is missing. */
static void datasets(void **state) {
    static const struct {
        const char *message, *kind, *text;
    } rows[] = {
        {"0/4 nodes are available: 4 node(s) had no available volume zone.", "Dataset",
         "of 4 nodes 4 not in the zone of the pod's PersistentVolume"},
        {"0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.", "Dataset",
         "pod has unbound immediate PersistentVolumeClaims"},
        {"0/4 nodes are available: persistentvolumeclaim \"hot\" not found.", "Dataset",
         "persistentvolumeclaim \"hot\" not found"},
    };
    struct fixture *f = *state;
    char text[256];
    f->q.unready_dataset = STR("hot");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tried(f, rows[i].message);
        (void)snprintf(text, sizeof text,
                       "Pending: dataset hot, which it mounts, is not ready (phase not set): %s",
                       rows[i].text);
        expect(f, rows[i].kind, text);
    }
}

/* ---- then and now ---- */

#define SINCE                                                                                      \
    " nodes pass: the cluster has changed since, or something that Evenkeel does not judge "       \
    "(limits and capacity of volumes, devices) keeps the pod off"

static void what_has_changed(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {0, 3, 0, 3};
    tried(f, "0/4 nodes are available: 4 Insufficient cpu.");
    judge(f, reasons, NULL, 0);
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu; judged now, 2 of 4" SINCE);
    reasons[0] = reasons[2] = 3;
    expect(f, "Resources", "Pending: of 4 nodes 4 Insufficient cpu");
}

/* A replica that knows no claims cannot say that the cluster has changed. */
static void claims_that_are_not_known(void **state) {
    static const struct str claims[] = {{"data", 4}};
    struct fixture *f = *state;
    uint8_t reasons[] = {0, 0, 0, 0};
    f->pod.claims = claims;
    f->pod.claim_count = 1;
    tried(f, "0/4 nodes are available: 4 node(s) didn't match PersistentVolume's node affinity.");
    judge(f, reasons, NULL, 0);
    expect(f, "Volume",
           "Pending: of 4 nodes 4 out of reach of the pod's PersistentVolume; its claims: data; "
           "judged now without its claims, which a replica without the webhook does not know, 4 of "
           "4 nodes pass");
}

/* A bound volume is named with its place. */
static void the_place_of_a_volume(void **state) {
    static const struct str zones[] = {{"a", 1}}, claims[] = {{"data", 4}};
    static const struct requirement in_zone[] = {{{"zone", 4}, SELECTOR_IN, zones, 1, 0}};
    static const struct node_selector_term term = {.expressions = in_zone, .expression_count = 1};
    static const struct node_affinity affinity = {
        .required = true, .terms = &term, .term_count = 1};
    static const struct bound_claim bound = {{"data", 4}, {"pv", 2}, &affinity, NULL, 0};
    static const struct pod_claims judged = {.bound = &bound, .bound_count = 1};
    struct fixture *f = *state;
    uint8_t reasons[] = {3, 3, 3, 3};
    f->pod.claims = claims;
    f->pod.claim_count = 1;
    tried(f, "0/4 nodes are available: 4 node(s) didn't match PersistentVolume's node affinity.");
    judge(f, reasons, NULL, 0);
    f->now.claims = &judged;
    expect(f, "Volume",
           "Pending: of 4 nodes 4 out of reach of the pod's PersistentVolume; its claims: data "
           "(claim 'data' is bound to volume 'pv', which needs a node with zone in (a))");
}

/* Of nodes that pass now kube-scheduler must have had something to say that is not judged. */
static void the_kind_is_of_the_nodes_that_pass_now(void **state) {
#define THREE_TAINTS "0/4 nodes are available: 3 node(s) had untolerated taint {a: b}, "
#define AND_TAINTS "Pending: of 4 nodes 3 with a taint that the pod does not tolerate, 1 "
    struct fixture *f = *state;
    uint8_t reasons[] = {0, 3, 3, 3};
    tried(f, THREE_TAINTS "1 node(s) had volume node affinity conflict.");
    judge(f, reasons, NULL, 0);
    expect(f, "Volume",
           AND_TAINTS "out of reach of the pod's PersistentVolume; judged now, 1 of 4" SINCE);
    tried(f, THREE_TAINTS "1 cannot allocate all claims.");
    expect(f, "Other", AND_TAINTS "cannot allocate all claims; judged now, 1 of 4" SINCE);
    tried(f, THREE_TAINTS "1 Insufficient cpu."); /* then it is the cluster that has changed */
    expect(f, "Taint", AND_TAINTS "Insufficient cpu; judged now, 1 of 4" SINCE);
    reasons[0] = 3;
    tried(f, THREE_TAINTS "1 node(s) had volume node affinity conflict.");
    expect(f, "Taint", AND_TAINTS "out of reach of the pod's PersistentVolume");
}

#define WAITS                                                                                      \
    "Pending: no scheduler has tried it since it was created at 2026-01-02T03:04:05Z: it waits "   \
    "for schedulerName default-scheduler, which may not exist, not run or be busy"

static void not_tried(void **state) {
    struct fixture *f = *state;
    uint8_t reasons[] = {3, 0, 2, 3};
    expect(f, "NotTried", WAITS);
    judge(f, reasons, NULL, 0);
    expect(f, "NotTried", WAITS "; judged now, 1 of 4 nodes pass");
    reasons[1] = 2;
    reasons[0] = 2; /* the reason of most nodes comes first */
    expect(f, "NotTried", WAITS "; judged now, of 4 nodes 3 cordoned, 1 Insufficient cpu");
    f->q.nodes = 0;
    expect(f, "NotTried", WAITS "; judged now, of 0 nodes ");
}

/* ---- how much is said ---- */

static void reasons_that_are_shown(void **state) {
    struct fixture *f = *state;
    tried(f, "0/9 nodes are available: 1 a, 2 b, 2 c, 3 d.");
    expect(f, "Other", "Pending: of 9 nodes 3 d, 2 b, 2 c, 1 a"); /* equals keep their order */
    tried(f, "0/9 nodes are available: 1 a, 2 b, 2 c, 3 d, 1 e.");
    expect(f, "Other", "Pending: of 9 nodes 3 d, 2 b, 2 c, 1 a and 1 more reasons");
    /* what stands behind the reasons is none */
    tried(f, "0/9 nodes are available: 1 a, b, 2 c, 3d, 4 e. 5 f. preemption: 6 g");
    expect(f, "Other", "Pending: of 9 nodes 4 e, 2 c, 3d, 1 a, b");
    tried(f, "1 a, 2 b");
    expect(f, "Other", "Pending: 2 b, 1 a");
    /* 15 reasons of one node, and then one that more nodes have */
    tried(f, "1 a, 1 b, 1 c, 1 d, 1 e, 1 f, 1 g, 1 h, 1 i, 1 j, 1 k, 1 l, 1 m, 1 n, 1 o, 9 p");
    expect(f, "Other", "Pending: 9 p, 1 a, 1 b, 1 c and 12 more reasons");
    /* of more than 16, those of most nodes stay */
    tried(f, "5 a, 5 b, 5 c, 5 d, 5 e, 5 f, 5 g, 5 h, 5 i, 5 j, 5 k, 5 l, 5 m, 5 n, 5 o, 5 p, 9 q, "
             "1 r");
    expect(f, "Other", "Pending: 9 q, 5 a, 5 b, 5 c and 12 more reasons");
}

/* Of more than sixteen reasons those of fewest nodes are given up, and no other: what the sixteenth
 * is about is still said. */
static void the_sixteenth_reason(void **state) {
    struct fixture *f = *state;
#define FIFTEEN "5 a, 5 b, 5 c, 5 d, 5 e, 5 f, 5 g, 5 h, 5 i, 5 j, 5 k, 5 l, 5 m, 5 n, 5 o, "
#define SAID "Pending: 5 a, 5 b, 5 c, 5 d and 12 more reasons"
    f->q.taint = STR("gpu:NoSchedule");
    tried(f, FIFTEEN "2 node(s) had untolerated taint(s), 1 p");
    expect(f, "Other", SAID "; taint gpu:NoSchedule");
    tried(f, FIFTEEN "1 p, 2 node(s) had untolerated taint(s)");
    expect(f, "Other", SAID "; taint gpu:NoSchedule");
    tried(f, FIFTEEN "3 p, 2 node(s) had untolerated taint(s)");
    expect(f, "Other", SAID);
}

static void gates(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
#define HELD(gates)                                                                                \
    "Pending: held by its schedulingGates " gates ": no scheduler tries it before they are "       \
    "removed"
    f->state.gates = names;
    f->state.gate_count = 4;
    expect(f, "SchedulingGates", HELD("a, b, c, d"));
    f->state.gate_count = 5;
    expect(f, "SchedulingGates", HELD("a, b, c, d and 1 more"));
}

static void other_states(void **state) {
    struct fixture *f = *state;
    f->state.phase = STR("Pending");
    f->state.deleted = STR("2026-01-02T03:05:00Z");
    expect(f, "Deleted", "being deleted since 2026-01-02T03:05:00Z");
    f->state.node = STR("a"); /* it is, on its node as without one */
    expect(f, "Deleted", "being deleted since 2026-01-02T03:05:00Z");
    f->state.deleted = f->state.phase = STR("");
    expect(f, "Scheduled", "on node a, phase not set");
    f->state.node = STR("");
    f->state.phase = STR("Unknown");
    expect(f, "Ended", "phase Unknown");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nearest_to_fit),
        TEST(a_constraint),
        TEST(a_summary),
        TEST(whose_constraint),
        TEST(long_names),
        TEST(reasons_of_constraints),
        TEST(obstacles),
        TEST(a_taint),
        TEST(a_selector),
        TEST(claims),
        TEST(datasets),
        TEST(what_has_changed),
        TEST(claims_that_are_not_known),
        TEST(the_place_of_a_volume),
        TEST(the_kind_is_of_the_nodes_that_pass_now),
        TEST(not_tried),
        TEST(reasons_that_are_shown),
        TEST(the_sixteenth_reason),
        TEST(gates),
        TEST(other_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
