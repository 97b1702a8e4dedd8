/* The limit of open files follows from the configuration. */
#include "daemon/descriptors.h"
#include "unit/unit.h"

#include <sys/resource.h>

static struct rlimit limit_now(void) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit;
}

static void test_limit(void **state) {
    (void)state;
    struct configuration c;
    struct rlimit limit = limit_now();
    configuration_init(&c);
    c.extender.listen = c.webhook.listen = c.ops.listen = "127.0.0.1:0";
    c.extender.limits.connections = 100;
    c.webhook.limits.connections = 50;
    const unsigned long needed = descriptors_needed(&c);
    assert_in_range(needed, 2 * 150 + 2 * 64 + 64, limit.rlim_max);
    limit.rlim_cur = 128;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    descriptors_prepare(&c);
    assert_int_equal(limit_now().rlim_cur, needed);
    c.webhook.listen = "0";
    assert_int_equal(descriptors_needed(&c), needed - 100);
    c.ops.probe_listen = ":1";
    assert_int_equal(descriptors_needed(&c), needed - 100 + 2 * 64);
    c.ops.probe_listen = "0";
    descriptors_prepare(&c);
    assert_int_equal(limit_now().rlim_cur, needed); /* it is never lowered */
    c.extender.limits.connections = 1 << 30;        /* more than any hard limit: what there is */
    descriptors_prepare(&c);
    assert_int_equal(limit_now().rlim_cur, limit.rlim_max);
    configuration_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
