/* The heap of timers against a plain array that is searched. */
#include "kube/client/timers.h"

#include "base/random.h"
#include "unit/unit.h"

#include <string.h>

enum { TIMERS = 64, STEPS = 20000 };

static struct kube_timer timers[TIMERS];

/* The one that must fire next: the earliest, and of those the one that was added first. */
static const struct kube_timer *expected(const int64_t *at_ms, const uint64_t *added) {
    int best = -1;
    for (int i = 0; i < TIMERS; i++)
        if (at_ms[i] >= 0 && (best < 0 || at_ms[i] < at_ms[best] ||
                              (at_ms[i] == at_ms[best] && added[i] < added[best])))
            best = i;
    return best >= 0 ? &timers[best] : NULL;
}

/* Adding and removing in any order, with times that are often equal. */
static void play(uint64_t seed) {
    struct timers heap = {.first = NULL};
    int64_t at_ms[TIMERS]; /* -1: not in the heap */
    uint64_t added[TIMERS] = {0};
    memset(timers, 0, sizeof timers);
    for (int i = 0; i < TIMERS; i++)
        at_ms[i] = -1;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)random_below(&seed, TIMERS);
        if (heap.first != NULL && random_below(&seed, 3) == 0)
            i = (unsigned)(heap.first - timers);
        assert_int_equal(timers[i].place.waits, at_ms[i] >= 0);
        if (at_ms[i] >= 0) {
            timers_remove(&heap, &timers[i]);
            at_ms[i] = -1;
        } else {
            at_ms[i] = (int64_t)random_below(&seed, 40);
            added[i] = step;
            timers_add(&heap, &timers[i], at_ms[i]);
        }
        assert_ptr_equal(heap.first, expected(at_ms, added));
    }
    for (const struct kube_timer *next; (next = expected(at_ms, added)) != NULL;) {
        assert_ptr_equal(heap.first, next);
        at_ms[next - timers] = -1;
        timers_remove(&heap, heap.first);
    }
    assert_null(heap.first);
}

static void test_the_next_one_is_first(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        play(seed);
}

/* A hundred thousand in ascending order are one long list of children; taking them out must not
 * recurse, nor take for ever. */
static void test_many(void **state) {
    enum { MANY = 100000 };
    static struct kube_timer many[MANY];
    struct timers heap = {.first = NULL};
    (void)state;
    for (int i = 0; i < MANY; i++)
        timers_add(&heap, &many[i], i);
    for (int i = 0; i < MANY; i++) {
        assert_ptr_equal(heap.first, &many[i]);
        timers_remove(&heap, &many[i]);
    }
    assert_null(heap.first);
}

static void test_those_of_one_client_first(void **state) {
    struct timers heap = {.first = NULL};
    static struct kube_timer of[2][10];
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct kube_timer *timer = &of[i % 2][i / 2];
        timer->place.client = of[i % 2];
        timers_add(&heap, timer, 100 - i);
    }
    timers_hurry(&heap, of[1]);
    for (int i = 19; i > 0; i -= 2) {
        assert_ptr_equal(heap.first, &of[1][i / 2]);
        assert_true(heap.first->place.at_ms == INT64_MIN);
        timers_remove(&heap, heap.first);
    }
    for (int i = 18; i >= 0; i -= 2) {
        assert_ptr_equal(heap.first, &of[0][i / 2]);
        assert_int_equal(heap.first->place.at_ms, 100 - i);
        timers_remove(&heap, heap.first);
    }
    assert_null(heap.first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_one_is_first),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_those_of_one_client_first),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
