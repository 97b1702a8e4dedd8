/* Scores on few steps: what kube-scheduler is told of them. */
#include "engine/priority.h"

#include "unit/unit.h"

enum { SCORES_MAX = 64 };

static void check(const int64_t *scores, uint32_t count, int32_t steps, const int32_t *want) {
    int32_t got[SCORES_MAX];
    priorities_of(scores, count, 100, steps, got);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(got[i], want[i]);
}

static void the_best_is_alone_at_the_top(void **state) {
    (void)state;
    check((int64_t[]){100, 99, 95, 90, 89}, 5, 10, (int32_t[]){10, 9, 8, 7, 6});
    check((int64_t[]){100, 99, 99, 100}, 4, 10, (int32_t[]){10, 9, 9, 10});
    check((int64_t[]){80, 75, 0}, 3, 10, (int32_t[]){10, 9, 2}); /* by distance, not from 100 */
    check((int64_t[]){7}, 1, 10, (int32_t[]){10});
    check((int64_t[]){0, 0}, 2, 10, (int32_t[]){0, 0});
    check((int64_t[]){100, 99, 95, 90}, 4, 100, (int32_t[]){100, 99, 95, 90});
}

/* Eleven scores close together still take eleven steps; a far one among them takes the lowest. */
static void order_is_kept_as_far_as_the_steps_go(void **state) {
    (void)state;
    check((int64_t[]){100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90}, 11, 10,
          (int32_t[]){10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
    check((int64_t[]){100, 3, 2, 1, 0}, 5, 10, (int32_t[]){10, 3, 2, 1, 0});
    check((int64_t[]){100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 0}, 12, 10,
          (int32_t[]){10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0});
}

static void random_scores_keep_their_order(void **state) {
    uint64_t seed = unit_seed();
    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t scores[SCORES_MAX], best = 0, scale = 1 + unit_below(&seed, 20000);
        int32_t got[SCORES_MAX], steps = 1 + (int32_t)unit_below(&seed, 100);
        uint32_t count = 1 + unit_below(&seed, SCORES_MAX), different = 0;
        int64_t spread = 1 + unit_below(&seed, (uint32_t)scale + 1);
        for (uint32_t i = 0; i < count; i++) {
            scores[i] = unit_below(&seed, (uint32_t)spread);
            best = scores[i] > best ? scores[i] : best;
            bool seen = false;
            for (uint32_t j = 0; j < i; j++)
                seen = seen || scores[j] == scores[i];
            different += !seen;
        }
        priorities_of(scores, count, scale, steps, got);
        for (uint32_t i = 0; i < count; i++) {
            assert_in_range(got[i], 0, steps);
            assert_int_equal(got[i] == steps, scores[i] == best && best > 0);
            for (uint32_t j = 0; j < count; j++) {
                if (scores[i] > scores[j])
                    assert_true(got[i] > got[j] ||
                                (got[i] == got[j] && different > (uint32_t)steps + 1));
                if (scores[i] == scores[j])
                    assert_int_equal(got[i], got[j]);
            }
        }
    }
}

/* A short scale is looked up and a long one is not: the same scores on both have the same steps. */
static void the_scale_makes_no_difference(void **state) {
    enum { LONGER = 5000 };
    uint64_t seed = unit_seed();
    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t scores[SCORES_MAX], longer[SCORES_MAX], scale = 1 + unit_below(&seed, 1024);
        int32_t got[SCORES_MAX], want[SCORES_MAX], steps = 1 + (int32_t)unit_below(&seed, 100);
        uint32_t count = 1 + unit_below(&seed, SCORES_MAX);
        uint32_t different = 1 + unit_below(&seed, (uint32_t)scale + 1);
        for (uint32_t i = 0; i < count; i++) {
            scores[i] = scale - unit_below(&seed, different);
            longer[i] = scores[i] * LONGER;
        }
        priorities_of(scores, count, scale, steps, got);
        priorities_of(longer, count, scale * LONGER, steps, want);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(got[i], want[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_is_alone_at_the_top),
        cmocka_unit_test(order_is_kept_as_far_as_the_steps_go),
        cmocka_unit_test(random_scores_keep_their_order),
        cmocka_unit_test(the_scale_makes_no_difference),
    };
    return cmocka_run_group_tests_name("priority", tests, NULL, NULL);
}
