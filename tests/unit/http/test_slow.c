/* A slow request is counted by its cause. What makes it slow is real: a client that sends slowly, a
 * handler that takes long, others before it, an answer that nobody reads. The time that this takes
 * is a clock's that stands still: it goes on only where the test knows what is waited for. */
#include "base/cpu_lack.h"
#include "base/file.h"
#include "base/limits.h"
#include "http/slow.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { LARGE = LIMIT_HTTP_LARGE_BODY + 1 };

static struct clock_fake now;

struct fixture {
    struct served served;
    struct net net;
    struct net_answer answer;
    char *body; /* of LARGE bytes */
    struct http_deferral *_Atomic deferral;
};

static void gate(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    (void)sem_post(&f->served.entered);
    (void)sem_wait(&f->served.leave);
    http_answer_text(response, 200, "%zu", request->body.n);
}

static void later(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    (void)response;
    atomic_store(&f->deferral, http_defer(request));
    (void)sem_post(&f->served.entered);
}

static void much(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request;
    char *to = strbuf_reserve(&response->text, MUCH);
    if (to != NULL) {
        memset(to, 'x', MUCH);
        response->text.n = MUCH;
    }
    http_answer_json(response, to != NULL ? 200 : 500);
}

static const struct http_route rows[] = {
    {"POST", "/gate", "gate", gate, HTTP_LARGE_JSON},
    {"POST", "/later", "later", later, HTTP_JSON},
    {"POST", "/much", "much", much, HTTP_JSON},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

static int setup(void **state) {
    static struct fixture f;
    clock_fake_init(&now, 1000000);
    f = (struct fixture){.net.fd = -1, .body = malloc(LARGE)};
    assert_non_null(f.body);
    memset(f.body, 'x', LARGE);
    served_init(&f.served);
    f.served.clock = &now.clock;
    f.served.options.threads = 1;
    f.served.options.services[0] = (struct http_service){&routes, &f, NULL};
    f.served.options.large_threads = 1;
    f.served.options.limits.body_bytes = 2 * (size_t)LARGE;
    f.served.options.limits.bodies_in_flight = 64u << 20;
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
    free(f->body);
    return 0;
}

static void begin(struct net *net, const char *path, size_t n) {
    char head[256];
    (void)snprintf(head, sizeof head,
                   "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   path, n);
    assert_true(net_say(net, head));
}

/* Of what is waited for now. */
static void pass_time(void) {
    now.at_ms += LIMIT_HTTP_SLOW_MS;
}

/* The first of two bytes has arrived. */
static void begin_half(struct fixture *f) {
    const double before = metric_now("evenkeel_http_request_body_bytes_total{listener=\"test\"}");
    begin(&f->net, "/gate", 2);
    assert_true(net_send(&f->net, f->body, 1));
    metric_becomes("evenkeel_http_request_body_bytes_total{listener=\"test\"}", before + 1);
}

static double all_counted(void) {
    char series[128];
    double all = 0;
    for (enum slow_cause c = 0; c < SLOW_CAUSES; c++) {
        (void)snprintf(series, sizeof series,
                       "evenkeel_http_slow_requests_total{listener=\"test\",cause=\"%s\"}",
                       slow_cause_name(c));
        all += metric_now(series);
    }
    return all;
}

/* One request was slow for this cause, and so many others for other ones. */
static void expect_counted(const char *cause, unsigned others) {
    char series[128];
    (void)snprintf(series, sizeof series,
                   "evenkeel_http_slow_requests_total{listener=\"test\",cause=\"%s\"}", cause);
    metric_becomes(series, 1);
    assert_true(all_counted() == 1 + others);
}

static void expect_beside(struct fixture *f, const char *cause, unsigned others) {
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    expect_counted(cause, others);
}

static void expect(struct fixture *f, const char *cause) {
    expect_beside(f, cause, 0);
}

static void test_a_body_arrives_slowly(void **state) {
    struct fixture *f = *state;
    begin_half(f);
    pass_time();
    assert_true(net_send(&f->net, f->body, 1));
    (void)sem_post(&f->served.leave);
    expect(f, "receiving");
}

/* As an API server does when the webhook's timeout is over. */
static void test_a_client_gives_up(void **state) {
    struct fixture *f = *state;
    begin_half(f);
    pass_time();
    net_close(&f->net);
    expect_counted("receiving", 0);
}

static void test_a_handler_takes_long(void **state) {
    struct fixture *f = *state;
    begin(&f->net, "/gate", 1);
    assert_true(net_send(&f->net, f->body, 1));
    wait_sem(&f->served.entered, "the handler");
    pass_time();
    (void)sem_post(&f->served.leave);
    expect(f, "handling");
}

/* The one that they wait for is slow, too, for another cause. */
static void test_large_ones_wait(void **state) {
    struct fixture *f = *state;
    struct net other;
    assert_true(net_open(&other, served_address(&f->served)));
    begin(&other, "/gate", LARGE);
    assert_true(net_send(&other, f->body, LARGE));
    wait_sem(&f->served.entered, "the first large one");
    begin(&f->net, "/gate", LARGE);
    assert_true(net_send(&f->net, f->body, LARGE));
    metric_becomes("evenkeel_http_bytes_held{listener=\"test\"}", 2.0 * LARGE);
    served_catch_up(&f->served);
    pass_time();
    (void)sem_post(&f->served.leave);
    (void)sem_post(&f->served.leave);
    assert_true(net_hear(&other, &f->answer));
    net_close(&other);
    metric_becomes("evenkeel_http_slow_requests_total{listener=\"test\",cause=\"handling\"}", 1);
    expect_beside(f, "queued", 1);
}

/* A request that takes one millisecond less is not slow. */
static void test_just_quick_enough(void **state) {
    struct fixture *f = *state;
    begin_half(f);
    now.at_ms += LIMIT_HTTP_SLOW_MS - 1;
    assert_true(net_send(&f->net, f->body, 1));
    (void)sem_post(&f->served.leave);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 0);
    assert_true(all_counted() == 0);
}

static void test_an_api_server_takes_long(void **state) {
    struct fixture *f = *state;
    struct http_response response = {.text.max = 1024};
    begin(&f->net, "/later", 1);
    assert_true(net_send(&f->net, f->body, 1));
    wait_sem(&f->served.entered, "the handler");
    served_catch_up(&f->served); /* the handler has returned */
    pass_time();
    http_answer_text(&response, 200, "late");
    http_deferral_answer(atomic_load(&f->deferral), &response);
    expect(f, "waiting");
}

static void test_an_answer_is_read_slowly(void **state) {
    struct fixture *f = *state;
    begin(&f->net, "/much", 1);
    assert_true(net_send(&f->net, f->body, 1));
    assert_true(net_receive(&f->net)); /* its beginning: more than this does not fit on the way */
    pass_time();
    expect(f, "sending");
}

/* ---- a lack of CPU, as the kernel shows it ---- */

struct group {
    char folder[64], self[96], stat[96], pressure[96];
};

static void put(const char *path, const char *text) {
    struct err err;
    if (file_write_atomic(path, str_of(text), 0600, &err) != 0)
        fail_msg("%s", err.text);
}

/* What was lacked since the group began. */
static void lack(const struct group *g, int64_t throttled_us, int64_t waited_us) {
    char text[128];
    (void)snprintf(text, sizeof text, "nr_throttled 1\nthrottled_usec %lld\n",
                   (long long)throttled_us);
    put(g->stat, text);
    (void)snprintf(text, sizeof text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%lld\n",
                   (long long)waited_us);
    put(g->pressure, text);
}

static void make_group(struct group *g) {
    (void)snprintf(g->folder, sizeof g->folder, "/tmp/evenkeel-test-XXXXXX"); /* all fit */
    assert_non_null(mkdtemp(g->folder));
    (void)snprintf(g->self, sizeof g->self, "%s/self", g->folder);
    (void)snprintf(g->stat, sizeof g->stat, "%s/cpu.stat", g->folder);
    (void)snprintf(g->pressure, sizeof g->pressure, "%s/cpu.pressure", g->folder);
    put(g->self, "0::/\n");
    lack(g, 0, 0);
    cpu_lack_find(g->self, g->folder);
    cpu_lack_poll(0); /* long before the request: the figures are some time old */
}

static void remove_group(const struct group *g) {
    (void)unlink(g->self); /* whatever is left is in /tmp */
    (void)unlink(g->stat);
    (void)unlink(g->pressure);
    (void)rmdir(g->folder);
    cpu_lack_find("/nowhere", "/nowhere");
}

static struct group group;

/* The group is found before there are threads. */
static int setup_in_group(void **state) {
    make_group(&group);
    return setup(state);
}

static int teardown_in_group(void **state) {
    int r = teardown(state);
    remove_group(&group);
    return r;
}

static void slowly_while(struct fixture *f, int64_t throttled_us, int64_t waited_us,
                         const char *cause) {
    begin_half(f);
    pass_time();
    lack(&group, throttled_us, waited_us);
    assert_true(net_send(&f->net, f->body, 1));
    (void)sem_post(&f->served.leave);
    expect(f, cause);
}

enum {
    MUCH_US = 60 * 1000000,
    HALF_US = LIMIT_HTTP_SLOW_MS * 500, /* of the request */
};

static void test_throttled(void **state) {
    slowly_while(*state, MUCH_US, MUCH_US, "throttled");
}

static void test_no_processor(void **state) {
    slowly_while(*state, HALF_US / 10, MUCH_US, "starved");
}

static void test_half_of_a_short_request(void **state) {
    slowly_while(*state, HALF_US, HALF_US, "throttled");
}

static void test_less_than_half(void **state) {
    slowly_while(*state, HALF_US - 1, HALF_US - 1, "receiving");
}

/* Half of what it lacked, and less than half of that. */
static void test_throttled_half_of_the_time(void **state) {
    slowly_while(*state, HALF_US / 2, HALF_US, "throttled");
}

static void test_throttled_less_than_half_of_the_time(void **state) {
    slowly_while(*state, HALF_US / 2 - 1, HALF_US, "starved");
}

/* Each of many processors was withheld for a moment, and that at the same time. */
static void test_many_processors(void **state) {
    slowly_while(*state, MUCH_US, HALF_US / 10, "receiving");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_body_arrives_slowly, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_client_gives_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_handler_takes_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_ones_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_api_server_takes_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_answer_is_read_slowly, setup, teardown),
        cmocka_unit_test_setup_teardown(test_just_quick_enough, setup, teardown),
        cmocka_unit_test_setup_teardown(test_throttled, setup_in_group, teardown_in_group),
        cmocka_unit_test_setup_teardown(test_no_processor, setup_in_group, teardown_in_group),
        cmocka_unit_test_setup_teardown(test_half_of_a_short_request, setup_in_group,
                                        teardown_in_group),
        cmocka_unit_test_setup_teardown(test_less_than_half, setup_in_group, teardown_in_group),
        cmocka_unit_test_setup_teardown(test_throttled_half_of_the_time, setup_in_group,
                                        teardown_in_group),
        cmocka_unit_test_setup_teardown(test_throttled_less_than_half_of_the_time, setup_in_group,
                                        teardown_in_group),
        cmocka_unit_test_setup_teardown(test_many_processors, setup_in_group, teardown_in_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
