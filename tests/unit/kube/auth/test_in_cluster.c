/* A pod's service account, mounted in a folder of ours. */
#include "kube/auth/in_cluster.h"
#include "unit/certs/issued.h"

#include <errno.h>

static void set_address(const char *host, const char *port) {
    int r = host != NULL ? setenv("KUBERNETES_SERVICE_HOST", host, 1)
                         : unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(r, 0);
    r = port != NULL ? setenv("KUBERNETES_SERVICE_PORT", port, 1)
                     : unsetenv("KUBERNETES_SERVICE_PORT");
    assert_int_equal(r, 0);
}

static void mount(const char *folder) {
    put_file(in(folder, "token"), STR("t\n"), 0600);
    put_file(in(folder, "ca.crt"), STR("ca"), 0600);
    put_file(in(folder, "namespace"), STR(" team-a\n"), 0600);
}

static void test_a_pod(void **state) {
    const char *folder = *state;
    struct arena arena;
    struct kube_access a;
    struct err err = {0};
    arena_init(&arena, 1 << 20);
    mount(folder);
    set_address("10.96.0.1", "443");
    assert_true(in_cluster_at(folder));
    check_ok(in_cluster_access(folder, &arena, &a, &err), &err);
    assert_string_equal(a.server, "https://10.96.0.1:443");
    assert_string_equal(a.token_file, in(folder, "token"));
    assert_string_equal(a.ca.file, in(folder, "ca.crt"));
    assert_string_equal(a.namespace, "team-a");
    assert_contains(a.source, folder);
    assert_null(a.token);
    assert_null(a.tls_server_name);
    assert_false(a.insecure_skip_tls_verify);
    assert_null(a.exec.command);
    set_address("fd00::1", "6443");
    check_ok(in_cluster_access(folder, &arena, &a, &err), &err);
    assert_string_equal(a.server, "https://[fd00::1]:6443");
    set_address("kubernetes.default", "1");
    check_ok(in_cluster_access(folder, &arena, &a, &err), &err);
    assert_string_equal(a.server, "https://kubernetes.default:1");
    arena_done(&arena);
}

static void test_without_a_namespace(void **state) {
    const char *folder = *state;
    struct arena arena;
    struct kube_access a;
    struct err err = {0};
    arena_init(&arena, 1 << 20);
    mount(folder);
    set_address("h", "443");
    put_file(in(folder, "namespace"), STR("\n"), 0600);
    check_ok(in_cluster_access(folder, &arena, &a, &err), &err);
    assert_string_equal(a.namespace, "default");
    assert_int_equal(unlink(in(folder, "namespace")), 0);
    check_ok(in_cluster_access(folder, &arena, &a, &err), &err);
    assert_string_equal(a.namespace, "default");
    arena_done(&arena);
}

static void refused(const char *folder, int code, const char *words) {
    struct arena arena;
    struct kube_access a = {.server = "untouched"};
    struct err err = {0};
    arena_init(&arena, 1 << 20);
    assert_int_equal(in_cluster_access(folder, &arena, &a, &err), code);
    assert_contains(err.text, words);
    assert_string_equal(a.server, "untouched");
    arena_done(&arena);
}

static void test_not_a_pod(void **state) {
    const char *folder = *state;
    mount(folder);
    set_address(NULL, "443");
    assert_false(in_cluster_at(folder));
    refused(folder, -ENOENT, "this is not a pod");
    set_address("10.96.0.1", "");
    assert_false(in_cluster_at(folder));
    refused(folder, -ENOENT, "this is not a pod");
    static const char *const hosts[] = {"a b", "[::1]", "a/b", "u@h", "h\n"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        set_address(hosts[i], "443");
        refused(folder, -EINVAL, "is not a host");
    }
    static const char *const ports[] = {"0", "65536", "https", "-1", "tcp://10.96.0.1:443"};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        set_address("10.96.0.1", ports[i]);
        refused(folder, -EINVAL, "is not a port");
    }
    set_address("10.96.0.1", "443");
    assert_int_equal(unlink(in(folder, "token")), 0);
    assert_false(in_cluster_at(folder));
    refused(folder, -ENOENT, "automountServiceAccountToken");
    assert_int_equal(mkdir(in(folder, "token"), 0700), 0);
    assert_false(in_cluster_at(folder));
}

/* This machine's own folder: there is none, or the test runs in a pod. Both ways they agree. */
static void test_usual_folder(void **state) {
    struct arena arena;
    struct kube_access a = {.server = NULL};
    (void)state;
    arena_init(&arena, 1 << 20);
    set_address("10.96.0.1", "443");
    bool inside = kube_access_is_in_cluster();
    assert_int_equal(kube_access_in_cluster(&arena, &a, NULL), inside ? 0 : -ENOENT);
    assert_int_equal(a.server != NULL, inside);
    set_address(NULL, NULL);
    assert_false(kube_access_is_in_cluster());
    arena_done(&arena);
}

static void test_memory(void **state) {
    struct kube_access a;
    set_address("10.96.0.1", "443");
    mount(*state);
    for (size_t max = 0; max < 200; max += 20) {
        struct arena arena;
        arena_init(&arena, max);
        int r = in_cluster_access(*state, &arena, &a, NULL);
        assert_true(r == -ENOMEM || (r == 0 && max > 100));
        arena_done(&arena);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_a_pod),     TEST(test_without_a_namespace),
        TEST(test_not_a_pod), TEST(test_usual_folder),
        TEST(test_memory),
    };
    return cmocka_run_group_tests_name("in_cluster", tests, NULL, NULL);
}
