/* Expectations from apimachinery's own tables: TestIsDNS1123Label, TestIsDNS1123Subdomain. */
#include "base/dns_name.h"

#include "unit/unit.h"

#include <string.h>

static const char *const labels[] = {"a", "ab", "abc", "a1", "a-1", "a--1--2--b",
                                     "0", "01", "012", "1a", "1-a", "1--a--b--2"};
static const char *const no_names[] = {
    "",    "A",   "ABC",  "aBc", "A1",  "A-1", "1-A", "-",       "a-",  "-a",   "1-",
    "-1",  "_",   "a_",   "_a",  "a_b", "1_",  "_1",  "1_2",     ".",   "a.",   ".a",
    "1.",  ".1",  " ",    "a ",  " a",  "a b", "1 ",  " 1",      "1 2", "a-.b", "a.-b",
    "-.b", "b.-", "a..b", "a@b", "a.B", "a/b", "a:1", "\xc3\xa4"};

static void labels_are_both(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        assert_true(dns_label_valid(str_of(labels[i])));
        assert_true(dns_subdomain_valid(str_of(labels[i])));
    }
}

static void others_are_neither(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof no_names / sizeof no_names[0]; i++) {
        assert_false(dns_label_valid(str_of(no_names[i])));
        assert_false(dns_subdomain_valid(str_of(no_names[i])));
    }
}

static void dots_are_between_labels(void **state) {
    static const char *const names[] = {"a.a",      "a.1",       "1.a",    "0.a",
                                        "ab.a-b.c", "a.b.c.d.e", "0.0.0.0"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(dns_subdomain_valid(str_of(names[i])));
        assert_false(dns_label_valid(str_of(names[i])));
    }
}

static void lengths_are_limited(void **state) {
    char text[254];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(dns_label_valid((struct str){text, 63}));
    assert_false(dns_label_valid((struct str){text, 64}));
    assert_true(dns_subdomain_valid((struct str){text, 64}));
    assert_true(dns_subdomain_valid((struct str){text, 253}));
    assert_false(dns_subdomain_valid((struct str){text, 254}));
}

/* What stands behind a name is no part of it. */
static void a_name_ends_where_it_says(void **state) {
    (void)state;
    assert_true(dns_label_valid((struct str){"ab_", 2}));
    assert_true(dns_subdomain_valid((struct str){"a.b.", 3}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_both),           cmocka_unit_test(others_are_neither),
        cmocka_unit_test(dots_are_between_labels),   cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(a_name_ends_where_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
