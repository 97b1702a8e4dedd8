/* The files are as the kernel writes them: Documentation/admin-guide/cgroup-v2.rst, cpu.stat, and
 * Documentation/accounting/psi.rst. */
#include "base/cpu_lack.h"

#include "base/clock.h"
#include "base/file.h"
#include "unit/unit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char limited[] = "usage_usec 1000\nuser_usec 600\nsystem_usec 400\nnr_periods 7\n"
                              "nr_throttled 3\nthrottled_usec 2500000\nnr_bursts 0\nburst_usec 0\n";
static const char root_group[] = "usage_usec 1000\nuser_usec 600\nsystem_usec 400\n";
static const char pressure[] = "some avg10=1.53 avg60=0.87 avg300=0.73 total=3000000\n"
                               "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
enum { KEPT = CPU_LACK_KEPT };

static char folder[64];

static const char *in_folder(const char *name) {
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name); /* fits */
    return path;
}

static void put(const char *name, const char *text) {
    struct err err;
    if (file_write_atomic(in_folder(name), str_of(text), 0600, &err) != 0)
        fail_msg("%s", err.text);
}

static int setup(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/evenkeel-test-XXXXXX"); /* fits */
    return mkdtemp(folder) == NULL || mkdir(in_folder("pod"), 0700) != 0;
}

static int teardown(void **state) {
    static const char *const names[] = {"self", "cpu.stat", "cpu.pressure", "pod/cpu.stat",
                                        "pod/cpu.pressure"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(in_folder(names[i])); /* not every test has it */
    return rmdir(in_folder("pod")) != 0 || rmdir(folder) != 0;
}

static void find(void) {
    char self[128];
    (void)snprintf(self, sizeof self, "%s", in_folder("self")); /* fits */
    cpu_lack_find(self, folder);
}

static void expect(int64_t throttled_us, int64_t waited_us) {
    const struct cpu_lack lack = cpu_lack_read();
    assert_int_equal(lack.throttled_us, throttled_us);
    assert_int_equal(lack.waited_us, waited_us);
}

/* In a container its own group is at the top. */
static void test_a_container(void **state) {
    (void)state;
    put("self", "0::/\n");
    put("cpu.stat", limited);
    put("cpu.pressure", pressure);
    find();
    expect(2500000, 3000000);
}

static void test_a_service(void **state) {
    (void)state;
    put("self", "1:cpu:/other\n0::/pod\n");
    put("pod/cpu.stat", limited);
    put("pod/cpu.pressure", pressure);
    put("cpu.stat", root_group);
    find();
    expect(2500000, 3000000);
}

static void test_without_pressure(void **state) {
    (void)state;
    put("self", "0::/");
    put("cpu.stat", limited);
    find();
    expect(2500000, -1);
}

/* The pressure of the root group is the machine's, whoever causes it. */
static void test_the_root_group(void **state) {
    (void)state;
    put("self", "0::/\n");
    put("cpu.stat", root_group);
    put("cpu.pressure", pressure);
    find();
    expect(-1, -1);
}

static void test_nothing_to_read(void **state) {
    (void)state;
    find();
    expect(-1, -1);
    put("self", "3:cpu:/pod\n"); /* cgroup v1 */
    put("cpu.stat", limited);
    find();
    expect(-1, -1);
    char outside[128]; /* a group that this process does not see, though the path is one */
    (void)snprintf(outside, sizeof outside, "0::/..%s\n", strrchr(folder, '/')); /* fits */
    put("self", outside);
    find();
    expect(-1, -1);
    put("self", "0::/\n");
    put("cpu.stat", "nr_throttled 3\nthrottled_usec x\n");
    find();
    expect(-1, -1);
}

/* Even if a file goes, or says less than before: differences of the figures would make no sense. */
static void test_figures_never_fall(void **state) {
    (void)state;
    put("self", "0::/\n");
    put("cpu.stat", limited);
    put("cpu.pressure", pressure);
    find();
    expect(2500000, 3000000);
    put("cpu.stat", "x 1\nthrottled_usec 7\n");
    assert_int_equal(unlink(in_folder("cpu.pressure")), 0);
    expect(2500000, 3000000);
    find(); /* another group, about which nothing was known */
    expect(7, -1);
}

static void test_since(void **state) {
    (void)state;
    int64_t over_ns;
    put("self", "0::/\n");
    put("cpu.stat", limited);
    find();
    assert_int_equal(cpu_lack_since(1000, 1500, &over_ns).throttled_us, -1); /* no poll */
    cpu_lack_poll(1000);
    put("cpu.stat", "x 1\nthrottled_usec 2600000\n");
    put("cpu.pressure", pressure);
    struct cpu_lack lack = cpu_lack_since(1100, 1500, &over_ns);
    assert_int_equal(lack.throttled_us, 100000);
    assert_int_equal(lack.waited_us, -1); /* it was not known then */
    assert_int_equal(over_ns, 500);
    cpu_lack_poll(2000);
    assert_int_equal(cpu_lack_since(1999, 2500, &over_ns).throttled_us, 100000);
    assert_int_equal(over_ns, 1500);
    assert_int_equal(cpu_lack_since(2000, 2500, &over_ns).throttled_us, 0);
    assert_int_equal(over_ns, 500);
    for (unsigned i = 0; i < KEPT; i++) /* the first is forgotten */
        cpu_lack_poll(3000);
    assert_int_equal(cpu_lack_since(1100, 3500, &over_ns).throttled_us, 0);
    assert_int_equal(over_ns, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_since, setup, teardown), /* first: nothing is polled */
        cmocka_unit_test_setup_teardown(test_figures_never_fall, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_container, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_service, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_pressure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_root_group, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_to_read, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
