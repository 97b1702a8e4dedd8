/* The log's level, read and set over HTTP: by whom, and what is refused. */
#include "handlers/log_level.h"

#include "base/log.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

struct fixture {
    struct explain_access *access;
    struct http_response response;
    int null;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.null = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    assert_true(f.null >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, f.null);
    assert_int_equal(explain_access_new(NULL, &f.access, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    explain_access_free(f->access);
    strbuf_done(&f->response.text);
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    return close(f->null);
}

/* The status; the text is the response's. */
static int call(struct fixture *f, http_handler_fn *handler, const char *body, bool is_local) {
    const struct http_request request = {
        .body = str_of(body), .peer = STR("127.0.0.1:5"), .is_local = is_local};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){.status = 0};
    handler(f->access, &request, &f->response);
    strbuf_append_char(&f->response.text, '\0');
    return f->response.status;
}

static void it_is_set_until_it_is_set_again(void **state) {
    struct fixture *f = *state;
    assert_int_equal(call(f, log_level_get, "", true), 200);
    assert_string_equal(f->response.text.p, "warn\n");
    assert_false(log_wants(LOG_DEBUG));
    assert_int_equal(call(f, log_level_put, "debug\n", true), 200);
    assert_string_equal(f->response.text.p, "debug\n");
    assert_true(log_wants(LOG_DEBUG));
    assert_int_equal(call(f, log_level_put, "error", true), 200);
    assert_false(log_wants(LOG_WARN));
    assert_true(log_wants(LOG_ERROR));
}

static void what_is_none_is_refused(void **state) {
    struct fixture *f = *state;
    static const char *const wrong[] = {"", "DEBUG", "trace", "debug info",
                                        "{\"level\":\"debug\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(call(f, log_level_put, wrong[i], true), 400);
        assert_int_equal(log_level(), LOG_WARN);
    }
}

static void others_may_neither_read_nor_set_it(void **state) {
    struct fixture *f = *state;
    assert_int_equal(call(f, log_level_put, "debug", false), 403);
    assert_int_equal(call(f, log_level_get, "", false), 403);
    assert_int_equal(log_level(), LOG_WARN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_set_until_it_is_set_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_none_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(others_may_neither_read_nor_set_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
