/* Where estimators are. upstream: karmada v1.18.1 pkg/estimator/client service.go and its test. */
#include "estimators/discovery.h"

#include "unit/unit.h"

#include <errno.h>
#include <string.h>

static const struct estimator_services services = {.prefix = STR("karmada-scheduler-estimator"),
                                                   .namespace = STR("karmada-system"),
                                                   .port = 10352};
static struct estimator_addresses found;
static struct err err;

static int look(const char *service) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 1 << 20);
    return estimator_service_addresses(&services, STR("member1"), str_of(service), &arena, &found,
                                       &err);
}

static void without_a_service(void **state) {
    (void)state;
    assert_int_equal(look(NULL), 0);
    assert_int_equal(found.count, 2);
    assert_string_equal(
        found.texts[0],
        "karmada-scheduler-estimator-member1.karmada-system.svc.cluster.local:10352");
    assert_string_equal(found.texts[1],
                        "karmada-scheduler-estimator-member1.karmada-system.svc:10352");
}

#define EXTERNAL(ports)                                                                            \
    "{\"kind\":\"Service\",\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"est.host\","     \
    "\"ports\":" ports "}}"

static void an_external_name(void **state) {
    (void)state;
    assert_int_equal(look(EXTERNAL("[{\"port\":1,\"targetPort\":2},{\"name\":\"g\",\"port\":10352,"
                                   "\"targetPort\":30352},{\"port\":10352,\"targetPort\":9}]")),
                     0);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.texts[0], "est.host:30352");
}

static void others(void **state) {
    static const struct {
        const char *service, *text;
    } rows[] = {
        {"{\"spec\":{\"type\":\"NodePort\"}}", "unsupported service type \"NodePort\""},
        {"{\"spec\":{}}", "unsupported service type \"ClusterIP\""},
        {EXTERNAL("[]"), "no port 10352"},
        {EXTERNAL("null"), "no port 10352"},
        {EXTERNAL("[{\"port\":10353,\"targetPort\":1}]"), "no port 10352"},
        {EXTERNAL("[{\"port\":10352,\"targetPort\":\"grpc\"}]"), "targetPort is 'grpc'"},
        {EXTERNAL("[{\"port\":10352}]"), "targetPort 0"},
        {EXTERNAL("[{\"port\":10352,\"targetPort\":0}]"), "targetPort 0"},
        {EXTERNAL("[{\"port\":10352,\"targetPort\":65536}]"), "targetPort 65536"},
        {EXTERNAL("[{\"port\":\"10352\"}]"), "service"},
        {"{\"spec\":{\"type\":\"ExternalName\",\"ports\":[{\"port\":10352,\"targetPort\":1}]}}",
         "externalName is missing"},
        {"[]", "service"},
        {"{", "service"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("# %s\n", rows[i].service);
        assert_int_equal(look(rows[i].service), -EINVAL);
        assert_contains(err.text, rows[i].text);
    }
    assert_int_equal(look(EXTERNAL("[{\"port\":10352,\"targetPort\":65535}]")), 0);
    assert_int_equal(look(EXTERNAL("[{\"port\":10352,\"targetPort\":1}]")), 0);
}

/* No longer than its place, and what stands behind that stays. */
static void locations(void **state) {
    static const char *const bad[] = {"", "m1", "m1=", "=a:1", "m1=a", "m1=a:", "m1=:1"};
    struct {
        struct estimator_location location;
        char behind;
    } read = {.behind = 7};
    char text[LIMIT_GRPC_ADDRESS + 8];
    (void)state;
    assert_true(estimator_location_parse(STR("m1=a.b:10352"), &read.location));
    assert_str(read.location.cluster, "m1");
    assert_string_equal(read.location.address, "a.b:10352");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (estimator_location_parse(str_of(bad[i]), &read.location))
            fail_msg("'%s'", bad[i]);
    memset(text, 'a', sizeof text);
    memcpy(text, "m1=", 3);
    for (size_t n = LIMIT_GRPC_ADDRESS - 1; n <= LIMIT_GRPC_ADDRESS + 1; n++)
        assert_false(estimator_location_parse((struct str){text, 3 + n}, &read.location));
    assert_int_equal(read.behind, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_service),
        cmocka_unit_test(an_external_name),
        cmocka_unit_test(others),
        cmocka_unit_test(locations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
