/* How pods have made policies impossible, by policy: what is new since it was asked, and the limit.
 */
#include "policy/tallies.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

/* Each number once, until it comes again. */
static void what_is_new_is_told_once(void **state) {
    struct policy_tallies *t = policy_tallies_new();
    (void)state;
    assert_non_null(t);
    policy_tallies_add(t, STR("p"), 1);
    policy_tallies_add(t, STR("p"), 3);
    policy_tallies_add(t, STR("p"), 3);
    policy_tallies_add(t, STR("p"), POLICY_EVASIONS - 1);
    policy_tallies_add(t, STR("q"), 1);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")),
                     1u << 1 | 1u << 3 | 1u << (POLICY_EVASIONS - 1));
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")), 0);
    policy_tallies_add(t, STR("p"), 3);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p")), 1u << 3);
    assert_int_equal(policy_tallies_take_evaded(t, STR("q")), 1u << 1);
    assert_int_equal(policy_tallies_take_evaded(t, STR("nobody")), 0);
    policy_tallies_free(t);
    policy_tallies_free(NULL);
}

/* LIMIT_POLICIES names; those that are there are noted all the same. */
static void so_many_names_are_kept(void **state) {
    struct policy_tallies *t = policy_tallies_new();
    char name[20];
    (void)state;
    for (uint32_t i = 0; i <= LIMIT_POLICIES; i++) {
        (void)snprintf(name, sizeof name, "p%u", i);
        policy_tallies_add(t, str_of(name), 0);
        assert_int_equal(policy_tallies_take_evaded(t, str_of(name)), i < LIMIT_POLICIES);
    }
    policy_tallies_add(t, STR("p0"), 2);
    assert_int_equal(policy_tallies_take_evaded(t, STR("p0")), 1u << 2);
    policy_tallies_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_new_is_told_once),
        cmocka_unit_test(so_many_names_are_kept),
    };
    return cmocka_run_group_tests_name("tallies", tests, NULL, NULL);
}
