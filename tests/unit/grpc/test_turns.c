/* Whose connection is served next. */
#include "grpc/turns.h"

#include "unit/unit.h"

#include <arpa/inet.h>

enum { TURNS = 6 };
static struct turns turns;
static struct turn all[TURNS];

static struct address_key key_of(const char *text) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_key((struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_key((struct sockaddr *)&v6);
}

static int set_up(void **state) {
    (void)state;
    turns_init(&turns);
    memset(all, 0, sizeof all);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < TURNS; i++)
        turns_leave(&all[i]);
    assert_true(list_empty(&turns.callers));
    assert_true(list_empty(&turns.waiting));
    return 0;
}

static void join(int i, const char *address) {
    const struct address_key key = key_of(address);
    assert_true(turns_join(&turns, &all[i], &key));
}

/* Numbers of those that come, each of whom waits again if `again`. */
static void assert_order(const char *wanted, bool again) {
    char order[16] = "";
    for (size_t i = 0; i < strlen(wanted); i++) {
        struct turn *turn = turns_next(&turns);
        if (turn == NULL)
            break;
        order[i] = (char)('0' + (turn - all));
        if (again)
            turns_wait(&turns, turn);
    }
    assert_string_equal(order, wanted);
}

static void addresses_take_turns(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        join(i, "10.0.0.1");
    join(4, "10.0.0.2");
    join(5, "10.0.0.3");
    for (int i = 0; i < TURNS; i++)
        turns_wait(&turns, &all[i]);
    assert_order("045145245345", true);
    for (int i = 0; i < 3; i++)
        (void)turns_next(&turns);
    for (int i = 0; i < 3; i++)
        (void)turns_next(&turns);
    assert_null(turns_next(&turns));
}

static void nobody_waits_twice(void **state) {
    (void)state;
    join(0, "10.0.0.1");
    join(1, "10.0.0.1");
    assert_null(turns_next(&turns));
    turns_wait(&turns, &all[0]);
    turns_wait(&turns, &all[0]);
    assert_order("0", false);
    assert_null(turns_next(&turns));
    turns_wait(&turns, &all[1]);
    turns_wait(&turns, &all[0]);
    assert_order("10", false);
}

static void who_leaves_waits_no_more(void **state) {
    (void)state;
    join(0, "10.0.0.1");
    join(1, "10.0.0.1");
    join(2, "10.0.0.2");
    for (int i = 0; i < 3; i++)
        turns_wait(&turns, &all[i]);
    turns_leave(&all[0]);
    turns_leave(&all[2]);
    assert_order("1", false);
    assert_null(turns_next(&turns));
    turns_leave(&all[0]); /* once more is fine */
    join(0, "10.0.0.1");
    turns_wait(&turns, &all[0]);
    turns_leave(&all[1]);
    assert_order("0", false);
}

static void a_network_of_ipv6_is_one_caller(void **state) {
    (void)state;
    join(0, "fd00:0:0:1::1");
    join(1, "fd00:0:0:1:ffff::2");
    join(2, "fd00:0:0:2::1");
    join(3, "10.0.0.1");
    join(4, "10.0.0.2"); /* of one /24 */
    for (int i = 0; i < 5; i++)
        turns_wait(&turns, &all[i]);
    assert_order("02341", false);
}

int main(void) {
#define TURNS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TURNS_TEST(addresses_take_turns),
        TURNS_TEST(nobody_waits_twice),
        TURNS_TEST(who_leaves_waits_no_more),
        TURNS_TEST(a_network_of_ipv6_is_one_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
