#include "http/body.h"
#include "unit/unit.h"

#include <errno.h>

static struct byte_budget budget = {.max = 64 << 20};

static char pattern(size_t i) {
    return (char)(i * 2654435761u >> 20);
}

/* Appends n bytes of the pattern in pieces of `piece`, and checks them. */
static void fill_and_check(size_t n, size_t piece, size_t expected) {
    struct body body = {.p = NULL};
    char *bytes = malloc(piece);
    assert_non_null(bytes);
    for (size_t at = 0; at < n; at += piece) {
        size_t k = n - at < piece ? n - at : piece;
        for (size_t i = 0; i < k; i++)
            bytes[i] = pattern(at + i);
        assert_int_equal(body_append(&body, &budget, (struct str){bytes, k}, expected, false), 0);
    }
    assert_int_equal(body.n, n);
    assert_int_equal(budget.used, n);
    for (size_t i = 0; i < n; i++)
        if (body.p[i] != pattern(i))
            fail_msg("byte %zu of %zu differs", i, n);
    body_done(&body);
    assert_int_equal(budget.used, 0);
    assert_null(body.p);
    free(bytes);
}

static void test_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0,       1,       100,     16384,           16385,
                                   1048575, 1048576, 1048577, 5 * 1048576 + 3, 20000000};
    static const size_t pieces[] = {1000, 16384, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
            fill_and_check(sizes[i], pieces[k], sizes[i]);
            fill_and_check(sizes[i], pieces[k], BODY_LENGTH_UNKNOWN);
            fill_and_check(sizes[i], pieces[k], sizes[i] / 2); /* more than was promised */
        }
}

static void test_known_length_is_one_allocation(void **state) {
    (void)state;
    struct body body = {.p = NULL};
    assert_int_equal(body_append(&body, &budget, STR("abc"), 300, false), 0);
    assert_int_equal(body.cap, 300);
    assert_false(body.mapped);
    body_done(&body);
    assert_int_equal(body_append(&body, &budget, STR("abc"), 30000000, false), 0);
    assert_int_equal(body.cap, 30000000);
    assert_true(body.mapped);
    body_done(&body);
}

static void test_budget(void **state) {
    (void)state;
    struct byte_budget small = {.max = 10};
    struct body one = {.p = NULL}, two = {.p = NULL};
    assert_int_equal(body_append(&one, &small, STR("123456"), 8, false), 0);
    assert_int_equal(body_append(&two, &small, STR("12345"), 5, false), -ENOBUFS);
    assert_int_equal(two.n, 0);
    assert_int_equal(body_append(&two, &small, STR("1234"), 5, false), 0);
    assert_int_equal(body_append(&one, &small, STR("7"), 8, false), -ENOBUFS);
    assert_int_equal(one.n, 6);
    assert_int_equal(body_append(&one, &small, STR("78"), 8, true), 0); /* forced, and charged */
    assert_int_equal(small.used, 12);
    body_done(&one);
    assert_int_equal(body_append(&two, &small, STR("56789"), 5, false), 0);
    body_done(&two);
    assert_int_equal(small.used, 0);
    body_done(&two); /* twice is harmless */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_known_length_is_one_allocation),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests_name("body", tests, NULL, NULL);
}
