/* The patch between the status that there is and the one that should be. */
#include "hub/placement_status.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

static struct arena arena;
static struct strbuf out;

static const struct ocm_condition even = {
    {"SpreadSatisfied", 15}, OCM_TRUE, {"Even", 4}, {"zone: skew 1, maxSkew 1", 23}};
static const struct str object = {"p-decision-1", 12};
static const struct status_group one = {{"", 0}, &object, 1, 2};

#define GROUPS                                                                                     \
    "\"numberOfSelectedClusters\":2,\"decisionGroups\":[{\"decisionGroupIndex\":0,"                \
    "\"decisionGroupName\":\"\",\"decisions\":[\"p-decision-1\"],\"clusterCount\":2}]"
#define SPREAD(status, reason, time)                                                               \
    "{\"type\":\"SpreadSatisfied\",\"status\":\"" status "\",\"reason\":\"" reason                 \
    "\",\"message\":\"zone: skew 1, maxSkew 1\",\"lastTransitionTime\":\"" time "\"}"
#define OTHER "{\"type\":\"Other\",\"x\":[1,{\"y\":null}],\"status\":\"True\"}"
#define PATCH(status) "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{" status "}}"

static int patch(const char *json, const struct status_wanted *wanted) {
    struct err err;
    strbuf_clear(&out);
    return status_patch(str_of(json), STR("7"), wanted, 1800000000000, &arena, &out, &err);
}

static const struct status_wanted all = {.has_decision = true,
                                         .selected = 2,
                                         .groups = &one,
                                         .group_count = 1,
                                         .conditions = &even,
                                         .condition_count = 1};

static void from_nothing(void **state) {
    (void)state;
    assert_int_equal(patch("", &all), 0);
    assert_str(strbuf_str(&out), PATCH(GROUPS ",\"conditions\":[" SPREAD(
                                     "True", "Even", "2027-01-15T08:00:00Z") "]"));
}

static void what_is_right_is_not_written(void **state) {
    (void)state;
    assert_int_equal(
        patch("{" GROUPS ",\"conditions\":[" OTHER "," SPREAD("True", "Even", "x") "]}", &all), 0);
    assert_str(strbuf_str(&out), "");
}

/* The time changes with the status only; conditions of others stay, byte for byte. */
static void conditions(void **state) {
    (void)state;
    assert_int_equal(
        patch("{" GROUPS ",\"conditions\":[" SPREAD("True", "Old", "then") "," OTHER "]}", &all),
        0);
    assert_str(strbuf_str(&out),
               PATCH(GROUPS ",\"conditions\":[" SPREAD("True", "Even", "then") "," OTHER "]"));
    assert_int_equal(
        patch("{" GROUPS ",\"conditions\":[" SPREAD("False", "Even", "then") "]}", &all), 0);
    assert_str(strbuf_str(&out), PATCH(GROUPS ",\"conditions\":[" SPREAD(
                                     "True", "Even", "2027-01-15T08:00:00Z") "]"));
}

static void a_condition_goes(void **state) {
    static const struct status_wanted wanted = {.without = {"SpreadSatisfied", 15}};
    (void)state;
    assert_int_equal(patch("{\"conditions\":[" SPREAD("True", "Even", "x") "," OTHER "]}", &wanted),
                     0);
    assert_str(strbuf_str(&out), PATCH("\"conditions\":[" OTHER "]"));
    assert_int_equal(patch("{\"conditions\":[" OTHER "]}", &wanted), 0);
    assert_str(strbuf_str(&out), "");
    assert_int_equal(patch("", &wanted), 0);
    assert_str(strbuf_str(&out), "");
}

/* Each part that differs is a reason to write. */
static void what_differs_is_written(void **state) {
    static const char *const different[] = {
        "\"numberOfSelectedClusters\":3,\"decisionGroups\":[{\"decisionGroupIndex\":0,"
        "\"decisionGroupName\":\"\",\"decisions\":[\"p-decision-1\"],\"clusterCount\":2}]",
        "\"numberOfSelectedClusters\":2,\"decisionGroups\":[]",
        "\"numberOfSelectedClusters\":2,\"decisionGroups\":[{\"decisionGroupIndex\":1,"
        "\"decisionGroupName\":\"\",\"decisions\":[\"p-decision-1\"],\"clusterCount\":2}]",
        "\"numberOfSelectedClusters\":2,\"decisionGroups\":[{\"decisionGroupIndex\":0,"
        "\"decisionGroupName\":\"g\",\"decisions\":[\"p-decision-1\"],\"clusterCount\":2}]",
        "\"numberOfSelectedClusters\":2,\"decisionGroups\":[{\"decisionGroupIndex\":0,"
        "\"decisionGroupName\":\"\",\"decisions\":[\"p-decision-2\"],\"clusterCount\":2}]",
        "\"numberOfSelectedClusters\":2,\"decisionGroups\":[{\"decisionGroupIndex\":0,"
        "\"decisionGroupName\":\"\",\"decisions\":[\"p-decision-1\"],\"clusterCount\":1}]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        char json[600] = "";
        (void)snprintf(json, sizeof json, "{%s,\"conditions\":[%s]}", different[i],
                       SPREAD("True", "Even", "x"));
        assert_int_equal(patch(json, &all), 0);
        assert_true(out.n > 0);
    }
}

/* A claim is True or False: Unknown claims nothing, and the message is no part of it. */
static void what_a_status_denies(void **state) {
    static const struct {
        const char *conditions;
        bool denies;
    } table[] = {
        {"", false},
        {OTHER, false},
        {SPREAD("True", "Even", "x"), false},
        {"{\"type\":\"SpreadSatisfied\",\"status\":\"True\",\"reason\":\"Even\","
         "\"message\":\"older\"}",
         false},
        {SPREAD("True", "Odd", "x"), true},
        {SPREAD("False", "Even", "x"), true},
        {SPREAD("False", "Skewed", "x"), true},
        {SPREAD("Unknown", "Even", "x"), false},
        {SPREAD("Unknown", "Undone", "x"), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char json[300];
        struct err err;
        bool denies = !table[i].denies;
        (void)snprintf(json, sizeof json, "{\"conditions\":[%s]}", table[i].conditions);
        assert_int_equal(status_denies(str_of(json), &even, &arena, &denies, &err), 0);
        assert_int_equal(denies, table[i].denies);
    }
}

/* From each condition to each other that differs in one field: a patch comes, and only then. */
static void one_field_that_differs_is_written(void **state) {
    static const char *const statuses[] = {"True", "False", "Unknown"},
                             *const reasons[] = {"Even", "Skewed"},
                             *const messages[] = {"zone: skew 0", "zone: skew 1"};
    static const enum ocm_status codes[] = {OCM_TRUE, OCM_FALSE, OCM_UNKNOWN};
    enum { ALL = 3 * 2 * 2 };
    (void)state;
    for (unsigned from = 0; from < ALL; from++)
        for (unsigned to = 0; to < ALL; to++) {
            char json[300];
            (void)snprintf(json, sizeof json,
                           "{" GROUPS ",\"conditions\":[{\"type\":\"SpreadSatisfied\","
                           "\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"%s\","
                           "\"lastTransitionTime\":\"then\"}]}",
                           statuses[from % 3], reasons[from / 3 % 2], messages[from / 6]);
            const struct ocm_condition wants = {STR("SpreadSatisfied"), codes[to % 3],
                                                str_of(reasons[to / 3 % 2]),
                                                str_of(messages[to / 6])};
            struct status_wanted wanted = all;
            wanted.conditions = &wants;
            assert_int_equal(patch(json, &wanted), 0);
            assert_int_equal(out.n > 0, from != to);
            strbuf_append_char(&out, '\0');
            if (from != to)
                assert_contains(out.p, messages[to / 6]);
            assert_int_equal(from != to && strstr(out.p, "\"then\"") != NULL,
                             from != to && from % 3 == to % 3);
        }
}

static void what_is_no_status(void **state) {
    (void)state;
    assert_int_equal(patch("{\"conditions\":7}", &all), -EINVAL);
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    strbuf_done(&out);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_nothing),
        cmocka_unit_test(what_is_right_is_not_written),
        cmocka_unit_test(conditions),
        cmocka_unit_test(a_condition_goes),
        cmocka_unit_test(what_differs_is_written),
        cmocka_unit_test(what_a_status_denies),
        cmocka_unit_test(one_field_that_differs_is_written),
        cmocka_unit_test(what_is_no_status),
    };
    arena_init(&arena, 1 << 20);
    return cmocka_run_group_tests_name("status of a Placement", tests, NULL, teardown);
}
