#include "kube/objects/webhook_configuration.h"

#include "unit/unit.h"

#include <errno.h>

#define FIELDS(manager, time, fields)                                                              \
    "{\"manager\":\"" manager "\",\"operation\":\"Update\",\"time\":\"" time                       \
    "\",\"fieldsV1\":{\"f:webhooks\":{" fields "}}}"
#define BUNDLE "\"k:{\\\"name\\\":\\\"a\\\"}\":{\"f:clientConfig\":{\"f:caBundle\":{}}}"

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

static struct webhook_configuration get(const char *object) {
    struct webhook_configuration c = {.entry_count = 0};
    struct err err;
    if (webhook_configuration_read(str_of(object), STR("evenkeel"), &arena, &c, &err) != 0)
        fail_msg("%s", err.text);
    return c;
}

static void test_reading(void **state) {
    (void)state;
    struct webhook_configuration c = get(
        "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"webhooks\":["
        "{\"name\":\"a\",\"clientConfig\":{\"service\":{\"namespace\":\"ns\",\"name\":\"svc\","
        "\"path\":\"/p\",\"port\":443},\"caBundle\":\"Y2E=\"},\"rules\":[]},"
        "{\"name\":\"b\",\"clientConfig\":{\"url\":\"https://h.example:9443/p\"}},"
        "{\"name\":\"c\",\"clientConfig\":{\"url\":\"https://[::1]:9443/p\",\"caBundle\":\"?\"}},"
        "{\"name\":\"d\",\"clientConfig\":{\"url\":\"https://10.0.0.7\",\"service\":null}},"
        "{\"name\":\"e\",\"clientConfig\":{\"url\":\"http://x/\"}},{\"name\":\"f\"}]}");
    static const char *const hosts[] = {"svc.ns.svc", "h.example", "::1", "10.0.0.7", "", ""};
    assert_str(c.uid, "u");
    assert_str(c.version, "7");
    assert_int_equal(c.entry_count, 6);
    for (int i = 0; i < 6; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        assert_str(c.entries[i].name, name);
        assert_str(c.entries[i].host, hosts[i]);
        assert_str(c.entries[i].bundle, i == 0 ? "ca" : "");
        assert_false(c.entries[i].wrong);
    }
    assert_str(c.writer, "");
    assert_int_equal(get("{\"metadata\":{},\"webhooks\":null}").entry_count, 0);
}

static void test_who_wrote(void **state) {
    (void)state;
    struct webhook_configuration c = get("{\"metadata\":{\"managedFields\":[" FIELDS(
        "evenkeel", "2026-01-03T00:00:00Z",
        BUNDLE) "," FIELDS("kubectl", "2026-01-02T00:00:00Z",
                           BUNDLE) "," FIELDS("helm", "2026-01-04T00:00:00Z",
                                              "\"f:rules\":{}") "]}}");
    assert_str(c.writer, "kubectl"); /* who owns a bundle, before who is later */
    c = get("{\"metadata\":{\"managedFields\":[" FIELDS("old", "2026-01-02T00:00:00Z", BUNDLE) //
            "," FIELDS("new", "2026-01-04T00:00:00Z", BUNDLE)                                  //
            "," FIELDS("older", "2026-01-01T00:00:00Z", BUNDLE) "]}}");
    assert_str(c.writer, "new");
    assert_true(c.writer_owns_bundle);
    c = get("{\"metadata\":{\"managedFields\":[" FIELDS("helm", "2026-01-02T00:00:00Z", "") //
            "," FIELDS("argocd", "2026-01-04T00:00:00Z", "") "]}}");
    assert_str(c.writer, "argocd"); /* it is empty: nobody owns it */
    assert_false(c.writer_owns_bundle);
    c = get("{\"metadata\":{\"managedFields\":[" FIELDS("evenkeel", "2026-01-02T00:00:00Z",
                                                        BUNDLE) "]}}");
    assert_str(c.writer, "");
}

static void test_what_is_none(void **state) {
    (void)state;
    struct webhook_configuration c;
    struct err err;
    assert_int_equal(
        webhook_configuration_read(STR("{\"webhooks\":{}}"), STR("x"), &arena, &c, &err), -EINVAL);
    assert_int_equal(webhook_configuration_read(STR("{"), STR("x"), &arena, &c, &err), -EINVAL);
}

static void test_patch(void **state) {
    (void)state;
    struct webhook_entry entries[] = {
        {.name = STR("a"), .wrong = true}, {.name = STR("b")}, {.name = STR("c"), .wrong = true}};
    const struct webhook_configuration c = {
        .version = STR("7"), .entries = entries, .entry_count = 3};
    struct strbuf out = {0};
    webhook_configuration_put_patch(&out, &c, STR("ca"));
    assert_str(strbuf_str(&out), "{\"metadata\":{\"resourceVersion\":\"7\"},\"webhooks\":["
                                 "{\"name\":\"a\",\"clientConfig\":{\"caBundle\":\"Y2E=\"}},"
                                 "{\"name\":\"c\",\"clientConfig\":{\"caBundle\":\"Y2E=\"}}]}");
    strbuf_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_wrote, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patch, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("webhook_configuration", tests, NULL, NULL);
}
