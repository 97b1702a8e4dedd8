/* Label sets, small and large, beside a plain look-up in the labels they were made of. */
#include "topology/label_set.h"

#include "unit/unit.h"

#include <stdio.h>

static void values_of_few_and_many(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 1, 31, 32, 33, 1000};
    static struct label items[1000];
    static char keys[1000][12], values[1000][12];
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct intern strings = {0};
        struct label_set set;
        for (uint32_t i = 0; i < sizes[s]; i++) {
            (void)snprintf(keys[i], sizeof keys[i], "k%05u", 2 * i); /* fits */
            (void)snprintf(values[i], sizeof values[i], "v%u", i);   /* fits */
            items[i] = (struct label){str_of(keys[i]), str_of(values[i])};
        }
        const struct labels labels = {items, sizes[s]};
        uint32_t stranger = intern_ref(&strings, STR("k00003")); /* ids are not in order of keys */
        assert_int_equal(label_set_make(&strings, labels, &set), 0);
        assert_true(label_set_is(&strings, &set, labels));
        const struct label_set_ref ref = {&strings, &set};
        for (uint32_t i = 0; i < 2 * sizes[s] + 1; i++) {
            char key[12];
            struct str got = {0}, want = {0};
            (void)snprintf(key, sizeof key, "k%05u", i); /* fits */
            bool found = label_set_lookup(&ref, str_of(key), &got);
            assert_int_equal(found, labels_lookup(&labels, str_of(key), &want));
            assert_true(str_eq(got, want));
        }
        assert_int_equal(label_set_value(&strings, &set, stranger), INTERN_NONE);
        label_set_free(&strings, &set);
        intern_unref(&strings, stranger);
        assert_int_equal(strings.index.count, 0);
        intern_done(&strings);
    }
}

/* Keys with a prefix, among neighbours that begin alike. */
static void the_first_with_a_prefix(void **state) {
    (void)state;
    static const struct label items[] = {
        {STR("a/x"), STR("")}, {STR("b"), STR("")},  {STR("b/"), STR("")},   {STR("b/1"), STR("")},
        {STR("b/2"), STR("")}, {STR("b0"), STR("")}, {STR("b0/1"), STR("")}, {STR("z"), STR("")}};
    static const struct {
        struct str prefix;
        uint32_t first;
    } rows[] = {{STR(""), 0},    {STR("a"), 0},  {STR("a/x"), 0}, {STR("a/xy"), 8}, {STR("aa"), 8},
                {STR("b"), 1},   {STR("b/"), 2}, {STR("b/1"), 3}, {STR("b/2"), 4},  {STR("b/3"), 8},
                {STR("b0/"), 6}, {STR("z"), 7},  {STR("zz"), 8},  {STR("A"), 8}};
    struct intern strings = {0};
    struct label_set set, none = {0};
    assert_int_equal(label_set_make(&strings, (struct labels){items, 8}, &set), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(label_set_first(&strings, &set, rows[i].prefix), rows[i].first);
    assert_int_equal(label_set_first(&strings, &none, STR("a")), 0);
    label_set_free(&strings, &set);
    intern_done(&strings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_few_and_many),
        cmocka_unit_test(the_first_with_a_prefix),
    };
    return cmocka_run_group_tests_name("label sets", tests, NULL, NULL);
}
