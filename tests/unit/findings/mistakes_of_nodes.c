/* Constraints of pods and of TopologyPolicies beside nodes. */
#include "unit/findings/mistakes.h"

#include <stdio.h>
#include <string.h>

#define ZONE "topology.kubernetes.io/zone"

/* ---- keys ---- */

/* Returns a constraint on nodes at random, with the path of its key. */
static cJSON *draw_constraint(struct drawn *d, char path[DRAWN_PATH]) {
    const bool is_policy = d->subject == SUBJECT_POLICY;
    cJSON *all =
        is_policy ? drawn_at(d, "spec.pods.spread") : drawn_of_pod(d, "topologySpreadConstraints");
    const int i = (int)drawn_below(d, (uint32_t)cJSON_GetArraySize(all));
    if (is_policy)
        (void)snprintf(path, DRAWN_PATH, "spec.pods.spread[%d].topologyKey", i);
    else
        (void)snprintf(path, DRAWN_PATH, "%s.topologySpreadConstraints[%d].topologyKey", d->spec,
                       i);
    return cJSON_GetArrayItem(all, i);
}

static const char *text_at(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

/* A TopologyPolicy whose key has another prefix may be refused: there only the name is misspelt. */
static void misspell_key(struct drawn *d) {
    static char remedy[128];
    char path[DRAWN_PATH], wrong[96], key[192];
    cJSON *c = draw_constraint(d, path);
    const char *right = text_at(c, "topologyKey"), *slash = strchr(right, '/');
    const int kept = d->subject == SUBJECT_POLICY && slash != NULL ? (int)(slash + 1 - right) : 0;
    (void)snprintf(remedy, sizeof remedy, "Write %s", right);
    drawn_misspell(d, right + kept, wrong, sizeof wrong);
    (void)snprintf(key, sizeof key, "%.*s%s", kept, right, wrong);
    drawn_set_text(c, "topologyKey", key);
    drawn_want(d, FINDING_KEY_UNKNOWN, remedy, "%s", path);
}

static void have_foreign_key(struct drawn *d) {
    char path[DRAWN_PATH];
    drawn_set_text(draw_constraint(d, path), "topologyKey", "example.com/power-feed");
    drawn_want(d, FINDING_KEY_UNKNOWN, "Use a label that nodes have", "%s", path);
}

static void have_one_value(struct drawn *d) {
    char path[DRAWN_PATH];
    drawn_set_text(draw_constraint(d, path), "topologyKey", "kubernetes.io/os");
    drawn_want(d, FINDING_SINGLE_DOMAIN, "Use a label that has several values", "%s", path);
}

/* ---- node selectors and node affinity ---- */

static cJSON *requirement_of(struct drawn *d) {
    return drawn_of_pod(d, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                           "nodeSelectorTerms[0].matchExpressions[0]");
}

static void want_unknown(struct drawn *d, bool is_term, const char *remedy) {
    drawn_want(d, FINDING_LABEL_UNKNOWN, remedy, "%s.%s", d->spec,
               is_term ? "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                         "nodeSelectorTerms[0].matchExpressions[0]"
                       : "nodeSelector");
}

/* In a term only keys that parse: of others an API server names the mistake. */
static void select_foreign_key(struct drawn *d) {
    char wrong[64] = "kubernetes.io/so";
    const bool is_term = drawn_below(d, 2) > 0;
    if (!is_term)
        drawn_misspell(d, "kubernetes.io/os", wrong, sizeof wrong);
    if (is_term)
        drawn_set_text(requirement_of(d), "key", wrong);
    else
        drawn_set_text(drawn_of_pod(d, "nodeSelector"), wrong, "linux");
    want_unknown(d, is_term, "Write kubernetes.io/os");
}

static void select_foreign_value(struct drawn *d) {
    static const char *const wrong[][2] = {{"linus", "Write linux"},
                                           {"windows", "Write a value that nodes have: linux"}};
    const uint32_t i = drawn_below(d, 2);
    const bool is_term = drawn_below(d, 2) > 0;
    if (is_term)
        drawn_set(requirement_of(d), "values", cJSON_CreateStringArray(&wrong[i][0], 1));
    else
        drawn_set_text(drawn_of_pod(d, "nodeSelector"), "kubernetes.io/os", wrong[i][0]);
    want_unknown(d, is_term, wrong[i][1]);
}

/* Any of the terms must match: one that no node matches is no mistake beside another. */
static void add_useless_term(struct drawn *d) {
    cJSON *terms =
        drawn_of_pod(d, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                        "nodeSelectorTerms");
    assert_true(cJSON_AddItemToArray(
        terms, drawn_json("{'matchExpressions':[{'key':'rak','operator':'In','values':['r9']}]}")));
}

/* ---- domains ---- */

/* Returns the index of the pod's constraint on zones, and allows one pod more than in another. */
static int zone_constraint(struct drawn *d, cJSON **ret) {
    cJSON *all = drawn_of_pod(d, "topologySpreadConstraints");
    for (int i = 0; i < cJSON_GetArraySize(all); i++) {
        *ret = cJSON_GetArrayItem(all, i);
        if (strcmp(text_at(*ret, "topologyKey"), ZONE) == 0)
            return i;
    }
    fail_msg("no constraint on zones");
    return -1;
}

/* The node affinity leaves one zone. */
static void select_zone(struct drawn *d) {
    cJSON *c;
    const int i = zone_constraint(d, &c);
    const char *const zones[] = {"a", "b", "c"};
    drawn_set_text(drawn_of_pod(d, "nodeSelector"), ZONE, zones[drawn_below(d, 3)]);
    drawn_want(d, FINDING_SINGLE_DOMAIN, "Use a label that has several values",
               "%s.topologySpreadConstraints[%d].topologyKey", d->spec, i);
}

static cJSON *items(struct drawn *d) {
    return cJSON_GetObjectItem(d->state, "items");
}

/* Two pods that all constraints count run in the zone, on racks of their own. */
static void fill_zone(struct drawn *d, uint32_t zone) {
    char text[400];
    for (uint32_t rack = 0; rack < 2; rack++) {
        (void)snprintf(text, sizeof text,
                       "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'w%u%u','namespace':"
                       "'default','labels':{'app':'web','tier':'front'}},'spec':{'nodeName':'n%u',"
                       "'containers':[{'name':'c'}]}}",
                       zone, rack, 1 + 2 * zone + rack);
        assert_true(cJSON_AddItemToArray(items(d), drawn_json(text)));
    }
}

/* No node of a zone can take the pod, and the others have as many as the constraint allows. */
static void spoil_zone(struct drawn *d) {
    static const char *const specs[] = {
        "{'taints':[{'key':'lost','effect':'NoSchedule'}]}",
        "{'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable','effect':"
        "'NoSchedule'}]}"};
    const uint32_t zone = drawn_below(d, 3), how = drawn_below(d, 3);
    cJSON *c;
    const int i = zone_constraint(d, &c);
    for (int n = 0; n < 2; n++) {
        cJSON *node = cJSON_GetArrayItem(items(d), (int)(2 * zone) + n);
        if (how < 2)
            drawn_set(node, "spec", drawn_json(specs[how]));
        else
            drawn_set(node, "status", drawn_json("{'allocatable':{'cpu':'8','pods':'0'}}"));
    }
    for (uint32_t other = 0; other < 3; other++)
        if (other != zone)
            fill_zone(d, other);
    drawn_want(d, FINDING_UNUSABLE_DOMAIN,
               how < 2 ? "Write nodeTaintsPolicy: Honor" : "Make a node of",
               "%s.topologySpreadConstraints[%d]", d->spec, i);
}

/* The pod's volume is in the zone that has as many pods as the constraint allows. */
static void pin_volume(struct drawn *d) {
    const uint32_t zone = drawn_below(d, 3);
    char text[400];
    cJSON *c;
    const int at = zone_constraint(d, &c);
    drawn_set(drawn_at(d, d->spec), "volumes",
              drawn_json("[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]"));
    (void)snprintf(text, sizeof text,
                   "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv'},'spec':"
                   "{'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
                   "'" ZONE "','operator':'In','values':['%c']}]}]}}}}",
                   (char)('a' + zone));
    assert_true(cJSON_AddItemToArray(items(d), drawn_json(text)));
    assert_true(cJSON_AddItemToArray(
        items(d), drawn_json("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':"
                             "{'name':'data','namespace':'default'},'spec':{'volumeName':'pv'},"
                             "'status':{'phase':'Bound'}}")));
    fill_zone(d, zone);
    drawn_want(d, FINDING_VOLUME_PINS, "Move the volume", "%s.topologySpreadConstraints[%d]",
               d->spec, at);
    for (int i = 0; i < 2; i++) /* the other zones wait, too */
        drawn_want(d, FINDING_UNUSABLE_DOMAIN, "Make a node of", "%s.topologySpreadConstraints[%d]",
                   d->spec, at);
}

const struct mistake mistakes_of_nodes[] = {
    {"a misspelt key", FINDING_KEY_UNKNOWN, OF_WORKLOADS | OF_POLICIES, true, misspell_key},
    {"a key of other nodes", FINDING_KEY_UNKNOWN, OF_WORKLOADS | OF_POLICIES, true,
     have_foreign_key},
    {"a key with one value", FINDING_SINGLE_DOMAIN, OF_WORKLOADS | OF_POLICIES, true,
     have_one_value},
    {"a label that no node has", FINDING_LABEL_UNKNOWN, OF_WORKLOADS, true, select_foreign_key},
    {"a value that no node has", FINDING_LABEL_UNKNOWN, OF_WORKLOADS, true, select_foreign_value},
    {"a term beside a good one", FINDING_LABEL_UNKNOWN, OF_WORKLOADS, true, add_useless_term},
    {"one zone is selected", FINDING_SINGLE_DOMAIN, OF_WORKLOADS, true, select_zone},
    {"a zone that nobody may use", FINDING_UNUSABLE_DOMAIN, OF_WORKLOADS, true, spoil_zone},
    {"a volume in a full zone", FINDING_VOLUME_PINS, OF_WORKLOADS, true, pin_volume},
    {.name = NULL},
};
