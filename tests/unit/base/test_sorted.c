/* Where names are in an array that is in their order. */
#include "base/sorted.h"

#include "unit/unit.h"

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

static void nothing_is_in_an_empty_one(void **state) {
    bool found = true;
    (void)state;
    assert_int_equal(sorted_place(NULL, 0, text_at, STR("a"), &found), 0);
    assert_false(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_places),
        cmocka_unit_test(nothing_is_in_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
