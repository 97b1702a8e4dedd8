/* The webhook's handler where memory is short, which no test over HTTPS can arrange. */
#include "handlers/webhook.h"

#include "base/log.h"
#include "unit/cluster_builder.h"

#include <unistd.h>

static const char review[] =
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"
    "\"\\u0031\",\"operation\":\"CREATE\",\"namespace\":\"shop\",\"resource\":{\"group\":\"\","
    "\"version\":\"v1\",\"resource\":\"pods\"},\"object\":{\"metadata\":{\"labels\":{\"app\":"
    "\"web\"}},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}"
    "]}}"
    "}}";

struct fixture {
    struct cluster c;
    struct webhook webhook;
    struct http_response response;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    cluster_open(&f.c);
    f.webhook.pods.known.cache = f.c.cache;
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.pods.known.policies, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    policy_source_free(f->webhook.pods.known.policies);
    cluster_close(&f->c);
    return 0;
}

/* The answer to a request that may take so much memory, NUL-terminated. */
static const char *ask(struct fixture *f, const char *body, size_t arena_bytes) {
    struct arena arena;
    arena_init(&arena, arena_bytes);
    const struct http_request request = {
        .path = STR("/webhooks/v1/pods"), .body = str_of(body), .arena = &arena};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    webhook_review(&f->webhook, &request, &f->response);
    arena_done(&arena);
    strbuf_append(&f->response.text, "", 1);
    return f->response.text.p;
}

static void enough_memory(void **state) {
    struct fixture *f = *state;
    assert_string_equal(ask(f, review, 64u << 20),
                        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                        "\"response\":{\"uid\":\"1\",\"allowed\":true}}");
    assert_int_equal(f->response.status, 200);
    assert_string_equal(f->response.content_type, "application/json");
}

static void a_malformed_review(void **state) {
    struct fixture *f = *state;
    assert_contains(ask(f, "{}", 64u << 20), "AdmissionReview.apiVersion: expected");
    assert_int_equal(f->response.status, 400);
}

/* Not even the uid can be read: there is nobody to answer to. */
static void too_little_to_read_the_review(void **state) {
    struct fixture *f = *state;
    assert_contains(ask(f, review, 1), "memory");
    assert_int_equal(f->response.status, 503);
}

/* From there on it is allowed at every size, with a warning until there is enough. */
static void too_little_to_read_the_pod(void **state) {
    struct fixture *f = *state;
    int warned = 0, fine = 0;
    for (size_t bytes = 1; bytes < 256u << 10; bytes += 256) {
        const char *answer = ask(f, review, bytes);
        if (f->response.status != 200)
            continue;
        assert_contains(answer, "\"uid\":\"1\",\"allowed\":true");
        if (strstr(answer, "\"warnings\":[\"evenkeel: ") != NULL)
            warned++;
        else
            fine++;
    }
    assert_true(fine > 0);
    assert_true(warned > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(enough_memory),
        TEST(a_malformed_review),
        TEST(too_little_to_read_the_review),
        TEST(too_little_to_read_the_pod),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
