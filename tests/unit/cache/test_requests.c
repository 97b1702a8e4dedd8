/*
 * What pods of a node request together, and who holds which port, with many names and ports: random
 * pods come, change and go, and the cache must say what adding everything up anew does. Conflicts
 * of ports are as HostPortInfo.CheckConflict() of kube-scheduler's framework says.
 */
#include "model/object.h"
#include "unit/cache/probe.h"

#include <stdio.h>

enum { NODES = 2, PODS = 12, NAMES = 50, PORTS = 6, ROUNDS = 4000 };

struct random_pod {
    bool present;
    uint32_t node;
    int64_t amounts[NAMES]; /* 0: not named */
    struct host_port ports[PORTS];
    uint32_t port_count;
};

struct fixture {
    struct cluster c;
    uint64_t random;
    char names[NAMES][16];
    struct random_pod pods[PODS];
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.random = unit_seed()};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "n0 n1");
    for (int i = 0; i < NAMES; i++) /* so that neither ids nor lengths are in the order of names */
        (void)snprintf(f.names[i], sizeof f.names[i], "example.com/%02d", i * 37 % NAMES);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static uint32_t below(struct fixture *f, uint32_t n) {
    return unit_below(&f->random, n);
}

static void random_ports(struct fixture *f, struct host_port *ports, uint32_t *ret_count) {
    static const struct str ips[] = {{"0.0.0.0", 7}, {"10.0.0.1", 8}, {"10.0.0.2", 8}},
                            protocols[] = {{"TCP", 3}, {"UDP", 3}, {"SCTP", 4}};
    *ret_count = below(f, PORTS + 1);
    for (uint32_t i = 0; i < *ret_count; i++)
        ports[i] =
            (struct host_port){ips[below(f, 3)], protocols[below(f, 3)], 80 + (int32_t)below(f, 4)};
}

static void change(struct fixture *f, uint32_t i) {
    struct random_pod *pod = &f->pods[i];
    bool many = below(f, 8) == 0;
    *pod = (struct random_pod){.present = below(f, 4) > 0, .node = below(f, NODES)};
    for (int n = 0; n < NAMES; n++)
        if (below(f, many ? 2 : 15) == 0)
            pod->amounts[n] = 1 + below(f, 100);
    random_ports(f, pod->ports, &pod->port_count);
}

/* As JSON, so that sorting is the decoder's. */
static struct object object_of(struct fixture *f, const struct random_pod *pod, uint32_t i) {
    struct strbuf json = {0};
    strbuf_appendf(
        &json,
        "{\"metadata\":{\"name\":\"p%u\",\"uid\":\"u%u\"},\"spec\":{\"nodeName\":\"n%u\","
        "\"containers\":[{\"resources\":{\"requests\":{",
        i, i, pod->node);
    const char *comma = "";
    for (int n = 0; n < NAMES; n++)
        if (pod->amounts[n] > 0) {
            strbuf_appendf(&json, "%s\"%s\":%d", comma, f->names[n], (int)pod->amounts[n]);
            comma = ",";
        }
    strbuf_append_str(&json, STR("}},\"ports\":["));
    for (uint32_t p = 0; p < pod->port_count; p++)
        strbuf_appendf(&json, "%s{\"hostPort\":%d,\"hostIP\":\"%.*s\",\"protocol\":\"%.*s\"}",
                       p > 0 ? "," : "", pod->ports[p].port, STR_ARG(pod->ports[p].ip),
                       STR_ARG(pod->ports[p].protocol));
    strbuf_append_str(&json, STR("]}]}}"));
    strbuf_append_char(&json, '\0');
    struct object object = cluster_object(&f->c, OBJECT_POD, json.p);
    strbuf_done(&json);
    return object;
}

static bool conflict(const struct host_port *a, const struct host_port *b) {
    return a->port == b->port && str_eq(a->protocol, b->protocol) &&
           (str_eq(a->ip, STR("0.0.0.0")) || str_eq(b->ip, STR("0.0.0.0")) || str_eq(a->ip, b->ip));
}

static bool any_conflict(const struct random_pod *pod, const struct host_port *wanted,
                         uint32_t count) {
    for (uint32_t i = 0; i < pod->port_count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (conflict(&pod->ports[i], &wanted[j]))
                return true;
    return false;
}

static void check_sums(struct fixture *f, struct cache_view *view) {
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t slot = topology_find(&view->nodes, str_of(node == 0 ? "n0" : "n1"));
        for (int n = 0; n < NAMES; n++) {
            int64_t want = 0;
            for (uint32_t i = 0; i < PODS; i++)
                if (f->pods[i].present && f->pods[i].node == node)
                    want += f->pods[i].amounts[n];
            assert_true(cache_node_resource(view, slot, str_of(f->names[n])).requested == want);
        }
    }
}

static void check_ports(struct fixture *f, struct cache_view *view) {
    struct random_pod asking = {0};
    struct cache_pod pod;
    uint32_t *holders;
    random_ports(f, asking.ports, &asking.port_count);
    struct object object = object_of(f, &asking, PODS);
    const struct pod_requests *wanted = &object.pod.requests;
    assert_int_equal(cache_port_holders(view, wanted, &f->c.arena, &holders), 0);
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t want = 0;
        for (uint32_t i = 0; i < PODS; i++)
            want += f->pods[i].present && f->pods[i].node == node &&
                    any_conflict(&f->pods[i], asking.ports, asking.port_count);
        assert_int_equal(holders[topology_find(&view->nodes, str_of(node == 0 ? "n0" : "n1"))],
                         want);
    }
    for (uint32_t i = 0; i < PODS; i++) {
        char uid[8];
        (void)snprintf(uid, sizeof uid, "u%u", i);
        const struct object_meta meta = {.uid = str_of(uid)};
        if (f->pods[i].present && cache_pod_find(view, &meta, &pod)) {
            assert_int_equal(cache_pod_takes_port(view, &pod, wanted),
                             any_conflict(&f->pods[i], asking.ports, asking.port_count));
            for (int n = 0; n < NAMES; n++)
                assert_true(cache_pod_request(view, &pod, str_of(f->names[n])) ==
                            f->pods[i].amounts[n]);
        }
    }
}

static void many_names_and_ports(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = below(f, PODS);
        struct cache_view view;
        change(f, i);
        struct object object = object_of(f, &f->pods[i], i);
        if (f->pods[i].present)
            cluster_apply(&f->c, &object);
        else
            cluster_remove(&f->c, &object);
        cache_view_open(f->c.cache, &view);
        check_sums(f, &view);
        check_ports(f, &view);
        cache_view_close(&view);
        arena_reset(&f->c.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_names_and_ports, setup, teardown),
    };
    return cmocka_run_group_tests_name("cache_requests", tests, NULL, NULL);
}
