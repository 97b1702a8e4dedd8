/* How much memory a command may take in the daemon's container. What it is sent is tested by
 * integration/test_kubectl.sh. */
#include "cli/remote.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/evenkeel-test-XXXXXX";

static void put(const char *name, const char *text) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void drop(const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

static void test_share(void **state) {
    (void)state;
    char path[128];
    assert_non_null(mkdtemp(folder));
    assert_true(remote_share(folder) == UINT64_MAX);
    put("memory.max", "max\n");
    put("memory.current", "1000\n");
    assert_true(remote_share(folder) == UINT64_MAX);
    put("memory.max", "536870912\n");
    put("memory.current", "36870912\n");
    assert_true(remote_share(folder) == 250000000);
    put("memory.current", "536870913\n");
    assert_true(remote_share(folder) == 0);
    drop("memory.max");
    drop("memory.current");
    (void)snprintf(path, sizeof path, "%s/memory", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put("memory/memory.limit_in_bytes", "3000\n");
    put("memory/memory.usage_in_bytes", "1000\n");
    assert_true(remote_share(folder) == 1000);
    drop("memory/memory.limit_in_bytes");
    drop("memory/memory.usage_in_bytes");
    drop("memory");
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_share)};
    return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
