/*
 * Scores of PodTopologySpread: the scenarios of upstream's TestPodTopologySpreadScore (S rows) and
 * TestPreScoreStateEmptyNodes (PS rows). How scenarios are written: unit/cluster_builder.h; the
 * answer is "normalised scores [raw scores]", candidate by candidate.
 */
#include "conformance/scenario.h"

#define REQUIRED(key, op, values)                                                                  \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"          \
    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op       \
    "\",\"values\":[" values "]}]}]}}},"
#define NEEDS_FOO REQUIRED("foo", "Exists", "")
#define SERVICE_FOO "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"foo\":\"\"}}}"
#define ZONE "topology.kubernetes.io/zone"
#define LABELLED "a,+foo b,+foo c"
#define ABCD "a b c,+zone=zone2 d,+zone=zone2"

static const struct score_scenario {
    const char *name, *nodes, *candidates, *pods;
    const char *labels, *constraints, *spec; /* of the incoming pod */
    const char *want;                        /* "normalised [raw]" or "Skip" */
    const char *service;                     /* NULL: none */
    bool system_defaults;
} scenarios[] = {
    {"S1 no pods", "a b", "a b", "", "foo", "1/host/foo,soft", "", "100,100 [0,0]", NULL, false},
    {"S2 one candidate", "a b", "a", "a:2 b:1", "foo", "1/host/foo,soft", "", "100 [2]", NULL,
     false},
    {"S3 equal", "a b", "a b", "a:1 b:1", "foo", "1/host/foo,soft", "", "100,100 [1,1]", NULL,
     false},
    {"S4 2/1/0/3", ABCD, "a b c d", "a:2 b:1 d:3", "foo", "1/host/foo,soft", "",
     "20,60,100,0 [4,2,0,5]", NULL, false},
    {"S5 nil selector", ABCD, "a b c d", "a:2 b:1 d:3", "foo", "1/host/nil,soft", "",
     "100,100,100,100 [0,0,0,0]", NULL, false},
    {"S6 maxSkew 2", ABCD, "a b c d", "a:2 b:1 d:3", "foo", "2/host/foo,soft", "",
     "33,66,100,16 [5,3,1,6]", NULL, false},
    {"S7 4/3/2/1, maxSkew 3", ABCD, "a b c d", "a:4 b:3 c:2 d:1", "foo", "3/host/foo,soft", "",
     "44,66,77,100 [9,7,6,4]", NULL, false},
    {"S8 system defaults, no zone labels", ABCD, "a b c d", "a:4 b:3 c:2 d:1", "foo", "", "",
     "44,66,77,100 [9,7,6,4]", SERVICE_FOO, true},
    {"S9 three of four nodes", "a b x y", "a b x", "a:4 b:2 x:1 y:3", "foo", "1/host/foo,soft", "",
     "33,83,100 [6,3,2]", NULL, false},
    {"S10 b lacks the hostname label", "a b,-kubernetes.io/hostname x", "a b x", "a:4 b:2 x:1",
     "foo", "1/host/foo,soft", "", "16,0,100 [6,0,1]", NULL, false},
    {"S11 zones 6/4", "a b x y", "a b x", "a:4 b:2 x:1 y:3", "foo", "1/zone/foo,soft", "",
     "75,75,100 [8,8,6]", NULL, false},
    {"S12 zone and host", "a b x y", "a x", "a:2 b:1 x:2 y:4", "foo",
     "1/zone/foo,soft 1/host/foo,soft", "", "100,63 [7,11]", NULL, false},
    {"S13 zone foo, host bar", "a b x y", "a b x y", "a:foo b:foo+bar y:foo y:bar", "foo+bar",
     "1/zone/foo,soft 1/host/bar,soft", "", "60,20,100,60 [3,5,1,3]", NULL, false},
    {"S14 zone foo, host bar", "a b x y", "a b x y", "b:bar x:foo y:foo+bar", "foo+bar",
     "1/zone/foo,soft 1/host/bar,soft", "", "100,60,40,0 [0,2,3,5]", NULL, false},
    {"S15 S13 without y", "a b x y", "a b x", "a:foo b:foo+bar y:foo y:bar", "foo+bar",
     "1/zone/foo,soft 1/host/bar,soft", "", "50,25,100 [3,4,1]", NULL, false},
    {"S16 other namespace", "a b", "a b", "ns1/a:1 a:1 b:2", "foo", "1/host/foo,soft", "",
     "100,33 [1,3]", NULL, false},
    {"S17 terminating pod", "a b", "a b", "a:~1 b:1", "foo", "1/host/foo,soft", "", "100,0 [0,1]",
     NULL, false},
    {"S18 minDomains changes nothing", "a b c", "a b c", "a:2 b:2 c:1", "foo",
     "2/node/foo,soft,minDomains=10", "", "75,75,100 [4,4,3]", NULL, false},
    {"S19 affinity Honor", LABELLED, "a b c", "a:2 b:1 c:1", "foo",
     "1/node/foo,soft,affinity=Honor", NEEDS_FOO, "0,33,100 [3,2,0]", NULL, false},
    {"S20 affinity Ignore", LABELLED, "a b c", "a:2 b:1 c:1", "foo",
     "1/node/foo,soft,affinity=Ignore", NEEDS_FOO, "66,100,100 [3,2,2]", NULL, false},
    {"S21 taints Honor", "a b c,!", "a b c", "a:2 b:1 c:1", "foo", "1/node/foo,soft,taints=Honor",
     "", "0,33,100 [3,2,0]", NULL, false},
    {"S22 taints Ignore", "a b c,!", "a b c", "a:2 b:1 c:1", "foo", "1/node/foo,soft,taints=Ignore",
     "", "66,100,100 [3,2,2]", NULL, false},
    {"S23 selectors with the empty value", ABCD, "a b c d", "a:foo b:foo+bar c:foo c:bar d:foo=1",
     "foo+bar", "1/zone/foo=,soft 1/host/bar=,soft", "", "60,20,60,100 [3,5,3,1]", NULL, false},
    {"S24 matchLabelKeys", ABCD, "a b c d", "a:foo b:foo+bar+baz c:foo c:bar+baz d:bar",
     "foo+bar+baz", "1/zone/foo,soft 1/host/bar,soft,keys=baz", "", "60,20,60,100 [3,5,3,1]", NULL,
     false},

    {"PS1 no soft constraint", "a b x", "a b x", "a:1", "foo", "1/zone/foo", "", "Skip", NULL,
     false},
    {"PS2 a node without one of the keys is ignored", "a b x,-zone", "a b x", "a:2 x:1", "foo",
     "1/zone/foo,soft 1/node/foo,soft", "", "40,100,0 [5,2,0]", NULL, false},
    /* host: 10 ln(4) + 2; zone: 10 ln(4) + 4, because mars and "" are two domains */
    {"PS3 system defaults, a node without zone", "a,+" ZONE "=mars b", "a b", "a:10", "foo", "", "",
     "5,100 [34,2]", SERVICE_FOO, true},
    /* host: 10 ln(4) + 2; zone: 15 ln(3) + 4, because "" and no label are one domain */
    {"PS3 system defaults, the empty zone", "a,+" ZONE " b", "a b", "a:10 b:5", "foo", "", "",
     "25,100 [36,9]", SERVICE_FOO, true},
    {"PS4 default list ignores nodes without the key", "a b,-zone", "a b", "a:1", "foo", "", "",
     "100,0 [1,0]", SERVICE_FOO, false},
};

static void run_scenario(void **state) {
    const struct score_scenario *s = *state;
    struct cluster c;
    cluster_open(&c);
    c.options.system_defaults = s->system_defaults;
    c.options.default_constraints =
        cluster_constraints(&c, "1/zone/nil,soft 9/rack/nil", &c.options.default_constraint_count);
    cluster_nodes(&c, s->nodes);
    cluster_pods(&c, s->pods);
    if (s->service != NULL)
        cluster_workload(&c, OBJECT_SERVICE, s->service);
    struct pod pod = cluster_pod(&c, s->labels, s->constraints, s->spec);
    assert_str(scenario_scores(&c, &pod, s->candidates), s->want);
    cluster_close(&c);
}

int main(void) {
    return scenario_run_all("score scenarios", scenarios, sizeof scenarios / sizeof scenarios[0],
                            sizeof scenarios[0], run_scenario);
}
