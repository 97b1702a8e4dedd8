/* GET /readyz: what makes a replica ready, and what it says. */
#include "handlers/ops.h"

#include "base/arena.h"
#include "unit/unit.h"

struct fixture {
    bool good, wanted; /* of the check under test */
    struct ops_check checks[2];
    struct ops ops;
    struct http_response response;
};

static bool always(void *ctx) {
    (void)ctx;
    return true;
}

static bool is_good(void *ctx) {
    return ((struct fixture *)ctx)->good;
}

static bool is_wanted(void *ctx) {
    return ((struct fixture *)ctx)->wanted;
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){
        .good = true,
        .wanted = true,
        .checks = {{.name = "state", .good = always, .good_text = "read"},
                   {.name = "leader",
                    .good = is_good,
                    .wanted = is_wanted,
                    .good_text = "this one",
                    .bad_text = "another one",
                    .ctx = &f}},
    };
    f.ops = (struct ops){.checks = f.checks, .check_count = 2};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    return 0;
}

static void says(struct fixture *f, int status, const char *text) {
    const struct http_request request = {.arena = NULL};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){.status = 0};
    ops_readyz(&f->ops, &request, &f->response);
    assert_int_equal(f->response.status, status);
    assert_str(strbuf_str(&f->response.text), text);
}

static void every_check_must_be_good(void **state) {
    struct fixture *f = *state;
    says(f, 200, "[+] state: read\n[+] leader: this one\n[+] shutdown: not asked for\n");
    f->good = false;
    says(f, 503, "[+] state: read\n[-] leader: another one\n[+] shutdown: not asked for\n");
    f->wanted = false;
    says(f, 200, "[+] state: read\n[+] shutdown: not asked for\n");
}

static void a_bad_one_is_not_hidden_by_a_good_one_after_it(void **state) {
    struct fixture *f = *state;
    f->good = false;
    f->checks[0] = f->checks[1];
    f->checks[1] = (struct ops_check){.name = "state", .good = always, .good_text = "read"};
    says(f, 503, "[-] leader: another one\n[+] state: read\n[+] shutdown: not asked for\n");
}

static void some_speak_only_when_bad(void **state) {
    struct fixture *f = *state;
    f->checks[1].good_text = NULL;
    says(f, 200, "[+] state: read\n[+] shutdown: not asked for\n");
    f->good = false;
    says(f, 503, "[+] state: read\n[-] leader: another one\n[+] shutdown: not asked for\n");
    f->checks[1].advice = true;
    says(f, 200, "[+] state: read\n[+] leader: another one\n[+] shutdown: not asked for\n");
}

static void whoever_drains_is_not_ready(void **state) {
    struct fixture *f = *state;
    f->ops.draining = true;
    says(f, 503, "[+] state: read\n[+] leader: this one\n[-] shutdown: under way\n");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_check_must_be_good),
        TEST(a_bad_one_is_not_hidden_by_a_good_one_after_it),
        TEST(some_speak_only_when_bad),
        TEST(whoever_drains_is_not_ready),
    };
    return cmocka_run_group_tests_name("readyz", tests, NULL, NULL);
}
