/*
 * Which permissions `evenkeel check cluster` asks for, and what it says when the API server refuses
 * all of them.
 */
#include "check/permissions.h"

#include "unit/check/checking.h"
#include "unit/unit.h"

static void run_check(struct checking *c) {
    permissions_check(&c->configuration, c->role, c->client, "ours", &c->findings);
}

static int setup(void **state) {
    *state = checking_open(run_check);
    return 0;
}

static int teardown(void **state) {
    checking_close(*state);
    return 0;
}

static void check(struct checking *c, const char *answer) {
    struct api_call call;
    checking_start(c);
    while (checking_take(c, &call)) {
        api_answer(&call, 201, "", answer);
        api_call_done(&call);
    }
}

/* One line each, sorted as users see them: errors first, then by text. */
static void expect(struct checking *f, const char *const *wanted, size_t count) {
    CLEANUP(strbuf_done) struct strbuf printed = {0};
    assert_true(check_report_print_json(&f->findings, "cluster", &printed));
    for (uint32_t i = 0; i < f->findings.count && i < count; i++)
        assert_str(f->findings.items[i].problem, wanted[i]);
    assert_int_equal(f->findings.count, count);
}

#define REFUSED "{\"status\":{\"allowed\":false}}"
#define ALLOWED "{\"status\":{\"allowed\":true}}"

#define SELECTORS ": default constraints take their selectors"
#define PINS ": without it pods are spread as if their volumes could be anywhere"
#define NEAR_DATA ": needed for pods near their data, if Fluid is installed"
#define FLUID(verb, resource) "may not " verb " " resource " in API group data.fluid.io" NEAR_DATA
#define FLUIDS(verb)                                                                               \
    FLUID(verb, "alluxioruntimes"), FLUID(verb, "cacheruntimes"), FLUID(verb, "datasets"),         \
        FLUID(verb, "efcruntimes"), FLUID(verb, "jindoruntimes"), FLUID(verb, "juicefsruntimes")
#define ERRORS(verb)                                                                               \
    "may not " verb " namespaces: it is part of the first sync",                                   \
        "may not " verb " nodes: without nodes there is nothing to spread over",                   \
        "may not " verb " pods: without pods nothing can be counted"
#define WORKLOADS(verb)                                                                            \
    "may not " verb " replicasets in API group apps" SELECTORS,                                    \
        "may not " verb " replicationcontrollers" SELECTORS,                                       \
        "may not " verb " services" SELECTORS,                                                     \
        "may not " verb " statefulsets in API group apps" SELECTORS
#define CLASSES(verb)                                                                              \
    "may not " verb " storageclasses in API group storage.k8s.io: without it what-if does not "    \
    "judge claims that are not bound yet"
#define POLICIES(verb)                                                                             \
    "may not " verb " topologypolicies in API group evenkeel.io: without it only policies of "     \
    "files are in force"

#define EVENTS                                                                                     \
    " in API group events.k8s.io, namespace default: without it no Event is written about "        \
    "a policy"

#define UNEVEN " in API group events.k8s.io: without it no Event says which workloads stay uneven"

#define SCALE(resource, group)                                                                     \
    "may not get " resource "/scale in API group " group                                           \
    ": without it the groups of pods of this kind are learned from the pods' labels only"

static void all_that_is_refused(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        ERRORS("list"),
        WORKLOADS("list"),
        ERRORS("watch"),
        WORKLOADS("watch"),
        "may not create events" EVENTS,
        "may not create events" UNEVEN,
        FLUID("get", "alluxioruntimes"),
        FLUID("get", "cacheruntimes"),
        SCALE("clonesets", "apps.kruise.io"),
        FLUID("get", "datasets"),
        FLUID("get", "efcruntimes"),
        SCALE("jaxjobs", "kubeflow.org"),
        FLUID("get", "jindoruntimes"),
        FLUID("get", "juicefsruntimes"),
        SCALE("nodesets", "slinky.slurm.net"),
        SCALE("paddlejobs", "kubeflow.org"),
        "may not get persistentvolumeclaims: needed for pods that are created together with their "
        "claims",
        SCALE("pytorchjobs", "kubeflow.org"),
        SCALE("statefulsets", "apps.kruise.io"),
        FLUID("get", "thinruntimes"),
        FLUID("get", "vineyardruntimes"),
        FLUIDS("list"),
        "may not list persistentvolumeclaims" NEAR_DATA,
        "may not list persistentvolumeclaims" PINS,
        "may not list persistentvolumes" PINS,
        CLASSES("list"),
        FLUID("list", "thinruntimes"),
        POLICIES("list"),
        FLUID("list", "vineyardruntimes"),
        "may not patch events" EVENTS,
        "may not patch events" UNEVEN,
        "may not patch topologypolicies/status in API group evenkeel.io: without it the status of "
        "policies is not written",
        FLUIDS("watch"),
        "may not watch persistentvolumeclaims" NEAR_DATA,
        "may not watch persistentvolumeclaims" PINS,
        "may not watch persistentvolumes" PINS,
        CLASSES("watch"),
        FLUID("watch", "thinruntimes"),
        POLICIES("watch"),
        FLUID("watch", "vineyardruntimes"),
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = true;
    f->configuration.policies.watch = true;
    f->configuration.webhook.fluid.watch = true;
    f->configuration.webhook.listen = "127.0.0.1:0";
    f->configuration.events.uneven_after_ms = 1;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

/* Events about workloads are where these are, or in the namespaces that are named. */
static void events_of_named_namespaces(void **state) {
    struct checking *f = *state;
#define UNEVEN_IN(verb, namespace)                                                                 \
    "may not " verb                                                                                \
    " events in API group events.k8s.io, namespace " namespace ": without it no Event says which " \
                                                               "workloads stay uneven"
    static const char *const namespaces[] = {"shop", "bank"};
    static const char *const wanted[] = {
        ERRORS("list"),
        ERRORS("watch"),
        UNEVEN_IN("create", "bank"),
        "may not create events" EVENTS,
        UNEVEN_IN("create", "shop"),
        "may not list persistentvolumeclaims" PINS,
        "may not list persistentvolumes" PINS,
        CLASSES("list"),
        POLICIES("list"),
        UNEVEN_IN("patch", "bank"),
        "may not patch events" EVENTS,
        UNEVEN_IN("patch", "shop"),
        "may not patch topologypolicies/status in API group evenkeel.io: without it the status of "
        "policies is not written",
        "may not watch persistentvolumeclaims" PINS,
        "may not watch persistentvolumes" PINS,
        CLASSES("watch"),
        POLICIES("watch"),
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = true;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.webhook.fluid.read_ms = 0;
    f->configuration.webhook.listen = "127.0.0.1:0";
    f->configuration.events.uneven_after_ms = 1;
    f->configuration.events.namespaces = namespaces;
    f->configuration.events.namespace_count = 2;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

/* Neither default constraints nor policies nor data nor bindings: what the cache needs stays. */
static void what_is_off_is_not_asked_for(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        ERRORS("list"),
        ERRORS("watch"),
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

static void bindings_are_asked_for_where_they_are_configured(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        "may not create pods/binding: without it extender.bind binds no pod",
        ERRORS("list"),
        ERRORS("watch"),
        "may not get pods: without it Evenkeel cannot look at a pod whose binding got no answer",
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.extender.bind = true;
    f->configuration.extender.listen = "127.0.0.1:0";
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

static void label_nodes(struct checking *f) {
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.webhook.fluid.read_ms = 0;
    f->configuration.data.label_leaving_nodes = true;
}

static void labelling_nodes_takes_a_right_of_its_own(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        ERRORS("list"),
        "may not patch nodes: without it data.labelLeavingNodes labels no node",
        ERRORS("watch"),
        "0 of the needed permissions are granted",
    };
    label_nodes(f);
    f->configuration.webhook.listen = "127.0.0.1:0";
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

static void without_the_webhook_nobody_labels_nodes(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {ERRORS("list"), ERRORS("watch"),
                                         "0 of the needed permissions are granted"};
    label_nodes(f);
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

/* No door works for pods. */
static void only_clusters_are_asked_for(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        "may not list managedclusters in API group cluster.open-cluster-management.io: "
        "fleet.clusters or ocm.enabled asks for them",
        "may not watch managedclusters in API group cluster.open-cluster-management.io: "
        "fleet.clusters or ocm.enabled asks for them",
        "0 of the needed permissions are granted",
    };
    f->configuration.extender.listen = "0";
    f->configuration.fleet.clusters = true;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

/* Where the hub is another server, each is asked for its own. */
static void the_hubs_are_not_this_clusters(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {ERRORS("list"), ERRORS("watch"),
                                         "0 of the needed permissions are granted"};
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.fleet.clusters = true;
    f->configuration.hub.kubeconfig = "hub.yaml";
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

static void of_the_hub_only_clusters_are_asked_for(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        "may not list managedclusters in API group cluster.open-cluster-management.io: "
        "fleet.clusters or ocm.enabled asks for them",
        "may not watch managedclusters in API group cluster.open-cluster-management.io: "
        "fleet.clusters or ocm.enabled asks for them",
        "0 of the needed permissions are granted",
    };
    f->role = SERVER_HUB;
    f->configuration.extender.bind = true; /* of this cluster's pods */
    f->configuration.fleet.clusters = true;
    f->configuration.hub.in_cluster = true;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
    for (uint32_t i = 0; i < f->findings.count; i++)
        assert_str(f->findings.items[i].path, "hub.permissions");
}

#define TO_BE_FOUND                                                                                \
    " services, namespace shop-system: without it karmada-scheduler does not find the estimator "  \
    "of each cluster"
#define FROM_KARMADA " in API group cluster.karmada.io: estimator.fromKarmada asks for them"
#define SERVICES_LEASE                                                                             \
    " in API group coordination.k8s.io, object shop-karmada, namespace ours: without it no "       \
    "replica becomes ready"

static void services_in_karmadas_server(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        "may not create leases in API group coordination.k8s.io, namespace ours: without it no "
        "replica becomes ready",
        "may not create" TO_BE_FOUND,
        "may not delete" TO_BE_FOUND,
        "may not get leases" SERVICES_LEASE,
        "may not list clusters" FROM_KARMADA,
        "may not list" TO_BE_FOUND,
        "may not patch" TO_BE_FOUND,
        "may not update leases" SERVICES_LEASE,
        "may not watch clusters" FROM_KARMADA,
        "may not watch" TO_BE_FOUND,
        "may not create events in API group events.k8s.io, namespace ours: without it only the "
        "log says which replica leads",
        "may not get secrets, namespace shop-cluster: without it member clusters whose Secrets are "
        "in this namespace cannot be asked",
        "may not patch events in API group events.k8s.io, namespace ours: without it only the log "
        "says which replica leads",
        "0 of the needed permissions are granted",
    };
    f->role = SERVER_KARMADA;
    f->configuration.extender.listen = "0";
    f->configuration.karmada_server.kubeconfig = "k.yaml";
    f->configuration.karmada_estimators.service_namespace = "shop-system";
    f->configuration.karmada_cluster_namespace = "shop-cluster";
    f->configuration.estimator.listen = ":1";
    f->configuration.estimator.from_karmada = f->configuration.estimator.services = true;
    f->configuration.leader_election.enabled = true;
    f->configuration.leader_election.name = "shop";
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

#define OCM_API " in API group cluster.open-cluster-management.io"
#define DECIDED ": ocm.enabled decides Placements by them"
#define FLEET ": fleet.clusters or ocm.enabled asks for them"
#define NOT_DECIDED ": without it no Placement is decided"
#define NOT_SAID ": without it the status of Placements is not written"
#define HUB_LEASE                                                                                  \
    " in API group coordination.k8s.io, object shop-ocm, namespace ours: without it no replica "   \
    "becomes ready"
#define FOR_PLACEMENTS(verb)                                                                       \
    "may not " verb " addonplacementscores" OCM_API DECIDED,                                       \
        "may not " verb " managedclusters" OCM_API FLEET,                                          \
        "may not " verb " managedclustersetbindings" OCM_API DECIDED,                              \
        "may not " verb " managedclustersets" OCM_API DECIDED,                                     \
        "may not " verb " namespaces: policies pick Placements by their labels",                   \
        "may not " verb " placementdecisions" OCM_API DECIDED,                                     \
        "may not " verb " placements" OCM_API DECIDED

/* No node and no pod, and its Lease at the hub. */
static const char *const of_ocm[] = {
    "may not create leases in API group coordination.k8s.io, namespace ours: without it no replica "
    "becomes ready",
    "may not create placementdecisions" OCM_API NOT_DECIDED,
    "may not delete placementdecisions" OCM_API NOT_DECIDED,
    "may not get leases" HUB_LEASE,
    FOR_PLACEMENTS("list"),
    "may not patch placementdecisions" OCM_API NOT_DECIDED,
    "may not patch placementdecisions/status" OCM_API NOT_DECIDED,
    "may not patch placements" OCM_API ": without it OCM does not leave Placements to Evenkeel",
    "may not patch placements/status" OCM_API NOT_SAID,
    "may not update leases" HUB_LEASE,
    FOR_PLACEMENTS("watch"),
    "may not create addonplacementscores" OCM_API ": without it mode Scores decides nothing",
    "may not create events in API group events.k8s.io, namespace ours: without it only the log "
    "says which replica leads",
    "may not create events in API group events.k8s.io: without it no Event says which clusters "
    "were moved",
    "may not list topologypolicies in API group evenkeel.io: without it Placements are spread by "
    "policies of files only",
    "may not patch addonplacementscores/status" OCM_API ": without it mode Scores decides nothing",
    "may not patch events in API group events.k8s.io, namespace ours: without it only the log says "
    "which replica leads",
    "may not patch events in API group events.k8s.io: without it no Event says which clusters were "
    "moved",
    "may not watch topologypolicies in API group evenkeel.io: without it Placements are spread by "
    "policies of files only",
    "0 of the needed permissions are granted",
};

static void decide_placements(struct checking *f) {
    f->configuration.extender.listen = f->configuration.webhook.listen = "0";
    f->configuration.policies.watch = true;
    f->configuration.ocm.enabled = true;
    f->configuration.leader_election.enabled = true;
    f->configuration.leader_election.name = "shop";
}

static void of_a_hub_that_decides(void **state) {
    struct checking *f = *state;
    decide_placements(f);
    f->role = SERVER_HUB;
    f->configuration.hub.in_cluster = true;
    check(f, REFUSED);
    expect(f, of_ocm, sizeof of_ocm / sizeof of_ocm[0]);
    f->configuration.leader_election.name = NULL;
}

/* Two rights less, and the right to read scores, which OCM's prioritizers use, stays. */
static void of_a_hub_without_scores(void **state) {
    struct checking *f = *state;
    const char *wanted[sizeof of_ocm / sizeof of_ocm[0]];
    size_t count = 0;
    for (size_t i = 0; i < sizeof of_ocm / sizeof of_ocm[0]; i++)
        if (strstr(of_ocm[i], "without it mode Scores") == NULL)
            wanted[count++] = of_ocm[i];
    assert_int_equal(count, sizeof of_ocm / sizeof of_ocm[0] - 2);
    decide_placements(f);
    f->role = SERVER_HUB;
    f->configuration.hub.in_cluster = true;
    f->configuration.ocm.scores = false;
    check(f, REFUSED);
    expect(f, wanted, count);
    f->configuration.leader_election.name = NULL;
}

static void of_a_cluster_that_is_the_hub(void **state) {
    struct checking *f = *state;
    decide_placements(f);
    check(f, REFUSED);
    expect(f, of_ocm, sizeof of_ocm / sizeof of_ocm[0]);
    f->configuration.leader_election.name = NULL;
}

/* A replica that works for pods as well keeps what it needs apart. */
static void nothing_of_the_hub_is_asked_of_the_cluster(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {ERRORS("list"), ERRORS("watch"),
                                         "0 of the needed permissions are granted"};
    decide_placements(f);
    f->configuration.extender.listen = "127.0.0.1:0";
    f->configuration.engine.system_defaults = false;
    f->configuration.policies.watch = f->configuration.webhook.fluid.watch = false;
    f->configuration.hub.in_cluster = true;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
    f->configuration.leader_election.name = NULL;
}

#define NEITHER ": without it the extender's certificate is neither made nor renewed"
#define NOT_KUBE_SCHEDULERS ": without it kube-scheduler's certificate is neither made nor renewed"
#define ONLY_THE_LOG                                                                               \
    " in API group events.k8s.io, namespace ours: without it only the log says what was done to "  \
    "the certificates"
#define SECRET(verb, name, why) "may not " verb " secrets, object " name ", namespace ours" why

/* Two Secrets by name, and no others. */
static void secrets_of_the_extender(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {
        "may not create secrets, namespace ours" NOT_KUBE_SCHEDULERS,
        "may not create secrets, namespace ours" NEITHER,
        ERRORS("list"),
        SECRET("list", "evenkeel-extender-client", NOT_KUBE_SCHEDULERS),
        SECRET("list", "evenkeel-extender-tls", ": without it the extender has no certificate"),
        SECRET("patch", "evenkeel-extender-client", NOT_KUBE_SCHEDULERS),
        SECRET("patch", "evenkeel-extender-tls", NEITHER),
        ERRORS("watch"),
        SECRET("watch", "evenkeel-extender-client", NOT_KUBE_SCHEDULERS),
        SECRET("watch", "evenkeel-extender-tls", ": without it the extender has no certificate"),
        "may not create events" ONLY_THE_LOG,
        "may not patch events" ONLY_THE_LOG,
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.extender.certificates.mode = CERTIFICATES_SELF_SIGNED;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

/* Who stands behind a unit is read where pods are validated, and nowhere else. */
static void units_are_read_where_pods_are_validated(void **state) {
    struct checking *f = *state;
#define UNIT(what)                                                                                 \
    "may not get " what                                                                            \
    ": without it policies with mode Require deny the pods of units that this kind makes"
#define UNIT_OF_KUBEFLOW(resource) UNIT(resource " in API group kubeflow.org")
#define VALIDATING(verb)                                                                           \
    "may not " verb " validatingwebhookconfigurations in API group admissionregistration.k8s.io, " \
    "object v: without it nobody keeps its caBundle right"
    static const char *const configurations[] = {"v"};
    static const char *const wanted[] = {
        ERRORS("list"),
        VALIDATING("list"),
        VALIDATING("patch"),
        ERRORS("watch"),
        VALIDATING("watch"),
        SCALE("clonesets", "apps.kruise.io"),
        UNIT_OF_KUBEFLOW("jaxjobs"),
        SCALE("jaxjobs", "kubeflow.org"),
        UNIT("jobs in API group batch.volcano.sh"),
        UNIT("jobs in API group batch"),
        UNIT("jobsets in API group jobset.x-k8s.io"),
        UNIT("leaderworkersets in API group leaderworkerset.x-k8s.io"),
        UNIT_OF_KUBEFLOW("mpijobs"),
        SCALE("nodesets", "slinky.slurm.net"),
        UNIT_OF_KUBEFLOW("paddlejobs"),
        SCALE("paddlejobs", "kubeflow.org"),
        UNIT("pods"),
        UNIT_OF_KUBEFLOW("pytorchjobs"),
        SCALE("pytorchjobs", "kubeflow.org"),
        UNIT("rayclusters in API group ray.io"),
        UNIT("statefulsets in API group apps"),
        SCALE("statefulsets", "apps.kruise.io"),
        UNIT_OF_KUBEFLOW("tfjobs"),
        UNIT_OF_KUBEFLOW("xgboostjobs"),
        "0 of the needed permissions are granted",
    };
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.webhook.listen = "127.0.0.1:0";
    f->configuration.webhook.fluid.read_ms = 1000;
    f->configuration.webhook.certificates.validating = configurations;
    f->configuration.webhook.certificates.validating_count = 1;
    check(f, REFUSED);
    expect(f, wanted, sizeof wanted / sizeof wanted[0]);
}

static void what_is_granted_is_counted(void **state) {
    struct checking *f = *state;
    static const char *const wanted[] = {"6 of the needed permissions are granted"};
    f->configuration.engine.system_defaults = false;
    f->configuration.engine.default_constraint_count = 0;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    check(f, ALLOWED);
    expect(f, wanted, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(all_that_is_refused),
        TEST(events_of_named_namespaces),
        TEST(what_is_off_is_not_asked_for),
        TEST(only_clusters_are_asked_for),
        TEST(the_hubs_are_not_this_clusters),
        TEST(of_the_hub_only_clusters_are_asked_for),
        TEST(services_in_karmadas_server),
        TEST(of_a_hub_that_decides),
        TEST(of_a_hub_without_scores),
        TEST(of_a_cluster_that_is_the_hub),
        TEST(nothing_of_the_hub_is_asked_of_the_cluster),
        TEST(bindings_are_asked_for_where_they_are_configured),
        TEST(labelling_nodes_takes_a_right_of_its_own),
        TEST(without_the_webhook_nobody_labels_nodes),
        TEST(secrets_of_the_extender),
        TEST(units_are_read_where_pods_are_validated),
        TEST(what_is_granted_is_counted),
    };
    return cmocka_run_group_tests_name("check_permissions", tests, NULL, NULL);
}
