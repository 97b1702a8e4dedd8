/*
 * How much a pod's own constraints and node terms may differ from what a policy with mode Require
 * asks for: one row on each side of every edge that docs/guides/pods.md names ("Policies that
 * bind"). Who may create which pods is in test_require.c.
 */
#include "admission/pods/require.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

/* What pods are asked for, what one of them says, and the reason that is given. */
struct row {
    const char *name;
    const char *policy; /* of spec.pods */
    const char *metadata, *spec;
    enum evasion want;
};

struct asked {
    struct cluster c;
    struct review_answer answer;
    struct pod_evasion found;
};

static void decode_policy(struct cluster *c, const char *pods, struct policy *ret) {
    struct strbuf text = {0};
    struct json_reader r;
    struct err err;
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"Require\","
                   "\"pods\":{%s}}}",
                   pods);
    json_reader_init(&r, arena_str(&c->arena, strbuf_str(&text)), &c->arena, "policy");
    strbuf_done(&text);
    policy_decode(&r, ret);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(ret->problem, "");
}

/* As API servers do: first the mutating webhook, then the validating one. `only`: the second. */
static void create(struct asked *a, const char *pods, struct str pod, bool only) {
    struct policy policy;
    struct patch patch = {.document = pod};
    const struct pod_options options = {.head.policies = &policy,
                                        .head.policy_count = 1,
                                        .cache = a->c.cache,
                                        .evasion = &a->found};
    struct review review = {.uid = STR("u"),
                            .resource = STR("pods"),
                            .operation = STR("CREATE"),
                            .namespace = STR("shop"),
                            .user = STR("ann"),
                            .object = pod};
    decode_policy(&a->c, pods, &policy);
    if (!only)
        (void)admit_object(&admitted_pods, &options.head, &review, &a->c.arena, &patch, &a->answer);
    review.object = arena_str(&a->c.arena, patch.document);
    a->found = (struct pod_evasion){.evasion = EVASION_NONE};
    (void)admit_object(&validated_pods, &options.head, &review, &a->c.arena, &patch, &a->answer);
}

static struct str pod_of(struct cluster *c, const struct row *row) {
    struct strbuf text = {0};
    strbuf_appendf(&text, "{\"metadata\":{%s},\"spec\":{%s}}", row->metadata, row->spec);
    struct str pod = arena_str(&c->arena, strbuf_str(&text));
    strbuf_done(&text);
    return pod;
}

static void check(struct asked *a, const struct row *row) {
    create(a, row->policy, pod_of(&a->c, row), false);
    if (a->found.evasion != row->want)
        fail_msg("%s: %s, not %s", row->name, evasion_reason(a->found.evasion),
                 evasion_reason(row->want));
    assert_int_equal(a->answer.allowed, row->want == EVASION_NONE);
}

static void check_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct asked a = {.answer = {.allowed = false}};
        cluster_open(&a.c);
        check(&a, &rows[i]);
        cluster_close(&a.c);
    }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof *(rows))

#define LABELS "\"labels\":{\"app\":\"web\"}"
#define SPREAD(when, more)                                                                         \
    "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"" when "\"" more "}]"
#define HARD(more) SPREAD("DoNotSchedule", more)
#define SOFT(more) SPREAD("ScheduleAnyway", more)
#define BY_APP ",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define ONE(skew, when, more)                                                                      \
    "{\"topologyKey\":\"zone\",\"maxSkew\":" #skew ",\"whenUnsatisfiable\":\"" when "\"" more "}"
#define OWN(constraints) "\"topologySpreadConstraints\":[" constraints "]"
#define OWN_HARD(skew, more) OWN(ONE(skew, "DoNotSchedule", BY_APP more))
#define OWN_SOFT(skew) OWN(ONE(skew, "ScheduleAnyway", BY_APP))

/* ---- as much as the policy asks for, or more ---- */

static void a_constraint_is_as_strong_as_the_policys_or_denied(void **state) {
#define TWO_OF_THREE HARD(",\"maxSkew\":2,\"minDomains\":3")
#define MIN(n) ",\"minDomains\":" #n
    static const struct row rows[] = {
        {"as much", TWO_OF_THREE, LABELS, OWN_HARD(2, MIN(3)), EVASION_NONE},
        {"a smaller skew", TWO_OF_THREE, LABELS, OWN_HARD(1, MIN(3)), EVASION_NONE},
        {"more domains", TWO_OF_THREE, LABELS, OWN_HARD(2, MIN(4)), EVASION_NONE},
        {"a larger skew", TWO_OF_THREE, LABELS, OWN_HARD(3, MIN(3)), EVASION_CONSTRAINT_WEAKER},
        {"fewer domains", TWO_OF_THREE, LABELS, OWN_HARD(2, MIN(2)), EVASION_CONSTRAINT_WEAKER},
        {"no number of domains", TWO_OF_THREE, LABELS, OWN_HARD(2, ""), EVASION_CONSTRAINT_WEAKER},
        {"a preference", TWO_OF_THREE, LABELS, OWN_SOFT(1), EVASION_CONSTRAINT_WEAKER},
        {"domains that nobody asked for", HARD(""), LABELS, OWN_HARD(1, MIN(2)), EVASION_NONE},
        {"a preference as strong", SOFT(",\"maxSkew\":2"), LABELS, OWN_SOFT(2), EVASION_NONE},
        {"a weaker preference", SOFT(",\"maxSkew\":2"), LABELS, OWN_SOFT(3),
         EVASION_CONSTRAINT_WEAKER},
        {"what binds is more than any preference", SOFT(",\"maxSkew\":2"), LABELS, OWN_HARD(9, ""),
         EVASION_NONE},
        {"the first of two is good", HARD(""), LABELS,
         OWN(ONE(1, "DoNotSchedule", BY_APP) "," ONE(9, "ScheduleAnyway", BY_APP)), EVASION_NONE},
        {"the second of two is good", HARD(""), LABELS,
         OWN(ONE(9, "ScheduleAnyway", BY_APP) "," ONE(1, "DoNotSchedule", BY_APP)), EVASION_NONE},
        {"none of two is good", HARD(""), LABELS,
         OWN(ONE(1, "ScheduleAnyway", BY_APP) "," ONE(2, "DoNotSchedule", BY_APP)),
         EVASION_CONSTRAINT_WEAKER},
    };
    (void)state;
    CHECK_ROWS(rows);
}

/* What the policy would have softened for the pod's own sake, its author may soften. */
static void what_would_not_be_added_as_it_is_is_no_evasion(void **state) {
#define AWAY_FROM(app)                                                                             \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"     \
    "\"topologyKey\":\"zone\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app "\"}}}]}}"
    static const struct row rows[] = {
        {"weaker", HARD(""), LABELS, OWN_SOFT(5), EVASION_CONSTRAINT_WEAKER},
        {"... where it would be a preference", HARD(""), LABELS, OWN_SOFT(5) "," AWAY_FROM("db"),
         EVASION_NONE},
        {"... where it would be left out", HARD(""), LABELS, OWN_SOFT(5) "," AWAY_FROM("web"),
         EVASION_NONE},
        {"weaker, and another key is the pod's own, too", HARD(""), LABELS,
         OWN(ONE(5, "DoNotSchedule", BY_APP) ",{\"topologyKey\":\"rack\",\"maxSkew\":1,"
                                             "\"whenUnsatisfiable\":\"DoNotSchedule\"}"),
         EVASION_CONSTRAINT_WEAKER},
    };
    (void)state;
    CHECK_ROWS(rows);
    /* Nothing is missing where nothing would be added. */
    struct asked a = {.answer = {.allowed = false}};
    const struct row apart = {.metadata = LABELS, .spec = AWAY_FROM("web")};
    const struct row bare = {.metadata = LABELS, .spec = ""};
    cluster_open(&a.c);
    create(&a, HARD(""), pod_of(&a.c, &apart), true);
    assert_int_equal(a.found.evasion, EVASION_NONE);
    assert_int_equal(a.answer.warning_count, 0);
    create(&a, HARD(""), pod_of(&a.c, &bare), true);
    assert_int_equal(a.found.evasion, EVASION_NOT_INJECTED);
    assert_int_equal(a.answer.warning_count, 1);
    cluster_close(&a.c);
}

/* ---- whom it counts ---- */

#define BY(selector) ",\"labelSelector\":{" selector "}"
#define EXPRESSION(key, value)                                                                     \
    "\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[\"" value "\"]}]"
#define COUNTS(selector) OWN(ONE(1, "DoNotSchedule", selector))
#define OF_A_REVISION                                                                              \
    "\"labels\":{\"app\":\"web\",\"me\":\"1\",\"tier\":\"front\",\"pod-template-hash\":\"h\"}"
#define OF_SET                                                                                     \
    OF_A_REVISION ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","     \
                  "\"name\":\"web\",\"uid\":\"u\",\"controller\":true}]"

/* Where the policy or the controller's selector says who belongs together. */
static void a_constraint_goes_by_no_other_label_than_the_group(void **state) {
#define BY_LABEL HARD("") ",\"groupBy\":{\"labels\":[\"app\"]}"
    static const struct row rows[] = {
        {"an expression of the group's label", BY_LABEL, OF_A_REVISION,
         COUNTS(BY(EXPRESSION("app", "web"))), EVASION_NONE},
        {"... and another one", BY_LABEL, OF_A_REVISION,
         COUNTS(BY("\"matchLabels\":{\"app\":\"web\"}," EXPRESSION("me", "1"))),
         EVASION_CONSTRAINT_NARROWER},
        {"... that does not mean the pod", BY_LABEL, OF_A_REVISION,
         COUNTS(BY(EXPRESSION("app", "db"))), EVASION_CONSTRAINT_NARROWER},
        {"another label", BY_LABEL, OF_A_REVISION,
         COUNTS(BY("\"matchLabels\":{\"app\":\"web\",\"me\":\"1\"}")), EVASION_CONSTRAINT_NARROWER},
        {"another key", BY_LABEL, OF_A_REVISION, COUNTS(BY_APP ",\"matchLabelKeys\":[\"me\"]"),
         EVASION_CONSTRAINT_NARROWER},
        {"its revision as a key", BY_LABEL, OF_A_REVISION,
         COUNTS(BY_APP ",\"matchLabelKeys\":[\"pod-template-hash\"]"), EVASION_NONE},
        {"its revision as a label", BY_LABEL, OF_A_REVISION,
         COUNTS(BY("\"matchLabels\":{\"app\":\"web\",\"pod-template-hash\":\"h\"}")), EVASION_NONE},
        {"all pods", BY_LABEL, OF_A_REVISION, COUNTS(BY("")), EVASION_NONE},
        {"no pods", BY_LABEL, OF_A_REVISION, COUNTS(""), EVASION_CONSTRAINT_NARROWER},
        {"a label of its own, and nobody says who belongs together", HARD(""), OF_A_REVISION,
         COUNTS(BY("\"matchLabels\":{\"app\":\"web\",\"me\":\"1\"}")), EVASION_NONE},
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void the_controllers_selector_says_who_belongs_together(void **state) {
    static const struct row rows[] = {
        {"its label", HARD(""), OF_SET, COUNTS(BY_APP), EVASION_NONE},
        {"the label of its expression", HARD(""), OF_SET,
         COUNTS(BY("\"matchLabels\":{\"tier\":\"front\"}")), EVASION_NONE},
        {"its expression", HARD(""), OF_SET, COUNTS(BY(EXPRESSION("tier", "front"))), EVASION_NONE},
        {"another label", HARD(""), OF_SET,
         COUNTS(BY("\"matchLabels\":{\"app\":\"web\",\"me\":\"1\"}")), EVASION_CONSTRAINT_NARROWER},
        {"another expression", HARD(""), OF_SET, COUNTS(BY(EXPRESSION("me", "1"))),
         EVASION_CONSTRAINT_NARROWER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct asked a = {.answer = {.allowed = false}};
        cluster_open(&a.c);
        cluster_workload(&a.c, OBJECT_REPLICA_SET,
                         "{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"},\"spec\":{"
                         "\"selector\":{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{"
                         "\"key\":\"tier\",\"operator\":\"NotIn\",\"values\":[\"back\"]}]}}}");
        check(&a, &rows[i]);
        cluster_close(&a.c);
    }
}

/* What was learned from siblings may change from one pod to the next, so it binds nobody. */
static void what_siblings_teach_is_held_against_nobody(void **state) {
#define OF_A_WIDGET(me)                                                                            \
    "\"name\":\"p" me "\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\",\"me\":\"" me         \
    "\"},\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\","             \
    "\"name\":\"w\",\"uid\":\"u\",\"controller\":true}]"
    static const struct row row = {"a label that siblings do not share", HARD(""), OF_A_WIDGET("1"),
                                   COUNTS(BY("\"matchLabels\":{\"app\":\"web\",\"me\":\"1\"}")),
                                   EVASION_NONE};
    struct asked a = {.answer = {.allowed = false}};
    (void)state;
    cluster_open(&a.c);
    cluster_nodes(&a.c, "a");
    cluster_apply_json(&a.c, OBJECT_POD,
                       "{\"metadata\":{" OF_A_WIDGET("2") "},\"spec\":{\"nodeName\":\"a\"}}");
    check(&a, &row);
    cluster_close(&a.c);
}

/* ---- where it may go ---- */

#define NODES(terms)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[" terms "]}}}"
#define TERM(expressions) "{\"matchExpressions\":[" expressions "]}"
#define ZONE(op, values) "{\"key\":\"zone\",\"operator\":\"" op "\"" values "}"
#define IN(values) ZONE("In", ",\"values\":[" values "]")
#define EXISTS ZONE("Exists", "")
#define GONE ZONE("DoesNotExist", "")
#define OTHER_KEY "{\"key\":\"disk\",\"operator\":\"In\",\"values\":[\"ssd\"]}"

/* So many values of the key as minDomains: one fewer, as many, one more. */
static void terms_name_as_many_domains_as_are_wanted(void **state) {
#define THREE HARD(",\"minDomains\":3")
#define FEW EVASION_NODE_TERMS
    static const struct row rows[] = {
        {"two values", THREE, LABELS, NODES(TERM(IN("\"a\",\"b\""))), FEW},
        {"three", THREE, LABELS, NODES(TERM(IN("\"a\",\"b\",\"c\""))), EVASION_NONE},
        {"four", THREE, LABELS, NODES(TERM(IN("\"a\",\"b\",\"c\",\"d\""))), EVASION_NONE},
        {"any", THREE, LABELS, NODES(TERM(EXISTS)), EVASION_NONE},
        {"any but one", THREE, LABELS, NODES(TERM(ZONE("NotIn", ",\"values\":[\"a\"]"))),
         EVASION_NONE},
        {"of another key", THREE, LABELS, NODES(TERM(OTHER_KEY)), EVASION_NONE},
        {"two, beside another key", THREE, LABELS, NODES(TERM(OTHER_KEY "," IN("\"a\",\"b\""))),
         FEW},
        /* all expressions of a term must be true */
        {"two, and any", THREE, LABELS, NODES(TERM(IN("\"a\",\"b\"") "," EXISTS)), FEW},
        {"any, and two", THREE, LABELS, NODES(TERM(EXISTS "," IN("\"a\",\"b\""))), FEW},
        {"three, and one of them", THREE, LABELS,
         NODES(TERM(IN("\"a\",\"b\",\"c\"") "," IN("\"a\""))), FEW},
        {"one, and three with it", THREE, LABELS,
         NODES(TERM(IN("\"a\"") "," IN("\"a\",\"b\",\"c\""))), FEW},
        /* and one term is enough */
        {"two, or one", THREE, LABELS, NODES(TERM(IN("\"a\",\"b\"")) "," TERM(IN("\"c\""))),
         EVASION_NONE},
        {"one, or two", THREE, LABELS, NODES(TERM(IN("\"c\"")) "," TERM(IN("\"a\",\"b\""))),
         EVASION_NONE},
        {"one, or one", THREE, LABELS, NODES(TERM(IN("\"c\"")) "," TERM(IN("\"a\""))), FEW},
        {"one, or any", THREE, LABELS, NODES(TERM(IN("\"c\"")) "," TERM(OTHER_KEY)), EVASION_NONE},
        /* nodes without the key are in no domain */
        {"none", HARD(""), LABELS, NODES(TERM(GONE)), FEW},
        {"none, or one", HARD(""), LABELS, NODES(TERM(GONE) "," TERM(IN("\"a\""))), EVASION_NONE},
        {"none, and one", HARD(""), LABELS, NODES(TERM(IN("\"a\"") "," GONE)), FEW},
        {"one of one", HARD(""), LABELS, NODES(TERM(IN("\"a\""))), EVASION_NONE},
        {"one of two", HARD(",\"minDomains\":2"), LABELS, NODES(TERM(IN("\"a\""))), FEW},
        {"one by its nodeSelector", HARD(",\"minDomains\":2"), LABELS,
         "\"nodeSelector\":{\"zone\":\"a\"}", FEW},
        {"... of one", HARD(",\"minDomains\":1"), LABELS, "\"nodeSelector\":{\"zone\":\"a\"}",
         EVASION_NONE},
        {"... of another key", HARD(",\"minDomains\":2"), LABELS,
         "\"nodeSelector\":{\"zones\":\"a\"}", EVASION_NONE},
        {"a preference is not bound to domains", SOFT(""), LABELS, NODES(TERM(GONE)), EVASION_NONE},
    };
    (void)state;
    CHECK_ROWS(rows);
}

/* ---- pods that are too long ---- */

/* So many labels that the mutating review gives up, and the validating one, which writes nothing,
 * does not. */
static void a_review_that_gives_up_is_an_evasion(void **state) {
    enum { LABEL_COUNT = 90000 };
    struct strbuf pod = {0};
    struct asked a = {.answer = {.allowed = false}};
    (void)state;
    cluster_open(&a.c);
    strbuf_append_str(&pod, STR("{\"metadata\":{\"labels\":{\"app\":\"web\""));
    for (int i = 0; i < LABEL_COUNT; i++)
        strbuf_appendf(&pod, ",\"k%d\":\"\"", i);
    strbuf_append_str(&pod, STR("}},\"spec\":{}}"));
    create(&a,
           "\"spread\":[{\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"b\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"c\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"d\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"e\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"f\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"g\",\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"h\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]",
           strbuf_str(&pod), false);
    strbuf_done(&pod);
    assert_int_equal(a.found.evasion, EVASION_TOO_MANY_STEPS);
    assert_false(a.answer.allowed);
    assert_contains(arena_cstr(&a.c.arena, a.answer.message), "its review takes more than");
    cluster_close(&a.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constraint_is_as_strong_as_the_policys_or_denied),
        cmocka_unit_test(what_would_not_be_added_as_it_is_is_no_evasion),
        cmocka_unit_test(a_constraint_goes_by_no_other_label_than_the_group),
        cmocka_unit_test(the_controllers_selector_says_who_belongs_together),
        cmocka_unit_test(what_siblings_teach_is_held_against_nobody),
        cmocka_unit_test(a_review_that_gives_up_is_an_evasion),
        cmocka_unit_test(terms_name_as_many_domains_as_are_wanted),
    };
    return cmocka_run_group_tests_name("require_constraints", tests, NULL, NULL);
}
