/* Which questions about fleets are answered before everything has been read, and which are not. */
#include "clusters/state.h"
#include "handlers/clusters.h"

#include "unit/unit.h"

#define KARMADA                                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"cluster.karmada.io/"    \
    "v1alpha1\",\"kind\":\"Cluster\",\"metadata\":"                                                \
    "{\"name\":\"m1\"}}]}"
#define BINDING                                                                                    \
    "\"binding\":{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","       \
    "\"metadata\":{\"name\":\"b\"},\"spec\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":"        \
    "\"ConfigMap\"}}}"
#define PLACEMENT                                                                                  \
    "\"placement\":{\"apiVersion\":\"cluster.open-cluster-management.io/v1beta1\",\"kind\":"       \
    "\"Placement\",\"metadata\":{\"name\":\"p\"}}"

struct fixture {
    struct clusters_state state;
    struct clusters clusters;
    struct http_response response;
    bool ready;
};

static bool is_ready(void *ctx) {
    return ((const struct fixture *)ctx)->ready;
}

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.ready = true};
    assert_int_equal(clusters_state_read(STR(KARMADA), &f.state, NULL), 0);
    f.clusters = (struct clusters){.known = {f.state.fleet, f.state.policies},
                                   .karmada = f.state.karmada,
                                   .options = karmada_defaults,
                                   .is_ready = is_ready,
                                   .ctx = &f};
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    clusters_state_done(&f->state);
    strbuf_done(&f->response.text);
    return 0;
}

static void expect(struct fixture *f, http_handler_fn *handle, const char *body, int status,
                   const char *part) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct http_request request = {.body = str_of(body), .arena = &arena};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    handle(&f->clusters, &request, &f->response);
    arena_done(&arena);
    strbuf_append(&f->response.text, "", 1);
    assert_int_equal(f->response.status, status);
    assert_contains(f->response.text.p, part);
}

/* Clusters that are not read yet are not the same as none. */
static void before_the_first_sync(void **state) {
    struct fixture *f = *state;
    f->ready = false;
    expect(f, clusters_filter, "{" BINDING "}", 503, "\"error\":");
    assert_int_equal(f->response.retry_after_s, 1);
    expect(f, clusters_filter, "{" PLACEMENT "}", 503, "\"error\":");
    expect(f, clusters_filter, "{" BINDING ",\"state\":" KARMADA "}", 200,
           "\"failedClusters\":{\"m1\"");
    expect(f, clusters_estimate, "{\"step\":\"quantity\",\"text\":\"1\"}", 200,
           "\"canonical\":\"1\"");
    f->ready = true;
    expect(f, clusters_filter, "{" BINDING "}", 200, "\"failedClusters\":{\"m1\"");
    assert_int_equal(f->response.retry_after_s, 0);
}

static void nothing_is_known(void **state) {
    struct fixture *f = *state;
    f->clusters.karmada = NULL;
    expect(f, clusters_assign, "{" BINDING "}", 200, "no cluster of Karmada is known here");
    expect(f, clusters_select, "{" PLACEMENT "}", 200, "\"placement\":\"default/p\"");
    f->clusters.known.fleet = NULL;
    expect(f, clusters_select, "{" PLACEMENT "}", 200, "no fleet is known here");
}

static void names_count_once(void **state) {
    struct fixture *f = *state;
    expect(f, clusters_filter, "{" BINDING ",\"clusterNames\":[\"m1\",\"m1\",\"m2\"]}", 200,
           "\"failedClusters\":{\"m1\":\"cluster(s) did not have the API resource\"}");
    expect(f, clusters_filter, "{" BINDING ",\"clusterNames\":[]}", 200, "\"failedClusters\":{}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(before_the_first_sync), TEST(nothing_is_known),
                                       TEST(names_count_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
