/*
 * Who else acts on the hub: OCM's placement controller, slowly, and not at once seeing that a
 * Placement was taken from it; and the garbage collector.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

#define FOREIGN_UID "foreign"

/* All that OCM's answer depends on. */
static uint64_t seen_by_ocm(const struct world *w) {
    return w->facts_version + w->store.kinds[FLEET_PLACEMENTS].log_count +
           w->store.kinds[FLEET_DECISIONS].log_count;
}

static bool is_disabled(const cJSON *placement) {
    return strcmp(annotation_of(placement, PLACEMENT_DISABLE_ANNOTATION), "true") == 0;
}

static cJSON *decision_for(const struct wish *wish, const char *uid, const char *name,
                           uint32_t group) {
    return json_of("{'metadata':{'name':'%s','namespace':'" NAMESPACE "','labels':{"
                   "'" PLACEMENT_LABEL "':'%s','" PLACEMENT_GROUP_INDEX_LABEL "':'%u',"
                   "'" PLACEMENT_GROUP_NAME_LABEL "':''},'ownerReferences':[{'apiVersion':"
                   "'cluster.open-cluster-management.io/v1beta1','kind':'Placement','name':'%s',"
                   "'uid':'%s','controller':true,'blockOwnerDeletion':true}]},"
                   "'status':{'decisions':[]}}",
                   name, wish->name, group, wish->name, uid);
}

/* One of the objects that OCM wants. */
struct wanted {
    char name[40];
    uint32_t group, from, count; /* of the group's slots */
};

static bool is_as_wanted(const struct truth *t, const cJSON *object, const struct wanted *wanted) {
    const cJSON *list = decisions_in(object), *item = list != NULL ? list->child : NULL;
    char group[12];
    (void)snprintf(group, sizeof group, "%u", wanted->group);
    if (strcmp(label_of(object, PLACEMENT_GROUP_INDEX_LABEL), group) != 0)
        return false;
    for (uint32_t i = 0; i < wanted->count; i++, item = item->next)
        if (item == NULL ||
            cluster_number(text_in(item, "clusterName")) !=
                truth_cluster(t, t->d.groups[wanted->group].slots[wanted->from + i]))
            return false;
    return item == NULL;
}

static cJSON *make_object(const struct world *w, const struct wish *wish, const struct truth *t,
                          const struct wanted *wanted) {
    cJSON *made = decision_for(wish, text_in(meta_of(placement_of(w, wish)), "uid"), wanted->name,
                               wanted->group);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(made, "status"),
                                                   "decisions");
    for (uint32_t i = 0; i < wanted->count; i++) {
        const uint32_t slot = t->d.groups[wanted->group].slots[wanted->from + i];
        (void)cJSON_AddItemToArray(
            list, json_of("{'clusterName':'c%04u','reason':''}", truth_cluster(t, slot)));
    }
    return made;
}

static bool is_foreign(const cJSON *object) {
    return strcmp(owner_uid_of(object), FOREIGN_UID) == 0;
}

/* One that has the label and is not wanted. */
static bool drop_object(struct world *w, const struct wish *wish, uint32_t wanted) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    char prefix[40];
    (void)snprintf(prefix, sizeof prefix, "%s-decision-", wish->name);
    for (uint32_t i = 0; i < k->count; i++) {
        cJSON *object = k->objects[i];
        unsigned long number = 0;
        if (strcmp(label_of(object, PLACEMENT_LABEL), wish->name) != 0 || is_foreign(object))
            continue;
        if (strncmp(name_of(object), prefix, strlen(prefix)) == 0)
            number = strtoul(name_of(object) + strlen(prefix), NULL, 10);
        if (number >= 1 && number <= wanted)
            continue;
        store_remove(&w->store, FLEET_DECISIONS, object);
        return true;
    }
    return false;
}

/* The first object that is missing or another; NULL: there is none. *ret_number: how many there
 * are to be. */
static cJSON *find_missing(const struct world *w, const struct wish *wish, const struct truth *t,
                           uint32_t *ret_number) {
    cJSON *made = NULL;
    *ret_number = 0;
    for (uint32_t g = 0; g < t->d.group_count; g++)
        for (uint32_t i = 0; i < t->d.groups[g].decision_count; i++) {
            const uint32_t from = i * OCM_DECISION_CLUSTERS, left = t->d.groups[g].count - from;
            struct wanted wanted = {.group = g,
                                    .from = from,
                                    .count = left < OCM_DECISION_CLUSTERS ? left
                                                                          : OCM_DECISION_CLUSTERS};
            (void)snprintf(wanted.name, sizeof wanted.name, "%s-decision-%u", wish->name,
                           ++*ret_number);
            const cJSON *there = store_find(&w->store, FLEET_DECISIONS, NAMESPACE, wanted.name);
            const bool free_name = there == NULL || !is_foreign(there);
            if (made == NULL && free_name && (there == NULL || !is_as_wanted(t, there, &wanted)))
                made = make_object(w, wish, t, &wanted);
        }
    return made;
}

/* Returns whether something was to be written. */
static bool write_one(struct world *w, const struct wish *wish) {
    struct truth t;
    uint32_t number = 0;
    const bool decided = truth_decide(w, wish, false, &t);
    cJSON *made = decided ? find_missing(w, wish, &t, &number) : NULL;
    truth_close(&t); /* which the store changes */
    if (made == NULL)
        return decided && drop_object(w, wish, number);
    cJSON *there = store_find(&w->store, FLEET_DECISIONS, NAMESPACE, name_of(made));
    if (there != NULL)
        store_remove(&w->store, FLEET_DECISIONS, there);
    store_add(&w->store, FLEET_DECISIONS, made);
    return true;
}

static void act_on(struct world *w, struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    const bool disabled = placement != NULL && is_disabled(placement);
    if (placement == NULL || (disabled && (!wish->ocm_decides || world_chance(w, 500)))) {
        wish->ocm_decides = false;
        return;
    }
    wish->ocm_decides = true;
    if (seen_by_ocm(w) == wish->ocm_right)
        return;
    if (!write_one(w, wish)) {
        wish->ocm_right = seen_by_ocm(w);
        return;
    }
    wish->changed_version = w->store.version;
    check_forget_round(w, wish);
    happen(w, disabled ? OCM_WROTE_OVER : OCM_WROTE);
    world_trace(w, "OCM writes decisions of %s%s", wish->name, disabled ? ", late" : "");
}

void ocm_step(struct world *w) {
    const int64_t slow_ms = w->hostility > 0 ? 3000 : 200;
    w->ocm_ms = world_now(w) + world_between(w, 1, slow_ms);
    for (unsigned i = 0; i < w->wish_count; i++)
        act_on(w, &w->wishes[i]);
}

/* ---- garbage ---- */

static bool has_owner(const struct world *w, const char *uid) {
    const struct store_kind *k = &w->store.kinds[FLEET_PLACEMENTS];
    for (uint32_t i = 0; i < k->count; i++)
        if (strcmp(text_in(meta_of(k->objects[i]), "uid"), uid) == 0)
            return true;
    return false;
}

static cJSON *find_garbage(const struct world *w) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    for (uint32_t i = 0; i < k->count; i++) {
        const char *uid = owner_uid_of(k->objects[i]);
        if (uid[0] != '\0' && !is_foreign(k->objects[i]) && !has_owner(w, uid))
            return k->objects[i];
    }
    return NULL;
}

void collect_step(struct world *w) {
    cJSON *garbage = find_garbage(w);
    w->collect_ms = world_now(w) + world_between(w, 1, garbage != NULL ? 500 : 10000);
    if (garbage == NULL)
        return;
    for (unsigned i = 0; i < w->wish_count; i++)
        if (strcmp(label_of(garbage, PLACEMENT_LABEL), w->wishes[i].name) == 0)
            w->wishes[i].changed_version = w->store.version + 1;
    world_trace(w, "%s is collected", name_of(garbage));
    store_remove(&w->store, FLEET_DECISIONS, garbage);
    happen(w, COLLECTED);
}

bool actors_are_idle(struct world *w) {
    for (unsigned i = 0; i < w->wish_count; i++) {
        const struct wish *wish = &w->wishes[i];
        const cJSON *placement = placement_of(w, wish);
        if (placement == NULL)
            continue;
        if (is_disabled(placement) ? wish->ocm_decides : wish->ocm_right != seen_by_ocm(w))
            return false;
    }
    return find_garbage(w) == NULL;
}
