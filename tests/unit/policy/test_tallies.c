/* What became of reviews, by policy: sums, what has grown since it was asked, and the limit. */
#include "policy/tallies.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

static void sums_are_kept_by_name(void **state) {
    struct policy_tallies *t = policy_tallies_new();
    const struct policy_tally one = {
        .injected = 2, .softened = 3, .skipped = {[1] = 4, [POLICY_SKIPS - 1] = 5}};
    (void)state;
    assert_non_null(t);
    static const char *const names[] = {"m", "a", "z", "m", "m", "a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        policy_tallies_add(t, str_of(names[i]), &one);
    static const struct {
        const char *name;
        uint64_t times;
    } want[] = {{"a", 2}, {"m", 3}, {"z", 1}, {"b", 0}, {"", 0}, {"mm", 0}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct policy_tally got = policy_tallies_of(t, str_of(want[i].name));
        assert_int_equal(got.injected, 2 * want[i].times);
        assert_int_equal(got.softened, 3 * want[i].times);
        assert_int_equal(got.skipped[0], 0);
        assert_int_equal(got.skipped[1], 4 * want[i].times);
        assert_int_equal(got.skipped[POLICY_SKIPS - 1], 5 * want[i].times);
    }
    policy_tallies_free(t);
    policy_tallies_free(NULL);
}

/* Each number once, until it grows again. */
static void what_has_grown_is_told_once(void **state) {
    struct policy_tallies *t = policy_tallies_new();
    const struct policy_tally first = {.evaded = {[1] = 1}},
                              second = {.evaded = {[3] = 2, [POLICY_EVASIONS - 1] = 1}},
                              nothing = {.injected = 1};
    (void)state;
    policy_tallies_add(t, STR("p"), &first);
    policy_tallies_add(t, STR("p"), &second);
    policy_tallies_add(t, STR("q"), &first);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")),
                     1u << 1 | 1u << 3 | 1u << (POLICY_EVASIONS - 1));
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")), 0);
    policy_tallies_add(t, STR("p"), &nothing);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")), 0);
    policy_tallies_add(t, STR("p"), &second);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")),
                     1u << 3 | 1u << (POLICY_EVASIONS - 1));
    assert_int_equal(policy_tallies_of(t, STR("p")).evaded[3], 4);
    assert_int_equal(policy_tallies_take_evaded(t, STR("q")), 1u << 1);
    assert_int_equal(policy_tallies_take_evaded(t, STR("nobody")), 0);
    policy_tallies_free(t);
}

/* LIMIT_POLICIES names; those that are there are counted all the same. */
static void so_many_names_are_kept(void **state) {
    struct policy_tallies *t = policy_tallies_new();
    const struct policy_tally one = {.injected = 1};
    char name[20];
    (void)state;
    for (uint32_t i = 0; i <= LIMIT_POLICIES; i++) {
        (void)snprintf(name, sizeof name, "p%u", i);
        policy_tallies_add(t, str_of(name), &one);
        assert_int_equal(policy_tallies_of(t, str_of(name)).injected, i < LIMIT_POLICIES);
    }
    policy_tallies_add(t, STR("p0"), &one);
    assert_int_equal(policy_tallies_of(t, STR("p0")).injected, 2);
    policy_tallies_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_kept_by_name),
        cmocka_unit_test(what_has_grown_is_told_once),
        cmocka_unit_test(so_many_names_are_kept),
    };
    return cmocka_run_group_tests_name("tallies", tests, NULL, NULL);
}
