/* Bindings of Karmada, and PropagationPolicies, beside Karmada's clusters. */
#include "unit/findings/mistakes.h"

#include <stdio.h>
#include <string.h>

#define PLACEMENT "spec.placement"
#define CONSTRAINTS PLACEMENT ".spreadConstraints"

static const char *text_at(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

/* ---- spread constraints ---- */

/* Returns the spread constraint by `name`: a field, or the label "tier". */
static cJSON *find_spread(struct drawn *d, const char *name, int *ret) {
    cJSON *all = drawn_at(d, CONSTRAINTS), *item = NULL;
    for (*ret = 0; *ret < cJSON_GetArraySize(all); ++*ret) {
        item = cJSON_GetArrayItem(all, *ret);
        const char *field = text_at(item, "spreadByField"), *label = text_at(item, "spreadByLabel");
        if (strcmp(field != NULL ? field : label, name) == 0)
            return item;
    }
    fail_msg("no spread by %s", name);
    return NULL;
}

static cJSON *draw_spread(struct drawn *d, int *ret) {
    static const char *const names[] = {"region", "cluster", "tier"};
    return find_spread(d, names[drawn_below(d, 3)], ret);
}

static void reverse_groups(struct drawn *d) {
    int i;
    cJSON *s = draw_spread(d, &i);
    const uint32_t max = 1 + drawn_below(d, 3);
    drawn_set(s, "maxGroups", cJSON_CreateNumber(max));
    drawn_set(s, "minGroups", cJSON_CreateNumber(max + 1 + drawn_below(d, 3)));
    drawn_want(d, FINDING_INVALID, "Raise maxGroups, or lower minGroups", CONSTRAINTS "[%d]", i);
}

static void forget_max_groups(struct drawn *d) {
    int i;
    cJSON *s = draw_spread(d, &i);
    cJSON_DeleteItemFromObject(s, "maxGroups");
    drawn_want(d, FINDING_MAX_GROUPS_UNSET, "Write maxGroups", CONSTRAINTS "[%d].maxGroups", i);
}

static void spread_by_both(struct drawn *d) {
    static const char *const fields[] = {"region", "cluster"};
    int i;
    drawn_set_text(find_spread(d, fields[drawn_below(d, 2)], &i), "spreadByLabel", "tier");
    drawn_want(d, FINDING_INVALID, "Remove one of them", CONSTRAINTS "[%d]", i);
}

static void repeat_field(struct drawn *d) {
    cJSON *all = drawn_at(d, CONSTRAINTS);
    int i;
    cJSON *copy =
        cJSON_Duplicate(find_spread(d, drawn_below(d, 2) == 0 ? "region" : "cluster", &i), true);
    drawn_want(d, FINDING_INVALID, "Remove one of them", CONSTRAINTS "[%d]",
               cJSON_GetArraySize(all));
    assert_true(cJSON_AddItemToArray(all, copy));
}

static void forget_cluster(struct drawn *d) {
    int i;
    (void)find_spread(d, "cluster", &i);
    cJSON_DeleteItemFromArray(drawn_at(d, CONSTRAINTS), i);
    drawn_want(d, FINDING_INVALID, "Add a constraint with spreadByField: cluster", CONSTRAINTS);
}

static void spread_by_unset_field(struct drawn *d) {
    int i;
    drawn_set_text(find_spread(d, "region", &i), "spreadByField",
                   drawn_below(d, 2) == 0 ? "provider" : "zone");
    drawn_want(d, FINDING_KEY_UNKNOWN, "Set this field of the Clusters",
               CONSTRAINTS "[%d].spreadByField", i);
}

static void misspell_spread_label(struct drawn *d) {
    char wrong[96];
    int i;
    cJSON *s = find_spread(d, "tier", &i);
    drawn_misspell(d, "tier", wrong, sizeof wrong);
    drawn_set_text(s, "spreadByLabel", wrong);
    drawn_want(d, FINDING_LABEL_UNKNOWN, "Write tier", CONSTRAINTS "[%d].spreadByLabel", i);
}

/* ---- names ---- */

static void misspell_cluster(struct drawn *d) {
    const bool has_terms = cJSON_HasObjectItem(drawn_at(d, PLACEMENT), "clusterAffinities");
    char path[DRAWN_PATH] = PLACEMENT ".clusterAffinity.clusterNames";
    for (int i = 0; has_terms && i < 2; i++) {
        (void)snprintf(path, sizeof path, PLACEMENT ".clusterAffinities[%d]", i);
        const bool has_names = cJSON_HasObjectItem(drawn_at(d, path), "clusterNames");
        strcat(path, ".clusterNames");
        if (has_names)
            break;
    }
    cJSON *names = drawn_at(d, path);
    const int i = (int)drawn_below(d, (uint32_t)cJSON_GetArraySize(names));
    assert_true(cJSON_ReplaceItemInArray(names, i, cJSON_CreateString("member1")));
    drawn_want(d, FINDING_NAME_UNKNOWN, "Name a cluster of the state", "%s", path);
}

/* ---- rules without effect ---- */

static void weigh_statically(struct drawn *d) {
    drawn_set(drawn_at(d, PLACEMENT ".replicaScheduling"), "weightPreference",
              drawn_json("{'staticWeightList':[{'targetCluster':{'clusterNames':['m2']},"
                         "'weight':1}]}"));
    drawn_want(d, FINDING_PASSED_OVER, "Divide by dynamicWeight", CONSTRAINTS);
}

static void ask_for_workload_affinity(struct drawn *d) {
    drawn_set(drawn_at(d, PLACEMENT), "workloadAffinity",
              drawn_json("{'affinity':{'groupByLabelKey':'a'}}"));
    drawn_want(d, FINDING_PASSED_OVER, "Use cluster affinities", PLACEMENT ".workloadAffinity");
}

static void have_components(struct drawn *d) {
    drawn_set(drawn_at(d, "spec"), "components",
              drawn_json("[{'name':'a','replicas':1},{'name':'b','replicas':2}]"));
    drawn_want(d, FINDING_PASSED_OVER, "Ask for sets by simulate --lines", "spec.components");
}

/* ---- what has been scheduled ---- */

static void keep_failed(struct drawn *d) {
    cJSON *member = cJSON_GetArrayItem(cJSON_GetObjectItem(d->state, "items"), 0);
    drawn_set(cJSON_GetObjectItem(member, "spec"), "taints",
              drawn_json("[{'key':'lost','effect':'NoExecute'}]"));
    drawn_want(d, FINDING_KEEPS_FAILED, "Let Karmada's taint manager evict it", "spec.clusters[0]");
}

/* The placement was applied, and all replicas are assigned. */
static void be_scheduled(struct drawn *d) {
    char *applied = cJSON_PrintUnformatted(drawn_at(d, PLACEMENT));
    cJSON *annotations = cJSON_CreateObject();
    drawn_set(drawn_at(d, "metadata"), "annotations", annotations);
    drawn_set_text(annotations, "policy.karmada.io/applied-placement", applied);
    cJSON_free(applied);
    drawn_set(drawn_at(d, "spec"), "clusters",
              drawn_json("[{'name':'m1','replicas':1},{'name':'m2','replicas':3}]"));
    drawn_set(d->file, "status", drawn_json("{'schedulerObservingAffinityName':'first'}"));
    drawn_want(d, FINDING_NOT_SCHEDULED, "Change its placement or replicas", "%s", "");
}

const struct mistake mistakes_of_bindings[] = {
    {"maxGroups below minGroups", FINDING_INVALID, OF_BINDINGS, true, reverse_groups},
    {"maxGroups unset", FINDING_MAX_GROUPS_UNSET, OF_BINDINGS, true, forget_max_groups},
    {"field and label", FINDING_INVALID, OF_BINDINGS, true, spread_by_both},
    {"a field twice", FINDING_INVALID, OF_BINDINGS, true, repeat_field},
    {"no spread by cluster", FINDING_INVALID, OF_BINDINGS, true, forget_cluster},
    {"a field that no cluster has", FINDING_KEY_UNKNOWN, OF_BINDINGS, true, spread_by_unset_field},
    {"a label that no cluster has", FINDING_LABEL_UNKNOWN, OF_BINDINGS, true,
     misspell_spread_label},
    {"a cluster that is not there", FINDING_NAME_UNKNOWN, OF_BINDINGS, true, misspell_cluster},
    {"constraints beside static weights", FINDING_PASSED_OVER, OF_BINDINGS, true, weigh_statically},
    {"workload affinity", FINDING_PASSED_OVER, OF_BINDINGS, true, ask_for_workload_affinity},
    {"components", FINDING_PASSED_OVER, 1 << SUBJECT_BINDING, true, have_components},
    {"a failed cluster", FINDING_KEEPS_FAILED, 1 << SUBJECT_BINDING, true, keep_failed},
    {"all is scheduled", FINDING_NOT_SCHEDULED, 1 << SUBJECT_BINDING, true, be_scheduled},
    {.name = NULL},
};
