/*
 * What is written of a Placement that Evenkeel owns, on a played hub. Expected selections are those
 * of contract and upstream's enhancement 70: 7 clusters east, 2 west.
 */
#include "hub/owned.h"

#include "unit/hub/played_hub.h"

#include <errno.h>
#include <stdio.h>

#define OWNER "'" PLACEMENT_MODE_ANNOTATION "':'Owner'"
#define DISABLED "'" PLACEMENT_DISABLE_ANNOTATION "':'true'"
#define MARKED "'" PLACEMENT_DISABLED_ANNOTATION "':'true'"
#define OURS OWNER "," DISABLED "," MARKED
#define BY_ZONE(rest) "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone'," rest "}]}"
#define SOFT BY_ZONE("'topologyKeyType':'Label'")
#define HARD(skew)                                                                                 \
    BY_ZONE("'topologyKeyType':'Label','maxSkew':" skew ",'whenUnsatisfiable':'DoNotSchedule'")
#define NUMBER(n) ",'numberOfClusters':" n
#define TAINTED "'spec':{'taints':[{'key':'a','effect':'NoSelect'}]}"

static struct played_hub hub;

static int setup(void **state) {
    (void)state;
    played_open(&hub);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    played_close(&hub);
    return 0;
}

static void clusters(const char *prefix, unsigned count, const char *labels) {
    char name[16];
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s%u", prefix, i);
        played_cluster(&hub, name, labels, "");
    }
}

static void seven_and_two(void) {
    clusters("e", 7, "'zone':'east'");
    clusters("w", 2, "'zone':'west'");
}

#define BY_SCORE                                                                                   \
    ",'prioritizerPolicy':{'mode':'Exact','configurations':[{'scoreCoordinate':{'type':'AddOn',"   \
    "'addOn':{'resourceName':'r','scoreName':'s'}},'weight':1}]}"

static void score(const char *cluster, int value) {
    char json[200];
    (void)snprintf(json, sizeof json,
                   "{'metadata':{'name':'r','namespace':'%s'},'status':{'scores':[{'name':'s',"
                   "'value':%d}]}}",
                   cluster, value);
    fleet_give(&hub.fleet, FLEET_SCORES, json);
}

static void first_decision(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OWNER, SOFT NUMBER("4"));
    /* annotations, an object, its clusters, the status */
    assert_int_equal(played_settle(&hub), 4);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
                            annotations, PLACEMENT_DISABLE_ANNOTATION)),
                        "true");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "True AllDecisionsScheduled");
    assert_string_equal(played_condition(&hub, "PlacementMisconfigured"),
                        "False Succeedconfigured");
    assert_string_equal(played_text(&hub, "status/decisionGroups/0/decisions/0"), "p-decision-1");
    char *text = cJSON_PrintUnformatted(hub.decisions[0]);
    assert_contains(text, "\"reason\":\"spread by zone=west\"");
    assert_contains(text, "\"" PLACEMENT_LABEL "\":\"p\"");
    assert_contains(text, "\"" PLACEMENT_GROUP_INDEX_LABEL "\":\"0\"");
    assert_contains(text, "\"" PLACEMENT_GROUP_NAME_LABEL "\":\"\"");
    assert_contains(text, "\"uid\":\"u\",\"controller\":true,\"blockOwnerDeletion\":true");
    free(text);
    assert_int_equal(played_settle(&hub), 0);
}

/* Who begins with what another has written writes nothing. */
static void a_new_leader_writes_nothing(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OWNER, SOFT NUMBER("4"));
    (void)played_settle(&hub);
    owned_done(&hub.owned);
    hub.owned = (struct owned){.progress = OWNED_IDLE};
    assert_int_equal(played_settle(&hub), 0);
}

static void hard_terms_leave_some_out(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, HARD("1") NUMBER("7"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 w0 w1");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"),
                        "False NotAllDecisionsScheduled");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Unscheduled");
    assert_true(hub.answer.skewed);
}

/* ---- whose it is ---- */

static void is_left_alone(const char *annotations, const char *spec) {
    played_placement(&hub, annotations, spec);
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.mode, OWNED_OTHERS);
}

static void placements_of_others(void **state) {
    (void)state;
    seven_and_two();
    is_left_alone("", SOFT);
    is_left_alone(DISABLED, SOFT);
    is_left_alone(OWNER, "'numberOfClusters':2");
    is_left_alone("'" PLACEMENT_MODE_ANNOTATION "':'Scores'", "'numberOfClusters':2");
    is_left_alone("'" PLACEMENT_MODE_ANNOTATION "':'owner'", SOFT);
    hub.settings.mode = PLACEMENT_OWNER;
    is_left_alone("", "'numberOfClusters':2");
    is_left_alone("'" PLACEMENT_MODE_ANNOTATION "':'Off'", SOFT);
    is_left_alone("'" PLACEMENT_MODE_ANNOTATION "':'Scores'," DISABLED, SOFT);
    played_placement(&hub, "", SOFT);
    assert_int_equal(played_settle(&hub), 4);
    assert_int_equal(hub.answer.mode, OWNED_OURS);
}

/* Terms that only a policy has do not take a Placement from whoever has disabled OCM for it. */
static void policies_and_others(void **state) {
    static const struct placement_term term = {.key = {"zone", 4}, .max_skew = 1};
    const struct policy policy = {.name = STR("by-zone"),
                                  .mode = POLICY_ENFORCE,
                                  .placement_terms = &term,
                                  .placement_term_count = 1};
    (void)state;
    seven_and_two();
    fleet_give(&hub.fleet, FLEET_NAMESPACES, "{'metadata':{'name':'n'}}");
    hub.policies = (struct policy_list){&policy, 1};
    hub.settings.mode = PLACEMENT_OWNER;
    is_left_alone(DISABLED, "'numberOfClusters':2");
    played_placement(&hub, OWNER "," DISABLED, "'numberOfClusters':2");
    assert_int_equal(played_settle(&hub), 3);
    played_is(&hub, "p-decision-1: e0 w0");
    assert_false(hub.answer.own_terms);
}

/* ---- whose it is, and the first write, as a table ---- */

struct situation {
    enum placement_mode by_default, annotated; /* UNSET: there is no annotation */
    bool disabled, marked, own, by_policy, empty, has_objects;
};

/* Written from docs/guides/ocm.md, "Owner mode" and "Scores mode". */
static enum owned_mode whose(const struct situation *s) {
    const enum placement_mode mode = s->annotated != PLACEMENT_UNSET ? s->annotated : s->by_default;
    const bool has_terms = s->own || s->by_policy;
    if (has_terms && mode == PLACEMENT_SCORES && !s->disabled)
        return OWNED_SCORED;
    if (has_terms && mode == PLACEMENT_OWNER) {
        const bool somebody_else_disabled_ocm = s->disabled && !s->marked;
        if (!somebody_else_disabled_ocm || s->own || s->annotated == PLACEMENT_OWNER)
            return OWNED_OURS;
    }
    return s->marked ? OWNED_LEAVING : OWNED_OTHERS;
}

static enum owned_what first_write(const struct situation *s) {
    const bool lost = s->empty && s->has_objects; /* decisions stay, and the condition says so */
    switch (whose(s)) {
    case OWNED_OURS:
        if (lost)
            return OWNED_STATUS;
        if (!s->disabled)
            return OWNED_ANNOTATIONS;
        return s->has_objects ? OWNED_STATUS : OWNED_DECISION; /* an empty one, if need be */
    case OWNED_SCORED:
        if (s->marked)
            return OWNED_ANNOTATIONS;
        if (lost)
            return OWNED_STATUS;
        return s->empty ? OWNED_INJECTION : OWNED_SCORE;
    case OWNED_LEAVING:
        return OWNED_ANNOTATIONS;
    case OWNED_OTHERS:
    case OWNED_GONE:
        break;
    }
    return OWNED_NOTHING;
}

static void play_situation(const struct situation *s) {
    static const struct placement_term term = {.key = {"zone", 4}, .max_skew = 1};
    static const struct policy policy = {.name = {"by-zone", 7},
                                         .mode = POLICY_ENFORCE,
                                         .placement_terms = &term,
                                         .placement_term_count = 1};
    static const char *const words[] = {
        [PLACEMENT_SCORES] = "Scores", [PLACEMENT_OWNER] = "Owner", [PLACEMENT_OFF] = "Off"};
    char annotations[300] = "'a':'b'", mode[100] = "";
    struct owned_write write;
    if (s->annotated != PLACEMENT_UNSET)
        (void)snprintf(mode, sizeof mode, ",'" PLACEMENT_MODE_ANNOTATION "':'%s'",
                       words[s->annotated]);
    (void)snprintf(annotations, sizeof annotations, "'a':'b'%s%s%s", mode,
                   s->disabled ? "," DISABLED : "", s->marked ? "," MARKED : "");
    fleet_give(&hub.fleet, FLEET_NAMESPACES, "{'metadata':{'name':'n'}}");
    hub.settings.mode = s->by_default;
    hub.policies = (struct policy_list){&policy, s->by_policy};
    if (!s->empty)
        seven_and_two();
    if (s->has_objects)
        played_decision(&hub, "p-decision-1", "e0 w0");
    played_placement(&hub, annotations, s->own ? SOFT NUMBER("2") : "'numberOfClusters':2");
    (void)played_look(&hub, &write);
    if (hub.answer.mode != whose(s) || write.what != first_write(s))
        fail_msg("default %d, annotation %d, disabled %d, marked %d, own %d, policy %d, empty %d, "
                 "objects %d: mode %d, not %d; write %d, not %d",
                 s->by_default, s->annotated, s->disabled, s->marked, s->own, s->by_policy,
                 s->empty, s->has_objects, hub.answer.mode, whose(s), write.what, first_write(s));
    owned_write_done(&write);
}

static void every_situation(void **state) {
    static const enum placement_mode modes[] = {PLACEMENT_UNSET, PLACEMENT_OFF, PLACEMENT_OWNER,
                                                PLACEMENT_SCORES};
    (void)state;
    for (unsigned i = 0; i < 4 * 4 * 64; i++) {
        const unsigned flags = i / 16;
        const struct situation s = {.by_default = modes[i % 4],
                                    .annotated = modes[i / 4 % 4],
                                    .disabled = flags & 1,
                                    .marked = flags & 2,
                                    .own = flags & 4,
                                    .by_policy = flags & 8,
                                    .empty = flags & 16,
                                    .has_objects = flags & 32};
        play_situation(&s);
        played_close(&hub);
        played_open(&hub);
    }
}

/* What we have set goes, and what somebody else has set stays. */
static void leaving(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    played_placement(&hub, DISABLED "," MARKED, SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 2);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "True AllDecisionsScheduled");
    const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    assert_int_equal(cJSON_GetArraySize(annotations), 0);
    played_is(&hub, "p-decision-1: e0 w0");
    played_placement(&hub, OWNER "," DISABLED, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_placement(&hub, DISABLED, SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 0);
}

/* Three times an hour it is put back, then OCM has it, until somebody disables OCM again. */
static void the_annotation_is_taken_away(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, OWNER, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    for (int hour = 0; hour < 2; hour++)
        for (int i = 0; i < 3; i++) {
            hub.now_ms = hour * 3600000 + i;
            /* with our annotation, and without it */
            played_placement(&hub, i == 1 ? OWNER "," MARKED : OWNER, SOFT NUMBER("2"));
            assert_int_equal(played_settle(&hub), 1);
            assert_false(hub.answer.undone);
        }
    hub.now_ms = 3600000 + 3599999;
    played_placement(&hub, OWNER, SOFT NUMBER("2"));
    assert_true(played_look(&hub, &write));
    assert_true(hub.answer.undone);
    assert_true(hub.answer.left_undone);
    assert_string_equal(hub.answer.kept, "Undone");
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    owned_write_done(&write);
    hub.now_ms += 3600000;
    assert_int_equal(played_settle(&hub), 1);
    assert_false(hub.answer.undone);
    assert_true(hub.answer.left_undone);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Undone");
    played_placement(&hub, OWNER "," DISABLED, SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    played_placement(&hub, OWNER, SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

/* Who begins, and finds our annotation alone, knows that the other was there. */
static void the_annotation_was_taken_away(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OWNER "," MARKED, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.undone, 1);
    played_placement(&hub, MARKED, SOFT NUMBER("2")); /* it is OCM's */
    (void)played_settle(&hub);
    played_placement(&hub, OWNER, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.undone, 0);
}

/* A name that no cluster has goes from an object that is right otherwise. */
static void a_name_that_no_cluster_has(void **state) {
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e0 gone w0");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 w0");
}

/* ---- what cannot be decided ---- */

static void expressions_are_not_guessed(void **state) {
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e5 e6");
    played_placement(&hub, OWNER,
                     SOFT NUMBER("2") ",'predicates':[{'requiredClusterSelector':{'celSelector':{"
                                      "'celExpressions':['true']}}}]");
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e5 e6");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown CELNotEvaluated");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "");
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    assert_string_equal(hub.answer.kept, "CELNotEvaluated");
}

/* 63 bytes are the value of a label, and 64 are none. */
static void names_that_no_label_holds(void **state) {
    char name[65] = "", json[700];
    (void)state;
    seven_and_two();
    for (size_t n = 63; n <= 64; n++) {
        memset(name, 'p', n);
        (void)snprintf(json, sizeof json,
                       "{'metadata':{'name':'%s','namespace':'n','uid':'u','annotations':{" OWNER
                       "}},'spec':{" SOFT "}}",
                       name);
        fleet_give(&hub.fleet, FLEET_PLACEMENTS, json);
        struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&hub.fleet);
        const struct owned_question q = {
            .view = view, .namespace = STR("n"), .name = str_of(name), .settings = &hub.settings};
        struct owned_answer a;
        struct err err;
        assert_int_equal(owned_look(&hub.owned, &q, &hub.arena, &a, &err), 0);
        assert_int_equal(a.write.what, n == 63 ? OWNED_ANNOTATIONS : OWNED_STATUS);
        strbuf_append_char(&a.write.body, '\0');
        assert_contains(a.write.body.p, n == 63 ? "disabled-ocm" : "\"NameTooLong\"");
        owned_write_done(&a.write);
    }
}

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG(annotations)                                                                          \
    annotations "'long':'" HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED "'"

/* Nothing is decided of an outline, nor of decisions that are not all known; and all of it again
 * when there is room. */
static void what_is_too_large_keeps_what_it_has(void **state) {
    struct fleet_contents *c = hub.fleet.c;
    const uint64_t room = c->charged_max;
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e5 e6 gone");
    c->charged_max = 0;
    played_placement(&hub, LONG(OURS ","), SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e5 e6 gone");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown TooLarge");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "");
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    assert_string_equal(hub.answer.kept, "TooLarge");
    played_placement(&hub, LONG(OWNER "," MARKED ","), SOFT); /* without OCM's annotation */
    assert_int_equal(played_settle(&hub), 0);
    played_placement(&hub, LONG(MARKED ","), SOFT); /* it would be left to OCM */
    assert_int_equal(played_settle(&hub), 0);
    assert_string_equal(hub.answer.kept, "TooLarge");
    played_placement(&hub, LONG(""), SOFT); /* nobody asks */
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.mode, OWNED_OTHERS);
    assert_null(hub.answer.kept);
    c->charged_max = room;
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.result, OWNED_DECIDED);
}

/* OCM's controller crashes at it; it is said once, and nothing moves. */
static void a_negative_number(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 w0");
    played_placement(&hub, OURS, SOFT NUMBER("-1"));
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_STATUS);
    assert_true(hub.answer.crashes);
    assert_contains(hub.answer.warning.p, "numberOfClusters is -1, and a negative one crashes");
    owned_write_done(&write);
    assert_int_equal(played_settle(&hub), 1);
    assert_false(hub.answer.crashes); /* that was said */
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Misconfigured");
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    played_is(&hub, "p-decision-1: e0 w0");
    fleet_give(&hub.fleet, FLEET_PLACEMENTS,
               "{'metadata':{'name':'p','namespace':'n','uid':'another','annotations':{" OURS
               "}},'spec':{" SOFT NUMBER("-1") "}}");
    assert_true(played_look(&hub, &write));
    assert_true(hub.answer.crashes);
    owned_write_done(&write);
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    played_placement(&hub, "", "'numberOfClusters':-1"); /* nobody asks */
    (void)played_settle(&hub);
    assert_false(hub.answer.crashes);
}

#define BY_KEY(key, rest)                                                                          \
    "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'" key "','topologyKeyType':'Label'" rest \
    "}]}"
#define HARD_TERM ",'whenUnsatisfiable':'DoNotSchedule'"

/* A misspelt key of a hard term takes no cluster away; it warns once. */
static void a_hard_key_that_nobody_has(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, BY_KEY("zone", HARD_TERM) NUMBER("4"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    played_placement(&hub, OURS, BY_KEY("zoen", HARD_TERM) NUMBER("4"));
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_STATUS);
    assert_str(hub.answer.warning, "9 of 9 clusters have no label 'zoen'");
    owned_write_done(&write);
    assert_int_equal(played_settle(&hub), 1);
    assert_str(hub.answer.warning, "");
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False KeyUnknown");
    assert_true(hub.answer.skewed);
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    while (played_look(&hub, &write)) { /* 8 of 8 now, which is no news */
        assert_str(hub.answer.warning, "");
        assert_int_equal(played_apply(&hub, &write), 0);
        owned_write_done(&write);
    }
    played_is(&hub, "p-decision-1: e1 w0 w1"); /* what does not pass goes, as OCM has it */
    owned_done(&hub.owned);
    hub.owned = (struct owned){.progress = OWNED_IDLE};
    assert_int_equal(played_settle(&hub), 0);
    assert_str(hub.answer.warning, "");
    /* spelt right again */
    played_placement(&hub, OURS, BY_KEY("zone", HARD_TERM) NUMBER("4"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1 w0 w1 e2");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    played_placement(&hub, OURS, BY_KEY("zoen", HARD_TERM) NUMBER("4"));
    assert_true(played_look(&hub, &write));
    assert_str(hub.answer.warning, "8 of 8 clusters have no label 'zoen'");
    owned_write_done(&write);
}

/* One that is new has nothing to keep: it gets the empty object, and a whole status. */
static void a_new_one_by_a_key_that_nobody_has(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OWNER, BY_KEY("zoen", HARD_TERM) NUMBER("4"));
    assert_int_equal(played_settle(&hub), 3);
    played_is(&hub, "p-decision-1:");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False KeyUnknown");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"),
                        "False NoManagedClusterMatched");
}

/* Nothing moves for a soft term whose key is misspelt, but what must move does. */
static void a_soft_key_that_nobody_has(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, BY_KEY("zone", "") NUMBER("2") BY_SCORE);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 w0");
    score("e5", 100);
    played_placement(&hub, OURS, BY_KEY("zoen", "") NUMBER("2") BY_SCORE);
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False KeyUnknown");
    hub.now_ms = 3600000;
    assert_int_equal(played_settle(&hub), 0);
    played_is(&hub, "p-decision-1: e0 w0");
    assert_int_equal(hub.answer.waiting, 0);
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e5");
}

static void a_misconfigured_one_keeps_what_it_has(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_placement(&hub, OURS,
                     SOFT NUMBER("2") ",'prioritizerPolicy':{'mode':'Exact','configurations':[{"
                                      "'scoreCoordinate':{'builtIn':'Speed'}}]}");
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e0 w0");
    assert_string_equal(played_condition(&hub, "PlacementMisconfigured"), "True Misconfigured");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "True AllDecisionsScheduled");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Misconfigured");
}

/* OCM decides it still: what it says of it is its own. */
static void a_misconfigured_one_of_ocm(void **state) {
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e5 e6");
    played_placement(&hub, OWNER,
                     SOFT NUMBER("2") ",'prioritizerPolicy':{'mode':'Exact','configurations':[{"
                                      "'scoreCoordinate':{'builtIn':'Speed'}}]}");
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e5 e6");
    assert_string_equal(played_condition(&hub, "PlacementMisconfigured"), "");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Misconfigured");
}

static void a_set_that_does_not_compile(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    fleet_give(&hub.fleet, FLEET_SETS,
               "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{'matchExpressions':[{'key':'a','operator':'In'}]}"
               "}}}");
    assert_int_equal(played_settle(&hub), 1);
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown ClusterSetInvalid");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"), "True AllDecisionsScheduled");
    played_is(&hub, "p-decision-1: e0 w0");
}

/* Clusters, sets or bindings that are gone all at once take no decision along. */
static void a_hub_that_says_nothing(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    fleet_drop(&hub.fleet, FLEET_BINDINGS, "n", "all");
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown NoClustersKnown");
    fleet_give(&hub.fleet, FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'n'}}");
    fleet_drop(&hub.fleet, FLEET_SETS, NULL, "all");
    assert_int_equal(played_settle(&hub), 0);
    fleet_give(&hub.fleet, FLEET_SETS,
               "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{}}}}");
    fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, "e0");
    fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, "e1");
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.result, OWNED_KEPT);
    played_is(&hub, "p-decision-1: e0 e1");
    /* one cluster is a hub that speaks */
    clusters("e", 1, "'zone':'east'");
    assert_true(played_settle(&hub) > 0);
    played_is(&hub, "p-decision-1: e0");
}

/* One binding that goes is no hub that says nothing. */
static void a_binding_that_goes(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east'");
    fleet_give(&hub.fleet, FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'other'}}");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    fleet_drop(&hub.fleet, FLEET_BINDINGS, "n", "all");
    assert_true(played_settle(&hub) > 0);
    played_is(&hub, "p-decision-1:");
}

/* ---- moves ---- */

static void assert_number(const struct played_hub *h, int wanted) {
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(h->placement, "status");
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(status, "numberOfSelectedClusters");
    assert_int_equal((int)cJSON_GetNumberValue(number), wanted);
}

static void forced_moves_go_at_once(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("4"));
    (void)played_settle(&hub);
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    struct owned_write write;
    assert_true(played_look(&hub, &write));
    assert_int_equal(hub.answer.moves, 1);
    assert_int_equal(hub.answer.why, MOVED_INFEASIBLE);
    assert_str(hub.answer.note, "infeasible: to e2 from e0");
    assert_int_equal(hub.answer.begun.added_count, 1);
    assert_str(hub.answer.begun.added[0], "e2");
    assert_int_equal(hub.answer.begun.removed_count, 1);
    assert_str(hub.answer.begun.removed[0], "e0");
    assert_int_equal(hub.answer.waits, OWNED_WAITS_NOT);
    assert_false(hub.answer.write_is_out);
    owned_write_done(&write);
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e1 w0 w1 e2");
    /* a zone is lost */
    fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, "w0");
    fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, "w1");
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1 e2 e3 e4");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    assert_true(played_look(&hub, &write));
    assert_str(hub.answer.note, "size: from e3, e4"); /* nobody comes */
    assert_int_equal(hub.answer.begun.added_count, 0);
    assert_int_equal(hub.answer.begun.removed_count, 2);
    owned_write_done(&write);
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "e1") + played_holds(&hub, "e2"), 2);
}

/* Back again: more even, but nothing forces it. */
static void voluntary_moves_wait(void **state) {
    (void)state;
    clusters("e", 4, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("4"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3");
    clusters("w", 2, "'zone':'west'");
    hub.now_ms = 5000;
    /* the condition is of what is there, and is written once while moves wait */
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    assert_string_equal(played_text(&hub, "status/conditions/2/message"),
                        "zone: skew 4, maxSkew 1; moves towards the plan wait");
    assert_true(hub.answer.skewed);
    assert_int_equal(hub.answer.waiting, 2);
    assert_int_equal(hub.answer.waits, OWNED_WAITS_SETTLE);
    assert_true(hub.answer.waits_ms == 10000);
    assert_true(hub.answer.wake_ms == 10000);
    hub.now_ms = 14999;
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.waits, OWNED_WAITS_SETTLE);
    assert_true(hub.answer.waits_ms == 1);
    hub.now_ms = 15000;
    struct owned_write write;
    assert_true(played_look(&hub, &write));
    assert_int_equal(hub.answer.why, MOVED_SPREAD);
    assert_int_equal(hub.answer.moves, 2);
    assert_int_equal(hub.answer.waits, OWNED_WAITS_NOT);
    assert_int_equal(hub.answer.begun.added_count, 2);
    assert_int_equal(hub.answer.begun.removed_count, 2);
    owned_write_done(&write);
    assert_int_equal(played_settle(&hub), 2);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_int_equal(hub.answer.waiting, 0);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_string_equal(played_text(&hub, "status/conditions/2/message"),
                        "zone: skew 0, maxSkew 1; 4 clusters");
    assert_false(hub.answer.skewed);
}

/* Where it is even, and only scores move it, waiting for less than a second is not mentioned. */
static void moves_for_scores_are_mentioned_late(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2") BY_SCORE);
    (void)played_settle(&hub);
    for (int i = 0; i < 5; i++) { /* a score that comes and goes */
        hub.now_ms += 1;
        score("e5", i % 2 == 0 ? 100 : 0);
        assert_int_equal(played_settle(&hub), 0);
        assert_int_equal(hub.answer.waiting, i % 2 == 0);
    }
    assert_int_equal(hub.answer.wake_ms, 1000);
    hub.now_ms += 999;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms += 1;
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_string_equal(played_text(&hub, "status/conditions/2/message"),
                        "zone: skew 0, maxSkew 1; 2 clusters; moves towards the plan wait");
    score("e6", 101); /* another move waits, and the words are the same */
    assert_int_equal(played_settle(&hub), 0);
}

/* While objects are written one after the other the status may deny what is true for a second. */
static void a_condition_goes_first_after_a_second(void **state) {
    struct owned_write write;
    (void)state;
    clusters("e", 4, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("4"));
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    clusters("w", 4, "'zone':'west'");
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    for (int i = 0; i < 2; i++, hub.now_ms += 999) { /* nobody takes the write */
        assert_true(played_look(&hub, &write));
        assert_int_equal(write.what, OWNED_DECISION);
        assert_true(hub.answer.wake_ms <= 1000);
        owned_write_done(&write);
    }
    hub.now_ms = 1000;
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_STATUS);
    assert_int_equal(played_apply(&hub, &write), 0);
    owned_write_done(&write);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_DECISION);
    owned_write_done(&write);
}

static void no_more_than_so_many_a_minute(void **state) {
    (void)state;
    hub.settings.moves.per_minute = 2;
    clusters("e", 6, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("6"));
    (void)played_settle(&hub);
    clusters("w", 3, "'zone':'west'");
    (void)played_settle(&hub);
    hub.now_ms = 10000;
    /* an object, and the skew of what is left */
    assert_int_equal(played_settle(&hub), 2);
    assert_string_equal(played_text(&hub, "status/conditions/2/message"),
                        "zone: skew 2, maxSkew 1; moves towards the plan wait");
    assert_int_equal(played_holds(&hub, "w0") + played_holds(&hub, "w1"), 2);
    assert_int_equal(played_holds(&hub, "w2"), 0);
    assert_int_equal(hub.answer.waiting, 1);
    hub.now_ms = 69999;
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.waits, OWNED_WAITS_MINUTE);
    assert_true(hub.answer.waits_ms == 1);
    hub.now_ms = 70000;
    assert_true(played_settle(&hub) > 0);
    assert_int_equal(played_holds(&hub, "w2"), 1);
}

/* The cluster that would go first is exchanged for the one that is wanted least, and hard terms
 * forbid all others in its place: so others go first, and no more than may. */
static void an_exchange_that_cannot_be_had_yet(void **state) {
    enum { EACH = 40 };
    char name[16];
    (void)state;
    hub.settings.moves.per_minute = 2;
    for (int i = 0; i < EACH; i++) {
        (void)snprintf(name, sizeof name, "a%02d", i);
        played_cluster(&hub, name, "'zone':'a'", "");
        (void)snprintf(name, sizeof name, "b%02d", i);
        played_cluster(&hub, name, "'zone':'b'", "");
    }
    played_placement(&hub, OURS,
                     HARD("1") NUMBER("80") ",'prioritizerPolicy':{'mode':'Exact','configurations'"
                                            ":[{'scoreCoordinate':{'type':'AddOn','addOn':{"
                                            "'resourceName':'r','scoreName':'s'}},'weight':1}]}");
    (void)played_settle(&hub);
    played_cluster(&hub, "x00", "'zone':'a'", "");
    score("x00", 50);
    for (int i = 0; i < EACH; i++) {
        (void)snprintf(name, sizeof name, "y%02d", i);
        played_cluster(&hub, name, "'zone':'b'", "");
        score(name, 50);
        (void)snprintf(name, sizeof name, "a%02d", i);
        if (i < EACH - 1)
            score(name, 100);
    }
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.waiting, EACH + 1);
    hub.now_ms = 10000;
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.waiting, EACH - 1);
    assert_int_equal(played_holds(&hub, "a39"), 1);
    assert_int_equal(played_holds(&hub, "y00") + played_holds(&hub, "y01"), 2);
}

/* A cluster that does not fit and a number that changes take no other move with them. */
static void forced_moves_let_others_wait(void **state) {
    (void)state;
    clusters("e", 7, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("6"));
    (void)played_settle(&hub);
    clusters("w", 3, "'zone':'west'");
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1 e2 e3 e4 e5 w0");
    assert_int_equal(hub.answer.waiting, 2);
    assert_true(hub.answer.wake_ms == 10000);
    played_placement(&hub, OURS, SOFT NUMBER("5"));
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "w0"), 1);
    assert_int_equal(played_holds(&hub, "w1") + played_holds(&hub, "w2"), 0);
    assert_int_equal(hub.answer.waiting, 1);
    assert_number(&hub, 5); /* what is there is said while moves wait */
    played_placement(&hub, OURS, SOFT NUMBER("6"));
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "w1") + played_holds(&hub, "w2"), 1);
    assert_number(&hub, 6);
    hub.now_ms = 10000;
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "w1") + played_holds(&hub, "w2"), 2);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

/* The best one for scores would come first, but hard terms forbid it without the other moves. */
static void forced_moves_and_hard_terms(void **state) {
    (void)state;
    hub.settings.moves.per_minute = 0;
    seven_and_two();
    clusters("x", 1, "'zone':'west'");
    played_placement(&hub, OURS,
                     HARD("1") NUMBER("4") ",'prioritizerPolicy':{'mode':'Exact','configurations':["
                                           "{'scoreCoordinate':{'type':'AddOn','addOn':{"
                                           "'resourceName':'r','scoreName':'s'}},'weight':1}]}");
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    fleet_give(&hub.fleet, FLEET_SCORES,
               "{'metadata':{'name':'r','namespace':'e5'},'status':{'scores':[{'name':'s',"
               "'value':100}]}}");
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w1 x0");
    assert_int_equal(hub.answer.waiting, 1); /* e5 */
}

/* A plan from nothing would have d0 and two of each other zone. */
static void another_zone_evicts_nobody(void **state) {
    struct owned_write write;
    (void)state;
    clusters("a", 5, "'zone':'a'");
    clusters("b", 5, "'zone':'b'");
    clusters("c", 5, "'zone':'c'");
    played_placement(&hub, OURS, HARD("1") NUMBER("12"));
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3");
    clusters("d", 1, "'zone':'d'");
    assert_int_equal(played_settle(&hub), 1); /* the condition */
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    hub.now_ms = 10000;
    assert_true(played_look(&hub, &write)); /* one comes as one goes */
    assert_int_equal(hub.answer.begun.added_count, 1);
    assert_int_equal(hub.answer.begun.removed_count, 1);
    assert_int_equal(hub.answer.why, MOVED_SPREAD);
    owned_write_done(&write);
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "d0"), 1);
    assert_number(&hub, 12);
    clusters("d", 4, "'zone':'d'");
    (void)played_settle(&hub);
    hub.now_ms = 20000;
    (void)played_settle(&hub);
    assert_number(&hub, 12);
    assert_int_equal(played_holds(&hub, "d1") + played_holds(&hub, "d2"), 2);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_int_equal(hub.answer.waiting, 0);
}

/* Which members are above the hard term changes each second, and nothing else does. */
static void the_names_of_kept_ones_are_written_seldom(void **state) {
    char name[8];
    int writes = 0;
    (void)state;
    clusters("a", 5, "'zone':'a'");
    clusters("b", 1, "'zone':'b'");
    played_placement(&hub, OURS, SOFT NUMBER("6") BY_SCORE);
    (void)played_settle(&hub);
    played_placement(&hub, OURS, HARD("1") NUMBER("6") BY_SCORE);
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    for (unsigned second = 0; second < 50; second++) {
        for (unsigned i = 0; i < 5; i++) {
            (void)snprintf(name, sizeof name, "a%u", i);
            score(name, (int)((second + i) % 5));
        }
        hub.now_ms += 1000;
        writes += (int)played_settle(&hub);
    }
    assert_in_range(writes, 0, 2);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
}

/* A Placement that was made anew has no members: its predecessor's clusters are not kept. */
static void decisions_of_another_keep_nobody(void **state) {
    (void)state;
    clusters("a", 5, "'zone':'a'");
    clusters("b", 1, "'zone':'b'");
    played_decision(&hub, "old-decision-1", "a0 a1 a2 a3");
    played_own(&hub, "old-decision-1");
    played_placement(&hub, OURS, HARD("1") NUMBER("4"));
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "b0"), 1);
    assert_int_equal(hub.answer.begun.added_count, 0);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Unscheduled");
}

/* The plan would have x0, the best of all, in the place of one that is kept. */
static void none_comes_where_it_is_too_full(void **state) {
    (void)state;
    clusters("a", 5, "'zone':'a'");
    clusters("b", 1, "'zone':'b'");
    played_placement(&hub, OURS, SOFT NUMBER("6") BY_SCORE);
    (void)played_settle(&hub);
    played_placement(&hub, OURS, HARD("1") NUMBER("6") BY_SCORE);
    clusters("x", 1, "'zone':'a'");
    score("x0", 100);
    (void)played_settle(&hub);
    hub.now_ms = 100000;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: a0 a1 a2 a3 a4 b0");
    assert_int_equal(hub.answer.waiting, 0);
    clusters("b", 4, "'zone':'b'");
    (void)played_settle(&hub);
    hub.now_ms = 200000;
    (void)played_settle(&hub);
    assert_int_equal(played_holds(&hub, "x0"), 1);
    assert_number(&hub, 6);
}

/* The best one of a zone is another every second: the move that evenness needs does not wait, those
 * for scores alone do. */
static void scores_that_change_all_the_time(void **state) {
    char name[8];
    unsigned west = 0;
    (void)state;
    clusters("e", 6, "'zone':'east'");
    played_placement(&hub, OURS, SOFT NUMBER("4") BY_SCORE);
    (void)played_settle(&hub);
    clusters("w", 6, "'zone':'west'");
    for (unsigned s = 0; s <= 12; s++) {
        assert_int_equal(west, s <= 10 ? 0 : 2);
        hub.now_ms = 1000 * s;
        for (unsigned i = 0; i < 6; i++) {
            (void)snprintf(name, sizeof name, "w%u", i);
            score(name, (int)((s + i) % 6));
            name[0] = 'e';
            score(name, (int)((s + i) % 5));
        }
        (void)played_settle(&hub);
        west = 0;
        for (unsigned i = 0; i < 6; i++) {
            (void)snprintf(name, sizeof name, "w%u", i);
            west += played_holds(&hub, name);
        }
        assert_number(&hub, 4);
    }
    assert_int_equal(hub.answer.waits, OWNED_WAITS_SETTLE);
}

/* What was even when it was chosen is not, once there is another zone. */
static void a_target_that_is_even_no_more(void **state) {
    struct owned_write write;
    (void)state;
    clusters("a", 2, "'zone':'a'");
    clusters("b", 2, "'zone':'b'");
    played_placement(&hub, OURS, HARD("1") NUMBER("4"));
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.verb, WRITE_CREATE);
    struct owned_write taken = write;
    owned_taken(&hub.owned, &taken, 0);
    assert_int_equal(played_apply(&hub, &write), 0);
    owned_ended(&hub.owned, WRITE_DONE, 201, 0);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    clusters("c", 1, "'zone':'c'");
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: a0 a1 b0 c0");
}

/* ---- reasons ---- */

static void has_reasons(const char *of, bool has) {
    char *text = cJSON_PrintUnformatted(hub.decisions[0]);
    assert_int_equal(strstr(text, of) != NULL, has);
    free(text);
}

/* A label that changes is one write, and no move, once it has stayed as it is for a moment. */
static void reasons_follow_labels(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east'");
    played_placement(&hub, OURS, SOFT);
    (void)played_settle(&hub);
    has_reasons("\"spread by zone=east\"", true);
    hub.now_ms = 10000;
    assert_int_equal(played_settle(&hub), 0);
    played_cluster(&hub, "e1", "'zone':'north'", "");
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.wake_ms, 1500);
    hub.now_ms += 1499;
    played_cluster(&hub, "e1", "'zone':'south'", ""); /* and another */
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms += 1499;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms += 1;
    assert_int_equal(played_settle(&hub), 1);
    assert_int_equal(hub.answer.moves, 0);
    has_reasons("\"spread by zone=east\"", true);
    has_reasons("\"spread by zone=south\"", true);
    has_reasons("north", false);
    /* what a reason does not say */
    played_cluster(&hub, "e1", "'zone':'south','other':'x'", "");
    hub.now_ms += 60000;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms += 60000;
    assert_int_equal(played_settle(&hub), 0);
}

static void reasons_follow_terms(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east','rack':'r'");
    played_placement(&hub, OURS, SOFT);
    (void)played_settle(&hub);
    played_placement(&hub, OURS, BY_KEY("rack", ""));
    (void)played_settle(&hub);
    hub.now_ms += 1500;
    assert_int_equal(played_settle(&hub), 1);
    has_reasons("\"spread by rack=r\"", true);
    has_reasons("zone", false);
}

/* What OCM has decided alike before has no reasons. */
static void reasons_where_ocm_was_first(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east'");
    played_decision(&hub, "p-decision-1", "e0 e1");
    played_placement(&hub, OWNER, SOFT);
    (void)played_settle(&hub);
    has_reasons("spread by", false);
    hub.now_ms += 1500;
    assert_int_equal(played_settle(&hub), 1);
    has_reasons("\"spread by zone=east\"", true);
    played_is(&hub, "p-decision-1: e0 e1");
}

static void reasons_of_the_kept(void **state) {
    (void)state;
    clusters("e", 3, "'zone':'east'");
    played_placement(&hub, OURS, HARD("1") NUMBER("3"));
    (void)played_settle(&hub);
    clusters("w", 1, "'zone':'west'");
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    clusters("x", 1, "'zone':'x'");
    played_placement(&hub, OURS, HARD("1") NUMBER("4"));
    (void)played_settle(&hub);
    hub.now_ms += 1500;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 x0");
    has_reasons("{\"clusterName\":\"e2\",\"reason\":\"kept: zone=east is above maxSkew 1: a "
                "member stays\"}",
                true);
    has_reasons("{\"clusterName\":\"e0\",\"reason\":\"spread by zone=east\"}", true);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
}

/* ---- many objects ---- */

static unsigned held[2]; /* 250 selected ones: bits by number of what was ever missing */

/* No cluster that fits throughout is ever in no object. */
static void none_is_missing(struct played_hub *h) {
    char name[16];
    for (unsigned i = 10; i < 240; i++) {
        (void)snprintf(name, sizeof name, "c%03u", i);
        if (played_holds(h, name) == 0)
            held[0]++;
    }
    held[1]++;
}

static void two_hundred_and_fifty(void **state) {
    char name[16];
    (void)state;
    for (unsigned i = 0; i < 250; i++) {
        (void)snprintf(name, sizeof name, "c%03u", i);
        played_cluster(&hub, name, i % 2 == 0 ? "'zone':'a'" : "'zone':'b'", "");
    }
    played_placement(&hub, OURS, SOFT);
    /* three objects, their clusters, a status */
    assert_int_equal(played_settle(&hub), 7);
    hub.check = none_is_missing;
    held[0] = held[1] = 0;
    /* OCM's own way to cut would move clusters from object to object now */
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "c%03u", i);
        fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, name);
    }
    assert_int_equal(played_settle(&hub), 2);
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "b%03u", i);
        played_cluster(&hub, name, "'zone':'a'", "");
    }
    assert_int_equal(played_settle(&hub), 2);
    /* groups of 30 cut everything anew */
    played_placement(&hub, OURS,
                     SOFT ",'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':30}}");
    assert_true(played_settle(&hub) > 9);
    assert_string_equal(played_text(&hub, "status/decisionGroups/7/decisionGroupName"), "");
    assert_int_equal(held[0], 0);
    assert_true(held[1] > 13);
}

/* ---- answers that are late or lost ---- */

static void nothing_is_written_twice(void **state) {
    struct owned_write write, other;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    assert_true(played_look(&hub, &write));
    struct owned_write taken = write;
    owned_taken(&hub.owned, &taken, 0);
    assert_false(played_look(&hub, &other));
    owned_ended(&hub.owned, WRITE_DONE, 201, 0);
    assert_false(played_look(&hub, &other)); /* the watch has not shown it */
    assert_true(hub.answer.wake_ms == 30000);
    assert_int_equal(played_apply(&hub, &write), 0);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    assert_true(played_look(&hub, &other));
    assert_int_equal(other.verb, WRITE_MERGE);
    owned_write_done(&other);
}

/* It is tried again with the version of before, so it counts once. */
static void an_answer_is_lost(void **state) {
    struct owned_write write, again;
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e0 w0");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    assert_true(played_look(&hub, &write));
    struct owned_write taken = write;
    owned_taken(&hub.owned, &taken, 0);
    owned_ended(&hub.owned, WRITE_FAILED, 0, 0);
    assert_true(played_look(&hub, &again));
    assert_str(strbuf_str(&again.path), "/apis/cluster.open-cluster-management.io/v1beta1/"
                                        "namespaces/n/placementdecisions/p-decision-1/status");
    assert_int_equal(played_apply(&hub, &write), 0);
    assert_int_equal(played_apply(&hub, &again), 409);
    owned_write_done(&again);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    assert_int_equal(played_settle(&hub), 0);
    played_is(&hub, "p-decision-1: w0 e1");
}

/* A watch that is silent for long: what the object had before the write is not believed again. */
static void an_answer_is_not_seen_for_long(void **state) {
    static const char spec[] =
        SOFT NUMBER("2") ",'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':1}}";
    struct owned_write write, other;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, spec);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0; p-decision-2: w0");
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    assert_true(played_look(&hub, &write));
    assert_str(strbuf_str(&write.object), "p-decision-1");
    struct owned_write taken = write;
    owned_taken(&hub.owned, &taken, 0);
    owned_ended(&hub.owned, WRITE_DONE, 200, 0);
    played_cluster(&hub, "e0", "'zone':'east'", "");
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    hub.now_ms = 29999;
    assert_false(played_look(&hub, &other));
    hub.now_ms = 30000;
    assert_false(played_look(&hub, &other)); /* not p-decision-2 */
    assert_true(hub.answer.wake_ms == 30000);
    assert_int_equal(played_apply(&hub, &write), 0);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    assert_true(played_look(&hub, &other));
    owned_write_done(&other);
}

/* Its clusters are selected no more for whoever reads it by label. */
static void an_object_loses_its_label(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_unlabel(&hub, "p-decision-1");
    assert_int_equal(played_settle(&hub), 1);
    played_is(&hub, "p-decision-1: e0 w0");
    char *text = cJSON_PrintUnformatted(hub.decisions[0]);
    assert_contains(text, "\"" PLACEMENT_LABEL "\":\"p\"");
    free(text);
}

/* Its clusters are neither moved nor counted. */
static void an_object_of_another_controller(void **state) {
    (void)state;
    seven_and_two();
    played_decision(&hub, "p-decision-1", "e5 e6 w1");
    played_own(&hub, "p-decision-1");
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    assert_int_equal(played_settle(&hub), 3);
    assert_int_equal(played_holds(&hub, "e5") + played_holds(&hub, "e6"), 3);
    played_is(&hub, "p-decision-1: e5 e6 w1; p-decision-2: e5 w1"); /* those that it has already */
    assert_int_equal(hub.answer.waiting, 0);
    played_cluster(&hub, "e6", "'zone':'east'", TAINTED);
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.moves, 0);
}

/* The skew of what is there is that of our objects: what another controller has in one zone allows
 * nothing. */
static void hard_terms_and_another_controller(void **state) {
    (void)state;
    hub.settings.moves.per_minute = 0;
    seven_and_two();
    played_decision(&hub, "other", "e2 e3 e4");
    played_own(&hub, "other");
    played_placement(&hub, OURS,
                     HARD("1") NUMBER("2") ",'prioritizerPolicy':{'mode':'Exact','configurations':["
                                           "{'scoreCoordinate':{'type':'AddOn','addOn':{"
                                           "'resourceName':'r','scoreName':'s'}},'weight':1}]}");
    (void)played_settle(&hub);
    played_is(&hub, "other: e2 e3 e4; p-decision-1: e0 w0");
    fleet_give(&hub.fleet, FLEET_SCORES,
               "{'metadata':{'name':'r','namespace':'e5'},'status':{'scores':[{'name':'s',"
               "'value':100}]}}");
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    (void)played_settle(&hub);
    played_is(&hub, "other: e2 e3 e4; p-decision-1: e0 w1");
    assert_int_equal(hub.answer.waiting, 1); /* e5 */
}

/* Somebody was first: 409 is the answer, and then it is seen. */
static void a_name_that_is_taken(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    assert_true(played_look(&hub, &write));
    struct owned_write taken = write;
    owned_taken(&hub.owned, &taken, 0);
    owned_ended(&hub.owned, WRITE_CONFLICT, 409, 0);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    played_decision(&hub, "p-decision-1", "");
    played_unlabel(&hub, "p-decision-1");
    assert_true(played_settle(&hub) > 1);
    played_is(&hub, "p-decision-1: e0 w0");
}

/* What is not selected any more goes, and only once is it said. */
static void nothing_is_left(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("2"));
    (void)played_settle(&hub);
    played_placement(&hub, OURS, SOFT NUMBER("0"));
    assert_true(played_look(&hub, &write));
    assert_int_equal(hub.answer.moves, 2);
    assert_true(hub.answer.leaves_none);
    owned_write_done(&write);
    assert_true(played_look(&hub, &write));
    assert_int_equal(hub.answer.moves, 0);
    assert_false(hub.answer.leaves_none);
    owned_write_done(&write);
    assert_int_equal(played_settle(&hub), 2);
    played_is(&hub, "p-decision-1:");
    assert_string_equal(played_condition(&hub, "PlacementSatisfied"),
                        "False NoManagedClusterMatched");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown NoClusters");
}

/* Names follow regions, and no two clusters are alike: the search for a write that keeps the hard
 * term asks about cluster after cluster, and must leave steps for the write. */
static void a_search_leaves_steps(void **state) {
    enum { CLUSTERS = 400, LOOKS = 12, STEPS = 400000 };
    char name[16], labels[64];
    struct owned_write write;
    (void)state;
    for (unsigned i = 0; i < CLUSTERS; i++) {
        (void)snprintf(name, sizeof name, "c%03u", i);
        (void)snprintf(labels, sizeof labels, "'region':'r%u','zone':'z%u'", i / (CLUSTERS / 2), i);
        played_cluster(&hub, name, labels, "");
    }
    played_placement(&hub, OURS,
                     "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'region',"
                     "'topologyKeyType':'Label','whenUnsatisfiable':'DoNotSchedule'},"
                     "{'topologyKey':'zone','topologyKeyType':'Label'}]}");
    hub.arena.steps = (struct steps){.max = STEPS};
    for (int i = 0; i < LOOKS; i++) {
        assert_true(played_look(&hub, &write)); /* fails the test without steps */
        assert_int_equal(write.what, OWNED_DECISION);
        assert_int_equal(played_apply(&hub, &write), 0);
        owned_taken(&hub.owned, &write, hub.now_ms);
        owned_ended(&hub.owned, WRITE_DONE, 200, hub.now_ms);
        owned_write_done(&write);
    }
}

/* However few steps there are: what is ours says that they were too few, and is decided with
 * enough.
 */
static void too_many_steps(void **state) {
    (void)state;
    struct owned_write said = {.what = OWNED_NOTHING};
    unsigned told = 0;
    int r = -E2BIG;
    seven_and_two();
    played_placement(&hub, OURS, SOFT NUMBER("4"));
    struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&hub.fleet);
    const struct owned_question q = {.view = view,
                                     .namespace = STR("n"),
                                     .name = STR("p"),
                                     .wall_ms = 1800000000000,
                                     .settings = &hub.settings};
    for (uint64_t max = 1; r != 0; max++) {
        struct err err = {0};
        arena_reset(&hub.arena);
        hub.arena.steps = (struct steps){.max = max};
        r = owned_look(&hub.owned, &q, &hub.arena, &hub.answer, &err);
        if (r == -E2BIG && hub.answer.mode == OWNED_OURS) {
            owned_write_done(&said);
            said = hub.answer.write;
            assert_int_equal(said.what, OWNED_STATUS);
            assert_true(err.text[0] != '\0');
            told++;
        } else {
            owned_write_done(&hub.answer.write);
        }
        assert_true(max < 1000000);
    }
    hub.arena.steps = (struct steps){.max = 0};
    assert_true(told > 0);
    assert_int_equal(played_apply(&hub, &said), 0);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown TooManySteps");
    owned_write_done(&said);
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

static void what_is_gone(void **state) {
    struct owned_write write;
    (void)state;
    assert_false(played_look(&hub, &write));
    assert_int_equal(hub.answer.mode, OWNED_GONE);
}

/* A toleration that ends, and a score: then is the time to look again. */
static void times_to_look_again(void **state) {
    (void)state;
    played_cluster(&hub, "e0", "'zone':'east'",
                   "'spec':{'taints':[{'key':'a','effect':'NoSelect','timeAdded':"
                   "'2027-01-15T08:00:00Z'}]}"); /* 1800000000 */
    played_placement(&hub, OURS,
                     SOFT ",'tolerations':[{'key':'a','operator':'Exists','tolerationSeconds':5}]");
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0");
    assert_in_range(hub.answer.wake_ms, 5000, 6001);
    hub.now_ms = 6001;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1:");
    played_cluster(&hub, "e1", "'zone':'east'", "");
    played_placement(&hub, OURS,
                     SOFT ",'prioritizerPolicy':{'configurations':[{'scoreCoordinate':{'type':"
                          "'AddOn','addOn':{'resourceName':'r','scoreName':'s'}}}]}");
    fleet_give(&hub.fleet, FLEET_SCORES,
               "{'metadata':{'name':'r','namespace':'e1'},'status':{'validUntil':"
               "'2027-01-15T08:00:10Z','scores':[{'name':'s','value':1}]}}");
    (void)played_settle(&hub);
    assert_true(hub.answer.wake_ms == 10000 - 6001 + 1); /* it counts until that is over */
    hub.now_ms = 10000;
    (void)played_settle(&hub);
    assert_true(hub.answer.wake_ms == 1);
    hub.now_ms = 10001;
    (void)played_settle(&hub);
    assert_true(hub.answer.wake_ms == INT64_MAX);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(first_decision),
        TEST(a_new_leader_writes_nothing),
        TEST(hard_terms_leave_some_out),
        TEST(placements_of_others),
        TEST(policies_and_others),
        TEST(every_situation),
        TEST(leaving),
        TEST(the_annotation_is_taken_away),
        TEST(the_annotation_was_taken_away),
        TEST(expressions_are_not_guessed),
        TEST(names_that_no_label_holds),
        TEST(a_name_that_no_cluster_has),
        TEST(what_is_too_large_keeps_what_it_has),
        TEST(a_negative_number),
        TEST(a_hard_key_that_nobody_has),
        TEST(a_new_one_by_a_key_that_nobody_has),
        TEST(a_soft_key_that_nobody_has),
        TEST(a_misconfigured_one_keeps_what_it_has),
        TEST(a_misconfigured_one_of_ocm),
        TEST(a_set_that_does_not_compile),
        TEST(a_hub_that_says_nothing),
        TEST(a_binding_that_goes),
        TEST(forced_moves_go_at_once),
        TEST(voluntary_moves_wait),
        TEST(moves_for_scores_are_mentioned_late),
        TEST(a_condition_goes_first_after_a_second),
        TEST(no_more_than_so_many_a_minute),
        TEST(an_exchange_that_cannot_be_had_yet),
        TEST(forced_moves_let_others_wait),
        TEST(forced_moves_and_hard_terms),
        TEST(another_zone_evicts_nobody),
        TEST(the_names_of_kept_ones_are_written_seldom),
        TEST(decisions_of_another_keep_nobody),
        TEST(none_comes_where_it_is_too_full),
        TEST(scores_that_change_all_the_time),
        TEST(a_target_that_is_even_no_more),
        TEST(reasons_follow_labels),
        TEST(reasons_follow_terms),
        TEST(reasons_where_ocm_was_first),
        TEST(reasons_of_the_kept),
        TEST(two_hundred_and_fifty),
        TEST(nothing_is_written_twice),
        TEST(an_answer_is_lost),
        TEST(an_answer_is_not_seen_for_long),
        TEST(an_object_loses_its_label),
        TEST(an_object_of_another_controller),
        TEST(hard_terms_and_another_controller),
        TEST(a_name_that_is_taken),
        TEST(nothing_is_left),
        TEST(a_search_leaves_steps),
        TEST(too_many_steps),
        TEST(what_is_gone),
        TEST(times_to_look_again),
    };
    return cmocka_run_group_tests_name("owned placements", tests, NULL, NULL);
}
