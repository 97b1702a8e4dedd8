#include "kube/objects/tls_secret.h"

#include "unit/unit.h"

#include <errno.h>

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1 << 16);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct tls_secret get(const char *object) {
    struct tls_secret s = {.ours = false};
    struct err err;
    if (tls_secret_read(str_of(object), &arena, &s, &err) != 0)
        fail_msg("%s", err.text);
    return s;
}

static void test_reading(void **state) {
    (void)state;
    struct tls_secret s =
        get("{\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\",\"uid\":\"u\",\"resourceVersion\":"
            "\"7\",\"annotations\":{\"a\":\"b\",\"evenkeel.io/certificates\":\"self-signed\"}},"
            "\"type\":\"kubernetes.io/tls\",\"data\":{\"ca.crt\":\"Y2E=\",\"ca.key\":\"Y2FrZXk=\","
            "\"other\":\"!\",\"tls.crt\":\"bGVhZg==\",\"tls.key\":\"a2V5\"}}");
    assert_str(s.uid, "u");
    assert_str(s.version, "7");
    assert_str(s.ca, "ca");
    assert_str(s.ca_key, "cakey");
    assert_str(s.certificate, "leaf");
    assert_str(s.key, "key");
    assert_true(s.ours);
}

static void test_whose_it_is(void **state) {
    (void)state;
    assert_true(get("{\"metadata\":{}}").ours); /* empty: as good as ours */
    assert_true(get("{\"data\":{\"tls.crt\":\"\",\"tls.key\":null,\"x\":\"eA==\"}}").ours);
    assert_false(get("{\"data\":{\"tls.crt\":\"eA==\"}}").ours);
    assert_false(get("{\"data\":{\"ca.key\":\"eA==\"}}").ours);
    assert_false(get("{\"metadata\":{\"annotations\":{\"evenkeel.io/certificates\":\"mine\"}},"
                     "\"data\":{\"tls.key\":\"eA==\"}}")
                     .ours);
}

static void test_what_is_none(void **state) {
    (void)state;
    struct tls_secret s;
    struct err err;
    assert_int_equal(tls_secret_read(STR("[]"), &arena, &s, &err), -EINVAL);
    assert_int_equal(tls_secret_read(STR("{\"data\":{\"tls.key\":\"?\"}}"), &arena, &s, &err),
                     -EINVAL);
    assert_contains(err.text, "malformed base64");
    assert_null(strstr(err.text, "?"));
}

static void test_writing(void **state) {
    (void)state;
    const struct tls_secret texts = {.version = STR("7"),
                                     .ca = STR("ca"),
                                     .ca_key = STR("cakey"),
                                     .certificate = STR("leaf"),
                                     .key = STR("key")};
    struct strbuf out = {0};
    tls_secret_put_new(&out, STR("ns"), STR("n"), &texts);
    assert_str(strbuf_str(&out),
               "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"type\":\"kubernetes.io/tls\","
               "\"metadata\":{\"namespace\":\"ns\",\"name\":\"n\",\"annotations\":{"
               "\"evenkeel.io/certificates\":\"self-signed\"}},\"data\":{\"ca.crt\":\"Y2E=\","
               "\"ca.key\":\"Y2FrZXk=\",\"tls.crt\":\"bGVhZg==\",\"tls.key\":\"a2V5\"}}");
    strbuf_clear(&out);
    tls_secret_put_patch(&out, &texts);
    assert_str(strbuf_str(&out),
               "{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":{"
               "\"evenkeel.io/certificates\":\"self-signed\"}},\"data\":{\"ca.crt\":\"Y2E=\","
               "\"ca.key\":\"Y2FrZXk=\",\"tls.crt\":\"bGVhZg==\",\"tls.key\":\"a2V5\"}}");
    strbuf_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whose_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writing, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("tls_secret", tests, NULL, NULL);
}
