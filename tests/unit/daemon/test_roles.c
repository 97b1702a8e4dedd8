/*
 * Which API server is asked for what: a process with all its components against fake API servers.
 */
#include "base/file.h"
#include "daemon/components.h"
#include "daemon/known_policies.h"
#include "daemon/leadership.h"
#include "daemon/servers.h"

#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

#define CLUSTERS "/apis/cluster.open-cluster-management.io/v1/managedclusters"

struct fixture {
    struct api cluster, hub;
    char kubeconfig[40], hub_kubeconfig[40];
    struct configuration configuration;
    struct server server;
    struct strbuf text;
};

static void write_kubeconfig(const struct api *api, char *path) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    strbuf_appendf(&text,
                   "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, "
                   "context: {cluster: a, user: a}}], clusters: [{name: a, cluster: {server: "
                   "\"%s\"}}], users: [{name: a, user: {}}]}",
                   api->url);
    assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, &err), 0);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.kubeconfig = "/tmp/evenkeel-kubeconfig-XXXXXX",
                         .hub_kubeconfig = "/tmp/evenkeel-kubeconfig-XXXXXX"};
    api_init(&f.cluster);
    api_init(&f.hub);
    write_kubeconfig(&f.cluster, f.kubeconfig);
    write_kubeconfig(&f.hub, f.hub_kubeconfig);
    configuration_init(&f.configuration);
    f.configuration.extender.listen = "0";
    f.configuration.ops.listen = "127.0.0.1:0";
    f.configuration.fleet.clusters = true;
    f.server.configuration = &f.configuration;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    components_end(&f->server);
    strbuf_done(&f->text);
    f->configuration.leader_election.name = NULL;
    configuration_done(&f->configuration);
    api_done(&f->cluster);
    api_done(&f->hub);
    return unlink(f->kubeconfig) + unlink(f->hub_kubeconfig);
}

static void start(struct fixture *f) {
    struct err err;
    if (configuration_check(&f->configuration, &err) != 0 ||
        components_start(&f->server, &err) != 0)
        fail_msg("%s", err.text);
}

/* A listing is asked for as a stream at first, which is refused. Then the page is answered, and the
 * watch that follows is left open in `call`. */
static void answer_listing(struct api *api, struct api_call *call, const char *page) {
    api_expect(api, call, "GET", CLUSTERS "?watch=1*");
    api_answer(call, 400, "", "{}");
    api_expect(api, call, "GET", CLUSTERS "?limit=*");
    api_answer(call, 200, "", page);
    api_expect(api, call, "GET", CLUSTERS "?watch=1*");
}

static int readiness(struct fixture *f) {
    struct http_response response = {0};
    ops_readyz(&f->server.ops, NULL, &response);
    strbuf_done(&f->text);
    f->text = response.text;
    strbuf_append_char(&f->text, '\0');
    return response.status;
}

#define PAGE                                                                                       \
    "{\"kind\":\"ManagedClusterList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{"       \
    "\"metadata\":{\"name\":\"eu\",\"resourceVersion\":\"6\"}}]}"

/* A daemon on the hub itself, that works for no pods. */
static void clusters_alone(void **state) {
    struct fixture *f = *state;
    struct api_call call = {0};
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    start(f);
    assert_int_equal(readiness(f), 503);
    assert_string_equal(f->text.p, "[-] clusters: the fleet's clusters are not listed yet\n"
                                   "[+] hub: not heard: the clusters are those that it listed "
                                   "last; see the log\n"
                                   "[+] shutdown: not asked for\n");
    api_expect(&f->cluster, &call, "GET", CLUSTERS "?watch=1*");
    api_answer(&call, 403, "", "{}");
    api_expect(&f->cluster, &call, "GET", CLUSTERS "?limit=*");
    assert_int_equal(readiness(f), 503); /* to have tried is not enough */
    api_answer(&call, 200, "", PAGE);
    api_expect(&f->cluster, &call, "GET", CLUSTERS "?watch=1*");
    assert_int_equal(readiness(f), 200);
    assert_true(api_is_quiet(&f->cluster)); /* no nodes, no pods, no policies, no leases */
    api_call_done(&call);
}

/* No cluster but the hub, no door for pods, no certificate. */
static void a_hub_alone(void **state) {
    struct fixture *f = *state;
    struct api_call call = {0};
    f->configuration.hub.kubeconfig = f->hub_kubeconfig;
    start(f);
    answer_listing(&f->hub, &call, PAGE);
    assert_true(metric_now("evenkeel_candidates{resource=\"managedclusters\"}") == 1);
    assert_int_equal(readiness(f), 200);
    assert_string_equal(f->text.p, "[+] shutdown: not asked for\n");
    assert_true(api_is_quiet(&f->hub));
    assert_true(api_is_quiet(&f->cluster));
    api_call_done(&call);
}

/* Clusters are asked of the hub alone, and this cluster for nodes. */
static void each_server_for_its_own(void **state) {
    struct fixture *f = *state;
    struct api_call call = {0};
    f->configuration.extender.listen = "127.0.0.1:0";
    f->configuration.extender.insecure = true;
    f->configuration.policies.watch = false;
    f->configuration.webhook.fluid.watch = false;
    f->configuration.engine.system_defaults = false;
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    f->configuration.hub.kubeconfig = f->hub_kubeconfig;
    start(f);
    (void)readiness(f); /* pods do not wait for a hub that takes its time */
    assert_null(strstr(f->text.p, "clusters:"));
    assert_contains(f->text.p, "[+] hub: not heard");
    answer_listing(&f->hub, &call, PAGE);
    assert_true(api_is_quiet(&f->hub));
    api_call_done(&call);
    bool nodes = false, pods = false, namespaces = false;
    for (int i = 0; i < 3; i++) {
        api_take(&f->cluster, &call);
        nodes = nodes || str_has_prefix(call.path, STR("/api/v1/nodes?"));
        pods = pods || str_has_prefix(call.path, STR("/api/v1/pods?"));
        namespaces = namespaces || str_has_prefix(call.path, STR("/api/v1/namespaces?"));
        api_call_done(&call);
    }
    assert_true(nodes && pods && namespaces);
    assert_true(api_is_quiet(&f->cluster));
    assert_int_equal(readiness(f), 503); /* for want of nodes */
    assert_contains(f->text.p, "[-] state: not read yet");
    assert_null(strstr(f->text.p, "clusters"));
}

/* ---- a hub whose Placements are decided ---- */

#define OCM "/apis/cluster.open-cluster-management.io/"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/fleets/leases/"
static const char *const of_ocm[] = {CLUSTERS "?",
                                     OCM "v1beta2/managedclustersets?",
                                     OCM "v1beta2/managedclustersetbindings?",
                                     OCM "v1beta1/placements?",
                                     OCM "v1beta1/placementdecisions?",
                                     OCM "v1alpha1/addonplacementscores?",
                                     "/api/v1/namespaces?",
                                     "/apis/evenkeel.io/v1alpha1/topologypolicies?",
                                     LEASES "shop-ocm"};
enum { OF_OCM = sizeof of_ocm / sizeof of_ocm[0] };

/* Each is asked for once, and nothing else is: not a node, not a pod. */
static void is_asked_for_placements(struct api *api) {
    struct api_call calls[OF_OCM] = {0};
    unsigned found = 0;
    for (size_t i = 0; i < OF_OCM; i++) {
        api_take(api, &calls[i]);
        for (size_t j = 0; j < OF_OCM; j++)
            found |= (unsigned)str_has_prefix(calls[i].path, str_of(of_ocm[j])) << j;
    }
    assert_int_equal(found, (1u << OF_OCM) - 1);
    assert_true(api_is_quiet(api));
    for (size_t i = 0; i < OF_OCM; i++)
        api_call_done(&calls[i]);
}

static void decide_placements(struct fixture *f) {
    f->configuration.ops.listen = "0"; /* it needs no door */
    f->configuration.fleet.clusters = false;
    f->configuration.ocm.enabled = true;
    f->configuration.leader_election.enabled = true;
    f->configuration.leader_election.name = "shop";
    f->configuration.leader_election.namespace = "fleets";
}

static void a_hub_that_is_decided(void **state) {
    struct fixture *f = *state;
    decide_placements(f);
    f->configuration.hub.kubeconfig = f->hub_kubeconfig;
    start(f);
    is_asked_for_placements(&f->hub);
    assert_true(api_is_quiet(&f->cluster));
    assert_non_null(servers_writer(f->server.servers, SERVER_HUB));
    assert_non_null(servers_events(f->server.servers, SERVER_HUB));
    assert_null(servers_client(f->server.servers, SERVER_CLUSTER));
    assert_non_null(leadership_elector(f->server.leadership, PURPOSE_OCM));
    assert_null(leadership_elector(f->server.leadership, PURPOSE_CONTROLLERS));
    assert_non_null(known_policies_source(f->server.placement_policies));
}

/* Evenkeel is installed on the hub itself. */
static void a_hub_that_is_this_cluster(void **state) {
    struct fixture *f = *state;
    decide_placements(f);
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    start(f);
    is_asked_for_placements(&f->cluster);
    assert_true(api_is_quiet(&f->hub));
    assert_non_null(servers_writer(f->server.servers, SERVER_CLUSTER));
    assert_ptr_equal(f->server.placement_policies, f->server.policies);
}

/* The webhook of a hub asks for its Secret besides, and still for no node and no pod. */
static void a_hub_whose_placements_are_reviewed(void **state) {
    struct fixture *f = *state;
    struct api_call calls[OF_OCM + 1] = {0};
    unsigned found = 0;
    decide_placements(f);
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    f->configuration.webhook.listen = "127.0.0.1:0";
    f->configuration.webhook.pods = false;
    f->configuration.webhook.certificates.mode = CERTIFICATES_SECRET;
    f->configuration.webhook.certificates.namespace = "fleets";
    start(f);
    for (size_t i = 0; i <= OF_OCM; i++) {
        api_take(&f->cluster, &calls[i]);
        for (size_t j = 0; j < OF_OCM; j++)
            found |= (unsigned)str_has_prefix(calls[i].path, str_of(of_ocm[j])) << j;
        found |= (unsigned)str_has_prefix(calls[i].path, STR("/api/v1/namespaces/fleets/secrets?"))
                 << OF_OCM;
    }
    assert_int_equal(found, (1u << (OF_OCM + 1)) - 1);
    assert_true(api_is_quiet(&f->cluster));
    assert_non_null(f->server.webhook_listener);
    assert_null(leadership_elector(f->server.leadership, PURPOSE_CONTROLLERS));
    assert_ptr_equal(f->server.webhook.placements.known.policies,
                     known_policies_source(f->server.policies));
    assert_true(f->server.webhook.placements.known.owns);
    for (size_t i = 0; i <= OF_OCM; i++)
        api_call_done(&calls[i]);
}

/* A replica that could decide nothing is not ready, whatever else it serves. */
static void a_replica_without_lists(void **state) {
    struct fixture *f = *state;
    decide_placements(f);
    f->configuration.ops.listen = "127.0.0.1:0";
    f->configuration.extender.listen = "127.0.0.1:0";
    f->configuration.extender.insecure = true;
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    start(f);
    assert_int_equal(readiness(f), 503);
    assert_contains(f->text.p, "[-] placements: not all lists of the hub are known");
}

/* Pods of one server, Placements of another: each has its own writer, recorder and policies. */
static void a_hub_beside_a_cluster(void **state) {
    struct fixture *f = *state;
    decide_placements(f);
    f->configuration.ops.listen = "127.0.0.1:0";
    f->configuration.webhook.listen = "127.0.0.1:0";
    f->configuration.webhook.certificates.mode = CERTIFICATES_SECRET;
    f->configuration.webhook.certificates.namespace = "fleets";
    f->configuration.kubernetes.kubeconfig = f->kubeconfig;
    f->configuration.hub.kubeconfig = f->hub_kubeconfig;
    start(f);
    (void)readiness(f);
    assert_null(strstr(f->text.p, "placements:")); /* pods do not wait for another server */
    is_asked_for_placements(&f->hub);
    struct writer *writers[] = {servers_writer(f->server.servers, SERVER_CLUSTER),
                                servers_writer(f->server.servers, SERVER_HUB)};
    assert_non_null(writers[0]);
    assert_non_null(writers[1]);
    assert_ptr_not_equal(writers[0], writers[1]);
    assert_non_null(servers_events(f->server.servers, SERVER_CLUSTER));
    assert_ptr_not_equal(servers_events(f->server.servers, SERVER_CLUSTER),
                         servers_events(f->server.servers, SERVER_HUB));
    assert_ptr_not_equal(f->server.placement_policies, f->server.policies);
    assert_non_null(known_policies_events(f->server.policies));
    assert_null(known_policies_events(f->server.placement_policies)); /* their status is not ours */
    assert_non_null(leadership_elector(f->server.leadership, PURPOSE_CONTROLLERS));
    assert_non_null(leadership_elector(f->server.leadership, PURPOSE_OCM));
}

static void a_hub_whose_kubeconfig_is_missing(void **state) {
    struct fixture *f = *state;
    struct err err = {0};
    f->configuration.hub.kubeconfig = "/nonexistent/hub.yaml";
    assert_int_not_equal(components_start(&f->server, &err), 0);
    assert_contains(err.text, "the fleet's hub: ");
    assert_contains(err.text, "/nonexistent/hub.yaml");
}

/* ---- Karmada's ---- */

#define KARMADA_CLUSTERS "/apis/cluster.karmada.io/v1alpha1/clusters?watch=1"
#define SERVICES "/api/v1/namespaces/karmada-system/services"
#define JOINED                                                                                     \
    EVENT("ADDED",                                                                                 \
          "{\"metadata\":{\"name\":\"m1\",\"resourceVersion\":\"5\"},\"spec\":{\"syncMode\":"      \
          "\"Pull\"}}")

/* For a Cluster that cannot even be asked there is a Service, and it leads here. */
static void services_of_estimators(void **state) {
    struct fixture *f = *state;
    struct api_call watches[2] = {0}, write = {0};
    unsigned found = 0;
    f->configuration.fleet.clusters = false;
    f->configuration.estimator.listen = "127.0.0.1:0";
    f->configuration.estimator.from_karmada = f->configuration.estimator.services = true;
    f->configuration.estimator.service_host = "estimator.example:443";
    f->configuration.karmada_server.kubeconfig = f->hub_kubeconfig;
    start(f);
    assert_true(f->server.estimator_services != NULL);
    for (int i = 0; i < 2; i++) {
        api_take(&f->hub, &watches[i]);
        const bool clusters = str_has_prefix(watches[i].path, STR(KARMADA_CLUSTERS));
        found |= clusters ? 1 : str_has_prefix(watches[i].path, STR(SERVICES "?watch=1")) ? 2 : 0;
        assert_true(
            api_say(&watches[i], clusters ? STREAM JOINED MARKER("7") : STREAM MARKER("7")));
    }
    assert_int_equal(found, 3);
    api_expect(&f->hub, &write, "POST", SERVICES "?fieldManager=evenkeel");
    assert_non_null(memmem(write.body.p, write.body.n, "estimator-m1\"", 13));
    assert_non_null(memmem(write.body.p, write.body.n, "\"targetPort\":443}", 17));
    api_answer(&write, 201, "", "{}");
    assert_true(api_is_quiet(&f->cluster));
    for (int i = 0; i < 2; i++)
        api_call_done(&watches[i]);
    api_call_done(&write);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(clusters_alone),
        TEST(a_hub_alone),
        TEST(each_server_for_its_own),
        TEST(a_hub_that_is_decided),
        TEST(a_hub_that_is_this_cluster),
        TEST(a_hub_whose_placements_are_reviewed),
        TEST(a_replica_without_lists),
        TEST(a_hub_beside_a_cluster),
        TEST(a_hub_whose_kubeconfig_is_missing),
        TEST(services_of_estimators),
    };
    return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
