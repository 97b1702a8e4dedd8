/*
 * Filter verdicts of PodTopologySpread: the scenarios of upstream's TestSingleConstraint and
 * TestMultipleConstraints (F rows) and edge cases derived from its code (X rows). How scenarios are
 * written: unit/cluster_builder.h. Upstream's selectors ask whether a label exists.
 */
#include "conformance/scenario.h"

#define ALL "a b x y"
#define NODE_IS_A_OR_Y REQUIRED("node", "In", "\"a\",\"y\"")
#define NODE_IS_NOT_B REQUIRED("node", "NotIn", "\"b\"")
#define NEEDS_FOO REQUIRED("foo", "Exists", "")
#define REQUIRED(key, op, values)                                                                  \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"          \
    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op       \
    "\",\"values\":[" values "]}]}]}}},"
#define SELECTS_FOO "\"nodeSelector\":{\"foo\":\"\"},"
#define LABELLED "a,+foo b,+foo x,+foo y"

static const struct filter_scenario {
    const char *name, *nodes, *pods;
    const char *labels, *constraints, *spec; /* of the incoming pod */
    const char *want;                        /* per node: S, U or R */
    bool empty_counts_none;                  /* {} as kube-scheduler 1.27 to 1.37 reads it */
} scenarios[] = {
    /* one constraint */
    {"F1 no existing pods", ALL, "", "foo", "1/zone/foo", "", "SSSS", false},
    {"F2 incoming does not match", ALL, "", "foo", "1/zone/bar", "", "SSSS", false},
    {"F3 pods of other namespaces", ALL, "ns1/a:1 ns2/a:1 x:1 y:1", "foo", "1/zone/foo", "", "SSUU",
     false},
    {"F4 nil selector", ALL, "x:1 y:1", "foo", "1/zone/nil", "", "SSSS", false},
    {"F5 zones 3/3", ALL, "a:2 b:1 y:3", "foo", "1/zone/foo", "", "SSSS", false},
    {"F6 misspelt zone label", "a b,-zone,+zon=zone1 x y", "a:1 b:1 x:1 y:1", "foo", "1/zone/foo",
     "", "SRUU", false},
    {"F7 key on no node", "a x", "", "foo", "1/rack/foo", "", "RR", false},
    {"F8 nodes 2/1/0/3", ALL, "a:2 b:1 y:3", "foo", "1/node/foo", "", "UUSU", false},
    {"F9 maxSkew 2", ALL, "a:2 b:1 y:3", "foo", "2/node/foo", "", "USSU", false},
    {"F10 no self match", ALL, "a:2 b:1 y:3", "bar", "1/node/foo", "", "USSU", false},
    {"F11 affinity leaves a and y", ALL, "a:2 b:1 y:3", "foo", "1/node/foo", NODE_IS_A_OR_Y, "SSSU",
     false},
    {"F12 terminating pod", "a b", "a:~1 b:1", "foo", "1/node/foo", "", "SU", false},
    {"F13 affinity without b", ALL, "b:2 y:1", "foo", "1/zone/foo", NODE_IS_NOT_B, "SSUU", false},
    {"F14 minDomains unmet", "a b c", "a:2 b:2 c:1", "foo", "2/node/foo,minDomains=4", "", "UUS",
     false},
    {"F15 minDomains met", "a b c", "a:2 b:2 c:1", "foo", "2/node/foo,minDomains=2", "", "SSS",
     false},
    {"F16 minDomains unmet, zones", ALL, "a:1 b:1 y:1", "foo", "2/zone/foo,minDomains=3", "",
     "UUSS", false},
    {"F17 minDomains met, zones", ALL, "a:1 b:1 y:1", "foo", "2/zone/foo,minDomains=1", "", "SSSS",
     false},
    {"F18 affinity Honor", LABELLED, "a:1 b:1 y:1", "foo", "1/node/foo,affinity=Honor", NEEDS_FOO,
     "UUSS", false},
    {"F19 affinity Ignore", LABELLED, "a:1 b:1 y:1", "foo", "1/node/foo,affinity=Ignore", NEEDS_FOO,
     "UUSU", false},
    {"F20 taints Honor", "a b x y,!", "a:1 b:1 y:1", "foo", "1/node/foo,taints=Honor", "", "UUSS",
     false},
    {"F21 taints Ignore", "a b x y,!", "a:1 b:1 y:1", "foo", "1/node/foo,taints=Ignore", "", "UUSU",
     false},
    {"F21a nodeSelector Honor", LABELLED, "a:1 b:1 y:1", "foo", "1/node/foo,affinity=Honor",
     SELECTS_FOO, "UUSS", false},
    {"F21b nodeSelector Ignore", LABELLED, "a:1 b:1 y:1", "foo", "1/node/foo,affinity=Ignore",
     SELECTS_FOO, "UUSU", false},

    /* several constraints */
    {"F22 zones 3/3, nodes 2/1/0/3", ALL, "a:2 b:1 y:3", "foo", "1/zone/foo 1/node/foo", "", "UUSU",
     false},
    {"F23 zones 3/4, nodes 2/1/0/4", ALL, "a:2 b:1 y:4", "foo", "1/zone/foo 1/node/foo", "", "UUUU",
     false},
    {"F24 different selectors", ALL, "a:foo y:bar", "foo+bar", "1/zone/foo 1/node/bar", "", "UUSU",
     false},
    {"F25 different selectors", ALL, "a:foo x:bar y:bar", "foo+bar", "1/zone/foo 1/node/bar", "",
     "UUUU", false},
    {"F26 different selectors", ALL, "a:foo a:foo+bar y:foo y:foo+bar y:foo", "foo+bar",
     "1/zone/foo 1/node/bar", "", "USUU", false},
    {"F27 one self match only", ALL, "a:foo x:bar y:bar", "bar", "1/zone/foo 1/node/bar", "",
     "SSUU", false},
    {"F28 x lacks the label node", "a b x,-node y", "a:1 y:1", "foo", "1/zone/foo 1/node/foo", "",
     "USRU", false},
    {"F29 affinity Honor and Ignore", LABELLED, "a:1 b:1 y:1", "foo",
     "1/zone/foo,affinity=Honor 1/node/foo,affinity=Ignore", NEEDS_FOO, "UUSU", false},
    {"F30 taints Honor and Ignore", "a b x y,!", "a:1 b:1 y:1", "foo",
     "1/zone/foo,taints=Honor 1/node/foo,taints=Ignore", "", "UUSU", false},
    {"F31 default policies", "a,+foo b x,+foo y,+foo,!", "a:1 b:1 y:1", "foo",
     "1/zone/foo 1/node/foo", NEEDS_FOO, "USSU", false},
    {"F32 zone taints Honor, node affinity Ignore", "a,+foo b x,+foo y,+foo,!", "a:1 b:1 y:1",
     "foo", "1/zone/foo,taints=Honor 1/node/foo,affinity=Ignore", NEEDS_FOO, "UUSU", false},

    /* derived */
    {"X1 selector {} counts none", ALL, "a:9", "foo", "1/zone/{}", "", "SSSS", true},
    {"X1 selector {} counts all", ALL, "a:9", "foo", "1/zone/{}", "", "UUSS", false},
    {"X2 affinity excludes every node", ALL, "a:3", "foo", "1/zone/foo", NEEDS_FOO, "SSSS", false},
    {"X3 selector {} counts none, minDomains", ALL, "a:9", "foo", "1/zone/{},minDomains=5", "",
     "SSSS", true},
    {"X4 the empty label value is a domain", "a q,+zone", "a:1", "foo", "1/zone/foo", "", "US",
     false},
    {"X5 excluded node may pass minDomains", LABELLED, "a:1 b:1 y:1", "foo",
     "1/node/foo,minDomains=9", NEEDS_FOO, "UUSS", false},
    {"X6 the largest maxSkew asks for the key only", "a b,-zone x y", "a:100", "foo",
     "2147483647/zone/foo", "", "SRSS", false},
    {"X8 nodes without rack vanish from zones", "a,+rack b x,+rack y", "a:1 b:5 x:2", "foo",
     "1/zone/foo 9/rack/foo", "", "SRUU", false},
    {"X8 with the zone alone they count", "a,+rack b x,+rack y", "a:1 b:5 x:2", "foo", "1/zone/foo",
     "", "UUSS", false},
};

static void run_scenario(void **state) {
    const struct filter_scenario *s = *state;
    struct cluster c;
    cluster_open(&c);
    c.options.empty_selector_counts_all = !s->empty_counts_none;
    cluster_nodes(&c, s->nodes);
    cluster_pods(&c, s->pods);
    struct pod pod = cluster_pod(&c, s->labels, s->constraints, s->spec);
    assert_str(scenario_verdicts(&c, &pod), s->want);
    cluster_close(&c);
}

/* X7: the pod's own earlier placement, reserved and then released by the next filter call, counts
 * for others but not for itself. */
static void x7_retry_does_not_count_itself(void **state) {
    (void)state;
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, ALL);
    struct pod pod = cluster_pod(&c, "foo", "1/zone/foo", "");
    struct pod other = pod;
    other.meta.uid = STR("other");
    for (int attempt = 0; attempt < 3; attempt++) {
        cache_write_begin(c.cache);
        cache_release(c.cache, &pod.meta);
        cache_write_end(c.cache);
        assert_str(scenario_verdicts(&c, &pod), "SSSS");
        cache_write_begin(c.cache);
        assert_int_equal(cache_reserve(c.cache, &pod, STR("a")), 0);
        cache_write_end(c.cache);
        assert_str(scenario_verdicts(&c, &other), "UUSS");
    }
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest more[] = {cmocka_unit_test(x7_retry_does_not_count_itself)};
    int failed =
        scenario_run_all("filter scenarios", scenarios, sizeof scenarios / sizeof scenarios[0],
                         sizeof scenarios[0], run_scenario);
    return failed + CLUSTER_RUN_TESTS("filter, more", more);
}
