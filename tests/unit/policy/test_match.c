/* Which policy is a Placement's. The rules are those of docs/guides/pods.md, "Placements"; which
 * one is a pod's is tested with what asks. */
#include "policy/match.h"

#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 40 };

struct fixture {
    struct arena arena;
    struct policy policies[MOST];
    uint32_t count;
    struct policy_namespace namespace;
    struct object_meta placement;
};

static const struct label team_items[] = {{{"team", 4}, {"red", 3}}};
static const struct label tier_items[] = {{{"tier", 4}, {"web", 3}}};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){
        .namespace = {.name = STR("shop"), .labels = {team_items, 1}, .known = true},
        .placement = {.name = STR("web"), .namespace = STR("shop"), .labels = {tier_items, 1}}};
    arena_init(&f.arena, 4 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

/* Adds a policy with these members of its spec; policies are sorted then. */
static void add(struct fixture *f, const char *name, const char *spec) {
    struct json_reader r;
    const struct str text =
        arena_printf(&f->arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}", name, spec);
    json_reader_init(&r, text, &f->arena, "policy");
    assert_in_range(f->count, 0, MOST - 1);
    policy_decode(&r, &f->policies[f->count++]);
    assert_int_equal(json_finish(&r, NULL), 0);
    policies_sort(f->policies, f->count);
}

static const char *name_of(const struct policy *policy) {
    static char names[2][64];
    static int next;
    char *name = names[next++ % 2];
    (void)snprintf(name, sizeof names[0], "%.*s",
                   STR_ARG(policy != NULL ? policy->name : STR("-"))); /* fits */
    return name;
}

/* "p audited a"; "-" is none. */
static const char *chosen(struct fixture *f) {
    static char text[160];
    struct policy_choice choice;
    const struct policy_list policies = {f->policies, f->count};
    bool known = policy_of_placement(policies, &f->namespace, &f->placement, &choice);
    for (int part = 0; part < POLICY_PARTS; part++)
        if (part != POLICY_PLACEMENTS || !known)
            assert_true(choice.enforced[part] == NULL && choice.audited[part] == NULL);
    (void)snprintf(text, sizeof text, "%s audited %s", name_of(choice.enforced[POLICY_PLACEMENTS]),
                   name_of(choice.audited[POLICY_PLACEMENTS])); /* fits */
    return known ? text : "not known";
}

#define SPREAD "\"placements\":{\"spread\":[{\"topologyKey\":\"region\"}]}"
#define PODS                                                                                       \
    "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}"
#define MATCH(members) ",\"match\":{" members "}"
#define SELECTOR(key, value) "{\"matchLabels\":{\"" key "\":\"" value "\"}}"
#define NAMESPACE(key, value) "\"namespaceSelector\":" SELECTOR(key, value)
#define NAMED(value) NAMESPACE("kubernetes.io/metadata.name", value)
#define OBJECT(value) "\"objectSelector\":" SELECTOR("tier", value)
#define EXCLUDE(members) "\"exclude\":{" members "}"
#define OWNER(group, kind) "\"ownerKinds\":[{\"group\":\"" group "\",\"kind\":\"" kind "\"}]"

static void the_first_that_matches_and_has_placements(void **state) {
    struct fixture *f = *state;
    assert_string_equal(chosen(f), "- audited -");
    add(f, "c", SPREAD);
    assert_string_equal(chosen(f), "c audited -");
    add(f, "b", SPREAD);
    assert_string_equal(chosen(f), "b audited -"); /* of one priority by name */
    add(f, "d", SPREAD ",\"priority\":1");
    assert_string_equal(chosen(f), "d audited -");
    add(f, "e", PODS ",\"priority\":2");
    assert_string_equal(chosen(f), "d audited -"); /* it says nothing of Placements */
    add(f, "f", SPREAD ",\"priority\":3" MATCH(OBJECT("db")));
    assert_string_equal(chosen(f), "d audited -"); /* it does not match */
    add(f, "g", "\"placements\":{\"spread\":[{\"topologyKey\":\"b c\"}]},\"priority\":4");
    assert_string_equal(chosen(f), "d audited -"); /* it cannot work */
    add(f, "h", PODS "," SPREAD ",\"priority\":5");
    assert_string_equal(chosen(f), "h audited -");
}

/* Each part of `match`, as it is and so that it does not match. */
static void what_matches(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *match;
        bool matches;
    } cases[] = {
        {MATCH(""), true},
        {MATCH(NAMESPACE("team", "red")), true},
        {MATCH(NAMESPACE("team", "blue")), false},
        {MATCH(NAMED("shop")), true},
        {MATCH(NAMED("other")), false},
        {MATCH(OBJECT("web")), true},
        {MATCH(OBJECT("db")), false},
        {MATCH(NAMED("shop") "," OBJECT("db")), false},
        {MATCH(NAMED("other") "," OBJECT("web")), false},
        {MATCH(EXCLUDE(NAMED("shop"))), false},
        {MATCH(EXCLUDE(NAMED("other"))), true},
        {MATCH(EXCLUDE(OBJECT("web"))), false},
        {MATCH(EXCLUDE(OBJECT("db"))), true},
        {MATCH(EXCLUDE(NAMED("other") "," OBJECT("web"))), false},
        {MATCH(OWNER("cluster.open-cluster-management.io", "Placement")), true},
        {MATCH(OWNER("", "Placement")), false},
        {MATCH(OWNER("cluster.open-cluster-management.io", "Pod")), false},
        {MATCH(OWNER("", "Pod")), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spec[512];
        f->count = 0;
        (void)snprintf(spec, sizeof spec, SPREAD "%s", cases[i].match); /* fits */
        add(f, "p", spec);
        if ((strcmp(chosen(f), "p audited -") == 0) != cases[i].matches)
            fail_msg("%s: %s", cases[i].match, chosen(f));
    }
}

/* A controller takes the place of the Placement as its owner. */
static void a_placement_that_is_controlled(void **state) {
    struct fixture *f = *state;
    f->placement.controller_api = STR("argoproj.io/v1alpha1");
    f->placement.controller_kind = STR("ApplicationSet");
    f->placement.controller_name = STR("apps");
    add(f, "p", SPREAD MATCH(OWNER("cluster.open-cluster-management.io", "Placement")));
    assert_string_equal(chosen(f), "- audited -");
    add(f, "q", SPREAD MATCH(OWNER("argoproj.io", "ApplicationSet")));
    assert_string_equal(chosen(f), "q audited -");
}

static void modes(void **state) {
    struct fixture *f = *state;
    add(f, "c", SPREAD ",\"mode\":\"Audit\"");
    assert_string_equal(chosen(f), "- audited c");
    add(f, "d", SPREAD ",\"mode\":\"Require\"");
    assert_string_equal(chosen(f), "d audited c"); /* as if the audited one were not there */
    add(f, "b", SPREAD);
    assert_string_equal(chosen(f), "b audited -"); /* c would not have its turn */
}

/* The opt-out of pods, and what policies say of schedulers, is for pods. */
static void what_is_for_pods_only(void **state) {
    struct fixture *f = *state;
    static const struct label items[] = {{{"evenkeel.io/inject", 18}, {"disabled", 8}}};
    f->placement.labels = f->namespace.labels = (struct labels){items, 1};
    add(f, "p",
        SPREAD ",\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
               "\"ScheduleAnyway\"}],\"schedulerNames\":[\"other\"]}");
    assert_string_equal(chosen(f), "p audited -");
}

/* The name is always known, other labels are not. */
static void a_namespace_that_is_not_known(void **state) {
    struct fixture *f = *state;
    f->namespace.known = false;
    f->namespace.labels = (struct labels){0};
    add(f, "p", SPREAD MATCH(NAMED("shop")));
    assert_string_equal(chosen(f), "p audited -");
    add(f, "o", SPREAD MATCH(NAMED("other")));
    assert_string_equal(chosen(f), "p audited -");
    add(f, "n", SPREAD MATCH(NAMESPACE("team", "red") "," OBJECT("db")));
    assert_string_equal(chosen(f), "p audited -"); /* whatever the labels are */
    add(f, "z", SPREAD MATCH(NAMESPACE("team", "red")));
    assert_string_equal(chosen(f), "p audited -"); /* behind the one that counts */
    add(f, "m", SPREAD MATCH(NAMESPACE("team", "red")));
    assert_string_equal(chosen(f), "not known");
    f->namespace.known = true;
    assert_string_equal(chosen(f), "p audited -");
    f->count = 0;
    f->namespace.known = false;
    add(f, "p", SPREAD MATCH(EXCLUDE(NAMESPACE("team", "red"))));
    assert_string_equal(chosen(f), "not known");
}

/* Where there are many, most are passed over by a hash of their labels; the answer is the same. */
static void many_are_matched_as_few_are(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < MOST - 2; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "a%02d", i); /* fits */
        add(f, name, SPREAD MATCH(NAMED("other") "," OBJECT("web")));
    }
    add(f, "b", SPREAD MATCH(NAMED("shop") "," OBJECT("web")));
    assert_string_equal(chosen(f), "b audited -");
    f->namespace.known = false;
    f->namespace.labels = (struct labels){0};
    assert_string_equal(chosen(f), "b audited -");
    add(f, "a", SPREAD MATCH(NAMESPACE("team", "red")));
    assert_string_equal(chosen(f), "not known");
}

static void what_an_audited_policy_would_do(void **state) {
    struct fixture *f = *state;
    add(f, "p", SPREAD);
    assert_str(policy_placement_audit(&f->policies[0], &f->arena),
               "policy 'p' (Audit) would spread by region");
    add(f, "a",
        "\"placements\":{\"spread\":[{\"topologyKey\":\"region\"},{\"topologyKey\":"
        "\"example.com/zone\",\"topologyKeyType\":\"Claim\"}]}");
    assert_str(policy_placement_keys(&f->policies[0], &f->arena), "region, example.com/zone");
    assert_str(policy_placement_audit(&f->policies[0], &f->arena),
               "policy 'a' (Audit) would spread by region, example.com/zone");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_first_that_matches_and_has_placements),
        TEST(what_matches),
        TEST(a_placement_that_is_controlled),
        TEST(modes),
        TEST(what_is_for_pods_only),
        TEST(a_namespace_that_is_not_known),
        TEST(many_are_matched_as_few_are),
        TEST(what_an_audited_policy_would_do),
    };
    return cmocka_run_group_tests_name("policies of Placements", tests, NULL, NULL);
}
