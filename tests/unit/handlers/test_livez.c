/* GET /livez: a handler that hangs is told, however well this listener's thread is. */
#include "base/log.h"
#include "handlers/ops.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <time.h>
#include <unistd.h>

enum { HANGS_MS = 20 };

struct fixture {
    struct served served;
    struct net net;
    struct net_answer answer;
    struct ops ops;
    bool alive;
    struct http_response response;
};

static bool is_alive(void *ctx) {
    return ((struct fixture *)ctx)->alive;
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1, .alive = true};
    f.ops.is_alive = is_alive;
    f.ops.ctx = &f;
    f.ops.handler_ms = HANGS_MS;
    served_init(&f.served);
    served_start(&f.served);
    assert_true(net_open(&f.net, served_address(&f.served)));
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    net_answer_done(&f->answer);
    net_close(&f->net);
    served_done(&f->served);
    strbuf_done(&f->response.text);
    return 0;
}

static int livez(struct fixture *f) {
    const struct http_request request = {.arena = NULL};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){.text.max = 1024};
    ops_livez(&f->ops, &request, &f->response);
    strbuf_append(&f->response.text, "", 1);
    return f->response.status;
}

static void nothing_runs(void **state) {
    struct fixture *f = *state;
    const char *verb = "";
    int64_t ms;
    assert_false(http_oldest_handler(&verb, &ms));
    assert_int_equal(livez(f), 200);
    f->alive = false;
    assert_int_equal(livez(f), 503);
}

/* Until it has run for so long, at most ten seconds. */
static void wait_for_age(int64_t wanted_ms) {
    const char *verb = "";
    int64_t ms = 0;
    time_t until = time(NULL) + 10;
    while (ms <= wanted_ms && time(NULL) < until)
        if (!http_oldest_handler(&verb, &ms))
            ms = 0;
    assert_true(ms > wanted_ms);
    assert_string_equal(verb, "gate");
}

static void a_handler_hangs(void **state) {
    struct fixture *f = *state;
    assert_true(net_say(&f->net,
                        "POST /gate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        "Content-Length: 2\r\n\r\nhi"));
    wait_sem(&f->served.entered, "the handler");
    wait_for_age(HANGS_MS);
    assert_int_equal(livez(f), 503);
    assert_contains(f->response.text.p, "a handler of 'gate' has been running for ");
    f->ops.handler_ms = 3600000;
    assert_int_equal(livez(f), 200);
    f->ops.handler_ms = HANGS_MS;
    (void)sem_post(&f->served.leave);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    assert_int_equal(livez(f), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_runs),
        TEST(a_handler_hangs),
    };
    log_setup(LOG_ERROR + 1, LOG_LOGFMT, STDERR_FILENO); /* that it hangs is what is tested */
    return cmocka_run_group_tests_name("livez", tests, NULL, NULL);
}
