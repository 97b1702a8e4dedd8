/* The metric by which an alert finds policies that cannot do what they ask for. */
#include "daemon/known_policies.h"

#include "base/metrics.h"
#include "policy/policies.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct configuration configuration;
    struct known_policies *known;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.known = NULL};
    const struct known_policies_options options = {.configuration = &f.configuration,
                                                   .counted = true};
    assert_int_equal(known_policies_start(&options, &f.known, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    known_policies_stop(f->known);
    known_policies_free(f->known);
    metrics_reset();
    return 0;
}

/* A policy of the second generation. */
static void apply(struct fixture *f, const char *name, const char *mode, const char *condition,
                  const char *shadowed) {
    char object[1024];
    (void)snprintf(
        object, sizeof object,
        "{\"metadata\":{\"name\":\"%s\",\"generation\":2},\"spec\":{\"mode\":\"%s\",\"pods\":{"
        "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}},"
        "\"status\":{\"observedGeneration\":2,\"conditions\":[{\"type\":\"Effective\",%s},"
        "{\"type\":\"Shadowed\",\"status\":\"%s\",\"observedGeneration\":2}]}}",
        name, mode, condition, shadowed); /* fits */
    assert_int_equal(policy_live_apply(known_policies_source(f->known), str_of(object), NULL), 0);
}

#define IS(status, generation, reason)                                                             \
    "\"status\":\"" status "\",\"observedGeneration\":" generation ",\"reason\":\"" reason "\""

static void counts(const char *reason, int count) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    char want[100];
    metrics_render(&out);
    strbuf_append_char(&out, '\0');
    assert_false(strbuf_failed(&out));
    (void)snprintf(want, sizeof want, "evenkeel_policies_ineffective{reason=\"%s\"} %d\n", reason,
                   count); /* fits */
    assert_contains(strbuf_str(&out).p, want);
}

static void each_reason_counts(void **state) {
    struct fixture *f = *state;
    static const char *const reasons[] = {"NoNodeHasKey", "TooFewDomains", "NoSuchOwnerKind",
                                          "NotReady"};
    apply(f, "a", "Enforce", IS("False", "2", "NoNodeHasKey"), "False");
    apply(f, "b", "Require", IS("False", "2", "NoNodeHasKey"), "False");
    apply(f, "c", "Enforce", IS("False", "2", "TooFewDomains"), "False");
    apply(f, "d", "Enforce", IS("False", "2", "NoSuchOwnerKind"), "False");
    apply(f, "e", "Enforce", IS("False", "2", "NotReady"), "False");
    for (int i = 0; i < 4; i++)
        counts(reasons[i], i == 0 ? 2 : 1);
    apply(f, "b", "Require", IS("True", "2", "NodesSuit"), "False");
    counts("NoNodeHasKey", 1);
}

static void policies_that_harm_nobody_do_not_count(void **state) {
    struct fixture *f = *state;
    apply(f, "audited", "Audit", IS("False", "2", "NoNodeHasKey"), "False");
    apply(f, "shadowed", "Enforce", IS("False", "2", "NoNodeHasKey"), "True");
    apply(f, "stale", "Enforce", IS("False", "1", "NoNodeHasKey"), "False");
    apply(f, "unknown", "Enforce", IS("Unknown", "2", "NoPods"), "False");
    counts("NoNodeHasKey", 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_reason_counts),
        TEST(policies_that_harm_nobody_do_not_count),
    };
    return cmocka_run_group_tests_name("known policies", tests, NULL, NULL);
}
