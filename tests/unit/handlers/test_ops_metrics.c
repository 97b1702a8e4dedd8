/* GET /metrics: what users write into labels never keeps the rest from being scraped. */
#include "handlers/ops.h"

#include "base/limits.h"
#include "base/metrics.h"
#include "unit/unit.h"

struct fixture {
    size_t more; /* bytes that the report writes */
    struct ops_check checks[1];
    struct ops ops;
    struct http_response response;
};

static struct metric ours = {.name = "ours", .help = "Ours.", .labels = "", .kind = METRIC_GAUGE};

static bool is_good(void *ctx) {
    (void)ctx;
    return true;
}

static void put_more(void *ctx, struct strbuf *out) {
    const struct fixture *f = ctx;
    char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (size_t left = f->more, n; left > 0; left -= n) {
        n = left < sizeof block ? left : sizeof block;
        strbuf_append(out, block, n);
    }
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.checks = {{.name = "state", .good = is_good}}};
    f.ops = (struct ops){.checks = f.checks, .check_count = 1, .more_metrics = put_more, .ctx = &f};
    metric_register(&ours);
    ops_start();
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    ops_stop();
    metric_unregister(&ours);
    return 0;
}

/* The bytes of the answer, of which the first are its text from then on. */
static size_t scrape(struct fixture *f) {
    const struct http_request request = {.arena = NULL};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){.text.max = LIMIT_REQUEST_ARENA};
    ops_metrics(&f->ops, &request, &f->response);
    assert_int_equal(f->response.status, 200);
    assert_false(strbuf_failed(&f->response.text));
    size_t n = f->response.text.n;
    strbuf_append_char(&f->response.text, '\0');
    assert_contains(f->response.text.p, "\nours 0\n");
    assert_contains(f->response.text.p,
                    "kubernetes_healthcheck{name=\"state\",type=\"readyz\"} 1\n");
    return n;
}

static void what_does_not_fit_is_left_out(void **state) {
    struct fixture *f = *state;
    const size_t without = scrape(f);
    assert_contains(f->response.text.p, "\nevenkeel_metrics_left_out_total 0\n");
    f->more = 1;
    assert_int_equal(scrape(f), without + 1);
    f->more = LIMIT_MORE_METRICS - 1;
    assert_int_equal(scrape(f), without + f->more);
    f->more = LIMIT_MORE_METRICS;
    assert_int_equal(scrape(f), without + f->more);
    assert_contains(f->response.text.p, "\nevenkeel_metrics_left_out_total 0\n");
    f->more = LIMIT_MORE_METRICS + 1;
    assert_int_equal(scrape(f), without);
    assert_contains(f->response.text.p, "\nevenkeel_metrics_left_out_total 1\n");
    f->more = (size_t)LIMIT_REQUEST_ARENA + 1;
    assert_int_equal(scrape(f), without);
    assert_contains(f->response.text.p, "\nevenkeel_metrics_left_out_total 2\n");
    f->more = 5;
    assert_int_equal(scrape(f), without + 5);
}

static void nobody_has_more(void **state) {
    struct fixture *f = *state;
    const size_t without = scrape(f);
    f->ops.more_metrics = NULL;
    assert_int_equal(scrape(f), without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_has_more, setup, teardown),
    };
    return cmocka_run_group_tests_name("ops_metrics", tests, NULL, NULL);
}
