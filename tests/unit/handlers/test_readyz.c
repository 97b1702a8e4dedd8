/* GET /readyz: what makes a replica ready, and what it says. */
#include "handlers/ops.h"

#include "unit/cluster_builder.h"

struct fixture {
    struct cluster c;
    struct ops ops;
    struct http_response response;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.response.status = 0};
    cluster_open(&f.c);
    f.ops.cache = f.c.cache;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    cluster_close(&f->c);
    return 0;
}

static void says(struct fixture *f, int status, const char *text) {
    const struct http_request request = {.arena = &f->c.arena};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){.status = 0};
    ops_readyz(&f->ops, &request, &f->response);
    assert_int_equal(f->response.status, status);
    assert_str(strbuf_str(&f->response.text), text);
}

static void list_everything(struct fixture *f) {
    cache_write_begin(f->c.cache);
    cache_sync_begin(f->c.cache, CACHE_ALL_KINDS);
    cache_sync_end(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
}

static void the_state_comes_first(void **state) {
    struct fixture *f = *state;
    says(f, 503, "[-] state: not read yet; see the log\n[+] shutdown: not asked for\n");
    list_everything(f);
    says(f, 200, "[+] state: read\n[+] shutdown: not asked for\n");
    f->ops.draining = true;
    says(f, 503, "[+] state: read\n[-] shutdown: under way\n");
}

/* A pod that came before its policy would stay without it. */
static void policies_are_waited_for(void **state) {
    struct fixture *f = *state;
    list_everything(f);
    f->ops.unlisted = true;
    says(f, 503,
         "[+] state: read\n[-] webhook: policies or Fluid's objects are not listed yet\n"
         "[+] shutdown: not asked for\n");
    f->ops.unlisted = false;
    says(f, 200, "[+] state: read\n[+] shutdown: not asked for\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_state_comes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(policies_are_waited_for, setup, teardown),
    };
    return cmocka_run_group_tests_name("readyz", tests, NULL, NULL);
}
