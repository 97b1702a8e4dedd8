/* Raw values as scores: the vectors and rules of the score sources' contract. */
#include "ocm/score_range.h"

#include "unit/unit.h"

#include <errno.h>
#include <float.h>

static void normalise(void **state) {
    static const struct {
        double value, min, max;
        int32_t score;
    } cases[] = {
        {0.5, 1, 100, -100}, {1, 1, 100, -100},     {50.5, 1, 100, 0},
        {75.25, 1, 100, 50}, {100, 1, 100, 100},    {250, 1, 100, 100},
        {0, 0, 1, -100},     {0.5, 0, 1, 0},        {0.0025, 0, 1, -100},
        {0.0026, 0, 1, -99}, {0.9975, 0, 1, 100},   {0.9974, 0, 1, 99},
        {-3, -5, 5, -60},    {-1e300, -1, 1, -100}, {0, -DBL_MAX / 4, DBL_MAX / 4, 0},
        {3, 0, 400, -99},    {397, 0, 400, 99}, /* -98.5 and 98.5: away from zero */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t score = 777;
        struct err err;
        assert_int_equal(score_normalise(cases[i].value, cases[i].min, cases[i].max, &score, &err),
                         0);
        assert_int_equal(score, cases[i].score);
    }
}

static void ranges_that_are_none(void **state) {
    static const double ranges[][2] = {{5, 5}, {6, 5}, {-DBL_MAX, DBL_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int32_t score = 777;
        struct err err;
        assert_int_equal(score_normalise(1, ranges[i][0], ranges[i][1], &score, &err), -EINVAL);
        assert_int_equal(score, 777);
    }
}

static void expect(const double *values, uint32_t count, struct score_range before, double low,
                   double high) {
    score_range_observe(&before, values, count);
    assert_true(before.known);
    assert_true(before.low == low && before.high == high);
}

static void observe(void **state) {
    const struct score_range none = {0}, kept = {true, 0, 100}, one = {true, 5, 5};
    (void)state;
    expect((const double[]){50, 1, 100}, 3, none, 1, 100);
    expect((const double[]){7}, 1, none, 7, 7);
    expect((const double[]){50, 200}, 2, kept, 0, 220);      /* a tenth of 200 more */
    expect((const double[]){-100}, 1, kept, -120, 100);      /* likewise */
    expect((const double[]){-100, 200}, 2, kept, -120, 220); /* both from the range before */
    expect((const double[]){0, 100}, 2, kept, 0, 100);
    expect((const double[]){40, 60}, 2, kept, 0, 100);
    expect(NULL, 0, kept, 0, 100);
    expect((const double[]){5}, 1, one, 5, 5);
    expect((const double[]){6}, 1, one, 5, 6.1);
    struct score_range range = none;
    score_range_observe(&range, NULL, 0);
    assert_false(range.known);
}

static void values_that_are_none(void **state) {
    const struct score_range kept = {true, 0, 100};
    (void)state;
    expect((const double[]){2e15, 50, -2e15}, 3, kept, 0, 100);
    expect((const double[]){1e15}, 1, kept, 0, 1e15 + 1e14);
    struct score_range range = {0};
    score_range_observe(&range, (const double[]){1.1e15}, 1);
    assert_false(range.known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalise),
        cmocka_unit_test(ranges_that_are_none),
        cmocka_unit_test(observe),
        cmocka_unit_test(values_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
