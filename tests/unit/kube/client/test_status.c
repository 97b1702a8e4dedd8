/* metav1.Status, and what stands where one should be. */
#include "kube/client/status.h"

#include "unit/unit.h"

static struct kube_status read_status(struct arena *arena, const char *body, int http_status) {
    struct kube_status status;
    arena_init(arena, 1 << 16);
    kube_status_read(str_of(body), http_status, arena, &status);
    return status;
}

static void test_whole(void **state) {
    (void)state;
    CLEANUP(arena_done) struct arena arena;
    struct kube_status status = read_status(
        &arena,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"slow \\\"down\\\"\",\"reason\":\"TooManyRequests\",\"code\":429,"
        "\"details\":{\"kind\":\"pods\",\"causes\":[{\"reason\":\"A\"}],\"retryAfterSeconds\":5}}",
        500);
    assert_int_equal(status.code, 429); /* what it says of itself wins */
    assert_str(status.reason, "TooManyRequests");
    assert_str(status.message, "slow \"down\"");
    assert_int_equal(status.retry_after_ms, 5000);
    assert_false(status.version_too_large);
    assert_false(kube_status_expired(&status));
}

static void test_bare(void **state) {
    (void)state;
    CLEANUP(arena_done) struct arena arena;
    struct kube_status status = read_status(&arena, "{\"kind\":\"Status\"}", 503);
    assert_int_equal(status.code, 503);
    assert_str(status.reason, "");
    assert_str(status.message, "");
    assert_int_equal(status.retry_after_ms, -1);
}

static void test_no_wish_to_wait(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "{\"kind\":\"Status\",\"details\":null}",
        "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":0}}",
        "{\"kind\":\"Status\",\"details\":{\"causes\":null}}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        assert_int_equal(read_status(&arena, bodies[i], 429).retry_after_ms, -1);
    }
}

static void test_expired(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int http_status;
        bool expired;
    } cases[] = {
        {"{\"kind\":\"Status\",\"code\":410}", 200, true},
        {"{\"kind\":\"Status\",\"reason\":\"Expired\"}", 400, true},
        {"{\"kind\":\"Status\",\"reason\":\"Gone\"}", 400, true},
        {"", 410, true},
        {"<html>", 410, true},
        {"{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404}", 404, false},
        {"{\"kind\":\"Pod\",\"reason\":\"Expired\"}", 500, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        struct kube_status status = read_status(&arena, cases[i].body, cases[i].http_status);
        assert_int_equal(kube_status_expired(&status), cases[i].expired);
    }
}

static void test_version_too_large(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool too_large;
    } cases[] = {
        {"{\"kind\":\"Status\",\"details\":{\"causes\":[{\"reason\":\"A\"},"
         "{\"message\":\"m\",\"reason\":\"ResourceVersionTooLarge\"}]}}",
         true},
        {"{\"kind\":\"Status\",\"message\":\"Too large resource version: 9, current: 3\"}", true},
        {"{\"kind\":\"Status\",\"message\":\"no Too large resource version\"}", false},
        {"{\"kind\":\"Status\",\"details\":{\"causes\":[{\"reason\":\"Other\"}]}}", false},
        {"Too large resource version", false}, /* no Status */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        assert_int_equal(read_status(&arena, cases[i].body, 504).version_too_large,
                         cases[i].too_large);
    }
}

/* What is no Status, or only half of one, is described by its first line. */
static void test_something_else(void **state) {
    (void)state;
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"", "an empty answer"},
        {" \r\n", "an empty answer"},
        {"404 page not found\n", "the answer '404 page not found'"},
        {"first\nsecond", "the answer 'first'"},
        {"\n <html>\n", "an HTML page instead of an answer of the API"},
        {"{\"kind\":\"Status\",\"code\":409,", "the answer '{\"kind\":\"Status\",\"code\":409,'"},
        {"{\"kind\":\"Status\",\"code\":\"x\"}",
         "the answer '{\"kind\":\"Status\",\"code\":\"x\"}'"},
        {"[1]", "the answer '[1]'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        struct kube_status status = read_status(&arena, cases[i].body, 502);
        assert_int_equal(status.code, 502);
        assert_str(status.message, cases[i].message);
        assert_str(status.reason, "");
    }
}

static void test_long_lines_are_cut(void **state) {
    (void)state;
    CLEANUP(arena_done) struct arena arena;
    char line[1000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    struct kube_status status = read_status(&arena, line, 500);
    assert_int_equal(status.message.n, 200 + strlen("the answer ''"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_no_wish_to_wait),
        cmocka_unit_test(test_expired),
        cmocka_unit_test(test_version_too_large),
        cmocka_unit_test(test_something_else),
        cmocka_unit_test(test_long_lines_are_cut),
    };
    return cmocka_run_group_tests_name("kube/status", tests, NULL, NULL);
}
