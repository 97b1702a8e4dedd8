#include "certs/host.h"

#include "unit/unit.h"

#include <errno.h>

static struct host parsed(const char *text) {
    struct host host = {0};
    struct err err;
    if (host_parse(str_of(text), &host, &err) != 0)
        fail_msg("%s", err.text);
    return host;
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"localhost", "a.b-c.svc", "*.example.com", "1a.b", "x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct host host = parsed(names[i]);
        assert_int_equal(host.kind, HOST_DNS);
        assert_string_equal(host.bytes, names[i]);
        assert_int_equal(host.n, strlen(names[i]));
    }
    struct host upper = parsed("A.Example-Z");
    assert_string_equal(upper.bytes, "a.example-z");
    char longest[254]; /* 253 letters, in labels of one */
    for (size_t i = 0; i < 253; i++)
        longest[i] = i % 2 == 0 ? 'a' : '.';
    longest[253] = '\0';
    assert_int_equal(parsed(longest).n, 253);
}

static void test_addresses(void **state) {
    (void)state;
    struct host host = parsed("10.0.255.1");
    assert_int_equal(host.kind, HOST_IP);
    assert_int_equal(host.n, 4);
    assert_memory_equal(host.bytes, "\x0a\x00\xff\x01", 4);
    static const char *const ones[] = {"::1", "[::1]", "0:0:0:0:0:0:0:1"};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        host = parsed(ones[i]);
        assert_int_equal(host.kind, HOST_IP);
        assert_int_equal(host.n, 16);
        assert_memory_equal(host.bytes, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
    }
}

static void test_refused(void **state) {
    (void)state;
    char long_label[66], long_name[260], too_long[255];
    memset(long_label, 'a', 64);
    long_label[64] = '\0';
    for (size_t i = 0; i < 255; i++)
        long_name[i] = i % 2 == 0 ? 'a' : '.';
    long_name[255] = '\0';
    memcpy(too_long, long_name, 252);
    memcpy(too_long + 252, "bc", 3); /* 254 letters, and nothing else is wrong */
    const char *const wrong[] = {
        "",     "a_b", "-a", "a-",    "a..b", ".a",  "a.",       "a b",      "10.0.0",  "300.1.1.1",
        "a*.b", "*",   "*.", "a.*.b", "[::1", "[a]", "\xc3\xa9", long_label, long_name, too_long};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct host host = {.n = 7};
        struct err err = {0};
        if (host_parse(str_of(wrong[i]), &host, &err) != -EINVAL)
            fail_msg("accepted '%s'", wrong[i]);
        assert_int_equal(host.n, 7);
    }
}

static void test_hints(void **state) {
    (void)state;
    struct host host;
    struct err err;
    assert_int_equal(host_parse(STR("https://a/x"), &host, &err), -EINVAL);
    assert_string_equal(err.text, "host 'https://a/x' is neither a DNS name nor an IP address; "
                                  "leave out the scheme and the path");
    assert_int_equal(host_parse(STR("[::1]:8443"), &host, &err), -EINVAL);
    assert_contains(err.text, "leave out the port");
    assert_int_equal(host_parse((struct str){"a\0b", 3}, &host, &err), -EINVAL);
    assert_int_equal(host_parse((struct str){"::1\0", 4}, &host, &err), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
