/* The queue's rules one by one. All of them together: test_queue_random.c. */
#include "kube/write/queue.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOW = 1000000 };

static struct write_queue *queue;
static struct write_lane *lane, *other;
static int64_t now, gate_ms;

static int64_t may_write_ms(void *ctx) {
    (void)ctx;
    return gate_ms;
}

static const struct write_lane_options usual = {
    .objects = 4, .retry_ms = 1000, .retry_max_ms = 8000, .may_write_ms = may_write_ms};

static void open_queue(unsigned under_way, unsigned burst,
                       const struct write_lane_options *options) {
    const struct write_limits limits = {
        .under_way = under_way, .burst = burst, .per_second = 10, .seed = 1};
    assert_int_equal(write_queue_new(&limits, &queue, NULL), 0);
    assert_int_equal(write_lane_new(queue, options, &lane, NULL), 0);
    assert_int_equal(write_lane_new(queue, options, &other, NULL), 0);
    now = NOW;
    gate_ms = INT64_MAX;
}

static int tear_down(void **state) {
    (void)state;
    write_lane_free(lane);
    write_lane_free(other);
    write_queue_free(queue);
    return 0;
}

static void want(const char *name) {
    assert_int_equal(write_lane_want(lane, str_of(name), now, 0), 0);
}

static struct write_item *begins(const char *name) {
    struct write_next next;
    write_queue_next(queue, now, &next);
    assert_non_null(next.item);
    assert_str(write_item_name(next.item), name);
    return next.item;
}

static void waits(int64_t ms) {
    struct write_next next;
    write_queue_next(queue, now, &next);
    assert_null(next.item);
    assert_true(next.wait_ms == ms);
}

static void ends(struct write_item *item, enum write_end end) {
    write_item_end(item, now, end, -1);
}

/* Nothing begins before `ms` are over; then the object does. */
static struct write_item *begins_after(int64_t ms, const char *name) {
    waits(ms);
    now += ms - 1;
    waits(1);
    now++;
    return begins(name);
}

/* ---- tests ---- */

static void test_nothing_to_do(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    waits(INT64_MAX);
    assert_int_equal(write_lane_count(lane), 0);
}

static void test_once_however_often_it_is_wanted(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    for (int i = 0; i < 5; i++)
        want("a");
    want("b");
    assert_int_equal(write_lane_count(lane), 2);
    struct write_item *a = begins("a"), *b = begins("b");
    ends(a, WRITE_DONE);
    ends(b, WRITE_NEEDLESS);
    waits(INT64_MAX);
    assert_int_equal(write_lane_count(lane), 0);
}

static void test_again_if_it_is_wanted_meanwhile(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    want("a");
    struct write_item *a = begins("a");
    want("a");
    want("a");
    waits(INT64_MAX); /* one write of an object at a time */
    ends(a, WRITE_DONE);
    ends(begins("a"), WRITE_DONE);
    waits(INT64_MAX);
}

static void test_the_earlier_of_two_wishes(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 500), 0);
    waits(500);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 300), 0);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 400), 0);
    ends(begins_after(300, "a"), WRITE_DONE);
    waits(INT64_MAX);
}

/* While it is written, too. */
static void test_the_earlier_wish_of_the_next_write(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    want("a");
    struct write_item *a = begins("a");
    assert_int_equal(write_lane_want(lane, STR("a"), now, 300), 0);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 500), 0);
    ends(a, WRITE_DONE);
    a = begins_after(300, "a");
    assert_int_equal(write_lane_want(lane, STR("a"), now, 500), 0);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 200), 0);
    ends(a, WRITE_DONE);
    (void)begins_after(200, "a");
}

static void test_what_is_dropped(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    want("a");
    write_lane_drop(lane, STR("a"));
    write_lane_drop(lane, STR("b"));
    waits(INT64_MAX);
    want("a");
    struct write_item *a = begins("a");
    want("a");
    write_lane_drop(lane, STR("a"));
    ends(a, WRITE_DONE);
    waits(INT64_MAX);
}

static void test_how_many_at_once(void **state) {
    (void)state;
    open_queue(2, 10, &usual);
    want("a");
    want("b");
    want("c");
    struct write_item *a = begins("a");
    (void)begins("b");
    waits(INT64_MAX);
    ends(a, WRITE_DONE);
    (void)begins("c");
    waits(INT64_MAX);
}

static void test_a_burst_and_then_one_by_one(void **state) {
    (void)state;
    open_queue(4, 2, &usual);
    want("a");
    want("b");
    want("c");
    want("d");
    ends(begins("a"), WRITE_DONE);
    ends(begins("b"), WRITE_DONE);
    ends(begins_after(100, "c"), WRITE_DONE);
    ends(begins_after(100, "d"), WRITE_NEEDLESS); /* this one was not sent */
    want("a");
    ends(begins("a"), WRITE_DONE);
    now += 200;
    want("a");
    want("b");
    want("c");
    ends(begins("a"), WRITE_DONE);
    ends(begins("b"), WRITE_DONE);
    ends(begins_after(100, "c"), WRITE_DONE);
}

static void test_the_pace_of_a_lane(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.pace_ms = 300;
    open_queue(4, 10, &options);
    want("a");
    want("b");
    (void)begins("a");
    assert_int_equal(write_lane_want(other, STR("x"), now, 0), 0);
    (void)begins("x"); /* of another lane */
    (void)begins_after(300, "b");
}

static void test_too_many(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.again_ms = 700;
    open_queue(4, 10, &options);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        want(names[i]);
    assert_int_equal(write_lane_want(lane, STR("e"), now, 0), -ENOSPC);
    want("d"); /* it is there already */
    ends(begins("a"), WRITE_DONE);
    assert_int_equal(write_lane_count(lane), 3);
    assert_int_equal(write_lane_want(lane, STR("e"), now, 0), -ENOSPC); /* `a` rests */
    now += 700;
    (void)begins("b");
    want("e");
}

/* Ids are used again, in whatever order objects go, and none belongs to two of them. */
static void test_others_in_their_places(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.objects = 3;
    open_queue(3, 100, &options);
    static const char *const gone[][3] = {
        {"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}, {"b", "a", "c"}};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        static const char *const others[] = {"x", "y", "z"};
        want("a");
        want("b");
        want("c");
        for (int j = 0; j < 3; j++) {
            assert_int_equal(write_lane_want(lane, str_of(others[j]), now, 0), -ENOSPC);
            write_lane_drop(lane, str_of(gone[i][j]));
            want(others[j]); /* in the place of the one that went */
        }
        assert_int_equal(write_lane_count(lane), 3);
        for (int j = 0; j < 3; j++)
            ends(begins(others[j]), WRITE_DONE);
        waits(INT64_MAX);
        assert_int_equal(write_lane_count(lane), 0);
    }
}

/* 7 a second are seven in any second after the burst, though a seventh is no whole millisecond. */
static void test_a_rate_that_is_no_whole_time(void **state) {
    const struct write_limits limits = {.under_way = 1, .burst = 2, .per_second = 7, .seed = 1};
    int64_t began[15];
    (void)state;
    assert_int_equal(write_queue_new(&limits, &queue, NULL), 0);
    assert_int_equal(write_lane_new(queue, &usual, &lane, NULL), 0);
    assert_int_equal(write_lane_new(queue, &usual, &other, NULL), 0);
    now = NOW;
    gate_ms = INT64_MAX;
    for (int i = 0; i < 15; i++) {
        struct write_next next;
        want("a");
        for (write_queue_next(queue, now, &next); next.item == NULL;
             write_queue_next(queue, now, &next))
            now += next.wait_ms;
        began[i] = now;
        ends(next.item, WRITE_DONE);
    }
    for (int i = 8; i < 15; i++)
        assert_in_range(began[i] - began[i - 7], 999, 1001);
    assert_int_equal(began[14] - NOW, 1858); /* 13 sevenths of a second */
}

static void test_back_off(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    struct write_item *a = begins("a");
    const int64_t waited_ms[] = {1000, 2000, 4000, 8000, 8000};
    for (int i = 0; i < 5; i++) {
        ends(a, i == 2 ? WRITE_REFUSED : WRITE_FAILED);
        want("a"); /* makes it no earlier */
        a = begins_after(waited_ms[i], "a");
    }
    ends(a, WRITE_DONE);
    want("a");
    ends(begins("a"), WRITE_FAILED);
    (void)begins_after(1000, "a"); /* from the beginning */
}

/* The limit need not be one of the doubled waits. */
static void test_the_longest_wait(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.retry_max_ms = 5000;
    open_queue(4, 10, &options);
    want("a");
    struct write_item *a = begins("a");
    const int64_t waited_ms[] = {1000, 2000, 4000, 5000, 5000};
    for (int i = 0; i < 5; i++) {
        ends(a, WRITE_FAILED);
        a = begins_after(waited_ms[i], "a");
    }
}

/* Who is wanted again while it is written well has not failed before. */
static void test_failures_before_a_success(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    ends(begins("a"), WRITE_FAILED);
    ends(begins_after(1000, "a"), WRITE_FAILED);
    struct write_item *a = begins_after(2000, "a");
    want("a");
    ends(a, WRITE_DONE);
    ends(begins("a"), WRITE_FAILED);
    (void)begins_after(1000, "a");
}

/* 500 with Retry-After: this object waits as long as the server says, the others do not. */
static void test_a_failure_that_says_how_long(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    write_item_end(begins("a"), now, WRITE_FAILED, 5000);
    want("b");
    ends(begins("b"), WRITE_DONE);
    struct write_item *a = begins_after(5000, "a");
    write_item_end(a, now, WRITE_FAILED, 1500); /* less than its own wait */
    (void)begins_after(2000, "a");
}

static void test_jitter(void **state) {
    struct write_lane_options options = usual;
    int64_t least = INT64_MAX, most = 0;
    (void)state;
    options.jitter_percent = 50;
    open_queue(4, 10, &options);
    for (int i = 0; i < 1000; i++) {
        struct write_next next;
        want("a");
        ends(begins("a"), WRITE_FAILED);
        write_queue_next(queue, now, &next);
        least = next.wait_ms < least ? next.wait_ms : least;
        most = next.wait_ms > most ? next.wait_ms : most;
        now += next.wait_ms;
        ends(begins("a"), WRITE_DONE);
        now += 1000;
    }
    assert_in_range(least, 1000, 1010);
    assert_in_range(most, 1490, 1500);
}

static void test_a_server_that_is_busy(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    struct write_item *a = begins("a");
    assert_int_equal(write_lane_want(other, STR("x"), now, 0), 0);
    write_item_end(a, now, WRITE_BUSY, 5000);
    struct write_item *first = begins_after(5000, "x"); /* the other lane waits too */
    (void)begins("a");
    ends(first, WRITE_BUSY); /* it does not say how long */
    want("b");
    (void)begins_after(1000, "x"); /* its lane has waited longer */
    (void)begins("b");
}

static const struct write_lane_options large = {
    .objects = 100, .retry_ms = 1000, .retry_max_ms = 8000};

static void want_in(struct write_lane *in, const char *name, bool urgent) {
    assert_int_equal(write_lane_want(in, str_of(name), now, 0), 0);
    write_lane_rank(in, str_of(name), urgent);
}

/* Names that begin one after the other, "a/1 b/1"; each ends at once. */
static void order_is(const char *wanted) {
    char *names = strdup(wanted), *rest = names;
    for (char *name; (name = strsep(&rest, " ")) != NULL;)
        ends(begins(name), WRITE_DONE);
    free(names);
}

/* Who has many objects waits for itself. */
static void test_namespaces_take_turns(void **state) {
    (void)state;
    open_queue(2, 20, &large);
    for (int i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "u/%d", i);
        want_in(lane, name, false);
    }
    order_is("u/0");
    want_in(lane, "b/0", false);
    want_in(lane, "b/1", false);
    want_in(lane, "c", false); /* has none */
    want_in(lane, "d", false);
    order_is("u/1 b/0 c u/2 b/1 d u/3 u/4");
    waits(INT64_MAX);
}

static void test_lanes_take_turns(void **state) {
    (void)state;
    open_queue(2, 20, &large);
    want_in(lane, "u/0", false);
    want_in(lane, "u/1", false);
    want_in(lane, "u/2", false);
    want_in(other, "b/0", false);
    want_in(other, "b/1", false);
    struct write_next next;
    write_queue_next(queue, now, &next);
    const bool first = write_item_lane(next.item) == lane;
    ends(next.item, WRITE_DONE);
    order_is(first ? "b/0 u/1 b/1 u/2" : "u/0 b/1 u/1 u/2");
}

/* Each second write is an urgent one, in whichever lane, as long as both kinds wait. */
static void test_half_is_for_what_is_urgent(void **state) {
    (void)state;
    open_queue(2, 20, &large);
    for (int i = 0; i < 4; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "u/%d", i);
        want_in(lane, name, false);
    }
    order_is("u/0 u/1");
    want_in(other, "b/0", true);
    want_in(other, "b/1", true);
    order_is("b/0 u/2 b/1 u/3");
    want_in(lane, "u/1", false);
    want_in(lane, "u/2", true);
    want_in(lane, "u/3", true);
    order_is("u/2 u/1 u/3");
    want_in(lane, "u/1", true);
    want_in(lane, "u/1", false); /* no more */
    want_in(lane, "u/0", true);
    order_is("u/1 u/0");
    waits(INT64_MAX);
}

/* Its rank is the object's until it is said otherwise, and does not make it begin. */
static void test_a_rank_stays(void **state) {
    (void)state;
    open_queue(2, 20, &large);
    want_in(lane, "b/0", true);
    ends(begins("b/0"), WRITE_FAILED);
    write_lane_rank(lane, STR("nowhere/0"), true);
    want_in(lane, "u/1", false);
    order_is("u/1");
    assert_int_equal(write_lane_want(lane, STR("u/0"), now, 1000), 0);
    (void)begins_after(1000, "b/0"); /* in turn */
    assert_int_equal(write_lane_count(lane), 2);
}

static void test_a_conflict(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    ends(begins("a"), WRITE_CONFLICT);
    want("a"); /* from what was seen before */
    struct write_item *a = begins_after(1000, "a");
    ends(a, WRITE_CONFLICT);
    waits(2000);
    write_lane_refresh(lane, STR("a"), now);
    a = begins("a");
    write_lane_refresh(lane, STR("a"), now); /* it is seen before the answer comes */
    ends(a, WRITE_CONFLICT);
    ends(begins("a"), WRITE_FAILED);
    write_lane_refresh(lane, STR("a"), now); /* does not help against a failure */
    ends(begins_after(8000, "a"), WRITE_CONFLICT);
    write_lane_drop(lane, STR("a"));
    want("a"); /* is no fresh object either */
    waits(8000);
    write_lane_drop(lane, STR("a"));
    write_lane_refresh(lane, STR("a"), now);
    waits(INT64_MAX);
    want("a");
    (void)begins("a");
}

/* Fresh objects say when they are to be written: that is waited for, after a conflict too. */
static void test_a_conflict_and_a_later_wish(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    struct write_item *a = begins("a");
    write_lane_refresh(lane, STR("a"), now);
    assert_int_equal(write_lane_want(lane, STR("a"), now, 300), 0);
    ends(a, WRITE_CONFLICT);
    (void)begins_after(300, "a");
}

static void test_what_is_gone(void **state) {
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    ends(begins("a"), WRITE_GONE);
    assert_int_equal(write_lane_count(lane), 0);
    waits(INT64_MAX);
    want("a");
    struct write_item *a = begins_after(1000, "a");
    want("a"); /* while the answer comes */
    ends(a, WRITE_GONE);
    ends(begins_after(2000, "a"), WRITE_GONE);
    waits(INT64_MAX);
}

static void test_refused(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.refused_ms = 60000;
    open_queue(4, 10, &options);
    want("a");
    ends(begins("a"), WRITE_REFUSED);
    want("b");
    assert_int_equal(write_lane_want(other, STR("x"), now, 0), 0);
    (void)begins("x");
    (void)begins_after(60000, "b");
    (void)begins("a");
}

static void test_a_pause_after_success(void **state) {
    struct write_lane_options options = usual;
    (void)state;
    options.again_ms = 60000;
    open_queue(4, 10, &options);
    want("a");
    struct write_item *a = begins("a");
    want("a");
    ends(a, WRITE_DONE);
    want("b");
    ends(begins("b"), WRITE_NEEDLESS);
    want("b");
    (void)begins("b");
    ends(begins_after(60000, "a"), WRITE_DONE);
    now += 59999;
    want("a");
    (void)begins_after(1, "a");
}

static void test_the_gate(void **state) {
    struct write_next next;
    (void)state;
    open_queue(4, 10, &usual);
    want("a");
    gate_ms = 0;
    waits(1000); /* then it is looked at again */
    now += 1000;
    waits(1000);
    gate_ms = 1234;
    write_queue_next(queue, now, &next);
    assert_non_null(next.item);
    assert_int_equal(next.limit_ms, 1234);
}

static void test_what_answers_mean(void **state) {
    (void)state;
    static const struct {
        int error, status;
        int64_t retry_after_ms;
        enum write_end end;
    } answers[] = {
        {0, 199, -1, WRITE_FAILED},         {0, 200, -1, WRITE_DONE},
        {0, 299, -1, WRITE_DONE},           {0, 300, -1, WRITE_FAILED},
        {0, 201, -1, WRITE_DONE},           {0, 204, -1, WRITE_DONE},
        {0, 301, -1, WRITE_FAILED},         {0, 400, -1, WRITE_FAILED},
        {0, 401, -1, WRITE_REFUSED},        {0, 403, -1, WRITE_REFUSED},
        {0, 404, -1, WRITE_GONE},           {0, 409, -1, WRITE_CONFLICT},
        {0, 422, -1, WRITE_FAILED},         {0, 429, -1, WRITE_BUSY},
        {0, 429, 7000, WRITE_BUSY},         {0, 500, -1, WRITE_FAILED},
        {0, 503, -1, WRITE_FAILED},         {0, 503, 1000, WRITE_BUSY},
        {-ECONNRESET, 0, -1, WRITE_FAILED}, {-EFBIG, 200, -1, WRITE_FAILED},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (write_end_of(answers[i].error, answers[i].status, answers[i].retry_after_ms) !=
            answers[i].end)
            fail_msg("%d %d", answers[i].error, answers[i].status);
    queue = NULL;
    lane = other = NULL;
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_to_do),
        TEST(test_once_however_often_it_is_wanted),
        TEST(test_again_if_it_is_wanted_meanwhile),
        TEST(test_the_earlier_of_two_wishes),
        TEST(test_the_earlier_wish_of_the_next_write),
        TEST(test_what_is_dropped),
        TEST(test_how_many_at_once),
        TEST(test_a_burst_and_then_one_by_one),
        TEST(test_the_pace_of_a_lane),
        TEST(test_too_many),
        TEST(test_others_in_their_places),
        TEST(test_a_rate_that_is_no_whole_time),
        TEST(test_back_off),
        TEST(test_the_longest_wait),
        TEST(test_failures_before_a_success),
        TEST(test_a_failure_that_says_how_long),
        TEST(test_jitter),
        TEST(test_a_server_that_is_busy),
        TEST(test_namespaces_take_turns),
        TEST(test_lanes_take_turns),
        TEST(test_half_is_for_what_is_urgent),
        TEST(test_a_rank_stays),
        TEST(test_a_conflict),
        TEST(test_a_conflict_and_a_later_wish),
        TEST(test_what_is_gone),
        TEST(test_refused),
        TEST(test_a_pause_after_success),
        TEST(test_the_gate),
        TEST(test_what_answers_mean),
    };
    return cmocka_run_group_tests_name("queue of writes", tests, NULL, NULL);
}
