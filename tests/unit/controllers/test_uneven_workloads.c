/* Events about workloads that stay uneven: when, how many, and what they say. */
#include "controllers/uneven_workloads.h"

#include "base/limits.h"
#include "unit/kube/election/lease_store.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { WORKLOADS = 400, AFTER_MS = 15 * 60 * 1000, LOOK_MS = 15000 };

/* A report by zone and hostname, of workloads that the test describes. */
struct fixture {
    struct kube_client client;
    struct event_recorder *events;
    struct uneven_workloads *uneven;
    struct evenness_report report;
    struct evenness_key keys[2];
    struct evenness_domain domains[9];
    struct evenness_workload workloads[WORKLOADS];
    struct evenness_result results[2][WORKLOADS];
    struct evenness_count counts[9];
    char names[WORKLOADS][32];
};

static void begin_in(struct fixture *f, int64_t after_ms, const char *const *namespaces,
                     size_t count) {
    const struct event_options events = {
        .client = &f->client, .clock = &f->client.clock.clock, .instance = "me", .io = &fake_io};
    assert_int_equal(event_recorder_new(&events, &f->events, NULL), 0);
    const struct uneven_workloads_options options = {.events = f->events,
                                                     .after_ms = after_ms,
                                                     .namespaces = namespaces,
                                                     .namespace_count = count};
    f->uneven = uneven_workloads_new(&options);
    assert_non_null(f->uneven);
}

static void begin(struct fixture *f, int64_t after_ms) {
    begin_in(f, after_ms, NULL, 0);
}

static int setup(void **state) {
    static struct fixture f;
    memset(&f, 0, sizeof f);
    fake_init(&f.client);
    f.domains[0].name = STR("a");
    f.domains[1].name = STR("b");
    f.domains[2].name = STR("c");
    f.counts[0] = (struct evenness_count){0, 1, 5};
    f.counts[1] = (struct evenness_count){1, 1, 1};
    f.counts[2] = (struct evenness_count){2, 0, 9}; /* elsewhere */
    f.keys[0].name = STR("topology.kubernetes.io/zone");
    f.keys[1].name = STR("kubernetes.io/hostname");
    for (int k = 0; k < 2; k++) {
        f.keys[k].domains = f.domains;
        f.keys[k].domain_count = 3;
        f.keys[k].counts = f.counts;
        f.keys[k].results = f.results[k];
    }
    f.report.keys = f.keys;
    f.report.key_count = 2;
    f.report.workloads = f.workloads;
    begin(&f, AFTER_MS);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    uneven_workloads_free(f->uneven);
    event_recorder_free(f->events);
    fake_done(&f->client);
    return 0;
}

static void put(struct fixture *f, uint32_t i, struct str namespace, const char *name,
                enum evenness_state by_zone) {
    f->workloads[i] = (struct evenness_workload){.namespace = namespace,
                                                 .group = STR("apps"),
                                                 .kind = STR("Deployment"),
                                                 .name = str_of(name),
                                                 .pods = 6,
                                                 .tag = UINT32_MAX};
    f->results[0][i] = (struct evenness_result){.skew = 4, .best = 0, .count = 3, .state = by_zone};
    f->results[1][i] = (struct evenness_result){.state = EVENNESS_EVEN};
    f->report.workload_count = i + 1 > f->report.workload_count ? i + 1 : f->report.workload_count;
}

static int64_t now(struct fixture *f) {
    return f->client.clock.clock.now_ms(&f->client.clock.clock);
}

static void see(struct fixture *f, const struct evenness_tag *tags, uint32_t count) {
    assert_int_equal(uneven_workloads_see(f->uneven, &f->report, tags, count, now(f)), 0);
}

/* Time passes, with a report each time, and Events are written; returns how many, the last one's
 * body in `ret`. */
static unsigned pass(struct fixture *f, int64_t ms, char *ret, size_t size) {
    unsigned count = 0;
    for (int64_t end = now(f) + ms; now(f) < end;) {
        see(f, NULL, 0);
        uneven_workloads_tell(f->uneven, &f->report, now(f));
        fake_pass(&f->client, LOOK_MS);
        while (f->client.request != NULL) {
            struct str body = f->client.request->body;
            assert_true(ret == NULL || body.n < size);
            if (ret != NULL) {
                memcpy(ret, body.p, body.n);
                ret[body.n] = '\0';
            }
            count += strcmp(f->client.request->method, "POST") == 0;
            fake_answer(&f->client, 201, STR("{}"), -1);
            fake_pass(&f->client, 1000);
        }
    }
    return count;
}

#define MINUTES(n) (INT64_C(60000) * (n))

static void an_event_at_each_change(void **state) {
    struct fixture *f = *state;
    char body[2048] = "";
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(14), NULL, 0), 0);
    assert_int_equal(pass(f, MINUTES(2), body, sizeof body), 1);
    assert_non_null(strstr(body, "\"reason\":\"WorkloadUneven\""));
    assert_non_null(strstr(body, "\"type\":\"Warning\""));
    assert_non_null(strstr(body,
                           "\"regarding\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                           "\"namespace\":\"shop\",\"name\":\"web\"}"));
    assert_non_null(strstr(body, "the 6 pods of this Deployment are uneven by "
                                 "topology.kubernetes.io/zone (skew 4, and 0 is possible: a 5, b 1)"
                                 " for 15 minutes or more"));
    assert_int_equal(pass(f, MINUTES(120), NULL, 0), 0); /* said once */
    put(f, 0, STR("shop"), "web", EVENNESS_UNKNOWN);
    assert_int_equal(pass(f, MINUTES(5), NULL, 0), 0); /* which is not even */
    put(f, 0, STR("shop"), "web", EVENNESS_UNAVOIDABLE);
    assert_int_equal(pass(f, MINUTES(5), body, sizeof body), 1);
    assert_non_null(strstr(body, "\"reason\":\"WorkloadEven\""));
    assert_non_null(strstr(body, "\"type\":\"Normal\""));
    assert_int_equal(pass(f, MINUTES(120), NULL, 0), 0);
}

static void what_does_not_stay_is_not_told(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
        assert_int_equal(pass(f, MINUTES(14), NULL, 0), 0);
        put(f, 0, STR("shop"), "web", EVENNESS_EVEN);
        assert_int_equal(pass(f, MINUTES(1), NULL, 0), 0);
    }
    /* Another workload of the name is another one. */
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(14), NULL, 0), 0);
    f->workloads[0].kind = STR("StatefulSet");
    assert_int_equal(pass(f, MINUTES(14), NULL, 0), 0);
    f->report.workload_count = 0;
    assert_int_equal(pass(f, MINUTES(20), NULL, 0), 0);
}

static void nodes_count_where_a_policy_says_so(void **state) {
    struct fixture *f = *state;
    const struct evenness_tag by_node = {.keys = 2}, broken = {.keys = 0};
    const struct evenness_tag tags[] = {by_node, broken};
    put(f, 0, STR("shop"), "none", EVENNESS_EVEN);
    put(f, 1, STR("shop"), "by-node", EVENNESS_EVEN);
    put(f, 2, STR("shop"), "by-node-only", EVENNESS_UNEVEN);
    for (int i = 0; i < 2; i++)
        f->results[1][i].state = EVENNESS_UNEVEN;
    f->workloads[1].tag = f->workloads[2].tag = 0;
    see(f, tags, 2);
    fake_pass(&f->client, AFTER_MS);
    see(f, tags, 2);
    uneven_workloads_tell(f->uneven, &f->report, now(f));
    fake_run(&f->client);
    assert_non_null(f->client.request);
    struct str body = f->client.request->body;
    assert_non_null(memmem(body.p, body.n, "\"by-node\"", 9));
    fake_answer(&f->client, 201, STR("{}"), -1);
    fake_run(&f->client);
    assert_null(f->client.request);
}

/* No right is needed elsewhere, so nothing is written there. */
static void only_in_the_namespaces_that_are_named(void **state) {
    static const char *const named[] = {"shop", "bank"};
    struct fixture *f = *state;
    uneven_workloads_free(f->uneven);
    event_recorder_free(f->events);
    begin_in(f, AFTER_MS, named, 2);
    put(f, 0, STR("bank"), "a", EVENNESS_UNEVEN);
    put(f, 1, STR("ban"), "b", EVENNESS_UNEVEN);
    put(f, 2, STR("banks"), "c", EVENNESS_UNEVEN);
    put(f, 3, STR("shop"), "d", EVENNESS_UNEVEN);
    put(f, 4, STR("shop"), "e", EVENNESS_UNEVEN);
    put(f, 5, STR("zoo"), "f", EVENNESS_UNEVEN);
    put(f, 6, STR("zoo"), "g", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(120), NULL, 0), 3);
}

/* Kinds that are not Kubernetes' own: their version is not known, and not made up. */
static void custom_kinds(void **state) {
    struct fixture *f = *state;
    char body[2048] = "";
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    f->workloads[0].group = STR("apps.kruise.io");
    f->workloads[0].kind = STR("CloneSet");
    assert_int_equal(pass(f, MINUTES(16), body, sizeof body), 1);
    assert_non_null(strstr(body, "\"regarding\":{\"kind\":\"CloneSet\","));
    assert_non_null(strstr(body, "CloneSet of apps.kruise.io are uneven"));
}

/* No object's name is longer than 253 bytes. */
static void long_names_are_cut(void **state) {
    struct fixture *f = *state;
    char name[255], body[2048], want[400];
    memset(name, 'x', sizeof name);
    name[254] = '\0';
    for (int n = 252; n <= 254; n++) {
        name[n] = '\0';
        put(f, 0, STR("shop"), name, EVENNESS_UNEVEN);
        assert_int_equal(pass(f, MINUTES(16), body, sizeof body), 1);
        (void)snprintf(want, sizeof want, "\"name\":\"%.*s%s\"}", n > 253 ? 250 : n, name,
                       n > 253 ? "..." : ""); /* fits */
        assert_contains(body, want);
        name[n] = 'x';
    }
}

static void floods(void **state) {
    struct fixture *f = *state;
    char body[2048] = "";
    for (uint32_t i = 0; i < WORKLOADS - 1; i++) {
        (void)snprintf(f->names[i], sizeof f->names[i], "flood-%u", i);
        put(f, i, STR("flood"), f->names[i], EVENNESS_UNEVEN);
    }
    put(f, WORKLOADS - 1, STR("quiet"), "web", EVENNESS_UNEVEN);
    see(f, NULL, 0);
    fake_pass(&f->client, AFTER_MS);
    see(f, NULL, 0);
    uneven_workloads_tell(f->uneven, &f->report, now(f));
    unsigned count = 0, quiet = 0;
    fake_run(&f->client);
    for (; f->client.request != NULL; count++) {
        struct str sent = f->client.request->body;
        quiet += memmem(sent.p, sent.n, "\"quiet\"", 7) != NULL;
        fake_answer(&f->client, 201, STR("{}"), -1);
        fake_pass(&f->client, 1000);
    }
    assert_int_equal(count, LIMIT_UNEVEN_OF_A_NAMESPACE + 1);
    assert_int_equal(quiet, 1);
    /* The rest has its turn, one a minute. */
    unsigned more = pass(f, MINUTES(60), body, sizeof body);
    assert_in_range(more, 55, 70);
    /* What becomes even meanwhile is never spoken of; of those that were, each once more. */
    for (uint32_t i = 0; i < WORKLOADS; i++)
        f->results[0][i].state = EVENNESS_EVEN;
    assert_int_equal(pass(f, MINUTES(600), NULL, 0), count + more);
}

/* What is not used is not saved up: two hours later no more are told at a time than before. */
static void a_quiet_namespace_saves_nothing_up(void **state) {
    struct fixture *f = *state;
    put(f, 0, STR("flood"), "web", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(16), NULL, 0), 1);
    assert_int_equal(pass(f, MINUTES(120), NULL, 0), 0);
    for (uint32_t i = 1; i < 101; i++) {
        (void)snprintf(f->names[i], sizeof f->names[i], "flood-%u", i);
        put(f, i, STR("flood"), f->names[i], EVENNESS_UNEVEN);
    }
    see(f, NULL, 0);
    fake_pass(&f->client, AFTER_MS);
    see(f, NULL, 0);
    uneven_workloads_tell(f->uneven, &f->report, now(f));
    unsigned count = 0;
    fake_run(&f->client);
    for (; f->client.request != NULL; count++) {
        fake_answer(&f->client, 201, STR("{}"), -1);
        fake_pass(&f->client, 1000);
    }
    assert_int_equal(count, LIMIT_UNEVEN_OF_A_NAMESPACE);
}

/* Eight domains are named; of the others, how many. */
static void domains_that_are_not_named(void **state) {
    struct fixture *f = *state;
    char body[2048] = "";
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (uint32_t i = 0; i < 9; i++) {
        f->domains[i].name = str_of(names[i]);
        f->counts[i] = (struct evenness_count){i, 1, 1};
    }
    f->keys[0].domain_count = 9;
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    f->results[0][0].count = 8;
    put(f, 1, STR("shop"), "more", EVENNESS_UNEVEN);
    f->results[0][1].count = 9;
    assert_int_equal(pass(f, MINUTES(16), body, sizeof body), 2);
    assert_non_null(strstr(body, "a 1, b 1, c 1, d 1, e 1, f 1, g 1, h 1 and 1 more)"));
}

static void many_namespaces_have_their_turns(void **state) {
    struct fixture *f = *state;
    for (uint32_t i = 0; i < WORKLOADS; i++) {
        (void)snprintf(f->names[i], sizeof f->names[i], "n-%u", i);
        put(f, i, str_of(f->names[i]), "web", EVENNESS_UNEVEN);
    }
    see(f, NULL, 0);
    fake_pass(&f->client, AFTER_MS);
    assert_int_equal(pass(f, MINUTES(20), NULL, 0), WORKLOADS);
}

/* The queue is full when it is due: it is written when there is room, not forgotten. */
static void what_found_no_room_comes_later(void **state) {
    struct fixture *f = *state;
    char name[16], body[2048] = "";
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    see(f, NULL, 0);
    fake_pass(&f->client, AFTER_MS);
    see(f, NULL, 0);
    for (int i = 0; i < 300; i++) {                       /* more than wait at most */
        (void)snprintf(name, sizeof name, "other-%d", i); /* fits */
        const struct event event = {
            .regarding = {.kind = STR("Pod"), .namespace = STR("shop"), .name = str_of(name)},
            .reason = STR("Other")};
        event_record(f->events, &event);
    }
    uneven_workloads_tell(f->uneven, &f->report, now(f));
    fake_run(&f->client);
    while (f->client.request != NULL) {
        struct str sent = f->client.request->body;
        assert_null(memmem(sent.p, sent.n, "WorkloadUneven", 14));
        fake_answer(&f->client, 201, STR("{}"), -1);
        fake_pass(&f->client, 1000);
    }
    assert_int_equal(pass(f, MINUTES(10), body, sizeof body), 1);
    assert_non_null(strstr(body, "\"reason\":\"WorkloadUneven\""));
}

/* Takes the Lease. */
static void win(const struct elector *elector, struct kube_client *leases,
                struct lease_store *store) {
    while (!elector_leads(elector)) {
        struct strbuf body = {0};
        fake_run(leases);
        assert_non_null(leases->request);
        int status = lease_store_call(store, leases->request->method, leases->request->path,
                                      leases->request->body, &body);
        fake_answer(leases, status, strbuf_str(&body), -1);
        strbuf_done(&body);
    }
}

/* Every replica follows workloads, and only the leader writes: a new one goes on. */
static void only_the_leader_writes(void **state) {
    struct fixture *f = *state;
    static struct kube_client leases;
    static struct lease_store store;
    struct elector *elector;
    char body[2048] = "";
    fake_init(&leases);
    const struct elector_options election = {
        .client = &leases,
        .lease = {.namespace = "evenkeel", .name = "controller", .identity = "me"},
        .clock = &leases.clock.clock,
        .io = &fake_io};
    assert_int_equal(elector_new(&election, &elector, NULL), 0);
    const struct uneven_workloads_options options = {
        .events = f->events, .elector = elector, .after_ms = AFTER_MS};
    uneven_workloads_free(f->uneven);
    f->uneven = uneven_workloads_new(&options);
    assert_non_null(f->uneven);
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(20), NULL, 0), 0);
    win(elector, &leases, &store);
    put(f, 0, STR("shop"), "web", EVENNESS_EVEN);
    assert_int_equal(pass(f, MINUTES(1), body, sizeof body), 1);
    assert_non_null(strstr(body, "\"reason\":\"WorkloadEven\""));
    elector_free(elector);
    lease_store_done(&store);
    fake_done(&leases);
}

static void off_is_off(void **state) {
    struct fixture *f = *state;
    uneven_workloads_free(f->uneven);
    event_recorder_free(f->events);
    begin(f, 0);
    put(f, 0, STR("shop"), "web", EVENNESS_UNEVEN);
    assert_int_equal(pass(f, MINUTES(60), NULL, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_at_each_change, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_stay_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_count_where_a_policy_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(only_in_the_namespaces_that_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(custom_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_are_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(floods, setup, teardown),
        cmocka_unit_test_setup_teardown(a_quiet_namespace_saves_nothing_up, setup, teardown),
        cmocka_unit_test_setup_teardown(domains_that_are_not_named, setup, teardown),
        cmocka_unit_test_setup_teardown(many_namespaces_have_their_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(what_found_no_room_comes_later, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_leader_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(off_is_off, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
