/* Where names are in an array that is in their order. */
#include "base/sorted.h"

#include "unit/unit.h"

#include <stdlib.h>

static struct str text_at(const void *items, size_t i) {
    return str_of(((const char *const *)items)[i]);
}

static void names_have_places(void **state) {
    static const char *const names[] = {"b", "bb", "d"};
    static const struct {
        const char *name;
        size_t place;
        bool found;
    } cases[] = {{"a", 0, false},  {"b", 0, true}, {"ba", 1, false}, {"bb", 1, true},
                 {"bc", 2, false}, {"d", 2, true}, {"e", 3, false},  {"", 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool found = !cases[i].found;
        assert_int_equal(sorted_place(names, 3, text_at, str_of(cases[i].name), &found),
                         cases[i].place);
        assert_int_equal(found, cases[i].found);
    }
}

static void texts_have_places(void **state) {
    static const struct str texts[] = {STR("b"), STR("bb"), STR("d")};
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(sorted_texts_find(texts, 3, texts[i]), i);
    assert_int_equal(sorted_texts_find(texts, 3, STR("")), UINT32_MAX);
    assert_int_equal(sorted_texts_find(texts, 3, STR("ba")), UINT32_MAX);
    assert_int_equal(sorted_texts_find(texts, 3, STR("e")), UINT32_MAX);
    assert_int_equal(sorted_texts_find(texts, 2, STR("d")), UINT32_MAX);
    assert_int_equal(sorted_texts_find(NULL, 0, STR("b")), UINT32_MAX);
}

static void nothing_is_in_an_empty_one(void **state) {
    bool found = true;
    (void)state;
    assert_int_equal(sorted_place(NULL, 0, text_at, STR("a"), &found), 0);
    assert_false(found);
}

/* Enough of them that the array grows, put in from both ends and taken out again. */
static void items_come_and_go(void **state) {
    enum { MANY = 100 };
    uint32_t *numbers = NULL, count = 0, cap = 0;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t number = i % 2 == 0 ? i : 1000 - i;
        assert_true(sorted_insert(&numbers, &count, &cap, sizeof *numbers,
                                  i % 2 == 0 ? i / 2 : count - i / 2, &number));
        assert_int_equal(count, i + 1);
        assert_true(count <= cap);
    }
    for (uint32_t i = 0; i < MANY / 2; i++) {
        assert_int_equal(numbers[i], 2 * i);
        assert_int_equal(numbers[MANY - 1 - i], 1000 - (2 * i + 1));
    }
    sorted_remove(numbers, &count, sizeof *numbers, MANY - 1);
    sorted_remove(numbers, &count, sizeof *numbers, 0);
    sorted_remove(numbers, &count, sizeof *numbers, 1);
    assert_int_equal(count, MANY - 3);
    assert_int_equal(numbers[0], 2);
    assert_int_equal(numbers[1], 6);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_places),
        cmocka_unit_test(texts_have_places),
        cmocka_unit_test(nothing_is_in_an_empty_one),
        cmocka_unit_test(items_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
