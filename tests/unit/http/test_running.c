/* Which handler has been running for longest, as the liveness probe asks. */
#include "http/running.h"

#include "base/clock.h"
#include "http/http.h"
#include "unit/unit.h"

#include <pthread.h>

enum { PLACES = 256 }; /* handlers that are seen at the same time */

static void expect_oldest(const char *verb) {
    const char *got = NULL;
    int64_t ms = -1;
    assert_int_equal(http_oldest_handler(&got, &ms), verb != NULL);
    if (verb == NULL)
        return;
    assert_string_equal(got, verb);
    assert_true(ms >= 0);
}

/* The clock has moved on: handlers that begin at the same nanosecond are as old. */
static int begin(const char *verb) {
    int64_t now_ns = clock_now_ns();
    while (clock_now_ns() == now_ns)
        ;
    int place = running_begin(verb);
    now_ns = clock_now_ns();
    while (clock_now_ns() == now_ns)
        ;
    return place;
}

static void the_first_of_several(void **state) {
    (void)state;
    expect_oldest(NULL);
    int a = begin("a");
    expect_oldest("a");
    int b = begin("b"), c = begin("c");
    assert_true(a != b && b != c && a != c);
    expect_oldest("a");
    running_end(b);
    expect_oldest("a");
    running_end(a);
    expect_oldest("c");
    int d = begin("d"); /* in a place that was used */
    expect_oldest("c");
    running_end(c);
    expect_oldest("d");
    running_end(d);
    expect_oldest(NULL);
}

static void how_long(void **state) {
    const char *verb;
    int64_t ms = 0, began_ns = clock_now_ns();
    (void)state;
    int place = running_begin("slow");
    do {
        assert_true(http_oldest_handler(&verb, &ms));
    } while (ms < 3);
    assert_true(ms <= (clock_now_ns() - began_ns) / 1000000);
    running_end(place);
}

/* One more than there are places is not seen, and takes nobody's place. */
static void more_than_there_are_places(void **state) {
    int places[PLACES];
    (void)state;
    for (int i = 0; i < PLACES; i++)
        places[i] = begin(i == 0 ? "first" : "others");
    int unseen = begin("unseen");
    for (int i = 0; i < PLACES; i++)
        assert_int_not_equal(unseen, places[i]);
    running_end(unseen);
    expect_oldest("first");
    for (int i = 0; i < PLACES; i++)
        running_end(places[i]);
    expect_oldest(NULL);
}

static void *run_once(void *ret_place) {
    int *place = ret_place;
    *place = running_begin("other thread");
    return NULL;
}

static void of_another_thread(void **state) {
    pthread_t thread;
    int place = -1;
    (void)state;
    int own = begin("own");
    running_end(own);
    assert_int_equal(pthread_create(&thread, NULL, run_once, &place), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_oldest("other thread");
    own = begin("own");
    assert_int_not_equal(own, place);
    running_end(place);
    expect_oldest("own");
    running_end(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_several),
        cmocka_unit_test(how_long),
        cmocka_unit_test(more_than_there_are_places),
        cmocka_unit_test(of_another_thread),
    };
    return cmocka_run_group_tests_name("running handlers", tests, NULL, NULL);
}
