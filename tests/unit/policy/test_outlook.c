/* What becomes of policies in a cluster: who leaves whom nothing. What nodes make of them is tested
 * where it is written, in unit/controllers/test_policy_status.c. */
#include "policy/outlook.h"

#include "policy/policies.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct policy_source *policies;
    struct policy_outlook *outlook;
};

static int setup(void **state) {
    static struct fixture f;
    assert_int_equal(policy_source_new(NULL, 0, &f.policies, NULL), 0);
    f.outlook = policy_outlook_new(f.policies, NULL);
    assert_non_null(f.outlook);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    policy_outlook_free(f->outlook);
    policy_source_free(f->policies);
    return 0;
}

/* Policies of one priority: they are ordered by name. */
static void apply(struct fixture *f, const char *name, const char *spec) {
    char object[1024];
    (void)snprintf(object, sizeof object, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}", name,
                   spec); /* fits */
    assert_int_equal(policy_live_apply(f->policies, str_of(object), NULL), 0);
}

/* "a b": who has spread and locality of it; "" for a policy that is not shadowed. */
static const char *shadows_of(struct fixture *f, const char *name) {
    static char text[64];
    policy_outlook_step(f->outlook);
    struct policy_prospect p = policy_outlook_of(f->outlook, str_of(name));
    text[0] = '\0';
    for (int i = 0; i < POLICY_PARTS; i++)
        if (p.shadows[i] != NULL)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s",
                           text[0] != '\0' ? " " : "", STR_ARG(p.shadows[i]->name));
    assert_false(p.known); /* no nodes are */
    return text;
}

#define SPREAD "\"spread\":[{\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]"
#define PODS(parts) "\"pods\":{" parts "}"
#define MATCH(members) "\"match\":{" members "},"
#define NAMESPACE(team) "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"" team "\"}}"
#define OBJECT(tier) "\"objectSelector\":{\"matchLabels\":{\"tier\":\"" tier "\"}}"

static void a_policy_for_all_pods_shadows_those_behind_it(void **state) {
    struct fixture *f = *state;
    apply(f, "a", MATCH(OBJECT("web")) PODS(SPREAD));
    apply(f, "b", PODS(SPREAD));
    apply(f, "c", MATCH(OBJECT("web")) PODS(SPREAD));
    apply(f, "d", MATCH(OBJECT("db") "," NAMESPACE("red")) PODS(SPREAD));
    apply(f, "e", PODS(SPREAD ",\"locality\":{}"));
    apply(f, "f", PODS(SPREAD ",\"locality\":{}"));
    assert_string_equal(shadows_of(f, "a"), "");
    assert_string_equal(shadows_of(f, "b"), "");
    assert_string_equal(shadows_of(f, "c"), "a"); /* the first of those that do */
    assert_string_equal(shadows_of(f, "d"), "b");
    assert_string_equal(shadows_of(f, "e"), ""); /* its locality counts */
    assert_string_equal(shadows_of(f, "f"), "b e");
    assert_string_equal(shadows_of(f, "none"), "");
}

static void a_wider_match_shadows_a_narrower_one(void **state) {
    struct fixture *f = *state;
    apply(f, "a", MATCH(NAMESPACE("red")) PODS(SPREAD));
    apply(f, "b", MATCH(NAMESPACE("red") "," OBJECT("web")) PODS(SPREAD));
    apply(f, "c", MATCH(NAMESPACE("blue") "," OBJECT("web")) PODS(SPREAD));
    apply(f, "d", MATCH(NAMESPACE("blue")) PODS(SPREAD)); /* wider than c, and behind it */
    apply(f, "e", MATCH("\"exclude\":{" OBJECT("x") "}") PODS(SPREAD));
    apply(f, "f", MATCH(NAMESPACE("blue") ",\"exclude\":{" OBJECT("x") "}") PODS(SPREAD));
    apply(f, "g", MATCH(NAMESPACE("green")) PODS(SPREAD)); /* e is not for all of its pods */
    apply(f, "h", MATCH(NAMESPACE("green") ",\"ownerKinds\":[{\"kind\":\"Pod\"}]") PODS(SPREAD));
    assert_string_equal(shadows_of(f, "b"), "a");
    assert_string_equal(shadows_of(f, "c"), "");
    assert_string_equal(shadows_of(f, "d"), "");
    assert_string_equal(shadows_of(f, "f"), "d");
    assert_string_equal(shadows_of(f, "g"), "");
    assert_string_equal(shadows_of(f, "h"), "g");
}

#define PLACEMENTS "\"placements\":{\"spread\":[{\"topologyKey\":\"region\"}]}"

/* Placements are a part like others. */
static void a_policy_for_placements_may_be_shadowed(void **state) {
    struct fixture *f = *state;
    apply(f, "a", PODS(SPREAD));
    apply(f, "b", PLACEMENTS);
    apply(f, "c", PODS(SPREAD) "," PLACEMENTS);
    apply(f, "d", MATCH(OBJECT("web")) PLACEMENTS);
    assert_string_equal(shadows_of(f, "b"), "");
    assert_string_equal(shadows_of(f, "c"), "a b");
    assert_string_equal(shadows_of(f, "d"), "b");
}

static void what_shadows_nothing(void **state) {
    struct fixture *f = *state;
    apply(f, "a", "\"mode\":\"Audit\"," PODS(SPREAD));
    apply(f, "b", MATCH("\"exclude\":{\"objectSelector\":{}}") PODS(SPREAD)); /* cannot work */
    apply(f, "c", PODS(SPREAD ",\"schedulerNames\":[\"mine\"]"));
    apply(f, "d", PODS(SPREAD));
    apply(f, "e", "\"mode\":\"Audit\"," PODS(SPREAD));
    assert_string_equal(shadows_of(f, "d"), "");
    assert_string_equal(shadows_of(f, "e"), "d"); /* as it would be, if it were enforced */
    apply(f, "a", PODS(SPREAD));
    assert_string_equal(shadows_of(f, "d"), "a"); /* policies change */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_policy_for_all_pods_shadows_those_behind_it),
        TEST(a_wider_match_shadows_a_narrower_one),
        TEST(a_policy_for_placements_may_be_shadowed),
        TEST(what_shadows_nothing),
    };
    return cmocka_run_group_tests_name("outlook of policies", tests, NULL, NULL);
}
