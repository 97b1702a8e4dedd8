/* An outage of an API server: what is logged, and how often its end wakes a watch. */
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

struct stage {
    struct outage outage;
    struct watch watches[2];
    int log[2];
    char text[4096];
};

static int setup(void **state) {
    static struct stage s;
    s = (struct stage){.log = {-1, -1}};
    outage_init(&s.outage, "http://server", NULL);
    for (size_t i = 0; i < 2; i++) {
        s.watches[i].waiter = (struct outage_waiter){.wake = wake, .ctx = &s.watches[i]};
        list_init(&s.watches[i].waiter.link);
    }
    assert_int_equal(pipe(s.log), 0);
    log_setup(LOG_INFO, LOG_LOGFMT, s.log[1]);
    *state = &s;
    return 0;
}

static int teardown(void **state) {
    struct stage *s = *state;
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    for (size_t i = 0; i < 2; i++)
        if (s->log[i] >= 0)
            assert_int_equal(close(s->log[i]), 0);
    return 0;
}

/* Returns how many lines were logged so far. Ends the log. */
static unsigned lines_of(struct stage *s) {
    unsigned lines = 0;
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(close(s->log[1]), 0);
    s->log[1] = -1;
    const ssize_t n = read(s->log[0], s->text, sizeof s->text - 1);
    assert_in_range(n, 0, sizeof s->text - 1);
    for (ssize_t i = 0; i < n; i++)
        lines += s->text[i] == '\n';
    return lines;
}

/* Returns false if the watch logs the failure itself. */
static bool lose(struct stage *s, size_t which, int64_t at_ms) {
    const struct outage_failure failure = {
        .resource = "pods", .error = "refused", .asked_ms = at_ms};
    return outage_join(&s->outage, &s->watches[which].waiter, at_ms, &failure);
}

/* Other requests are answered each two seconds, as with a Lease: no watch is woken, nothing says
 * that the server does not answer, and the watch logs its own failures but the first. */
static void a_server_that_answers_others(void **state) {
    struct stage *s = *state;
    unsigned own = 0;
    outage_end(&s->outage, 1000);
    for (int64_t at_ms = 2000; at_ms < 102000; at_ms += 10000) {
        own += !lose(s, 0, at_ms);
        outage_end(&s->outage, at_ms + 2000);
    }
    assert_int_equal(s->watches[0].woken, 0);
    assert_int_equal(own, 9);
    assert_int_equal(lines_of(s), 0);
    assert_int_equal(s->outage.count, 0);
}

/* The server answers once in eleven seconds, and no watch: the watch is woken ever less often. */
static void wakes_in_vain(void **state) {
    struct stage *s = *state;
    int64_t woken_at[8] = {0};
    int woken = 0;
    outage_end(&s->outage, 1000);
    for (int64_t at_ms = 2000; at_ms < 300000; at_ms += 11000) {
        (void)lose(s, 0, at_ms);
        outage_end(&s->outage, at_ms + 10000);
        if (s->watches[0].woken == woken)
            continue;
        assert_in_range(woken, 0, 6);
        woken_at[woken++] = at_ms;
    }
    static const int64_t pauses_ms[] = {11000, 22000, 44000, 88000, 88000};
    assert_int_equal(woken, 6);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(woken_at[i + 1] - woken_at[i], pauses_ms[i]);
    outage_succeed(&s->outage, &s->watches[0].waiter, 301000);
    for (int64_t at_ms = 302000; at_ms < 320000; at_ms += 11000) {
        (void)lose(s, 0, at_ms);
        outage_end(&s->outage, at_ms + 10000);
    }
    assert_int_equal(s->watches[0].woken, 8); /* its wakes count anew */
}

/* Two lines, whatever the number of watches; the next outage within a minute has none. */
static void what_is_logged(void **state) {
    struct stage *s = *state;
    outage_end(&s->outage, 1000);
    assert_true(lose(s, 0, 2000));
    assert_true(lose(s, 1, 4999)); /* not yet */
    assert_true(lose(s, 1, 5000));
    assert_true(lose(s, 0, 9000));
    outage_end(&s->outage, 12000);
    assert_int_equal(s->watches[0].woken + s->watches[1].woken, 2);
    assert_false(lose(s, 0, 13000));
    assert_true(lose(s, 0, 17000));
    outage_end(&s->outage, 18000);
    assert_int_equal(lines_of(s), 2);
    assert_contains(s->text, "the API server does not answer; its watches try again");
    assert_contains(s->text, "since_ms=3000");
    assert_contains(s->text, "the API server answers again");
    assert_contains(s->text, "after_ms=10000");
}

/* A server that never answered: the first failure is logged at once. A request that could not be
 * sent is no silent server. */
static void never_asked(void **state) {
    struct stage *s = *state;
    const struct outage_failure failure = {
        .resource = "pods", .error = "plugin failed", .asked_ms = 1000, .unasked = true};
    assert_true(outage_join(&s->outage, &s->watches[0].waiter, 1000, &failure));
    assert_true(outage_join(&s->outage, &s->watches[1].waiter, 1000, &failure));
    assert_int_equal(lines_of(s), 1);
    assert_contains(s->text, "the API server cannot be asked; its watches try again");
    assert_contains(s->text, "plugin failed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_answers_others),
        TEST(wakes_in_vain),
        TEST(what_is_logged),
        TEST(never_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
