/*
 * `evenkeel check cluster` of a fleet's hub: which kinds of Open Cluster Management are served,
 * what a Placement has there, and the version. Expected: what Kubernetes' discovery and OpenAPI v3
 * look like, and the manifests of OCM's operator.
 */
#include "check/hub.h"

#include "unit/check/checking.h"
#include "unit/unit.h"

#define GROUP "/apis/cluster.open-cluster-management.io/"
#define OPENAPI "/openapi/v3/apis/cluster.open-cluster-management.io/v1beta1"
#define DEPLOYMENT                                                                                 \
    "/apis/apps/v1/namespaces/open-cluster-management-hub/deployments/"                            \
    "cluster-manager-placement-controller"

struct answered {
    const char *path;
    int status;
    const char *text;
};

static void run_check(struct checking *c) {
    hub_check(&c->configuration, c->role, c->client, &c->findings);
}

static int setup(void **state) {
    struct checking *c = checking_open(run_check);
    c->configuration.extender.listen = "0";
    c->configuration.kubernetes.kubeconfig = "hub.yaml";
    c->configuration.ocm.enabled = true;
    *state = c;
    return 0;
}

static int teardown(void **state) {
    struct checking *c = *state;
    c->configuration.kubernetes.kubeconfig = NULL;
    checking_close(c);
    return 0;
}

#define RESOURCE(name) "{\"name\":\"" name "\",\"kind\":\"X\",\"verbs\":[\"get\"]}"
#define LIST(items) "{\"kind\":\"APIResourceList\",\"resources\":[" items "]}"
#define V1 GROUP "v1", 200, LIST(RESOURCE("managedclusters/status") "," RESOURCE("managedclusters"))
#define V1BETA2                                                                                    \
    GROUP "v1beta2", 200,                                                                          \
        LIST(RESOURCE("managedclustersets") "," RESOURCE("managedclustersetbindings"))
#define V1BETA1                                                                                    \
    GROUP "v1beta1", 200, LIST(RESOURCE("placements") "," RESOURCE("placementdecisions"))
#define V1ALPHA1 GROUP "v1alpha1", 200, LIST(RESOURCE("addonplacementscores"))
#define SCHEMA(spec, status)                                                                       \
    "{\"openapi\":\"3.0.0\",\"components\":{\"schemas\":{"                                         \
    "\"io.open-cluster-management.cluster.v1beta1.PlacementDecision\":{\"properties\":{\"spec\":{" \
    "\"properties\":{\"spreadPolicy\":{}}}}},"                                                     \
    "\"io.open-cluster-management.cluster.v1beta1.PlacementList\":{},"                             \
    "\"io.open-cluster-management.cluster.v1beta1.Placement\":{\"type\":\"object\","               \
    "\"properties\":{\"kind\":{},\"spec\":{\"type\":\"object\",\"properties\":{" spec "}},"        \
    "\"status\":{\"properties\":{" status "}}}}}}}"
#define GOOD_SCHEMA                                                                                \
    OPENAPI, 200, SCHEMA("\"clusterSets\":{},\"spreadPolicy\":{}", "\"decisionGroups\":{}")
#define GOOD_DEPLOYMENT                                                                            \
    DEPLOYMENT, 200,                                                                               \
        "{\"metadata\":{},\"spec\":{\"replicas\":3,\"template\":{\"spec\":{\"containers\":[{"      \
        "\"name\":\"placement-controller\",\"image\":\"quay.io/ocm/placement:v1.2.0\"},{"          \
        "\"image\":\"other\"}]}}}}"

#define UPGRADE "upgrade Open Cluster Management; Evenkeel is tried with version 1.2 of it"
#define HAS_SPREAD "info ocm: Placements have spec.spreadPolicy\n"
#define HAS_VERSION                                                                                \
    "info ocm: Open Cluster Management's placement controller is quay.io/ocm/placement:v1.2.0\n"

/* What is said, one line each, when the API server answers so; what is not in the list is 404. */
static void expect(struct checking *c, const struct answered *answers, size_t count,
                   const char *wanted) {
    static const char *const severities[] = {"error", "warning", "info"};
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct api_call call;
    checking_start(c);
    while (checking_take(c, &call)) {
        size_t i = 0;
        assert_str(call.method, "GET");
        while (i < count && !str_eq(call.path, str_of(answers[i].path)))
            i++;
        api_answer(&call, i < count ? answers[i].status : 404, "",
                   i < count ? answers[i].text : "{\"kind\":\"Status\",\"code\":404}");
        api_call_done(&call);
    }
    for (uint32_t i = 0; i < c->findings.count; i++)
        strbuf_appendf(&got, "%s %.*s: %.*s\n", severities[c->findings.items[i].severity],
                       STR_ARG(c->findings.items[i].path), STR_ARG(c->findings.items[i].problem));
    assert_str(strbuf_str(&got), wanted);
}

#define EXPECT(c, wanted, ...)                                                                     \
    do {                                                                                           \
        const struct answered answers[] = {__VA_ARGS__};                                           \
        expect(c, answers, sizeof answers / sizeof answers[0], wanted);                            \
    } while (0)

static void a_hub_as_it_should_be(void **state) {
    EXPECT(*state, HAS_SPREAD HAS_VERSION, {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_SCHEMA},
           {GOOD_DEPLOYMENT});
}

/* Findings of another server than this cluster's say so. */
static void a_hub_elsewhere(void **state) {
    struct checking *c = *state;
    c->role = SERVER_HUB;
    c->configuration.hub.kubeconfig = "hub.yaml";
    EXPECT(c,
           "info hub.ocm: Placements have spec.spreadPolicy\n"
           "info hub.ocm: Open Cluster Management's placement controller is "
           "quay.io/ocm/placement:v1.2.0\n",
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_SCHEMA}, {GOOD_DEPLOYMENT});
    c->configuration.hub.kubeconfig = NULL;
}

static void this_cluster_is_not_asked_for_a_hub_elsewhere(void **state) {
    struct checking *c = *state;
    c->configuration.hub.kubeconfig = "hub.yaml";
    EXPECT(c, "", {V1});
    c->configuration.hub.kubeconfig = NULL;
}

static void no_fleet_is_not_asked_about(void **state) {
    struct checking *c = *state;
    c->configuration.ocm.enabled = false;
    EXPECT(c, "", {V1});
}

/* Of a fleet whose Placements are not decided, the clusters count. */
static void clusters_alone(void **state) {
    struct checking *c = *state;
    c->configuration.ocm.enabled = false;
    c->configuration.fleet.clusters = true;
    EXPECT(c, "", {V1});
    EXPECT(c,
           "warning ocm: Open Cluster Management is not there: nothing of "
           "cluster.open-cluster-management.io is served\n",
           {V1BETA1});
}

static void no_open_cluster_management(void **state) {
    struct checking *c = *state;
    EXPECT(c,
           "error ocm: Open Cluster Management is not there: nothing of "
           "cluster.open-cluster-management.io is served\n",
           {GOOD_SCHEMA}, {GOOD_DEPLOYMENT});
    assert_str(c->findings.items[0].advice, "install it, or set hub to the API server that has it");
}

static void kinds_that_are_missing_are_named(void **state) {
    struct checking *c = *state;
    EXPECT(c,
           "error ocm: managedclustersets of cluster.open-cluster-management.io/v1beta2 are not "
           "served\n"
           "error ocm: managedclustersetbindings of cluster.open-cluster-management.io/v1beta2 are "
           "not served\n"
           "error ocm: placementdecisions of cluster.open-cluster-management.io/v1beta1 are not "
           "served\n",
           {V1}, {V1ALPHA1}, {GOOD_SCHEMA},
           {GROUP "v1beta1", 200,
            LIST(RESOURCE("placements") "," RESOURCE("placementdecisions/status"))});
    assert_str(c->findings.items[0].advice, UPGRADE);
}

static void a_placement_without_spread_policy(void **state) {
    struct checking *c = *state;
    EXPECT(c,
           "error ocm: Placements have no spec.spreadPolicy here: spread terms are dropped before "
           "they are stored, and only those of TopologyPolicies count\n" HAS_VERSION,
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_DEPLOYMENT},
           {OPENAPI, 200, SCHEMA("\"clusterSets\":{}", "\"decisionGroups\":{}")});
    assert_str(c->findings.items[0].advice, UPGRADE);
}

static void a_placement_without_decision_groups(void **state) {
    EXPECT(*state,
           "warning ocm: Placements have no status.decisionGroups here: what is written there is "
           "dropped\n" HAS_VERSION,
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_DEPLOYMENT},
           {OPENAPI, 200, SCHEMA("\"spreadPolicy\":{}", "\"spreadPolicy\":{}")});
}

/* Whole names of members count: another one that ends alike is not it. */
static void a_member_that_only_ends_alike(void **state) {
    EXPECT(*state,
           "error ocm: Placements have no spec.spreadPolicy here: spread terms are dropped before "
           "they are stored, and only those of TopologyPolicies count\n" HAS_VERSION,
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_DEPLOYMENT},
           {OPENAPI, 200, SCHEMA("\"my-spreadPolicy\":{}", "\"decisionGroups\":{}")});
}

static void what_cannot_be_seen(void **state) {
    EXPECT(*state, "warning ocm: which kinds are served cannot be seen: the API server says 403\n",
           {GROUP "v1", 403, "{}"});
}

static void a_schema_that_cannot_be_seen(void **state) {
    EXPECT(*state,
           "warning ocm: whether Placements have spec.spreadPolicy cannot be seen: the API server "
           "says 404\n" HAS_VERSION,
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_DEPLOYMENT});
}

#define UNKNOWN "info ocm: the version of Open Cluster Management is not known: "
#define PLACEMENT_CONTROLLER "open-cluster-management-hub/cluster-manager-placement-controller"

static void a_version_that_is_not_known(void **state) {
    EXPECT(*state, HAS_SPREAD UNKNOWN "there is no Deployment " PLACEMENT_CONTROLLER "\n", {V1},
           {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_SCHEMA});
}

static void a_version_that_this_user_may_not_see(void **state) {
    struct checking *c = *state;
    EXPECT(c, HAS_SPREAD UNKNOWN "Deployment " PLACEMENT_CONTROLLER " is not shown to this user\n",
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_SCHEMA}, {DEPLOYMENT, 403, "{}"});
}

/* ---- answers that cannot be read ---- */

static void a_version_that_cannot_be_read(void **state) {
    EXPECT(
        *state,
        HAS_SPREAD "info ocm: the version of Open Cluster Management cannot be seen: the answer "
                   "cannot be read\n",
        {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_SCHEMA},
        {DEPLOYMENT, 200, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":7}]}}}}"});
}

static void a_list_that_cannot_be_read(void **state) {
    static const char *const texts[] = {"{\"resources\":[{\"name\":", "[]", "<html>",
                                        "{\"resources\":{}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct checking *c = *state;
        c->findings.count = 0;
        EXPECT(c, "warning ocm: which kinds are served cannot be seen: the answer cannot be read\n",
               {V1}, {V1BETA2}, {V1BETA1}, {GROUP "v1alpha1", 200, texts[i]});
    }
}

static void a_schema_that_cannot_be_read(void **state) {
    EXPECT(*state,
           "warning ocm: whether Placements have spec.spreadPolicy cannot be seen: the answer "
           "cannot be read\n" HAS_VERSION,
           {V1}, {V1BETA2}, {V1BETA1}, {V1ALPHA1}, {GOOD_DEPLOYMENT},
           {OPENAPI, 200, "{\"components\":[]}"});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_hub_as_it_should_be),
        TEST(a_hub_elsewhere),
        TEST(this_cluster_is_not_asked_for_a_hub_elsewhere),
        TEST(no_fleet_is_not_asked_about),
        TEST(clusters_alone),
        TEST(no_open_cluster_management),
        TEST(kinds_that_are_missing_are_named),
        TEST(a_placement_without_spread_policy),
        TEST(a_placement_without_decision_groups),
        TEST(a_member_that_only_ends_alike),
        TEST(what_cannot_be_seen),
        TEST(a_schema_that_cannot_be_seen),
        TEST(a_version_that_is_not_known),
        TEST(a_version_that_this_user_may_not_see),
        TEST(a_version_that_cannot_be_read),
        TEST(a_list_that_cannot_be_read),
        TEST(a_schema_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("check_hub", tests, NULL, NULL);
}
