/* An outage of an API server: how often its end wakes a watch. */
#include "kube/client/outage.h"

#include "base/log.h"
#include "unit/unit.h"

#include <unistd.h>

struct watch {
    struct outage_waiter waiter;
    int woken;
};

static void wake(void *ctx, int64_t delay_ms) {
    struct watch *w = ctx;
    assert_in_range(delay_ms, 0, 1000);
    w->woken++;
}

/* The watch fails at `at_ms`, and another request is answered one millisecond later. */
static void fail_and_answer(struct outage *o, struct watch *w, int64_t at_ms) {
    const struct outage_failure failure = {
        .resource = "pods", .error = "refused", .asked_ms = at_ms};
    assert_true(outage_join(o, &w->waiter, at_ms, &failure));
    outage_end(o, at_ms + 1);
}

static void a_server_that_answers_no_watch(void **state) {
    struct watch w = {.waiter = {.wake = wake, .ctx = &w}};
    struct outage o;
    (void)state;
    outage_init(&o, "http://server", NULL);
    list_init(&w.waiter.link);
    for (int64_t at_ms = 1000; at_ms < 1000 + 9000; at_ms += 1000)
        fail_and_answer(&o, &w, at_ms);
    assert_int_equal(w.woken, 1); /* then the usual back-off counts */
    assert_int_equal(o.count, 0);
    fail_and_answer(&o, &w, 12000);
    assert_int_equal(w.woken, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_server_that_answers_no_watch)};
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
