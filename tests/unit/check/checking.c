#include "unit/check/checking.h"

#include "unit/unit.h"

#include <pthread.h>

struct checking *checking_open(void (*check)(struct checking *c)) {
    static struct checking c;
    struct err err;
    c = (struct checking){.check = check};
    api_init(&c.api);
    c.access = (struct kube_access){.server = c.api.url, .source = "the test"};
    if (kube_client_new(&c.access, NULL, &c.client, &err) != 0)
        fail_msg("%s", err.text);
    arena_init(&c.arena, 1 << 20);
    check_report_init(&c.findings, &c.arena);
    configuration_init(&c.configuration);
    return &c;
}

void checking_close(struct checking *c) {
    kube_client_free(c->client);
    configuration_done(&c->configuration);
    arena_done(&c->arena);
    api_done(&c->api);
}

static void *run(void *ctx) {
    struct checking *c = ctx;
    CLEANUP(strbuf_done) struct strbuf body = {0};
    struct err err;
    int status;
    c->check(c);
    if (kube_call(c->client, "GET", "/done", STR(""), &body, &status, &err) != 0)
        print_error("%s\n", err.text); /* the test waits for a call that does not come, and fails */
    return NULL;
}

void checking_start(struct checking *c) {
    assert_int_equal(pthread_create(&c->thread, NULL, run, c), 0);
}

bool checking_take(struct checking *c, struct api_call *ret) {
    *ret = (struct api_call){0};
    api_take(&c->api, ret);
    if (!str_eq(ret->path, STR("/done")))
        return true;
    api_answer(ret, 200, "", "{}");
    api_call_done(ret);
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    return false;
}
