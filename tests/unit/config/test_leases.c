/* Which Leases a configuration asks for: DESIGN's rule that only what concerns callers, the memory
 * of reservations, makes a replica not ready. */
#include "config/leases.h"

#include "unit/unit.h"

static struct configuration c;

static int setup(void **state) {
    (void)state;
    configuration_init(&c);
    c.leader_election.enabled = true;
    c.leader_election.name = "shop";
    return 0;
}

static int teardown(void **state) {
    (void)state;
    c.leader_election.name = NULL;
    configuration_done(&c);
    return 0;
}

static void each_purpose_has_a_lease_of_its_own(void **state) {
    (void)state;
    char name[LEASE_NAME_SIZE];
    lease_name(&c, LEASE_RESERVATIONS, name);
    assert_string_equal(name, "shop");
    lease_name(&c, LEASE_CONTROLLERS, name);
    assert_string_equal(name, "shop-controllers");
}

static void there_must_be_something_to_lead(void **state) {
    (void)state;
    c.extender.listen = "127.0.0.1:8443";
    c.webhook.listen = "0";
    c.reservations.mode = RESERVATIONS_OFF;
    assert_false(lease_is_wanted(&c, LEASE_RESERVATIONS));
    assert_false(lease_is_wanted(&c, LEASE_CONTROLLERS)); /* no pod is admitted here */
    c.reservations.mode = RESERVATIONS_SINGLE_NODE;
    assert_true(lease_is_wanted(&c, LEASE_RESERVATIONS));
    c.extender.listen = "0";
    assert_false(lease_is_wanted(&c, LEASE_RESERVATIONS)); /* nobody asks */
    c.webhook.listen = "127.0.0.1:9443";
    c.policies.watch = true;
    assert_true(lease_is_wanted(&c, LEASE_CONTROLLERS));
    c.policies.watch = false;
    assert_false(lease_is_wanted(&c, LEASE_CONTROLLERS));
    c.data.label_leaving_nodes = true;
    assert_true(lease_is_wanted(&c, LEASE_CONTROLLERS));
    c.webhook.listen = "0";
    assert_false(lease_is_wanted(&c, LEASE_CONTROLLERS));
    c.webhook.listen = "127.0.0.1:9443";
    c.policies.watch = true;
    c.leader_election.enabled = false;
    assert_false(lease_is_wanted(&c, LEASE_CONTROLLERS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_purpose_has_a_lease_of_its_own),
        TEST(there_must_be_something_to_lead),
    };
    return cmocka_run_group_tests_name("leases", tests, NULL, NULL);
}
