/*
 * A Placement in mode Scores on a played hub, where OCM's own rules decide (played_ocm()). Expected
 * selections are those of contract and upstream's enhancement 70: 7 clusters east, 2 west.
 */
#include "base/limits.h"
#include "unit/hub/played_hub.h"

#include <stdio.h>

#define SCORED "'" PLACEMENT_MODE_ANNOTATION "':'Scores'"
#define BY_ZONE(rest) "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone'," rest "}]}"
#define SOFT BY_ZONE("'topologyKeyType':'Label'")
#define HARD BY_ZONE("'topologyKeyType':'Label','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'")
#define NUMBER(n) ",'numberOfClusters':" n
#define TAINTED "'spec':{'taints':[{'key':'a','effect':'NoSelect'}]}"

/* What the webhook gives to one that is created. */
#define NOTE(key, resource, added)                                                                 \
    "'" PLACEMENT_INJECTED_ANNOTATION "':'{\\'key\\':\\'" key "\\',\\'resource\\':\\'" resource    \
    "\\',\\'added\\':[" added "]}'"
#define DRAWN NOTE("s3-0a1b2c3d", "evenkeel-3", "\\'prioritizerPolicy\\',\\'score\\'")
#define DRAWN_GATED                                                                                \
    NOTE("s3-0a1b2c3d", "evenkeel-3",                                                              \
         "\\'prioritizerPolicy\\',\\'score\\',\\'predicates\\',\\'gate\\'")
#define PRIORITIZER                                                                                \
    ",'prioritizerPolicy':{'mode':'Additive','configurations':[{'scoreCoordinate':{'type':"        \
    "'AddOn','addOn':{'resourceName':'evenkeel-3','scoreName':'s3-0a1b2c3d'}},'weight':10}]}"
#define GATE                                                                                       \
    ",'predicates':[{'requiredClusterSelector':{'celSelector':{'celExpressions':['"                \
    "managedCluster.scores(\\'evenkeel-3\\').exists(s, s.name == \\'s3-0a1b2c3d\\' && s.value > "  \
    "0)']}}}]"

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

/* ---- invariants: after every write OCM looks ---- */

static unsigned most_skewed, fewest, most_published, least_published;

static void ocm_looks(struct played_hub *h) {
    const unsigned published = played_published_count(h);
    most_published = published > most_published ? published : most_published;
    least_published = published < least_published ? published : least_published;
    played_ocm(h);
    unsigned east = 0, west = 0;
    char name[16];
    for (unsigned i = 0; i < 9; i++) {
        (void)snprintf(name, sizeof name, "%c%u", i < 7 ? 'e' : 'w', i < 7 ? i : i - 7);
        if (i < 7)
            east += played_holds(h, name);
        else
            west += played_holds(h, name);
    }
    const unsigned skew = east > west ? east - west : west - east;
    most_skewed = skew > most_skewed ? skew : most_skewed;
    fewest = east + west < fewest ? east + west : fewest;
}

static void watch_skew(void) {
    most_skewed = most_published = 0;
    fewest = least_published = 100;
    hub.check = ocm_looks;
}

/* As it is in hub.placement. */
static void give_placement(void) {
    char *text = cJSON_PrintUnformatted(hub.placement);
    fleet_give(&hub.fleet, FLEET_PLACEMENTS, text);
    free(text);
}

/* An item that goes waits for a quarter of a second after one that has come. */
static unsigned settle_moves(void) {
    unsigned writes = played_settle(&hub);
    while (hub.answer.wake_ms <= 250) {
        hub.now_ms += hub.answer.wake_ms;
        writes += played_settle(&hub);
    }
    return writes;
}

/* ---- tests ---- */

/* Until its scores are there a new Placement has no cluster, and then all of them at once. */
static void a_new_one_with_hard_terms(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    played_ocm(&hub);
    played_is(&hub, "p-decision-1:");
    watch_skew();
    /* an object and an item in each of four clusters, the Placement, the condition */
    assert_int_equal(played_settle(&hub), 4 + 4 + 1 + 1);
    assert_int_equal(hub.answer.mode, OWNED_SCORED);
    played_published(&hub, "e0 e1 w0 w1");
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_true(most_skewed <= 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_int_equal(played_settle(&hub), 0);
}

/* As many as hard terms allow, which is fewer than were asked for. */
static void fewer_than_asked_for(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("7") PRIORITIZER GATE);
    watch_skew();
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 w0 w1");
    assert_true(most_skewed <= 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Unscheduled");
}

/* One that is live gets what it lacks when its scores are there, and moves as in mode Owner. */
static void a_live_one(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED, SOFT NUMBER("4"));
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3");
    hub.check = ocm_looks;
    /* for what OCM has decided, at first: four objects, four items, the Placement, its condition */
    assert_int_equal(played_settle(&hub), 4 + 4 + 1 + 1);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3");
    assert_int_equal(hub.answer.waiting, 2);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    assert_string_equal(played_text(&hub, "status/conditions/0/message"),
                        "zone: skew 4, maxSkew 1; moves towards the plan wait");
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    played_published(&hub, "e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_string_equal(played_text(&hub, "spec/prioritizerPolicy/configurations/0/scoreCoordinate/"
                                          "type"),
                        "AddOn");
    assert_string_equal(played_text(&hub, "spec/predicates/0/requiredClusterSelector/celSelector/"
                                          "celExpressions/0"),
                        "");
}

static const char *gate_of_first(void) {
    return played_text(&hub, "spec/predicates/0/requiredClusterSelector/celSelector/"
                             "celExpressions/0");
}

/* Scores and Placements are two watches of OCM's: one that has decisions is not gated before these
 * show that OCM has seen the scores. */
static void a_live_one_with_hard_terms(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED, HARD NUMBER("4"));
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3");
    /* for what OCM has decided, at first: four objects, four items, the Placement, its condition */
    assert_int_equal(played_settle(&hub), 4 + 4 + 1 + 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
    assert_string_equal(gate_of_first(), "");
    hub.now_ms += 10000;
    (void)settle_moves();
    played_published(&hub, "e0 e1 w0 w1");
    assert_string_equal(gate_of_first(), "");
    assert_int_equal(hub.answer.wake_ms, 5000);
    hub.now_ms += 5000;
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown WaitingForScores");
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    watch_skew();
    assert_int_equal(played_settle(&hub), 1 + 1);
    assert_string_not_equal(gate_of_first(), "");
    assert_int_equal(fewest, 4);
    assert_int_equal(hub.owned.undone, 0); /* nobody has taken the gate away */
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

/* OCM has filled up with e2, e3 and e4, for which there is no item, when the terms become hard.
 * They are members: hard terms take no cluster away that runs the workload. */
static void soft_terms_become_hard(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("4") PRIORITIZER);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    hub.check = NULL;
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 7);
    cJSON_ReplaceItemInObjectCaseSensitive(
        spec, "spreadPolicy",
        cJSON_Parse(
            "{\"spreadConstraints\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\","
            "\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\"}]}"));
    give_placement();
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3 e4 w0 w1");
    watch_skew();
    (void)played_settle(&hub);
    assert_string_not_equal(gate_of_first(), "");
    assert_int_equal(fewest, 7);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3 e4 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
}

/* Where OCM has nothing to write it shows nothing, and has as long as one that refuses. That it is
 * even is said at once. */
static void a_live_one_that_is_even(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED, HARD NUMBER("4"));
    played_decision(&hub, "p-decision-1", "e0 e1 w0 w1");
    played_number(&hub, 4);
    (void)played_settle(&hub);
    played_published(&hub, "e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    hub.now_ms += 29999;
    (void)played_settle(&hub);
    assert_string_equal(gate_of_first(), "");
    assert_int_equal(hub.answer.wake_ms, 1);
    hub.now_ms++;
    watch_skew();
    (void)played_settle(&hub);
    assert_string_not_equal(gate_of_first(), "");
    assert_int_equal(fewest, 4);
}

/* OCM writes its status after its decisions: a write of ours waits for that, for half a second. */
static void the_status_comes_later(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED, SOFT NUMBER("4"));
    played_decision(&hub, "p-decision-1", "e0 e1 w0 w1");
    assert_int_equal(played_settle(&hub), 4 + 4);
    assert_int_equal(hub.answer.wake_ms, 500);
    hub.now_ms += 499;
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.answer.wake_ms, 1);
    played_number(&hub, 4);
    assert_int_equal(played_settle(&hub), 1 + 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");

    played_decision(&hub, "p-decision-1", "e0 e1 e2");
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms += 500; /* OCM is slow, or has ended in between */
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.wake_ms, 1000); /* it may decide once more */
    hub.now_ms += 1000;
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False Skewed");
}

/* A gate that somebody has taken away is put back at once: OCM has seen those scores. */
static void a_gate_is_taken_away(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(hub.placement, "spec"),
                                            "predicates");
    give_placement();
    assert_int_equal(played_settle(&hub), 1);
    assert_string_not_equal(gate_of_first(), "");
    assert_int_equal(hub.owned.undone, 1);
}

/* The mark of mode Owner goes where somebody has taken away what it is about. */
static void a_mark_of_mode_owner(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED ",'" PLACEMENT_DISABLED_ANNOTATION "':'true'", SOFT NUMBER("4"));
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_ANNOTATIONS);
    owned_write_done(&write);
    (void)played_settle(&hub);
    assert_null(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations"),
        PLACEMENT_DISABLED_ANNOTATION));
    assert_int_equal(hub.answer.mode, OWNED_SCORED);
}

/* OCM groups what it decides. A group of which it can make nothing is no reason not to plan. */
static void groups_are_for_ocm(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED,
                     SOFT NUMBER("4") ",'decisionStrategy':{'groupStrategy':{'decisionGroups':[{"
                                      "'groupName':'g','groupClusterSelector':{'labelSelector':{"
                                      "'matchExpressions':[{'key':'a','operator':'Foo'}]}}}]}}");
    played_decision(&hub, "p-decision-1", "e0 e1 e2 e3");
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.waiting, 2); /* so that not all of it is final */
    played_published(&hub, "e0 e1 e2 e3");
}

/* What goes goes before anything comes, so that hard terms hold at each moment. */
static void a_cluster_fails(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    watch_skew();
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    played_ocm(&hub);
    assert_int_equal(played_settle(&hub), 1 + 2); /* an item goes; an object, and its item */
    played_is(&hub, "p-decision-1: e1 e2 w0 w1");
    played_published(&hub, "e1 e2 w0 w1");
    assert_true(most_skewed <= 1 && fewest == 3);
    assert_int_equal(most_published, 4);
    assert_int_equal(least_published, 3);
}

/* One comes as soon as there is room for it: of many that go only one is missing at a time. */
static void many_fail(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    watch_skew();
    played_cluster(&hub, "e0", "'zone':'east','a':''", "");
    played_cluster(&hub, "e1", "'zone':'east','a':''", "");
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON *selector = cJSON_Parse("{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\","
                                  "\"operator\":\"DoesNotExist\"}]}}");
    cJSON *first = cJSON_GetObjectItemCaseSensitive(spec, "predicates")->child;
    cJSON *cel = cJSON_GetObjectItemCaseSensitive(first, "requiredClusterSelector");
    assert_true(cJSON_AddItemToObject(
        cel, "labelSelector", cJSON_DetachItemFromObjectCaseSensitive(selector, "labelSelector")));
    cJSON_Delete(selector);
    give_placement();
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e2 e3 w0 w1");
    assert_int_equal(least_published, 3);
    assert_int_equal(most_published, 4);
}

/* Where one is asked for, the next one comes first: OCM takes one of two, and never none. Where one
 * is all that hard terms allow, OCM would take both. */
static void the_only_one(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("1") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0");
    watch_skew();
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1");
    assert_int_equal(most_published, 2);
    assert_int_equal(least_published, 1);
}

static void the_only_one_that_is_allowed(void **state) {
    (void)state;
    clusters("e", 2, "'zone':'east'");
    played_cluster(&hub, "w0", "'zone':'west'", TAINTED);
    played_placement(&hub, SCORED "," DRAWN_GATED,
                     BY_ZONE("'topologyKeyType':'Label','maxSkew':1,'whenUnsatisfiable':"
                             "'DoNotSchedule'") NUMBER("1") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 2);
    give_placement();
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1");
}

/* The fullest domain first, however many clusters of others there are. */
static void in_the_fullest_domain(void **state) {
    struct owned_write write;
    char name[16];
    (void)state;
    for (unsigned i = 0; i < 67; i++) {
        (void)snprintf(name, sizeof name, "%c%02u", i < 33 ? 'a' : 'b', i);
        played_cluster(&hub, name, i < 33 ? "'zone':'a'" : "'zone':'b'", "");
    }
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("67") PRIORITIZER GATE);
    hub.check = played_ocm;
    (void)played_settle(&hub);
    assert_int_equal(played_published_count(&hub), 67);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 2);
    give_placement();
    assert_true(played_look(&hub, &write));
    strbuf_append_char(&write.path, '\0');
    assert_non_null(strstr(write.path.p, "/namespaces/b"));
    owned_write_done(&write);
}

/* Of several that go the one whose loss hard terms bear; soft ones have no say. */
/* The prioritizer Steady, which is on, has OCM leave out the one that comes until another goes. */
static void one_comes_before_another_goes(void **state) {
    (void)state;
    clusters("w", 2, "'zone':'west'");
    clusters("e", 2, "'zone':'east'");
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("3") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0");
    watch_skew();
    clusters("n", 1, "'zone':'north'");
    (void)played_settle(&hub);
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    assert_int_equal(played_published_count(&hub), 4);
    assert_int_equal(hub.answer.wake_ms, 250); /* until OCM has surely seen what came */
    hub.now_ms += 249;
    assert_int_equal(played_settle(&hub), 0);
    (void)settle_moves();
    assert_int_equal(played_holds(&hub, "n0"), 1);
    assert_int_equal(played_published_count(&hub), 3);
    assert_int_equal(least_published, 3);
    assert_int_equal(most_published, 4);
}

static void in_an_order_that_holds(void **state) {
    struct owned_write write;
    (void)state;
    clusters("w", 1, "'zone':'west'");
    clusters("e", 2, "'zone':'east'");
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("3") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0");
    watch_skew();
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 1);
    give_placement();
    assert_true(played_look(&hub, &write));
    strbuf_append_char(&write.path, '\0');
    assert_non_null(strstr(write.path.p, "/namespaces/e1/"));
    assert_int_equal(write.verb, WRITE_MERGE); /* it goes, whoever else owns it */
    owned_write_done(&write);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0");
    assert_int_equal(most_skewed, 1);
}

static void soft_terms_have_no_say(void **state) {
    struct owned_write write;
    (void)state;
    played_cluster(&hub, "w0", "'zone':'west','rack':'2'", "");
    played_cluster(&hub, "e0", "'zone':'east','rack':'1'", "");
    played_cluster(&hub, "e1", "'zone':'east','rack':'3'", "");
    played_placement(&hub, SCORED "," DRAWN_GATED,
                     "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone','topologyKeyType':"
                     "'Label'},{'topologyKey':'rack','topologyKeyType':'Label','whenUnsatisfiable':"
                     "'DoNotSchedule'}]}" NUMBER("3") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 1);
    give_placement();
    assert_true(played_look(&hub, &write));
    strbuf_append_char(&write.path, '\0');
    assert_non_null(strstr(write.path.p, "/namespaces/w0/"));
    owned_write_done(&write);
}

/* OCM takes another one as soon as a cluster is gone: that was no decision, and does not stay. */
static void ocm_fills_up(void **state) {
    struct owned_write write;
    (void)state;
    clusters("e", 3, "'zone':'east'");
    clusters("w", 2, "'zone':'west'");
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("2") PRIORITIZER);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 w0");
    fleet_drop(&hub.fleet, FLEET_CLUSTERS, "", "w0");
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1");
    owned_done(&hub.owned); /* whoever leads now was not there */
    hub.owned = (struct owned){.progress = OWNED_IDLE};
    assert_true(played_look(&hub, &write));
    assert_str(hub.answer.note, "infeasible: to w1 from w0");
    owned_write_done(&write);
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.waiting, 0);
    played_is(&hub, "p-decision-1: e0 w1");
    played_published(&hub, "e0 w1");
}

/* Without hard terms it comes first: never fewer than there were. */
static void voluntary_and_soft(void **state) {
    (void)state;
    clusters("e", 4, "'zone':'east'");
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("4") PRIORITIZER);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    watch_skew();
    clusters("w", 2, "'zone':'west'");
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.waiting, 2);
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    played_published(&hub, "e0 e1 w0 w1");
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_int_equal(fewest, 4);
    assert_int_equal(least_published, 4);
    assert_int_equal(most_published, 6); /* both come, and then both go */
}

/* OCM decides a new one with soft terms before its scores are there: that is no decision that
 * would be kept for a while. */
static void a_new_one_with_soft_terms(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("4") PRIORITIZER);
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 e2 e3");
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
}

/* Without an answer it may have been made, or come late: nothing else is written meanwhile. */
static void a_score_without_an_answer(void **state) {
    struct owned_write write, taken, other;
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_SCORE);
    taken = write;
    owned_taken(&hub.owned, &taken, hub.now_ms);
    owned_ended(&hub.owned, WRITE_FAILED, 0, hub.now_ms);
    hub.now_ms += 29999;
    assert_false(played_look(&hub, &other));
    assert_int_equal(hub.answer.wake_ms, 1);
    hub.now_ms++;
    assert_true(played_look(&hub, &other));
    owned_write_done(&other);
    strbuf_done(&write.path); /* the rest is kept of it */
    strbuf_done(&write.body);
}

/* A key that was copied, or made up, is nobody's: scores of another Placement are not touched, and
 * this one gets its own. */
static void the_key_of_another(void **state) {
    (void)state;
    const struct injected_key own = injected_key_of(STR("u"), 4);
    char wanted[32];
    (void)snprintf(wanted, sizeof wanted, INJECTED_SCORE, own.shard, own.number);
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("2") PRIORITIZER);
    (void)played_settle(&hub);
    assert_true(hub.answer.has_key && injected_key_eq(hub.answer.key, own));
    assert_string_equal(played_text(&hub, "spec/prioritizerPolicy/configurations/0/scoreCoordinate/"
                                          "addOn/scoreName"),
                        wanted);
    assert_string_equal(played_text(&hub, "spec/prioritizerPolicy/configurations/1/weight"), "");
}

/* A misspelt key of a hard term takes no item away, and so no cluster. */
static void a_hard_key_that_nobody_has(void **state) {
    (void)state;
    seven_and_two();
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    cJSON *terms = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(hub.placement, "spec"),
                                         "spreadPolicy"),
        "spreadConstraints");
    cJSON_SetValuestring(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(terms, 0), "topologyKey"), "zoen");
    give_placement();
    assert_int_equal(played_settle(&hub), 1);
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    played_published(&hub, "e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False KeyUnknown");
}

/* What OCM cannot compile is no slowness of OCM's, and refuses no cluster. */
static void what_ocm_calls_misconfigured(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("2") PRIORITIZER);
    (void)played_settle(&hub);
    cJSON *status = cJSON_GetObjectItemCaseSensitive(hub.placement, "status");
    if (status == NULL)
        status = cJSON_AddObjectToObject(hub.placement, "status");
    cJSON_DeleteItemFromObjectCaseSensitive(status, "conditions");
    cJSON_AddItemToObjectCS(
        status, "conditions",
        cJSON_Parse("[{\"type\":\"PlacementMisconfigured\",\"status\":\"True\",\"reason\":"
                    "\"Misconfigured\",\"message\":\"Predicate:no overload\"}]"));
    give_placement();
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
    hub.now_ms += 5000;
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Misconfigured");
    assert_string_equal(played_text(&hub, "status/conditions/1/message"),
                        "OCM does not decide it: Predicate:no overload");
    hub.now_ms += 3600000;
    assert_int_equal(played_settle(&hub), 0);
    assert_int_equal(hub.owned.refused_count, 0);
}

/* 63 bytes are the value of a label, and 64 are none: OCM cannot make its decisions either. */
static void names_that_no_label_holds(void **state) {
    char name[65] = "", json[700];
    (void)state;
    seven_and_two();
    for (size_t n = 63; n <= 64; n++) {
        memset(name, 'p', n);
        (void)snprintf(json, sizeof json,
                       "{'metadata':{'name':'%s','namespace':'n','uid':'u','annotations':{" SCORED
                       "}},'spec':{" SOFT "}}",
                       name);
        fleet_give(&hub.fleet, FLEET_PLACEMENTS, json);
        struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&hub.fleet);
        const struct owned_question q = {
            .view = view, .namespace = STR("n"), .name = str_of(name), .settings = &hub.settings};
        struct owned_answer a;
        struct err err;
        assert_int_equal(owned_look(&hub.owned, &q, &hub.arena, &a, &err), 0);
        strbuf_append_char(&a.write.body, '\0');
        assert_int_equal(a.write.what == OWNED_STATUS, n == 64);
        assert_int_equal(strstr(a.write.body.p, "\"NameTooLong\"") != NULL, n == 64);
        owned_write_done(&a.write);
    }
}

/* ---- clusters that OCM does not select ---- */

static void a_cluster_is_refused(void **state) {
    (void)state;
    seven_and_two();
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
    hub.now_ms += 5000;
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown WaitingForScores");
    hub.now_ms += 24999;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 0); /* it is found; the next look plans without it */
    assert_true(played_settle(&hub) > 0);
    assert_int_equal(hub.answer.refused, 1);
    played_is(&hub, "p-decision-1: e0 e1 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False RefusedClusters");
    /* it changes, and is tried again */
    hub.refused = NULL;
    played_cluster(&hub, "w0", "'zone':'west','a':'b'", "");
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 0);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

static void a_refused_one_is_tried_again(void **state) {
    (void)state;
    seven_and_two();
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 1);
    assert_int_equal(hub.answer.wake_ms, 600000);
    hub.refused = NULL;
    hub.now_ms += 599999;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
}

/* Whoever is selected is not refused any more. */
static void a_refused_one_is_selected(void **state) {
    struct owned_write write;
    (void)state;
    seven_and_two();
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 1);
    played_decision(&hub, "p-decision-1", "e0 e1 w0 w1");
    (void)played_look(&hub, &write);
    owned_write_done(&write);
    assert_int_equal(hub.owned.refused_count, 0);
}

/* A slow OCM refuses nothing: three times the longest that it was seen to take. */
static void a_slow_ocm(void **state) {
    (void)state;
    seven_and_two();
    hub.slowest_ms = 20000;
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 59999;
    (void)played_settle(&hub);
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 1);
}

/* One that does nothing refuses nobody, until it is known to have answered others. */
static void an_ocm_that_does_not_run(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 299999; /* ten times as long as one that answers has */
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown WaitingForScores");
    hub.answered_ms = hub.now_ms - 299999; /* when it was asked */
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.answered_ms++;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 4);
}

/* ... whoever leads: what was written before it began is no sign of life. */
static void another_leader_and_no_ocm(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    played_decision(&hub, "p-decision-1", "e0");
    (void)played_settle(&hub);
    owned_done(&hub.owned);
    hub.owned = (struct owned){.progress = OWNED_IDLE};
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
}

static void an_ocm_that_has_nothing_to_say(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 300000;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 4);
}

/* OCM answers the last write, which removes an item, with one cluster fewer. It lives, so it
 * refuses n0, which it should have taken in the place of that cluster. */
static void refused_in_the_place_of_another(void **state) {
    (void)state;
    clusters("w", 2, "'zone':'west'");
    clusters("e", 2, "'zone':'east'");
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("3") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    hub.refused = "n0";
    clusters("n", 1, "'zone':'north'");
    (void)played_settle(&hub);
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    hub.now_ms += 250;
    (void)played_settle(&hub);
    assert_int_equal(played_published_count(&hub), 3);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.now_ms += 29999;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 1);
}

/* The second time it is left out for twice as long. */
static void twice_as_long(void **state) {
    (void)state;
    seven_and_two();
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    for (int times = 1; times <= 2; times++) {
        (void)played_settle(&hub);
        hub.now_ms += 30000;
        hub.answered_ms = hub.now_ms; /* for another Placement: here it has nothing to change */
        (void)played_settle(&hub);
        (void)played_settle(&hub);
        assert_int_equal(hub.answer.refused, 1);
        assert_int_equal(hub.answer.wake_ms, times * 600000);
        hub.now_ms += times * 600000;
    }
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 0);
    assert_int_equal(hub.owned.refused_count, 1); /* it is known how often */
}

/* What OCM took is known when it has answered, but not when something else was in its way. */
static void how_long_ocm_takes(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 29999;
    played_ocm(&hub);
    (void)played_settle(&hub);
    assert_int_equal(hub.answered, 30000);
    hub.answered = 0;
    played_cluster(&hub, "e0", "'zone':'east'", TAINTED);
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    played_ocm(&hub);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1 e2 w0 w1");
    assert_int_equal(hub.answered, 0);
}

/* As many as asked for, but others: nothing is refused. */
static void outweighed(void **state) {
    (void)state;
    clusters("e", 3, "'zone':'east'");
    clusters("w", 1, "'zone':'west'");
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("2") PRIORITIZER);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1");
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Outweighed");
}

/* Others need not wait for a cluster where nothing can be written. */
static void a_cluster_without_a_namespace(void **state) {
    (void)state;
    seven_and_two();
    hub.without_namespace = "e0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e1 e2 w0 w1");
    played_published(&hub, "e1 e2 w0 w1");
    assert_int_equal(hub.answer.refused, 1);
    assert_int_equal(hub.answer.wake_ms, 10000); /* it may come late */
    hub.without_namespace = NULL;
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 0);
}

/* OCM fills up by itself with a cluster that has no item because it can have none. */
static void a_left_out_cluster_that_ocm_selects(void **state) {
    (void)state;
    clusters("e", 3, "'zone':'east'");
    clusters("w", 1, "'zone':'west'");
    hub.without_namespace = "w0";
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("2") PRIORITIZER);
    (void)played_settle(&hub);
    played_published(&hub, "e0 e1");
    played_decision(&hub, "p-decision-1", "e0 w0");
    for (int i = 0; i < 40; i++) {
        hub.now_ms += 1000;
        (void)played_settle(&hub);
        if (i >= 5)
            assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False RefusedClusters");
    }
}

/* The Placement's object in a cluster. */
static const char *object_in(const char *cluster) {
    static char text[64];
    (void)snprintf(text, sizeof text, "%s/" INJECTED_RESOURCE, cluster,
                   injected_key_of(STR("u"), 4).shard);
    return text;
}

/* The plan goes around an object that was denied to another Placement, until it may be tried. */
static void an_object_is_denied_to_others(void **state) {
    (void)state;
    seven_and_two();
    hub.denied = object_in("e0");
    hub.denied_ms = 10000;
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("4") PRIORITIZER);
    assert_int_equal(played_settle(&hub), 0); /* the next look plans without it */
    (void)played_settle(&hub);
    played_published(&hub, "e1 e2 w0 w1");
    assert_int_equal(hub.answer.wake_ms, 10000);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "False RefusedClusters");
    hub.denied = NULL;
    hub.now_ms += 10000;
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.refused, 0);
}

/* An item that is to go waits for its object; with soft terms the others go meanwhile. */
static void an_item_stays_in_a_denied_object(void **state) {
    (void)state;
    for (int hard = 0; hard < 2; hard++) {
        teardown(state);
        (void)setup(state);
        seven_and_two();
        hub.check = ocm_looks;
        played_placement(&hub, hard ? SCORED "," DRAWN_GATED : SCORED "," DRAWN,
                         hard ? HARD NUMBER("4") PRIORITIZER GATE : SOFT NUMBER("4") PRIORITIZER);
        (void)played_settle(&hub);
        played_published(&hub, "e0 e1 w0 w1");
        hub.denied = object_in("e1"); /* the first that would go, with hard terms */
        hub.denied_ms = 20000;
        cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
        cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 1);
        give_placement();
        (void)played_settle(&hub);
        played_published(&hub, hard ? "e0 e1 w0 w1" : "e0 e1");
        assert_int_equal(hub.answer.wake_ms, 20000);
        hub.denied = NULL;
        (void)played_settle(&hub);
        played_published(&hub, "e0");
    }
}

/* An object that has too many items takes no more, and the plan goes around it. */
static void a_full_object(void **state) {
    const struct injected_key key = injected_key_of(STR("u"), 4);
    struct strbuf text = {0};
    (void)state;
    seven_and_two();
    for (int spare = 1; spare >= 0; spare--) {
        strbuf_clear(&text);
        strbuf_appendf(&text,
                       "{'metadata':{'name':'" INJECTED_RESOURCE "','namespace':'w0',"
                       "'resourceVersion':'1%d'},'status':{'scores':[{'name':'x','value':1}",
                       key.shard, spare);
        for (int i = 1; i < LIMIT_SCORE_ITEMS - spare; i++)
            strbuf_appendf(&text, ",{'name':'x%d','value':1}", i);
        strbuf_append_str(&text, STR("]}}"));
        strbuf_append_char(&text, '\0');
        fleet_give(&hub.fleet, FLEET_SCORES, text.p);
        played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("1") PRIORITIZER GATE);
        for (int i = 0; i < 7; i++) { /* only w0 is left, and w1 */
            char name[4];
            (void)snprintf(name, sizeof name, "e%d", i);
            fleet_drop(&hub.fleet, FLEET_CLUSTERS, "", name);
        }
        struct owned_write write;
        assert_int_equal(played_look(&hub, &write), spare == 1);
        owned_write_done(&write);
        assert_int_equal(hub.owned.refused_count, spare == 0);
        if (spare == 0)
            assert_int_equal(hub.answer.wake_ms, 0);
    }
    strbuf_done(&text);
}

/* ---- leaving ---- */

static void terms_go(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    /* as if the webhook were away */
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_DeleteItemFromObjectCaseSensitive(spec, "spreadPolicy");
    give_placement();
    assert_int_equal(played_settle(&hub), 2); /* the condition, the Placement */
    assert_int_equal(hub.answer.mode, OWNED_OTHERS);
    assert_false(hub.answer.has_key);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
    assert_null(cJSON_GetObjectItemCaseSensitive(spec, "prioritizerPolicy"));
    assert_null(cJSON_GetObjectItemCaseSensitive(spec, "predicates"));
    played_is(&hub, "p-decision-1: e0 e1 w0 w1"); /* Steady */
}

/* ocm.scores is off: OCM decides what asks for Scores, a condition says so, and nothing else of
 * ours is left behind. */
static void without_scores(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    hub.settings.without_scores = true;
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.mode, OWNED_OTHERS);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown ScoresOff");
    assert_null(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "spec"), "predicates"));
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_int_equal(played_settle(&hub), 0);
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(annotations, PLACEMENT_MODE_ANNOTATION),
                         "Off");
    give_placement();
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
}

/* A Placement without terms asks for nothing that could be off. */
static void without_scores_and_terms(void **state) {
    (void)state;
    seven_and_two();
    hub.settings.without_scores = true;
    played_placement(&hub, SCORED, "'numberOfClusters':4");
    assert_int_equal(played_settle(&hub), 0);
    played_placement(&hub, SCORED, SOFT NUMBER("4"));
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown ScoresOff");
}

/* As the webhook leaves it, or another replica that was stopped then. */
static void terms_have_gone(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_placement(&hub, "", "'numberOfClusters':4");
    owned_done(&hub.owned);
    hub.owned = (struct owned){.progress = OWNED_IDLE};
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "");
    assert_false(hub.answer.has_key);
}

/* OCM is not to decide by scores that nobody keeps up to date any more. */
static void to_mode_owner_and_back(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    cJSON_DeleteItemFromObjectCaseSensitive(annotations, PLACEMENT_MODE_ANNOTATION);
    hub.settings.mode = PLACEMENT_OWNER;
    give_placement();
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.mode, OWNED_OURS);
    assert_string_equal(played_text(&hub, "spec/predicates/0/x"), "");
    assert_null(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "spec"), "predicates"));
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    hub.settings.mode = PLACEMENT_SCORES;
    (void)played_settle(&hub);
    (void)played_settle(&hub);
    assert_int_equal(hub.answer.mode, OWNED_SCORED);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
}

/* What nobody but OCM evaluates cannot be decided in mode Owner: OCM goes on, and without a gate.
 */
static void to_mode_owner_with_expressions(void **state) {
    (void)state;
    seven_and_two();
    played_placement(
        &hub, SCORED "," DRAWN_GATED,
        HARD NUMBER("4") PRIORITIZER
        ",'predicates':[{'requiredClusterSelector':{'celSelector':{'celExpressions':['true','"
        "managedCluster.scores(\\'evenkeel-3\\').exists(s, s.name == \\'s3-0a1b2c3d\\' && "
        "s.value > 0)']}}}]");
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    played_is(&hub, "p-decision-1: e0 e1 w0 w1");
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    cJSON_DeleteItemFromObjectCaseSensitive(annotations, PLACEMENT_MODE_ANNOTATION);
    hub.settings.mode = PLACEMENT_OWNER;
    give_placement();
    struct owned_write write;
    assert_true(played_look(&hub, &write));
    assert_int_equal(write.what, OWNED_INJECTION);
    assert_true(hub.answer.has_key && hub.answer.has_noted_key); /* its items are in use */
    owned_write_done(&write);
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown CELNotEvaluated");
    assert_string_equal(played_text(&hub, "spec/predicates/0/requiredClusterSelector/celSelector/"
                                          "celExpressions/0"),
                        "true");
    assert_string_equal(played_text(&hub, "spec/predicates/0/requiredClusterSelector/celSelector/"
                                          "celExpressions/1"),
                        "");
    assert_false(hub.answer.has_key);
}

/* While somebody pauses OCM its items are in use: OCM will heed them when it goes on. */
static void a_pause(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata"), "annotations");
    assert_non_null(cJSON_AddStringToObject(annotations, PLACEMENT_DISABLE_ANNOTATION, "true"));
    give_placement();
    assert_int_equal(played_settle(&hub), 0);
    assert_true(hub.answer.has_key && hub.answer.has_noted_key);
    assert_true(injected_key_eq(hub.answer.noted_key, injected_key_of(STR("u"), 4)));
}

/* What is ours is found by its form where the annotation was taken away. */
static void the_annotation_has_gone(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, "", HARD NUMBER("4") PRIORITIZER GATE);
    assert_true(played_settle(&hub) > 0);
    assert_string_equal(played_text(&hub, "spec/predicates/0/requiredClusterSelector/celSelector/"
                                          "celExpressions/0"),
                        "");
    assert_string_equal(
        played_text(&hub, "spec/prioritizerPolicy/configurations/0/scoreCoordinate/type"), "");
    assert_false(hub.answer.has_key);
}

/* Another Placement of the same name has nothing to do with what was refused for the first. */
static void another_of_its_name(void **state) {
    (void)state;
    seven_and_two();
    hub.refused = "w0";
    hub.check = ocm_looks;
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 1);
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(hub.placement, "metadata");
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "uid");
    assert_non_null(cJSON_AddStringToObject(metadata, "uid", "v"));
    give_placement();
    struct owned_write write;
    (void)played_look(&hub, &write);
    owned_write_done(&write);
    assert_int_equal(hub.owned.refused_count, 0);
}

/* An API server that is busy, or a token that is not good any more, says nothing of the cluster. */
static void what_says_nothing_of_the_cluster(void **state) {
    static const struct {
        enum write_end end;
        int status;
        bool refused;
    } table[] = {{WRITE_BUSY, 429, false},   {WRITE_FAILED, 401, false}, {WRITE_FAILED, 500, false},
                 {WRITE_FAILED, 400, false}, {WRITE_GONE, 404, true},    {WRITE_REFUSED, 403, true},
                 {WRITE_FAILED, 422, true}};
    (void)state;
    seven_and_two();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct owned_write write, taken;
        played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("4") PRIORITIZER GATE);
        hub.now_ms += 60000;
        assert_true(played_look(&hub, &write));
        taken = write;
        owned_taken(&hub.owned, &taken, hub.now_ms);
        owned_ended(&hub.owned, table[i].end, table[i].status, hub.now_ms);
        assert_int_equal(hub.owned.refused_count, table[i].refused);
        strbuf_done(&write.path); /* the rest is kept of it */
        strbuf_done(&write.body);
        owned_done(&hub.owned);
        hub.owned = (struct owned){.progress = OWNED_IDLE};
    }
}

/* Three times it is put back, within an hour. */
static void what_was_added_is_taken_away(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED, SOFT NUMBER("4"));
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    for (unsigned i = 0; i < 4; i++) {
        played_placement(&hub, SCORED, SOFT NUMBER("4"));
        hub.now_ms += 60000;
        (void)played_settle(&hub);
        assert_string_equal(
            played_text(&hub, "spec/prioritizerPolicy/configurations/0/scoreCoordinate/type"),
            i < 3 ? "AddOn" : "");
    }
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Undone");
}

/* A hub that says nothing takes no item away. */
static void an_empty_hub(void **state) {
    (void)state;
    seven_and_two();
    played_placement(&hub, SCORED "," DRAWN, SOFT NUMBER("4") PRIORITIZER);
    hub.check = ocm_looks;
    (void)played_settle(&hub);
    fleet_drop(&hub.fleet, FLEET_BINDINGS, "n", "all");
    assert_int_equal(played_settle(&hub), 1);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown NoClustersKnown");
    played_published(&hub, "e0 e1 w0 w1");
}

/* ---- items that OCM has not seen ---- */

#define GATE_AND_CEL                                                                               \
    ",'predicates':[{'requiredClusterSelector':{'celSelector':{'celExpressions':['true','"         \
    "managedCluster.scores(\\'evenkeel-3\\').exists(s, s.name == \\'s3-0a1b2c3d\\' && s.value > "  \
    "0)']}}}]"

/* Four clusters of each of three zones; zone a has so many. */
static void four_of_three_zones(unsigned count, const char *predicates) {
    char fields[700];
    clusters("a", count, "'zone':'a'");
    clusters("b", 8, "'zone':'b'");
    clusters("c", 8, "'zone':'c'");
    (void)snprintf(fields, sizeof fields, "%s%s", HARD NUMBER("12") PRIORITIZER, predicates);
    played_placement(&hub, SCORED "," DRAWN_GATED, fields);
    hub.check = played_ocm;
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3");
    hub.check = NULL; /* from now on OCM decides when the test says so */
}

static void zone_c_is_lost(void) {
    char name[16];
    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof name, "c%u", i);
        played_cluster(&hub, name, "'zone':'c'", TAINTED);
    }
}

/* OCM reads items cluster by cluster while it decides: it may see that of a5 and not yet that of
 * b4. So a5 waits until its decisions have b4, or b5. */
static void what_comes_waits_to_be_seen(void **state) {
    (void)state;
    four_of_three_zones(8, GATE);
    zone_c_is_lost();
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4");
    assert_int_equal(hub.answer.wake_ms, 5000);
    hub.now_ms += 5000;
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "True Even");
    assert_int_equal(hub.answer.wake_ms, 1000);
    hub.now_ms += 1000;
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown WaitingForScores");
    hub.now_ms += 23999;
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4");
    played_decision(&hub, "p-decision-1", "a0 a1 a2 a3 a4 b0 b1 b2 b3");
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4 b5");
    played_ocm(&hub);
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4 b5");
    played_ocm(&hub);
    played_is(&hub, "p-decision-1: a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4 b5");
}

/* What OCM does not select though it has room is refused: b5 would be two above zone a. */
static void one_that_is_never_seen(void **state) {
    (void)state;
    four_of_three_zones(5, GATE);
    zone_c_is_lost();
    hub.refused = "a4";
    (void)played_settle(&hub);
    played_ocm(&hub);
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4");
    hub.now_ms += 29999;
    hub.check = played_ocm;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 1);
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 b0 b1 b2 b3 b4");
    played_is(&hub, "p-decision-1: a0 a1 a2 a3 b0 b1 b2 b3 b4");
}

/* An OCM that starts anew may take clusters away that it is to keep. That is no answer to an item,
 * and no sign that it refuses the clusters. */
static void ocm_takes_all_away(void **state) {
    (void)state;
    four_of_three_zones(8, GATE);
    zone_c_is_lost();
    (void)played_settle(&hub);
    played_decision(&hub, "p-decision-1", "a0");
    (void)played_settle(&hub);
    hub.now_ms += 30000;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    hub.now_ms += 269999;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
}

/* Nor does OCM refuse a cluster while it says that it decides nothing. */
static void unseen_and_misconfigured(void **state) {
    (void)state;
    four_of_three_zones(8, GATE);
    zone_c_is_lost();
    (void)played_settle(&hub);
    cJSON_AddItemToArray(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(hub.placement, "status"),
                                         "conditions"),
        cJSON_Parse("{\"type\":\"PlacementMisconfigured\",\"status\":\"True\",\"reason\":"
                    "\"Misconfigured\",\"message\":\"Predicate:no overload\"}"));
    give_placement();
    (void)played_settle(&hub);
    hub.now_ms += 3600000;
    hub.answered_ms = hub.now_ms;
    (void)played_settle(&hub);
    hub.now_ms += 1000;
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown Misconfigured");
    assert_int_equal(hub.owned.refused_count, 0);
}

/* A condition that says that all is well is not true while an item waits, though OCM has written.
 */
static void it_waits_and_ocm_writes(void **state) {
    (void)state;
    four_of_three_zones(8, GATE);
    zone_c_is_lost();
    (void)played_settle(&hub);
    played_decision(&hub, "p-decision-1", "a0 a1 a2 a3 b0 b1 b2 b3");
    hub.now_ms += 5000;
    (void)played_settle(&hub);
    hub.now_ms += 1000;
    (void)played_settle(&hub);
    assert_string_equal(played_condition(&hub, "SpreadSatisfied"), "Unknown WaitingForScores");
}

/* An OCM that does not run refuses nobody. */
static void nobody_sees_it(void **state) {
    (void)state;
    four_of_three_zones(8, GATE);
    zone_c_is_lost();
    (void)played_settle(&hub);
    hub.now_ms += 299999;
    (void)played_settle(&hub);
    assert_int_equal(hub.owned.refused_count, 0);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4");
}

/* Where OCM evaluates expressions it may refuse a cluster, so there the wait is short. */
static void what_comes_where_ocm_may_refuse(void **state) {
    (void)state;
    four_of_three_zones(8, GATE_AND_CEL);
    zone_c_is_lost();
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4");
    assert_int_equal(hub.answer.wake_ms, 250);
    hub.now_ms += 249;
    assert_int_equal(played_settle(&hub), 0);
    hub.now_ms++;
    (void)played_settle(&hub);
    played_published(&hub, "a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4");
    assert_int_equal(hub.owned.refused_count, 0);
}

/* OCM, which has room for all, may see that the second one of a zone has gone, and not the first
 * one of another. */
static void what_goes_waits_to_be_seen(void **state) {
    (void)state;
    clusters("a", 3, "'zone':'a'");
    clusters("b", 3, "'zone':'b'");
    played_placement(&hub, SCORED "," DRAWN_GATED, HARD NUMBER("6") PRIORITIZER GATE);
    hub.check = played_ocm;
    (void)played_settle(&hub);
    hub.check = NULL;
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(hub.placement, "spec");
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters"), 2);
    give_placement();
    (void)played_settle(&hub);
    played_published(&hub, "a0 a2 b0 b2");
    hub.check = played_ocm;
    played_ocm(&hub);
    (void)played_settle(&hub);
    played_published(&hub, "a0 b0");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_one_with_hard_terms),
        TEST(fewer_than_asked_for),
        TEST(a_live_one),
        TEST(a_live_one_with_hard_terms),
        TEST(soft_terms_become_hard),
        TEST(a_live_one_that_is_even),
        TEST(the_status_comes_later),
        TEST(a_gate_is_taken_away),
        TEST(another_leader_and_no_ocm),
        TEST(a_mark_of_mode_owner),
        TEST(many_fail),
        TEST(the_only_one),
        TEST(the_only_one_that_is_allowed),
        TEST(in_the_fullest_domain),
        TEST(groups_are_for_ocm),
        TEST(a_cluster_fails),
        TEST(one_comes_before_another_goes),
        TEST(in_an_order_that_holds),
        TEST(soft_terms_have_no_say),
        TEST(ocm_fills_up),
        TEST(a_new_one_with_soft_terms),
        TEST(a_score_without_an_answer),
        TEST(voluntary_and_soft),
        TEST(the_key_of_another),
        TEST(a_hard_key_that_nobody_has),
        TEST(what_ocm_calls_misconfigured),
        TEST(names_that_no_label_holds),
        TEST(a_cluster_is_refused),
        TEST(a_refused_one_is_tried_again),
        TEST(a_refused_one_is_selected),
        TEST(a_slow_ocm),
        TEST(an_ocm_that_does_not_run),
        TEST(an_ocm_that_has_nothing_to_say),
        TEST(refused_in_the_place_of_another),
        TEST(twice_as_long),
        TEST(how_long_ocm_takes),
        TEST(outweighed),
        TEST(an_object_is_denied_to_others),
        TEST(an_item_stays_in_a_denied_object),
        TEST(a_cluster_without_a_namespace),
        TEST(a_left_out_cluster_that_ocm_selects),
        TEST(a_full_object),
        TEST(terms_go),
        TEST(without_scores),
        TEST(without_scores_and_terms),
        TEST(terms_have_gone),
        TEST(to_mode_owner_and_back),
        TEST(to_mode_owner_with_expressions),
        TEST(a_pause),
        TEST(the_annotation_has_gone),
        TEST(another_of_its_name),
        TEST(what_says_nothing_of_the_cluster),
        TEST(what_was_added_is_taken_away),
        TEST(an_empty_hub),
        TEST(what_comes_waits_to_be_seen),
        TEST(one_that_is_never_seen),
        TEST(nobody_sees_it),
        TEST(ocm_takes_all_away),
        TEST(unseen_and_misconfigured),
        TEST(it_waits_and_ocm_writes),
        TEST(what_comes_where_ocm_may_refuse),
        TEST(what_goes_waits_to_be_seen),
    };
    return cmocka_run_group_tests_name("Placements in mode Scores", tests, NULL, NULL);
}
