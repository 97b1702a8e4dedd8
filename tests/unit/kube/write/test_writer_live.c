/* A writer on a real client: several writes at the same time, and leaving from another thread. */
#include "base/log.h"
#include "kube/client/client.h"
#include "kube/write/writer.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { OBJECTS = 3 };

struct controller {
    struct write_handle *handle;
    sem_t told;
    _Atomic unsigned done;
};

static struct api api;
static struct api_call calls[OBJECTS], call;
static struct kube_access access_to;
static struct kube_client *client;
static struct writer *writer;
static struct controller one, two;

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    (void)ctx, (void)err;
    ret->verb = WRITE_REPLACE;
    strbuf_appendf(&ret->path, "/api/v1/things/%.*s", STR_ARG(name));
    strbuf_append_str(&ret->body, STR("{}"));
    return 0;
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct controller *c = ctx;
    (void)name, (void)result;
    (void)atomic_fetch_add(&c->done, 1);
    (void)sem_post(&c->told);
}

static void join(struct controller *c, const char *what) {
    const struct write_owner owner = {
        .what = what,
        .lane = {.objects = OBJECTS, .retry_ms = 1, .retry_max_ms = 1},
        .make = make,
        .done = done,
        .ctx = c};
    *c = (struct controller){.handle = NULL};
    assert_int_equal(sem_init(&c->told, 0, 0), 0);
    assert_int_equal(writer_join(writer, &owner, &c->handle, NULL), 0);
}

static void want_all(void *ctx) {
    struct controller *c = ctx;
    writer_want(c->handle, STR("a"), 0);
    writer_want(c->handle, STR("b"), 0);
    writer_want(c->handle, STR("c"), 0);
}

static void leave(struct controller *c) {
    writer_leave(c->handle);
    c->handle = NULL;
}

static int set_up(void **state) {
    (void)state;
    api_init(&api);
    access_to = (struct kube_access){.server = api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&access_to, NULL, &client, NULL), 0);
    const struct writer_options options = {
        .client = client, .limits = {.under_way = 4, .burst = 1000, .per_second = 1000}};
    assert_int_equal(writer_new(&options, &writer, NULL), 0);
    join(&one, "ones");
    join(&two, "twos");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    leave(&one);
    leave(&two);
    writer_free(writer);
    kube_client_free(client);
    (void)sem_destroy(&one.told);
    (void)sem_destroy(&two.told);
    for (int i = 0; i < OBJECTS; i++)
        api_call_done(&calls[i]);
    api_call_done(&call);
    api_done(&api);
    return 0;
}

static void take_all(void) {
    for (int i = 0; i < OBJECTS; i++)
        api_take(&api, &calls[i]);
}

static void test_several_at_the_same_time(void **state) {
    (void)state;
    kube_run(client, want_all, &one);
    take_all();
    for (int i = OBJECTS - 1; i >= 0; i--) {
        api_answer(&calls[i], 200, "", "{}");
        wait_sem(&one.told, "the answer");
    }
    assert_int_equal(one.done, OBJECTS);
}

static void test_leaving_with_writes_under_way(void **state) {
    (void)state;
    kube_run(client, want_all, &one);
    take_all();
    leave(&one);
    assert_int_equal(one.done, 0);
    for (int i = 0; i < OBJECTS; i++)
        api_wait_gone(&calls[i]);
    kube_run(client, want_all, &two); /* the places are free again */
    take_all();
    for (int i = 0; i < OBJECTS; i++)
        api_answer(&calls[i], 200, "", "{}");
    for (int i = 0; i < OBJECTS; i++)
        wait_sem(&two.told, "the answer");
}

/* Nobody listens, so writes fail and are tried again all the time. */
static void test_leaving_at_any_moment(void **state) {
    (void)state;
    api_deafen(&api);
    kube_run(client, want_all, &two);
    for (int i = 0; i < 100; i++) {
        kube_run(client, want_all, &one);
        for (int pause = 0; pause < i; pause++)
            (void)sched_yield();
        leave(&one);
        unsigned before = one.done;
        kube_run(client, want_all, &two);
        assert_int_equal(one.done, before);
        (void)sem_destroy(&one.told);
        join(&one, "ones");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_several_at_the_same_time),
        TEST(test_leaving_with_writes_under_way),
        TEST(test_leaving_at_any_moment),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("writer on a client", tests, NULL, NULL);
}
