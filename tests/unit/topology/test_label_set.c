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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_few_and_many),
    };
    return cmocka_run_group_tests_name("label sets", tests, NULL, NULL);
}
