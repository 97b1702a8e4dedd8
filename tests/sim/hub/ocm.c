/*
 * OCM's placement controller: slow, paused now and then, and not at once seeing that a Placement
 * was taken from it. It decides by what it has seen: its watches of Placements and of
 * AddOnPlacementScores are two, and lag behind each other. What it does with a user's CEL and with
 * our gates, which ocm_decide() does not evaluate, is played by leaving out the clusters that do
 * not pass.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

/* With what its watches lag, and its steps take, it is less than Evenkeel's refusedAfter. */
enum { SLOW_MS = 12000 };

/* ---- what it has seen ---- */

static bool is_lagging(struct world *w, enum fleet_kind kind) {
    struct ocm_controller *ocm = &w->ocm;
    if (kind != FLEET_PLACEMENTS && kind != FLEET_SCORES)
        return false;
    if (w->hostility > 0 && world_chance(w, 30)) {
        ocm->lags_until_ms[kind] = world_now(w) + world_between(w, 100, 12000);
        happen(w, OCM_LAGS);
    }
    return world_now(w) < ocm->lags_until_ms[kind] || world_chance(w, 200);
}

/* A watch brings changes in their order; not always all. */
static void watch(struct world *w) {
    struct ocm_controller *ocm = &w->ocm;
    for (enum fleet_kind kind = 0; kind < FLEET_KINDS; kind++) {
        const struct store_kind *k = &w->store.kinds[kind];
        const bool two = kind == FLEET_PLACEMENTS || kind == FLEET_SCORES;
        uint32_t most = k->log_count - ocm->seen[kind];
        if (most == 0 || is_lagging(w, kind))
            continue;
        if (two && world_chance(w, 300))
            most = (uint32_t)world_between(w, 1, most);
        for (; most > 0; most--)
            truth_take(w, ocm->sees, kind, &k->log[ocm->seen[kind]++]);
    }
}

/* All that its answer depends on. Scores that have ended are found now and then. */
static uint64_t what_it_sees(const struct world *w) {
    return w->facts_version + w->ocm.seen[FLEET_PLACEMENTS] + w->ocm.seen[FLEET_SCORES] +
           w->ocm.seen[FLEET_DECISIONS] + (world_now(w) > w->scores_end_ms) + 1;
}

static bool has_seen_all(const struct world *w) {
    for (enum fleet_kind kind = 0; kind < FLEET_KINDS; kind++)
        if (w->ocm.seen[kind] != w->store.kinds[kind].log_count)
            return false;
    return true;
}

/* ---- filters that ocm_decide() has not ---- */

/* Does every predicate of the Placement have a gate of ours? *ret: of this key. */
static bool is_gated(const struct placement *p, struct injected_key *ret) {
    for (uint32_t i = 0; i < p->predicate_count; i++) {
        if (!p->predicates[i].is_gated)
            return false;
        *ret = p->predicates[i].gate;
    }
    return p->predicate_count > 0;
}

enum filtered { UNREAD, PASSES, REFUSED };

/* Reads the scores of clusters that were not read yet, of `share` in 1000 of them. Returns whether
 * there is a gate. */
static bool filter(struct world *w, const struct wish *wish, const struct truth *t, unsigned share,
                   struct injected_key *ret_key, uint8_t *filtered) {
    const bool gated = is_gated(&t->placement, ret_key);
    char text[32];
    (void)snprintf(text, sizeof text, INJECTED_RESOURCE, ret_key->shard);
    const struct fleet_scores *scores = gated ? fleet_scores_find(&t->view, str_of(text)) : NULL;
    (void)snprintf(text, sizeof text, INJECTED_SCORE, ret_key->shard, ret_key->number);
    const uint32_t item = fleet_score_name(&t->view, str_of(text));
    for (unsigned i = 0; i < w->cluster_count; i++) {
        char name[16];
        if (filtered[i] != UNREAD || (share < 1000 && !world_chance(w, share)))
            continue;
        (void)snprintf(name, sizeof name, "c%04u", i);
        const uint32_t slot = topology_slot(t->view.clusters.topology, str_of(name));
        const bool passes =
            !gated || (scores != NULL && item != INTERN_NONE && slot != TOPOLOGY_NONE &&
                       fleet_score_of(scores, slot, item).value > 0);
        filtered[i] = passes && !wish_refuses(w, wish, i) ? PASSES : REFUSED;
    }
    return gated;
}

/* The scores change while OCM reads them: its watch brings some, and those of other clusters are
 * read already. Opens the truth anew; false: there is no Placement. */
static bool filter_while_they_come(struct world *w, const struct wish *wish, struct truth *t,
                                   uint8_t *filtered) {
    const struct store_kind *k = &w->store.kinds[FLEET_SCORES];
    uint32_t *const seen = &w->ocm.seen[FLEET_SCORES];
    struct injected_key key;
    bool open = true;
    while (open && *seen < k->log_count && world_chance(w, 800) &&
           filter(w, wish, t, 500, &key, filtered)) {
        truth_close(t);
        for (int64_t n = world_between(w, 1, 3); n > 0 && *seen < k->log_count; n--)
            truth_take(w, w->ocm.sees, FLEET_SCORES, &k->log[(*seen)++]);
        happen(w, OCM_MIXES);
        open = truth_open(w, w->ocm.sees, wish, t);
    }
    return open;
}

/* ---- what it writes ---- */

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

/* One that has the label and is not wanted. */
static bool drop_object(struct world *w, const struct wish *wish, uint32_t wanted) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    char prefix[40];
    (void)snprintf(prefix, sizeof prefix, "%s-decision-", wish->name);
    for (uint32_t i = 0; i < k->count; i++) {
        cJSON *object = k->objects[i];
        unsigned long number = 0;
        if (strcmp(label_of(object, PLACEMENT_LABEL), wish->name) != 0)
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
            const bool right = there != NULL && strcmp(owner_uid_of(there), FOREIGN_UID) != 0 &&
                               is_as_wanted(t, there, &wanted);
            if (made == NULL && !right)
                made = make_object(w, wish, t, &wanted);
        }
    return made;
}

/* One object. Returns whether something was to be written. */
static bool write_one(struct world *w, const struct wish *wish, const struct truth *t) {
    uint32_t number = 0;
    cJSON *made = find_missing(w, wish, t, &number);
    if (made == NULL)
        return drop_object(w, wish, number);
    cJSON *there = store_find(&w->store, FLEET_DECISIONS, NAMESPACE, name_of(made));
    if (there != NULL)
        store_remove(&w->store, FLEET_DECISIONS, there);
    store_add(&w->store, FLEET_DECISIONS, made);
    return true;
}

/* Conditions of others stay. Returns whether something was to be written. */
static bool write_status(struct world *w, const struct wish *wish, const struct truth *t) {
    cJSON *placement = placement_of(w, wish), *before = cJSON_Duplicate(placement, true);
    cJSON *status = json_need(placement, "status");
    cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "conditions");
    if (list == NULL)
        list = cJSON_AddArrayToObject(status, "conditions");
    cJSON_DeleteItemFromObjectCaseSensitive(status, "numberOfSelectedClusters");
    (void)cJSON_AddNumberToObject(status, "numberOfSelectedClusters", t->d.plan.selected_count);
    for (int i = 0; i < OCM_CONDITIONS; i++) {
        const struct ocm_condition *c = &t->d.conditions[i];
        cJSON *item = list->child, *made;
        char type[40];
        (void)snprintf(type, sizeof type, "%.*s", STR_ARG(c->type));
        while (item != NULL && strcmp(text_in(item, "type"), type) != 0)
            item = item->next;
        made = json_of("{'type':'%s','status':'%.*s','reason':'%.*s','message':'%.*s',"
                       "'lastTransitionTime':'2026-01-02T03:04:05Z'}",
                       type, STR_ARG(ocm_status_names[c->status]), STR_ARG(c->reason),
                       STR_ARG(c->message));
        if (item != NULL)
            (void)cJSON_ReplaceItemViaPointer(list, item, made);
        else
            (void)cJSON_AddItemToArray(list, made);
    }
    const bool same = cJSON_Compare(before, placement, true);
    cJSON_Delete(before);
    if (!same)
        store_touch(&w->store, FLEET_PLACEMENTS, placement);
    return !same;
}

/* ---- what it does ---- */

/* The objects of one Placement are written one after the other, at once; the status last, unless
 * the Placement is not any more what was seen. */
static bool write_all(struct world *w, const struct wish *wish, bool late, struct truth *t) {
    struct store *s = &w->store;
    const uint64_t before = s->version;
    while (write_one(w, wish, t) && !late)
        ;
    if (!late && w->ocm.seen[FLEET_PLACEMENTS] == s->kinds[FLEET_PLACEMENTS].log_count)
        (void)write_status(w, wish, t);
    return s->version != before;
}

static uint32_t count_fitting(const struct truth *t) {
    uint32_t count = 0;
    for (uint32_t i = 0; t->d.filtered && i < t->d.available_count; i++)
        count += t->d.verdicts[t->d.available[i]] == OCM_PASS;
    return count;
}

/* Decides it by what was seen. Returns whether something was to be written. */
static bool decide(struct world *w, struct wish *wish, bool late) {
    struct truth t;
    struct ocm_step step = {.wish = wish};
    bool wrote = false;
    uint8_t *without = check_new_flags(w);
    if (truth_open(w, w->ocm.sees, wish, &t) &&
        str_eq(t.placement.meta.uid, str_of(text_in(meta_of(placement_of(w, wish)), "uid"))) &&
        filter_while_they_come(w, wish, &t, without)) {
        step.gated = filter(w, wish, &t, 1000, &step.gate, without);
        for (unsigned i = 0; i < w->cluster_count; i++)
            without[i] = without[i] == REFUSED;
        check_begin_ocm(w, &step);
        if (truth_answer(w, wish, false, without, &t)) {
            step.number = t.placement.has_number ? (uint32_t)t.placement.number : UINT32_MAX;
            step.fits = count_fitting(&t);
            wrote = write_all(w, wish, late, &t);
        }
        check_end_ocm(w, &step);
    }
    truth_close(&t);
    free(without);
    return wrote;
}

static void act_on(struct world *w, struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    const bool disabled = placement != NULL && is_disabled(placement);
    if (placement == NULL || (disabled && (!wish->ocm_decides || world_chance(w, 500)))) {
        wish->ocm_decides = false;
        return;
    }
    wish->ocm_decides = true;
    if (what_it_sees(w) != wish->ocm_right) {
        const uint64_t seen = what_it_sees(w);
        if (!decide(w, wish, disabled)) {
            wish->ocm_right = seen;
        } else {
            wish->changed_version = w->store.version;
            check_forget_round(w, wish);
            happen(w, disabled ? OCM_WROTE_OVER : OCM_WROTE);
            world_trace(w, "OCM writes decisions of %s%s", wish->name, disabled ? ", late" : "");
        }
    }
    if (has_seen_all(w) && wish->ocm_right == what_it_sees(w))
        wish->unfair = false;
}

void ocm_step(struct world *w) {
    const int64_t slow_ms = w->hostility > 0 ? 3000 : 200;
    w->ocm_ms = world_now(w) + world_between(w, 1, slow_ms);
    if (w->hostility > 0 && world_chance(w, 5)) {
        w->ocm_ms = world_now(w) + world_between(w, 1000, 60000);
        world_trace(w, "OCM is paused");
        for (unsigned i = 0; i < w->wish_count; i++) /* for longer than it may take, perhaps */
            w->wishes[i].unfair = w->wishes[i].unfair || w->ocm_ms - world_now(w) > SLOW_MS;
        happen(w, OCM_PAUSED);
        return;
    }
    watch(w);
    for (unsigned i = 0; i < w->wish_count && !w->failed; i++)
        act_on(w, &w->wishes[i]);
}

void ocm_heal(struct world *w) {
    memset(w->ocm.lags_until_ms, 0, sizeof w->ocm.lags_until_ms);
    w->ocm_ms = world_now(w);
}

bool ocm_is_idle(const struct world *w) {
    for (unsigned i = 0; i < w->wish_count; i++) {
        const struct wish *wish = &w->wishes[i];
        const cJSON *placement = placement_of(w, wish);
        if (placement == NULL)
            continue;
        if (is_disabled(placement) ? wish->ocm_decides : wish->ocm_right != what_it_sees(w))
            return false;
    }
    return has_seen_all(w);
}
