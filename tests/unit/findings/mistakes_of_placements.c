/* Placements, and TopologyPolicies for them, beside the clusters of a hub. */
#include "unit/findings/mistakes.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

/* ---- terms ---- */

static cJSON *draw_term(struct drawn *d, char path[DRAWN_PATH]) {
    const char *list = d->subject == SUBJECT_POLICY ? "spec.placements.spread"
                                                    : "spec.spreadPolicy.spreadConstraints";
    cJSON *all = drawn_at(d, list);
    const int i = (int)drawn_below(d, (uint32_t)cJSON_GetArraySize(all));
    (void)snprintf(path, DRAWN_PATH, "%s[%d].topologyKey", list, i);
    return cJSON_GetArrayItem(all, i);
}

static bool is_claim(const cJSON *term) {
    return strcmp(text_at(term, "topologyKeyType"), "Claim") == 0;
}

static void change_type(struct drawn *d) {
    char path[DRAWN_PATH];
    cJSON *term = draw_term(d, path);
    drawn_want(d, FINDING_OTHER_KEY_TYPE,
               is_claim(term) ? "Write topologyKeyType: Claim" : "Write topologyKeyType: Label",
               "%s", path);
    drawn_set_text(term, "topologyKeyType", is_claim(term) ? "Label" : "Claim");
}

static void misspell_key(struct drawn *d) {
    char path[DRAWN_PATH], wrong[96];
    cJSON *term = draw_term(d, path);
    drawn_misspell(d, text_at(term, "topologyKey"), wrong, sizeof wrong);
    drawn_want(d, FINDING_KEY_UNKNOWN,
               is_claim(term) ? "Use a claim that clusters have" : "Write region", "%s", path);
    drawn_set_text(term, "topologyKey", wrong);
}

static void have_one_value(struct drawn *d) {
    char path[DRAWN_PATH];
    cJSON *term = draw_term(d, path);
    drawn_set_text(term, "topologyKey", is_claim(term) ? "platform" : "vendor");
    drawn_want(d, FINDING_SINGLE_DOMAIN, "Use a label or claim that has several values", "%s",
               path);
}

/* ---- names ---- */

static void misspell_set(struct drawn *d) {
    cJSON *sets = drawn_at(d, "spec.clusterSets");
    const int i = (int)drawn_below(d, (uint32_t)cJSON_GetArraySize(sets));
    char wrong[96];
    drawn_misspell(d, cJSON_GetStringValue(cJSON_GetArrayItem(sets, i)), wrong, sizeof wrong);
    assert_true(cJSON_ReplaceItemInArray(sets, i, cJSON_CreateString(wrong)));
    drawn_want(d, FINDING_NAME_UNKNOWN, "Name a ManagedClusterSet of the hub",
               "spec.clusterSets[%d]", i);
}

/* Returns the reference to a score, with its path. */
static cJSON *find_add_on(struct drawn *d, char path[DRAWN_PATH]) {
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, DRAWN_PATH,
                       "spec.prioritizerPolicy.configurations[%d].scoreCoordinate", i);
        cJSON *add_on = cJSON_GetObjectItem(drawn_at(d, path), "addOn");
        strcat(path, ".addOn");
        if (add_on != NULL)
            return add_on;
    }
    fail_msg("no score");
    return NULL;
}

static void misname_score(struct drawn *d) {
    char path[DRAWN_PATH];
    cJSON *add_on = find_add_on(d, path);
    const bool is_object = drawn_below(d, 2) == 0;
    drawn_set_text(add_on, is_object ? "resourceName" : "scoreName", "useage");
    drawn_want(d, FINDING_NAME_UNKNOWN,
               is_object ? "Name an AddOnPlacementScore" : "Name a score that these objects have",
               "%s", path);
}

/* ---- the state ---- */

/* Returns an object of this kind at random. */
static cJSON *draw_object(struct drawn *d, const char *kind) {
    cJSON *items = cJSON_GetObjectItem(d->state, "items"), *item;
    do
        item = cJSON_GetArrayItem(items, (int)drawn_below(d, (uint32_t)cJSON_GetArraySize(items)));
    while (strcmp(text_at(item, "kind"), kind) != 0);
    return item;
}

static void end_score(struct drawn *d) {
    char path[DRAWN_PATH];
    cJSON *score = draw_object(d, "AddOnPlacementScore");
    drawn_set_text(cJSON_GetObjectItem(score, "status"), "validUntil", "2026-01-01T00:00:00Z");
    (void)find_add_on(d, path);
    drawn_want(d, FINDING_EXPIRED, "Look after the source of the scores", "%s", path);
}

static void delete_cluster(struct drawn *d) {
    cJSON *meta = cJSON_GetObjectItem(draw_object(d, "ManagedCluster"), "metadata");
    drawn_set_text(meta, "deletionTimestamp", "2026-01-01T00:00:00Z");
    drawn_set(meta, "finalizers", drawn_json("['x']"));
    drawn_want(d, FINDING_BEING_DELETED, "Wait for its end", "%s", "");
}

/* ---- predicates ---- */

/* No predicate can match: they are alternatives. */
static void misspell_labels(struct drawn *d) {
    char path[DRAWN_PATH];
    cJSON *all = drawn_at(d, "spec.predicates"), *item;
    int i = 0;
    cJSON_ArrayForEach(item, all) {
        (void)snprintf(path, sizeof path,
                       "spec.predicates[%d].requiredClusterSelector.labelSelector", i++);
        drawn_set(cJSON_GetObjectItem(item, "requiredClusterSelector"), "labelSelector",
                  drawn_json(drawn_below(d, 2) == 0
                                 ? "{'matchLabels':{'clod':'aws'}}"
                                 : "{'matchExpressions':[{'key':'clod','operator':'Exists'}]}"));
        drawn_want(d, FINDING_LABEL_UNKNOWN, "Write cloud", "%s", path);
    }
}

const struct mistake mistakes_of_placements[] = {
    {"a key of the other type", FINDING_OTHER_KEY_TYPE, OF_PLACEMENTS | OF_POLICIES, true,
     change_type},
    {"a misspelt key of a term", FINDING_KEY_UNKNOWN, OF_PLACEMENTS | OF_POLICIES, true,
     misspell_key},
    {"a term's key with one value", FINDING_SINGLE_DOMAIN, OF_PLACEMENTS | OF_POLICIES, true,
     have_one_value},
    {"a misspelt set", FINDING_NAME_UNKNOWN, OF_PLACEMENTS, true, misspell_set},
    {"a score of another name", FINDING_NAME_UNKNOWN, OF_PLACEMENTS, true, misname_score},
    {"a score that is over", FINDING_EXPIRED, OF_PLACEMENTS, true, end_score},
    {"a cluster that is being deleted", FINDING_BEING_DELETED, OF_PLACEMENTS, true, delete_cluster},
    {"labels that no cluster has", FINDING_LABEL_UNKNOWN, OF_PLACEMENTS, true, misspell_labels},
    {.name = NULL},
};
