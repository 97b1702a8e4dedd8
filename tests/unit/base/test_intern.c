#include "base/intern.h"

#include "unit/unit.h"

#include <stdio.h>

static void test_equal_strings_share_an_id(void **state) {
    (void)state;
    struct intern t = {0};
    char text[] = "zone-a";
    uint32_t a = intern_ref(&t, str_of(text));
    text[5] = 'b';
    uint32_t b = intern_ref(&t, str_of(text));
    assert_int_not_equal(a, b);
    assert_int_equal(intern_ref(&t, STR("zone-a")), a);
    assert_str(intern_str(&t, a), "zone-a");
    assert_str(intern_str(&t, b), "zone-b");
    intern_done(&t);
}

static void test_ids_are_dense_from_zero(void **state) {
    (void)state;
    struct intern t = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", i); /* fits */
        assert_int_equal(intern_ref(&t, str_of(name)), i);
    }
    assert_int_equal(t.count, 1000);
    intern_done(&t);
}

static void test_find_takes_no_reference(void **state) {
    (void)state;
    struct intern t = {0};
    assert_int_equal(intern_find(&t, STR("a")), INTERN_NONE);
    uint32_t a = intern_ref(&t, STR("a"));
    assert_int_equal(intern_find(&t, STR("a")), a);
    assert_int_equal(intern_find(&t, STR("a")), a);
    intern_unref(&t, a);
    assert_int_equal(intern_find(&t, STR("a")), INTERN_NONE);
    intern_done(&t);
}

static void test_the_last_reference_frees(void **state) {
    (void)state;
    struct intern t = {0};
    uint32_t a = intern_ref(&t, STR("a")); /* 1 */
    (void)intern_ref(&t, STR("a"));        /* 2; the same id, as tested above */
    intern_ref_id(&t, a);                  /* 3 */
    intern_unref(&t, a);
    intern_unref(&t, a);
    assert_int_equal(intern_find(&t, STR("a")), a);
    assert_str(intern_str(&t, a), "a");
    intern_unref(&t, a);
    assert_int_equal(intern_find(&t, STR("a")), INTERN_NONE);
    intern_unref(&t, INTERN_NONE);
    intern_done(&t);
}

static void test_ids_are_reused(void **state) {
    (void)state;
    struct intern t = {0};
    uint32_t keep = intern_ref(&t, STR("keep"));
    for (int i = 0; i < 100000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "hash-%d", i); /* fits */
        uint32_t id = intern_ref(&t, str_of(name));
        assert_int_equal(id, 1);
        intern_unref(&t, id);
    }
    assert_int_equal(t.count, 2);
    assert_str(intern_str(&t, keep), "keep");
    intern_done(&t);
}

static void test_any_bytes(void **state) {
    (void)state;
    struct intern t = {0};
    uint32_t empty = intern_ref(&t, (struct str){0});
    assert_int_equal(intern_ref(&t, STR("")), empty);
    assert_int_equal(intern_str(&t, empty).n, 0);
    uint32_t nul = intern_ref(&t, STR("a\0b"));
    assert_int_not_equal(nul, intern_ref(&t, STR("a\0c")));
    assert_int_not_equal(nul, intern_ref(&t, STR("a")));
    assert_true(str_eq(intern_str(&t, nul), STR("a\0b")));
    intern_done(&t);
}

static void test_a_string_of_its_own(void **state) {
    (void)state;
    struct intern t = {0};
    uint32_t a = intern_ref(&t, STR("abc"));
    assert_int_equal(intern_ref(&t, intern_str(&t, a)), a);
    struct str tail = intern_str(&t, a);
    uint32_t b = intern_ref(&t, (struct str){tail.p + 1, 2});
    assert_str(intern_str(&t, b), "bc");
    intern_done(&t);
}

/* Random references to few names, compared with plain counts. */
static void test_like_a_model(void **state) {
    (void)state;
    enum { NAMES = 700, OPERATIONS = 100000 };
    uint64_t random = unit_seed();
    struct intern t = {0};
    static uint32_t ids[NAMES], refs[NAMES];
    memset(refs, 0, sizeof refs);
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t k = unit_below(&random, NAMES);
        char name[16];
        (void)snprintf(name, sizeof name, "name-%u", k); /* fits */
        switch (unit_below(&random, 4)) {
        case 0: {
            uint32_t id = intern_ref(&t, str_of(name));
            assert_int_not_equal(id, INTERN_NONE);
            if (refs[k] > 0)
                assert_int_equal(id, ids[k]);
            ids[k] = id;
            refs[k]++;
            break;
        }
        case 1:
            if (refs[k] > 0) {
                intern_ref_id(&t, ids[k]);
                refs[k]++;
            }
            break;
        default:
            if (refs[k] > 0) {
                intern_unref(&t, ids[k]);
                refs[k]--;
            }
        }
        assert_int_equal(intern_find(&t, str_of(name)), refs[k] > 0 ? ids[k] : INTERN_NONE);
        if (refs[k] > 0)
            assert_str(intern_str(&t, ids[k]), name);
    }
    assert_true(t.count <= NAMES);
    intern_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_strings_share_an_id),
        cmocka_unit_test(test_ids_are_dense_from_zero),
        cmocka_unit_test(test_find_takes_no_reference),
        cmocka_unit_test(test_the_last_reference_frees),
        cmocka_unit_test(test_ids_are_reused),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_a_string_of_its_own),
        cmocka_unit_test(test_like_a_model),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
