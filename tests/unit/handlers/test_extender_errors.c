/*
 * Answers that are errors: whatever status they travel with, each is counted by verb and reason,
 * logged, and on record when its pod could be read.
 */
#include "base/log.h"
#include "base/metrics.h"
#include "unit/handlers/called.h"
#include "unit/http/fixture.h"

#include <stdio.h>
#include <unistd.h>

#define NODES CALLED_NODES("\"a\"")
#define BAD_POD                                                                                    \
    "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"},\"spec\":{"                        \
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","                      \
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":[{\"key\":"   \
    "\"k\",\"operator\":\"Near\"}]}},{\"maxSkew\":1,\"topologyKey\":\"zone\","                     \
    "\"whenUnsatisfiable\":\"ScheduleAnyway\",\"labelSelector\":{\"matchExpressions\":[{\"key\":"  \
    "\"k\",\"operator\":\"Near\"}]}}]}}"
#define VICTIMS(pod) "{\"Pod\":" pod ",\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[]}}}"
#define BINDING "{\"PodName\":\"web\",\"PodNamespace\":\"default\",\"PodUID\":\"u\",\"Node\":\"a\"}"

struct fixture {
    struct called called;
    struct cache *empty; /* not ready */
    struct ring *ring;
    int log[2]; /* a pipe */
};

static int setup(void **state) {
    static struct fixture f;
    called_init(&f.called);
    assert_int_equal(cache_new(&(struct cache_options){0}, &f.empty, NULL), 0);
    assert_int_equal(ring_new(8, &f.ring), 0);
    assert_int_equal(pipe(f.log), 0);
    log_setup(LOG_INFO, LOG_LOGFMT, f.log[1]);
    f.called.x.decisions = f.ring;
    extender_metrics_start();
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    extender_metrics_stop();
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    (void)close(f->log[0]); /* only read */
    (void)close(f->log[1]); /* a pipe */
    ring_free(f->ring);
    cache_free(f->empty);
    called_done(&f->called);
    return 0;
}

static double errors(const char *verb, const char *reason) {
    char series[128];
    (void)snprintf(series, sizeof series,
                   "evenkeel_extender_errors_total{verb=\"%s\",reason=\"%s\"}", verb,
                   reason); /* fits */
    return metric_now(series);
}

/* One line is in the log, and this is in it. */
static void expect_logged(struct fixture *f, const char *part) {
    char line[4096];
    ssize_t n = read(f->log[0], line, sizeof line - 1);
    assert_true(n > 0);
    line[n] = '\0';
    assert_contains(line, part);
    assert_ptr_equal(strchr(line, '\n'), line + n - 1);
}

/* The newest record is about default/web, and says this. */
static void expect_recorded(struct fixture *f, uint64_t number, const char *part) {
    const struct subject web = subject_pod(STR("default"), STR("web"));
    struct ring_entry entry;
    char text[LIMIT_DECISION_BYTES + 1] = "";
    assert_true(ring_find(f->ring, &web, UINT64_MAX, &entry));
    assert_int_equal(entry.number, number);
    memcpy(text, entry.text, entry.n);
    assert_contains(text, part);
}

struct verb {
    const char *name;
    http_handler_fn *handle;
    const char *good, *bad_pod;
};
static const struct verb verbs[] = {
    {"filter", extender_filter, NODES, "{\"Pod\":" BAD_POD ",\"NodeNames\":[\"a\"]}"},
    {"prioritize", extender_prioritize, NODES, "{\"Pod\":" BAD_POD ",\"NodeNames\":[\"a\"]}"},
    {"complement", extender_complement, NODES, "{\"Pod\":" BAD_POD ",\"NodeNames\":[\"a\"]}"},
    {"preempt", extender_preempt, VICTIMS(CALLED_POD), VICTIMS(BAD_POD)},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void requests_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < VERBS; i++) {
        double before = errors(verbs[i].name, "malformed");
        call_handler(&f->called, verbs[i].handle, "{\"Pod\":7}");
        assert_true(errors(verbs[i].name, "malformed") == before + 1);
        expect_logged(f, verbs[i].name);
    }
    assert_int_equal(ring_size(f->ring).added, 0); /* nobody knows which pod it was */
}

static void before_the_first_sync(void **state) {
    struct fixture *f = *state;
    struct cache *ready = f->called.x.cache;
    f->called.x.cache = f->empty;
    for (size_t i = 0; i < VERBS; i++) {
        double before = errors(verbs[i].name, "not_ready");
        call_handler(&f->called, verbs[i].handle, verbs[i].good);
        assert_true(errors(verbs[i].name, "not_ready") == before + 1);
        expect_logged(f, "pod=web");
        expect_recorded(f, i + 1, "\"result\":\"refused\"");
        expect_recorded(f, i + 1, "not ready");
        expect_recorded(f, i + 1, verbs[i].name);
    }
    f->called.x.cache = ready;
}

static void pods_that_cannot_be_judged(void **state) {
    struct fixture *f = *state;
    uint64_t recorded = 0;
    for (size_t i = 0; i < VERBS; i++) {
        double before = errors(verbs[i].name, "pod");
        if (verbs[i].handle == extender_complement)
            continue; /* it leaves the pod's constraints to kube-scheduler's plugin */
        call_handler(&f->called, verbs[i].handle, verbs[i].bad_pod);
        assert_true(errors(verbs[i].name, "pod") == before + 1);
        expect_logged(f, "spec.topologySpreadConstraints[");
        expect_recorded(f, ++recorded, "\"result\":\"refused\"");
    }
}

static void answers_are_no_errors(void **state) {
    struct fixture *f = *state;
    static const char *const reasons[] = {"malformed", "memory", "not_ready", "pod"};
    for (size_t i = 0; i < VERBS; i++) {
        double before[4];
        for (size_t k = 0; k < 4; k++)
            assert_true((before[k] = errors(verbs[i].name, reasons[k])) >= 0);
        call_handler(&f->called, verbs[i].handle, verbs[i].good);
        for (size_t k = 0; k < 4; k++)
            assert_true(errors(verbs[i].name, reasons[k]) == before[k]);
    }
}

/* ---- bindings that are never tried ---- */

static void a_binding_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    double before = errors("bind", "malformed");
    call_handler(&f->called, extender_bind, "{\"PodName\":7}");
    assert_int_equal(f->called.response.status, 200);
    assert_true(errors("bind", "malformed") == before + 1);
    expect_logged(f, "verb=bind");
}

static void no_api_server_to_bind_with(void **state) {
    struct fixture *f = *state;
    double before = errors("bind", "no_api_server");
    call_handler(&f->called, extender_bind, BINDING);
    assert_int_equal(f->called.response.status, 200);
    assert_true(errors("bind", "no_api_server") == before + 1);
    expect_logged(f, "there is no API server to bind with");
    expect_recorded(f, 1, "\"result\":\"not bound\"");
}

/* Whoever reaches the port could bind any pod to any node with our credentials. */
static void strangers_do_not_bind(void **state) {
    struct fixture *f = *state;
    double before = errors("bind", "unverified");
    f->called.from_elsewhere = true;
    call_handler(&f->called, extender_bind, BINDING);
    assert_int_equal(f->called.response.status, 200);
    assert_true(errors("bind", "unverified") == before + 1);
    expect_logged(f,
                  "only callers with a client certificate, and programs on this machine, may bind");
    expect_recorded(f, 1, "\"result\":\"not bound\"");
    f->called.client = STR("CN=system:kube-scheduler");
    call_handler(&f->called, extender_bind, BINDING);
    assert_true(errors("bind", "unverified") == before + 1);
    expect_logged(f, "there is no API server to bind with");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(requests_that_cannot_be_read),  TEST(before_the_first_sync),
        TEST(pods_that_cannot_be_judged),    TEST(answers_are_no_errors),
        TEST(a_binding_that_cannot_be_read), TEST(no_api_server_to_bind_with),
        TEST(strangers_do_not_bind),
    };
    return cmocka_run_group_tests_name("the extender's errors", tests, NULL, NULL);
}
