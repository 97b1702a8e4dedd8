#include "http/client_name.h"
#include "unit/unit.h"

static void test_read(void **state) {
    (void)state;
    static const struct {
        const char *written;
        enum client_name_type type;
        const char *text;
    } rows[] = {
        {"system:kube-scheduler", CLIENT_NAME_CN, "system:kube-scheduler"},
        {"kube-apiserver", CLIENT_NAME_CN, "kube-apiserver"},
        {"cn:x", CLIENT_NAME_CN, "x"},
        {"cn:dns:x", CLIENT_NAME_CN, "dns:x"},
        {"cn:cn:x", CLIENT_NAME_CN, "cn:x"},
        {"dns:a.example", CLIENT_NAME_DNS, "a.example"},
        {"dns:uri:x", CLIENT_NAME_DNS, "uri:x"},
        {"uri:spiffe://a/b", CLIENT_NAME_URI, "spiffe://a/b"},
        {"email:a@b", CLIENT_NAME_EMAIL, "a@b"},
        {"dnsx:a", CLIENT_NAME_CN, "dnsx:a"},
        {" dns:a", CLIENT_NAME_CN, " dns:a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client_name name = client_name_read(str_of(rows[i].written));
        assert_int_equal(name.type, rows[i].type);
        assert_str(name.text, rows[i].text);
    }
}

/* Whatever is written is read as what it was. */
static void test_write(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x", "system:kube-scheduler", "dns:x", "cn:x", "email:", "uri:uri:x", "DNS:x"};
    for (enum client_name_type type = 0; type < CLIENT_NAME_TYPES; type++)
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            char out[64];
            const struct client_name name = {type, str_of(texts[i])};
            client_name_write(&name, out, sizeof out);
            struct client_name again = client_name_read(str_of(out));
            assert_true(client_name_eq(&name, &again));
        }
    char out[8];
    client_name_write(&(struct client_name){CLIENT_NAME_CN, STR("alice")}, out, sizeof out);
    assert_string_equal(out, "alice");
    client_name_write(&(struct client_name){CLIENT_NAME_DNS, STR("a.example")}, out, sizeof out);
    assert_string_equal(out, "dns:a.e");
}

static void test_equal(void **state) {
    (void)state;
    const struct client_name a = {CLIENT_NAME_CN, STR("x")}, b = {CLIENT_NAME_DNS, STR("x")},
                             c = {CLIENT_NAME_CN, STR("X")};
    assert_true(client_name_eq(&a, &a));
    assert_false(client_name_eq(&a, &b));
    assert_false(client_name_eq(&a, &c));
}

static void test_valid(void **state) {
    (void)state;
    static const char *const good[] = {"system:kube-scheduler",
                                       "kube-apiserver",
                                       "user@example",
                                       "a.example",
                                       "cn:DNS:x",
                                       "dns:x",
                                       "uri:spiffe://a",
                                       "email:a@b",
                                       "system:node:a",
                                       ":x",
                                       "O=a, CN=b"};
    static const char *const bad[] = {
        "dns:", "uri:",        "email:",     "cn:",      "DNS:x",        "Uri:x",     "EMAIL:a@b",
        "CN:x", "ip:10.0.0.1", "IP:1.1.1.1", "mail:a@b", "spiffe://a/b", "https://a", "san:x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!client_name_valid(str_of(good[i])))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (client_name_valid(str_of(bad[i])))
            fail_msg("%s is taken", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_valid),
    };
    return cmocka_run_group_tests_name("client names", tests, NULL, NULL);
}
