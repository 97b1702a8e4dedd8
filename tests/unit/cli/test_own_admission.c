/* Which admissions are a pod's own: by name, by time, and by the constraints that they added. */
#include "cli/own_admission.h"

#include "unit/unit.h"

#include <stdio.h>

#define POD(created, constraints)                                                                  \
    "{\"metadata\":{\"name\":\"web-x7k2p\",\"namespace\":\"n\",\"uid\":\"u\"," created             \
    "\"generateName\":\"web-\"},\"spec\":{\"topologySpreadConstraints\":[" constraints "]}}"
#define CREATED "\"creationTimestamp\":\"2026-01-02T03:04:05Z\","
#define ZONE(skew, when)                                                                           \
    "{\"maxSkew\":" skew ",\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"" when "\"}"
#define HARD "DoNotSchedule"
#define ADMIT(time, more)                                                                          \
    "{\"verb\":\"admit\",\"generateName\":\"web-\",\"time\":\"2026-01-02T" time "\"" more "}"
#define PATCH(path, value) ",\"patch\":[{\"path\":\"" path "\",\"value\":\"" value "\"}]"
#define SPREAD "/spec/topologySpreadConstraints"
#define ADDED                                                                                      \
    "{\\\"maxSkew\\\":1,\\\"topologyKey\\\":\\\"zone\\\",\\\"whenUnsatisfiable\\\":"               \
    "\\\"DoNotSchedule\\\"}"

static const struct row {
    const char *pod, *decision;
    enum own_admission want;
} rows[] = {
    {POD(CREATED, ""), "{\"verb\":\"filter\",\"name\":\"web-x7k2p\"}", ADMISSION_NONE},
    {POD(CREATED, ""), "[]", ADMISSION_NONE},
    /* thirty seconds on both sides */
    {POD(CREATED, ""), ADMIT("03:04:35.000Z", ""), ADMISSION_OWN},
    {POD(CREATED, ""), ADMIT("03:04:35.001Z", ""), ADMISSION_OF_SIBLING},
    {POD(CREATED, ""), ADMIT("03:03:35.000Z", ""), ADMISSION_OWN},
    {POD(CREATED, ""), ADMIT("03:03:34.999Z", ""), ADMISSION_OF_SIBLING},
    /* a name is proof, and without a pod nothing is known */
    {POD(CREATED, ""), ADMIT("05:00:00Z", ",\"name\":\"web-x7k2p\""), ADMISSION_OWN},
    {POD("", ""), ADMIT("05:00:00Z", ""), ADMISSION_OWN},
    {"", ADMIT("05:00:00Z", ""), ADMISSION_OWN},
    /* the constraint is in the pod, alone or in an array; or another one, or none */
    {POD(CREATED, ZONE("1", HARD)), ADMIT("03:04:05Z", PATCH(SPREAD "/-", ADDED)), ADMISSION_OWN},
    {POD(CREATED, ZONE("1", HARD)), ADMIT("03:04:05Z", PATCH(SPREAD, "[" ADDED "]")),
     ADMISSION_OWN},
    {POD(CREATED, ""), ADMIT("03:04:05Z", PATCH(SPREAD "/-", ADDED)), ADMISSION_OF_SIBLING},
    {POD(CREATED, ""), ADMIT("03:04:05Z", PATCH(SPREAD, "[" ADDED "]")), ADMISSION_OF_SIBLING},
    {POD(CREATED, ZONE("2", HARD)), ADMIT("03:04:05Z", PATCH(SPREAD "/-", ADDED)),
     ADMISSION_OF_SIBLING},
    {POD(CREATED, ZONE("1", "ScheduleAnyway")), ADMIT("03:04:05Z", PATCH(SPREAD "/-", ADDED)),
     ADMISSION_OF_SIBLING},
    /* another part of the pod, and a value that was not kept */
    {POD(CREATED, ""), ADMIT("03:04:05Z", PATCH("/spec/affinity", "{}")), ADMISSION_OWN},
    {POD(CREATED, ""),
     ADMIT("03:04:05Z", ",\"patch\":[{\"path\":\"" SPREAD "\",\"valueBytes\":2000}]"),
     ADMISSION_OWN},
};

static void whose_admission(void **state) {
    CLEANUP(arena_done) struct arena arena;
    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct created_pod pod;
        struct err err;
        if (created_pod_read(str_of(rows[i].pod), &arena, &pod, &err) != 0)
            fail_msg("%s: %s", rows[i].pod, err.text);
        if (own_admission_of(&pod, str_of(rows[i].decision), &arena) != rows[i].want)
            fail_msg("pod %s, decision %s", rows[i].pod, rows[i].decision);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_admission)};
    return cmocka_run_group_tests_name("own_admission", tests, NULL, NULL);
}
