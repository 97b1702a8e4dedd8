#include "net/address.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Listens and checks the text: `prefix`, then a port that is not 0. */
static void expect(const char *address, const char *prefix) {
    char text[ADDRESS_TEXT_SIZE];
    struct err err;
    int fd = -1, listening = 0;
    socklen_t size = sizeof listening;
    if (address_listen(address, text, &fd, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(str_has_prefix(str_of(text), str_of(prefix)));
    assert_true(strtol(text + strlen(prefix), NULL, 10) > 0);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size), 0);
    assert_int_equal(listening, 1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal(close(fd), 0);
}

static void refuse(const char *address, int code, const char *why) {
    char text[ADDRESS_TEXT_SIZE];
    struct err err;
    int fd = -7;
    assert_int_equal(address_listen(address, text, &fd, &err), code);
    assert_contains(err.text, "cannot listen on '");
    assert_contains(err.text, why);
    assert_int_equal(fd, -7);
}

static bool have_ipv6(void) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool have = fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof to) == 0;
    if (fd >= 0)
        (void)close(fd);
    return have;
}

static void test_listen(void **state) {
    (void)state;
    expect("127.0.0.1:0", "127.0.0.1:");
    if (have_ipv6())
        expect("[::1]:0", "[::1]:");
}

static void test_refused(void **state) {
    (void)state;
    static const char form[] = "expected host:port";
    refuse("", -EINVAL, form);
    refuse("8443", -EINVAL, form);
    refuse("127.0.0.1", -EINVAL, form);
    refuse("[]:80", -EINVAL, form);
    refuse("::1:80", -EINVAL, "in brackets");
    refuse("127.0.0.1:", -EINVAL, "the port is not a number");
    refuse("127.0.0.1:65536", -EINVAL, "the port is not a number");
    refuse("127.0.0.1:-1", -EINVAL, "the port is not a number");
    refuse("127.0.0.1:+80", -EINVAL, "the port is not a number");
    refuse("127.0.0.1:http", -EINVAL, "the port is not a number");
    refuse("localhost:80", -EINVAL, "neither an IPv4 nor an IPv6 address");
    refuse("[127.0.0.1:80", -EINVAL, "neither an IPv4 nor an IPv6 address");
    refuse("300.0.0.1:80", -EINVAL, "neither an IPv4 nor an IPv6 address");
    refuse("192.0.2.1:0", -EADDRNOTAVAIL, "this machine has no such address");
}

static void test_in_use(void **state) {
    (void)state;
    char text[ADDRESS_TEXT_SIZE];
    int fd = -1;
    assert_int_equal(address_listen("127.0.0.1:0", text, &fd, NULL), 0);
    refuse(text, -EADDRINUSE, "Address already in use; stop the program that listens there");
    assert_int_equal(close(fd), 0);
}

static void expect_text(const char *host, const char *want, bool loopback) {
    char text[ADDRESS_TEXT_SIZE];
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    bool is_v4 = inet_pton(AF_INET, host, &v4.sin_addr) == 1;
    if (!is_v4)
        assert_int_equal(inet_pton(AF_INET6, host, &v6.sin6_addr), 1);
    const struct sockaddr *address =
        is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6;
    address_text(address, text);
    assert_string_equal(text, want);
    assert_int_equal(address_is_loopback(address), loopback);
}

static void test_text(void **state) {
    (void)state;
    expect_text("10.0.0.7", "10.0.0.7:80", false);
    expect_text("127.1.2.3", "127.1.2.3:80", true);
    expect_text("::1", "[::1]:80", true);
    expect_text("2001:db8::1", "[2001:db8::1]:80", false);
    expect_text("::ffff:10.0.0.7", "10.0.0.7:80", false); /* IPv4 on a socket for both */
    expect_text("::ffff:127.0.0.1", "127.0.0.1:80", true);
    char text[ADDRESS_TEXT_SIZE];
    const struct sockaddr local = {.sa_family = AF_UNIX};
    address_text(&local, text);
    assert_string_equal(text, "unknown");
    assert_false(address_is_loopback(&local));
}

static void test_open(void **state) {
    (void)state;
    static const char *const open[] = {":80",           "0.0.0.0:80",       "[::]:0",
                                       "10.0.0.7:8443", "[2001:db8::1]:80", "128.0.0.1:80"};
    static const char *const closed[] = {"127.0.0.1:80", "127.255.0.1:0", "[::1]:80",
                                         "[::ffff:127.0.0.1]:80"};
    static const char *const refused[] = {"", "0", "80", "localhost:80", "127.0.0.1", "::1:80"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_true(address_is_open(open[i]) && address_is_valid(str_of(open[i])));
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
        assert_true(!address_is_open(closed[i]) && address_is_valid(str_of(closed[i])));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_false(address_is_open(refused[i]) || address_is_valid(str_of(refused[i])));
    assert_true(address_is_valid(STR("[fe80::1%no-such-interface]:80")));
    assert_false(address_is_valid(STR(":80\0")));
    char long_one[2 * ADDRESS_TEXT_SIZE];
    memset(long_one, '1', sizeof long_one);
    memcpy(long_one + sizeof long_one - 4, ":80", 4); /* and its end */
    assert_false(address_is_valid(str_of(long_one)));
}

static struct address_key caller_of(const char *text) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_key_caller(address_key((struct sockaddr *)&v4));
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_key_caller(address_key((struct sockaddr *)&v6));
}

static void are_one_caller(const char *a, const char *b, bool wanted) {
    const struct address_key first = caller_of(a), second = caller_of(b);
    assert_int_equal(memcmp(&first, &second, sizeof first) == 0, wanted);
}

static void test_callers(void **state) {
    (void)state;
    are_one_caller("fd00:0:0:1::1", "fd00:0:0:1:ffff::2", true);
    are_one_caller("fd00:0:0:1::1", "fd00:0:0:2::1", false);
    are_one_caller("10.0.0.1", "10.0.0.1", true);
    are_one_caller("10.0.0.1", "10.0.0.2", false); /* of one /24 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_in_use), cmocka_unit_test(test_text),
        cmocka_unit_test(test_open),   cmocka_unit_test(test_callers),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
