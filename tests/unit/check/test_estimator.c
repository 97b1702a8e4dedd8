/*
 * `check estimator` beside servers of gRPC that are estimators, that are others, and that answer
 * late. Messages are written by hand, as Karmada's generated code reads them: field 1 is
 * maxReplicas, a varint.
 */
#include "check/estimator.h"

#include "base/clock.h"
#include "estimator/wire.h"
#include "grpc/listener.h"
#include "unit/str_contains.h"

#include <errno.h>
#include <semaphore.h>

struct fixture {
    struct arena arena;
    struct check_report findings;
    struct grpc_listener *listener;
    /* what the server answers */
    struct str message, text;
    enum grpc_status status;
    bool waits; /* for `leave` */
    sem_t leave;
    struct str asked; /* the last message; in `bytes` */
    char bytes[64];
};
static struct fixture f;

static void answer(void *ctx, const struct grpc_request *request, struct grpc_response *response) {
    (void)ctx;
    assert_true(request->message.n <= sizeof f.bytes);
    memcpy(f.bytes, request->message.p, request->message.n);
    f.asked = (struct str){f.bytes, request->message.n};
    if (f.waits)
        (void)sem_wait(&f.leave);
    response->status = f.status;
    if (f.status == GRPC_OK)
        strbuf_append_str(&response->message, f.message);
    else
        (void)err_set(&response->err, -EINVAL, "%.*s", STR_ARG(f.text));
}

static const struct grpc_method methods[] = {{"MaxAvailableReplicas", answer}};
static const struct grpc_service estimator = {
    .path = WIRE_SERVICE, .methods = methods, .method_count = 1};
static const struct grpc_service other = {
    .path = "/another.Service/", .methods = methods, .method_count = 1};

static int set_up(void **state) {
    (void)state;
    f = (struct fixture){.status = GRPC_OK};
    arena_init(&f.arena, 1 << 20);
    check_report_init(&f.findings, &f.arena);
    return sem_init(&f.leave, 0, 0);
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&f.arena);
    return 0;
}

static void check(const struct grpc_service *service, int64_t timeout_ms) {
    static const struct http_tls_options plaintext;
    const struct grpc_listener_options options = {
        .address = "127.0.0.1:0", .threads = 1, .service = service, .tls = &plaintext};
    struct err err;
    if (grpc_listener_start(&options, clock_real(), &f.listener, &err) != 0)
        fail_msg("%s", err.text);
    const struct estimator_check which = {
        .address = grpc_listener_address(f.listener), .cluster = "m1", .timeout_ms = timeout_ms};
    check_report_init(&f.findings, &f.arena);
    estimator_check(&which, &f.findings);
    (void)sem_post(&f.leave);
    grpc_listener_stop(f.listener, 0);
}

enum { PATIENCE_MS = 60000 };

/* The finding about the connection, and one about the answer. */
static void assert_found(enum severity severity, const char *path, const char *problem,
                         const char *advice) {
    assert_true(f.findings.count >= 2);
    assert_int_equal(f.findings.items[0].severity, SEVERITY_INFO);
    assert_str(f.findings.items[0].path, "connection");
    const struct check_row *found = &f.findings.items[1];
    assert_int_equal(found->severity, severity);
    assert_str(found->path, path);
    assert_str_contains(found->problem, problem);
    if (advice[0] == '\0')
        assert_str(found->advice, "");
    else
        assert_str_contains(found->advice, advice);
}

static void estimators_answer_with_replicas(void **state) {
    static const struct {
        struct str message;
        enum severity severity;
        const char *problem, *advice;
    } cases[] = {
        {{"\x08\x07", 2}, SEVERITY_INFO, "7 replicas that request nothing fit cluster m1 (", ""},
        {{"", 0}, SEVERITY_INFO, "0 replicas that request nothing fit cluster m1 (", ""},
        {{"\x08\x00", 2}, SEVERITY_INFO, "0 replicas that request nothing fit cluster m1 (", ""},
        {{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
         SEVERITY_WARNING,
         "the estimator answers -1 (unknown) for cluster m1",
         "look in the estimator's log"},
        /* a newer one's other fields are passed over */
        {{"\x12\x01x\x08\x07", 5}, SEVERITY_INFO, "7 replicas", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f.message = cases[i].message;
        check(&estimator, PATIENCE_MS);
        assert_found(cases[i].severity, "answer", cases[i].problem, cases[i].advice);
        assert_int_equal(f.findings.count, 2);
        assert_true(memmem(f.asked.p, f.asked.n, "\x0a\x02m1", 4) != NULL); /* the cluster */
    }
}

static void others_answer_with_something_else(void **state) {
    static const struct str messages[] = {
        {"hello", 5},             /* the end of a group that has not begun */
        {"\x08", 1},              /* a field without its value */
        {"\x0a\x01x", 3},         /* the field is no number */
        {"\x08\x07\x12\x05x", 5}, /* the end is missing */
    };
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        f.message = messages[i];
        check(&estimator, PATIENCE_MS);
        assert_found(SEVERITY_ERROR, "answer", "the answer is not a MaxAvailableReplicasResponse",
                     "this is a server of gRPC, but not an estimator");
        assert_int_equal(f.findings.count, 2);
    }
}

static void statuses_are_explained(void **state) {
    static const struct {
        enum grpc_status status;
        const char *text, *path, *problem, *advice;
    } cases[] = {
        {GRPC_UNKNOWN, "cluster name does not match, got: m1, desire: m2", "cluster",
         "it answers with gRPC status 2: cluster name does not match", "--cluster-name"},
        {GRPC_UNKNOWN, "no", "answer", "it answers with gRPC status 2: no",
         "look at the estimator's log"},
        {GRPC_UNAVAILABLE, "not yet", "answer", "it answers with gRPC status 14: not yet",
         "whether it is synced"},
        {GRPC_UNIMPLEMENTED, "no", "answer", "gRPC status 12: no",
         "not an estimator of Karmada 1.1 or newer"},
        {GRPC_DEADLINE_EXCEEDED, "late", "answer", "it answers with gRPC status 4: late",
         "karmada-scheduler waits"},
        {GRPC_INTERNAL, "", "answer", "it answers with gRPC status 13", "look at the estimator"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f.status = cases[i].status;
        f.text = str_of(cases[i].text);
        check(&estimator, PATIENCE_MS);
        assert_found(SEVERITY_ERROR, cases[i].path, cases[i].problem, cases[i].advice);
        assert_int_equal(f.findings.count, 3);
        assert_int_equal(f.findings.items[2].severity, SEVERITY_INFO);
        assert_str_contains(f.findings.items[2].problem, "drop the accurate estimates of all");
    }
    check(&other, PATIENCE_MS);
    assert_found(SEVERITY_ERROR, "answer", "it answers with gRPC status 12",
                 "not an estimator of Karmada 1.1 or newer");
}

static void whoever_is_late_is_not_waited_for(void **state) {
    enum { SOON_S = 20 }; /* of a timeout of half a second, on a machine that is busy */
    const int64_t began_ns = clock_now_ns();
    (void)state;
    f.waits = true;
    check(&estimator, 500);
    assert_found(SEVERITY_ERROR, "answer", "no answer, gRPC status 4", "karmada-scheduler waits");
    assert_true(clock_now_ns() - began_ns < SOON_S * INT64_C(1000000000));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(estimators_answer_with_replicas),
        TEST(others_answer_with_something_else),
        TEST(statuses_are_explained),
        TEST(whoever_is_late_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
