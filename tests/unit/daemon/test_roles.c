/*
 * Which API server is asked for what: a process with all its components against fake API servers.
 */
#include "base/file.h"
#include "daemon/components.h"

#include "unit/http/fixture.h"
#include "unit/kube/api.h"
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
    assert_string_equal(f->text.p, "[-] clusters: those of the fleet are not listed yet\n"
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

static void a_hub_whose_kubeconfig_is_missing(void **state) {
    struct fixture *f = *state;
    struct err err = {0};
    f->configuration.hub.kubeconfig = "/nonexistent/hub.yaml";
    assert_int_not_equal(components_start(&f->server, &err), 0);
    assert_contains(err.text, "the fleet's hub: ");
    assert_contains(err.text, "/nonexistent/hub.yaml");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(clusters_alone),
        TEST(a_hub_alone),
        TEST(each_server_for_its_own),
        TEST(a_hub_whose_kubeconfig_is_missing),
    };
    return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
