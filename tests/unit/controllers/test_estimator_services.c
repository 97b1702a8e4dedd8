/*
 * Services by which karmada-scheduler finds the estimator: which are made, put right and deleted,
 * and which are left alone. The API server is played: a test answers a write and then shows the
 * Service as it became.
 */
#include "controllers/estimator_services.h"

#include "base/log.h"
#include "base/metrics.h"
#include "unit/controllers/stored.h"
#include "unit/kube/election/lease_store.h"
#include "unit/kube/fake_client.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL "/api/v1/namespaces/karmada-system/services"
#define CREATE_PATH ALL "?fieldManager=evenkeel"
#define NAME(cluster) "karmada-scheduler-estimator-" cluster
#define PATH(cluster) ALL "/" NAME(cluster)
#define SPEC                                                                                       \
    "\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"e.example\",\"ports\":[{\"name\":"     \
    "\"server\",\"protocol\":\"TCP\",\"port\":10352,\"targetPort\":20352}]}"
#define LABELS "\"labels\":{\"app.kubernetes.io/managed-by\":\"evenkeel\"}"
#define NEW(cluster)                                                                               \
    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"namespace\":\"karmada-system\","  \
    "\"name\":\"" NAME(cluster) "\"," LABELS "}," SPEC "}"
#define PATCH(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}," SPEC "}"
#define DELETE(uid)                                                                                \
    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"" uid "\"}}"

/* Ours, as an API server shows it. */
#define SHOWN(name, version, more, spec)                                                           \
    "{\"metadata\":{\"namespace\":\"karmada-system\",\"name\":\"" name "\",\"uid\":\"u-" name      \
    "\",\"resourceVersion\":\"" version "\"" more "}," spec "}"
#define OURS(cluster, version, spec) SHOWN(NAME(cluster), version, "," LABELS, spec)

struct fixture {
    struct kube_client client;
    struct writer *writer;
    struct estimator_services_controller *controller;
    struct reflector_sink watch;
    const char *clusters[4]; /* in order; NULL: no more */
    bool known;              /* the Clusters are */
};

static bool each(void *ctx, void (*use)(void *ctx, struct str name), void *use_ctx) {
    const struct fixture *f = ctx;
    for (size_t i = 0; f->known && i < 4 && f->clusters[i] != NULL; i++)
        use(use_ctx, str_of(f->clusters[i]));
    return f->known;
}

static enum karmada_member find(void *ctx, struct str name) {
    const struct fixture *f = ctx;
    for (size_t i = 0; f->known && i < 4 && f->clusters[i] != NULL; i++)
        if (str_eq(str_of(f->clusters[i]), name))
            return KARMADA_MEMBER_THERE;
    return f->known ? KARMADA_MEMBER_GONE : KARMADA_MEMBER_UNKNOWN;
}

static void start(struct fixture *f, const struct elector *elector) {
    const struct estimator_services_options options = {.each = each,
                                                       .find = find,
                                                       .ctx = f,
                                                       .namespace = STR("karmada-system"),
                                                       .prefix = STR("karmada-scheduler-estimator"),
                                                       .host = STR("e.example"),
                                                       .port = 10352,
                                                       .target_port = 20352,
                                                       .client = &f->client,
                                                       .writer = f->writer,
                                                       .elector = elector,
                                                       .clock = &f->client.clock.clock,
                                                       .io = &fake_io};
    assert_int_equal(estimator_services_start(&options, &f->controller, NULL), 0);
    f->watch = estimator_services_sink(f->controller);
}

static void show(struct fixture *f, const char *service) {
    struct err err = {0};
    if (f->watch.apply(f->watch.ctx, str_of(service), &err) != 0)
        fail_msg("%s", err.text);
}

static void gone(struct fixture *f, const char *service) {
    assert_int_equal(f->watch.remove(f->watch.ctx, str_of(service), NULL), 0);
}

/* A listing that shows these alone; "": none. */
static void list(struct fixture *f, const char *one, const char *two) {
    f->watch.sync_begin(f->watch.ctx);
    if (*one != '\0')
        show(f, one);
    if (*two != '\0')
        show(f, two);
    f->watch.sync_end(f->watch.ctx);
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.known = true, .clusters = {"m1"}};
    fake_init(&f.client);
    f.writer = fake_writer(&f.client);
    log_use_clock(&f.client.clock.clock);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    estimator_services_free(f->controller);
    writer_free(f->writer);
    f->controller = NULL;
    f->writer = NULL;
    fake_done(&f->client);
    log_use_clock(clock_real());
    metrics_reset();
    return 0;
}

static void writes(struct fixture *f, const char *method, const char *path, const char *body) {
    for (int i = 0; f->client.request == NULL && i < 10; i++)
        fake_pass(&f->client, 1000);
    if (f->client.request == NULL)
        fail_msg("nothing is written, instead of %s", body);
    assert_string_equal(f->client.request->method, method);
    assert_string_equal(f->client.request->path, path);
    assert_str(f->client.request->body, body);
}

static void creates(struct fixture *f, const char *body) {
    writes(f, "POST", CREATE_PATH, body);
}

static void answer(struct fixture *f, int status) {
    fake_answer(&f->client, status, STR(""), -1);
}

static void is_quiet(struct fixture *f, int64_t ms) {
    fake_pass(&f->client, ms);
    if (f->client.request != NULL)
        fail_msg("it writes %s", f->client.request->path);
}

/* What was logged so far. */
static const char *logged(int log) {
    static char text[8192];
    const ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static size_t times(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

static int begin_log(void) {
    const int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    return log;
}

static void end_log(int log) {
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

/* ---- what is written ---- */

static void one_that_is_missing_is_made(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    is_quiet(f, 10000); /* the Services are not listed */
    f->known = false;
    list(f, "", "");
    is_quiet(f, 10000); /* nor are the Clusters */
    f->known = true;
    creates(f, NEW("m1"));
    answer(f, 201);
    show(f, OURS("m1", "2", SPEC));
    is_quiet(f, 60000);
    f->clusters[1] = "m2"; /* joins */
    creates(f, NEW("m2"));
    answer(f, 201);
    show(f, OURS("m2", "3", SPEC));
    is_quiet(f, 60000);
}

/* What an API server adds is no reason to write: families of addresses, the protocol. */
static void one_that_is_right_is_left(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    list(f,
         OURS("m1", "2",
              "\"spec\":{\"internalTrafficPolicy\":\"Cluster\",\"ports\":[{\"targetPort\":20352,"
              "\"port\":10352,\"protocol\":\"TCP\",\"name\":\"server\"}],\"sessionAffinity\":"
              "\"None\",\"externalName\":\"e.example\",\"type\":\"ExternalName\"},\"status\":{}"),
         "");
    is_quiet(f, 60000);
}

#define PORT(name, port, target)                                                                   \
    "{\"name\":\"" name "\",\"port\":" port ",\"targetPort\":" target "}"
#define TYPED(type, host, ports)                                                                   \
    "\"spec\":{\"type\":\"" type "\",\"externalName\":\"" host "\",\"ports\":[" ports "]}"

static void one_that_was_changed_is_put_right(void **state) {
    struct fixture *f = *state;
    static const char *const changed[] = {
        OURS("m1", "5", TYPED("ClusterIP", "e.example", PORT("server", "10352", "20352"))),
        OURS("m1", "5", TYPED("ExternalName", "f.example", PORT("server", "10352", "20352"))),
        OURS("m1", "5", TYPED("ExternalName", "e.example", "")),
        OURS("m1", "5", TYPED("ExternalName", "e.example", PORT("grpc", "10352", "20352"))),
        OURS("m1", "5", TYPED("ExternalName", "e.example", PORT("server", "10353", "20352"))),
        OURS("m1", "5", TYPED("ExternalName", "e.example", PORT("server", "10352", "10352"))),
        OURS("m1", "5", TYPED("ExternalName", "e.example", PORT("server", "10352", "\"grpc\""))),
        OURS("m1", "5",
             TYPED("ExternalName", "e.example",
                   PORT("more", "1", "1") "," PORT("server", "10352", "20352"))),
        OURS("m1", "5", "\"spec\":null"),
    };
    start(f, NULL);
    list(f, OURS("m1", "2", SPEC), "");
    is_quiet(f, 10000);
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        show(f, changed[i]);
        writes(f, "PATCH", PATH("m1") "?fieldManager=evenkeel", PATCH("5"));
        answer(f, 200);
        show(f, OURS("m1", "6", SPEC));
        is_quiet(f, 60000);
    }
}

static void one_that_was_deleted_is_made_again(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    list(f, OURS("m1", "2", SPEC), "");
    is_quiet(f, 10000);
    gone(f, OURS("m1", "2", SPEC));
    creates(f, NEW("m1"));
    answer(f, 201);
    show(f, OURS("m1", "3", SPEC));
    is_quiet(f, 10000);
    list(f, "", ""); /* while the watch was away */
    creates(f, NEW("m1"));
    answer(f, 201);
}

static void one_whose_cluster_is_gone_is_deleted(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    list(f, OURS("m1", "2", SPEC), OURS("old", "2", "\"spec\":{}")); /* of a process before */
    writes(f, "DELETE", PATH("old"), DELETE("u-" NAME("old")));
    answer(f, 200);
    gone(f, OURS("old", "2",
                 ""
                 "\"spec\":{}"));
    is_quiet(f, 60000);
    f->known = false;
    f->clusters[0] = NULL;
    is_quiet(f, 10000); /* perhaps it is there */
    f->known = true;
    writes(f, "DELETE", PATH("m1"), DELETE("u-" NAME("m1")));
    answer(f, 200);
    show(f, SHOWN(NAME("m1"), "3", "," LABELS ",\"deletionTimestamp\":\"t\"", "\"spec\":{}"));
    f->clusters[0] = "m1"; /* a finalizer holds it, and the Cluster is back */
    is_quiet(f, 60000);
    gone(f, OURS("m1", "3", SPEC));
    creates(f, NEW("m1"));
    answer(f, 201);
}

/* What is wanted changes while the write waits. */
static void a_write_goes_by_what_is_known_then(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    list(f, "", "");
    creates(f, NEW("m1"));
    f->clusters[0] = NULL;
    answer(f, 500);
    is_quiet(f, 120000);
}

/* ---- what is left alone ---- */

static void those_of_others_are_left(void **state) {
    struct fixture *f = *state;
    f->clusters[1] = "m2";
    start(f, NULL);
    list(f, SHOWN(NAME("m1"), "2", "", TYPED("ClusterIP", "", "")),
         SHOWN(NAME("m2"), "2", ",\"labels\":{\"app.kubernetes.io/managed-by\":\"Helm\"}", SPEC));
    is_quiet(f, 60000);
    f->clusters[0] = NULL; /* nor deleted */
    is_quiet(f, 60000);
    f->clusters[0] = "m1";
    f->clusters[1] = NULL;
    show(f, OURS("m1", "3", "\"spec\":{}")); /* given to us */
    writes(f, "PATCH", PATH("m1") "?fieldManager=evenkeel", PATCH("3"));
    answer(f, 200);
    show(f, SHOWN(NAME("m1"), "4", "", "\"spec\":{}")); /* and taken away */
    is_quiet(f, 60000);
}

/* Names that only begin alike, or of another estimator. */
static void those_of_other_names_are_left(void **state) {
    struct fixture *f = *state;
    static const char *const others[] = {"karmada-scheduler-estimator",
                                         "karmada-scheduler-estimatorx-m9",
                                         "karmada-scheduler-estimator-", "evenkeel"};
    start(f, NULL);
    list(f, OURS("m1", "2", SPEC), "");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\"," LABELS "}," SPEC "}",
                       others[i]);
        show(f, text);
    }
    is_quiet(f, 60000);
}

/* Somebody else was first, and the watch is behind. */
static void a_name_that_was_taken_meanwhile(void **state) {
    struct fixture *f = *state;
    const int log = begin_log();
    start(f, NULL);
    list(f, "", "");
    creates(f, NEW("m1"));
    answer(f, 409);
    show(f, SHOWN(NAME("m1"), "2", "", "\"spec\":{}"));
    is_quiet(f, 60000);
    assert_int_equal(times(logged(log), "was not written"), 0);
    end_log(log);
}

/* It was to be put right, and is being deleted when its turn comes. */
static void one_that_is_deleted_while_it_waits(void **state) {
    struct fixture *f = *state;
    f->clusters[0] = "m0";
    f->clusters[1] = "m1";
    start(f, NULL);
    list(f, OURS("m1", "2", "\"spec\":{}"), "");
    creates(f, NEW("m0"));
    show(f, SHOWN(NAME("m1"), "3", "," LABELS ",\"deletionTimestamp\":\"t\"", "\"spec\":{}"));
    answer(f, 201);
    show(f, OURS("m0", "4", SPEC));
    is_quiet(f, 60000);
}

/* 63 bytes are a label; 27 and a hyphen are the prefix. */
#define LONGEST "a2345678901234567890123456789012345"
static void names_that_do_not_do(void **state) {
    struct fixture *f = *state;
    f->clusters[0] = LONGEST "6";
    f->clusters[1] = "a.b";
    f->clusters[2] = "a-";
    start(f, NULL);
    list(f, "", "");
    is_quiet(f, 60000);
    f->clusters[0] = LONGEST;
    f->clusters[1] = NULL;
    creates(f, NEW(LONGEST));
    answer(f, 201);
}

/* ---- who writes, and failures ---- */

static void only_the_leader_writes(void **state) {
    struct fixture *f = *state;
    static struct kube_client leases;
    static struct lease_store store;
    struct elector *elector;
    fake_init(&leases);
    const struct elector_options options = {
        .client = &leases,
        .lease = {.namespace = "evenkeel", .name = "controller", .identity = "me"},
        .clock = &leases.clock.clock,
        .io = &fake_io};
    assert_int_equal(elector_new(&options, &elector, NULL), 0);
    start(f, elector);
    list(f, "", "");
    is_quiet(f, 60000);
    while (!elector_leads(elector)) {
        CLEANUP(strbuf_done) struct strbuf body = {0};
        fake_run(&leases);
        assert_non_null(leases.request);
        const int status = lease_store_call(&store, leases.request->method, leases.request->path,
                                            leases.request->body, &body);
        fake_answer(&leases, status, strbuf_str(&body), -1);
    }
    creates(f, NEW("m1"));
    answer(f, 201);
    leases.clock.at_ms += 60000; /* its term ends */
    f->clusters[1] = "m2";
    is_quiet(f, 60000);
    estimator_services_free(f->controller);
    f->controller = NULL;
    elector_free(elector);
    lease_store_done(&store);
}

static void what_is_left_out_is_said_once(void **state) {
    struct fixture *f = *state;
    const int log = begin_log();
    f->clusters[0] = "a.b";
    f->clusters[1] = "m1";
    f->clusters[2] = "n.b";
    start(f, NULL);
    list(f, SHOWN(NAME("m1"), "2", "", "\"spec\":{}"), "");
    is_quiet(f, 60000);
    assert_int_equal(times(logged(log), "cluster=a.b"), 1);
    assert_int_equal(times(logged(log), "cluster=n.b"), 1);
    assert_int_equal(times(logged(log), "service=" NAME("m1")), 1);
    f->clusters[2] = "o.b"; /* the next one, too */
    is_quiet(f, 60000);
    assert_int_equal(times(logged(log), "cluster=a.b"), 1);
    assert_int_equal(times(logged(log), "cluster=o.b"), 1);
    end_log(log);
}

static void failures_are_tried_again(void **state) {
    struct fixture *f = *state;
    const int log = begin_log();
    start(f, NULL);
    list(f, "", "");
    creates(f, NEW("m1"));
    answer(f, 403);
    is_quiet(f, 59000);
    creates(f, NEW("m1"));
    answer(f, 403);
    is_quiet(f, 59000);
    assert_int_equal(times(logged(log), "was not written"), 1);
    creates(f, NEW("m1"));
    answer(f, 404); /* there is no such namespace */
    is_quiet(f, 29000);
    creates(f, NEW("m1"));
    answer(f, 201);
    end_log(log);
}

static void objects_that_are_none(void **state) {
    struct fixture *f = *state;
    struct err err = {0};
    start(f, NULL);
    assert_int_equal(f->watch.apply(f->watch.ctx, STR("{\"metadata\":{}}"), &err), -EINVAL);
    assert_string_equal(err.text, "Service: metadata.name is missing");
    assert_int_equal(f->watch.apply(f->watch.ctx, STR("["), &err), -EINVAL);
    assert_int_equal(f->watch.remove(f->watch.ctx, STR("{\"metadata\":{}}"), &err), -EINVAL);
}

/* ---- where they lead ---- */

static void addresses(void **state) {
    (void)state;
    static const struct {
        const char *text, *host;
        int port; /* 0: none */
    } cases[] = {
        {"e", "e", 10352},
        {"e.karmada-system.svc.cluster.local", "e.karmada-system.svc.cluster.local", 10352},
        {"e.x:1", "e.x", 1},
        {"e.x:65535", "e.x", 65535},
        {"10.0.0.1:443", "10.0.0.1", 443},
        {"e.x:65536", "", 0},
        {"e.x:0", "", 0},
        {"e.x:-1", "", 0},
        {"e.x:+1", "", 0},
        {"e.x:", "", 0},
        {"e.x:grpc", "", 0},
        {":1", "", 0},
        {"", "", 0},
        {"[::1]:1", "", 0},
        {"::1", "", 0},
        {"https://e.x", "", 0},
        {"E.x", "", 0},
        {"e..x", "", 0},
        {".e", "", 0},
        {"e.", "", 0},
        {"-e", "", 0},
        {"e-.x", "", 0},
        {"e.-x", "", 0},
        {"e-", "", 0},
        {"e_x", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct str host;
        uint16_t port;
        const bool good = estimator_address_parse(str_of(cases[i].text), &host, &port);
        if (good != (cases[i].port != 0))
            fail_msg("'%s': %d", cases[i].text, good);
        if (good) {
            assert_str(host, cases[i].host);
            assert_int_equal(port, cases[i].port);
        }
    }
    char longest[256];
    for (size_t n = 252; n <= 254; n++) {
        struct str host;
        uint16_t port;
        memset(longest, 'a', n);
        assert_int_equal(estimator_address_parse((struct str){longest, n}, &host, &port), n <= 253);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_that_is_missing_is_made),
        TEST(one_that_is_right_is_left),
        TEST(one_that_was_changed_is_put_right),
        TEST(one_that_was_deleted_is_made_again),
        TEST(one_whose_cluster_is_gone_is_deleted),
        TEST(a_write_goes_by_what_is_known_then),
        TEST(those_of_others_are_left),
        TEST(those_of_other_names_are_left),
        TEST(a_name_that_was_taken_meanwhile),
        TEST(one_that_is_deleted_while_it_waits),
        TEST(names_that_do_not_do),
        TEST(only_the_leader_writes),
        TEST(what_is_left_out_is_said_once),
        TEST(failures_are_tried_again),
        TEST(objects_that_are_none),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests_name("estimator services", tests, NULL, NULL);
}
