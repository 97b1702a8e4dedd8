/* Objects that may not be written, and for how long. */
#include "hub/denied_objects.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

static struct denied_objects denied;

static int setup(void **state) {
    (void)state;
    denied_objects_init(&denied);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    denied_objects_done(&denied);
    return 0;
}

/* 10 s, 20 s, ... 10 minutes. */
static void times_double(void **state) {
    static const int64_t expected[] = {10000, 20000, 40000, 80000, 160000, 320000, 600000, 600000};
    int64_t now = 5;
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(denied_objects_left_ms(&denied, STR("c/r"), now), 0);
        denied_objects_add(&denied, STR("c/r"), now);
        denied_objects_add(&denied, STR("c/r"), now + 1); /* another write that was under way */
        assert_int_equal(denied_objects_left_ms(&denied, STR("c/r"), now), expected[i]);
        assert_int_equal(denied_objects_left_ms(&denied, STR("c/s"), now), 0);
        now += expected[i];
    }
    denied_objects_remove(&denied, STR("c/r"));
    denied_objects_add(&denied, STR("c/r"), now);
    assert_int_equal(denied_objects_left_ms(&denied, STR("c/r"), now), 10000);
}

static void which_answers_are_denials(void **state) {
    (void)state;
    assert_true(is_denial(403) && is_denial(422));
    assert_false(is_denial(401) || is_denial(404) || is_denial(409) || is_denial(429));
    assert_false(is_denial(200) || is_denial(0) || is_denial(500));
}

/* Where there is no room, those make it that were not denied for ten minutes. */
static void there_is_a_limit(void **state) {
    char name[32];
    (void)state;
    for (int i = 0; i < LIMIT_DENIED_OBJECTS; i++) {
        (void)snprintf(name, sizeof name, "c%d/r", i);
        denied_objects_add(&denied, str_of(name), i > 0 ? 1 : 0);
    }
    denied_objects_add(&denied, STR("d/r"), 609999);
    assert_int_equal(denied_objects_left_ms(&denied, STR("d/r"), 609999), 0);
    denied_objects_add(&denied, STR("d/r"), 610000);
    assert_int_equal(denied_objects_left_ms(&denied, STR("d/r"), 610000), 10000);
    assert_int_equal(denied.objects.count, LIMIT_DENIED_OBJECTS);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(times_double),
        TEST(which_answers_are_denials),
        TEST(there_is_a_limit),
    };
    return cmocka_run_group_tests_name("objects that are denied", tests, NULL, NULL);
}
