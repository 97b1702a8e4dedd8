/*
 * What must be true. A write is judged by what the API server has before and after it. It is *fair*
 * to judge a write by what was known to its writer if nothing has changed since: what a write of an
 * old state does is judged only by what no write may do.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

#define SPREAD_CONDITION "SpreadSatisfied"

/* ---- what there is ---- */

static bool is_of(const struct wish *wish, const char *uid, const cJSON *object) {
    return strcmp(label_of(object, PLACEMENT_LABEL), wish->name) == 0 &&
           strcmp(owner_uid_of(object), uid) == 0;
}

static const char *uid_of(const struct world *w, const struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    return placement != NULL ? text_in(meta_of(placement), "uid") : "none";
}

/* In how many of its objects each cluster is. Returns how many objects there are. */
uint32_t check_count_held(const struct world *w, const struct wish *wish, uint8_t *ret) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    const char *uid = uid_of(w, wish);
    uint32_t objects = 0;
    memset(ret, 0, w->cluster_count);
    for (uint32_t i = 0; i < k->count; i++) {
        const cJSON *list = decisions_in(k->objects[i]);
        if (!is_of(wish, uid, k->objects[i]))
            continue;
        objects++;
        for (const cJSON *item = list != NULL ? list->child : NULL; item; item = item->next) {
            const uint32_t c = cluster_number(text_in(item, "clusterName"));
            if (c < w->cluster_count && ret[c] < UINT8_MAX)
                ret[c]++;
        }
    }
    return objects;
}

uint8_t *check_new_flags(const struct world *w) {
    uint8_t *flags = calloc(w->cluster_count, 1);
    if (flags == NULL)
        abort();
    return flags;
}

bool check_is_member(const struct world *w, unsigned cluster) {
    return w->clusters[cluster].object != NULL && !w->clusters[cluster].tainted;
}

bool check_fits(const struct world *w, const struct wish *wish, unsigned cluster) {
    const struct cluster *c = &w->clusters[cluster];
    return c->object != NULL && !c->tainted && (c->has_zone || !(wish->terms & TERM_ZONE_HARD));
}

/* Of the hard term over zones, `without` these clusters (NULL: with all): the fullest above the
 * emptiest, the most of all regions where terms have these. */
int check_hard_skew(const struct world *w, const struct wish *wish, const uint8_t *held,
                    const uint8_t *without) {
    enum { MOST = 64 };
    int held_in[MOST] = {0}, worst = 0;
    bool exists[MOST] = {false};
    const bool by_region = wish->terms & TERM_REGION_SOFT;
    for (unsigned i = 0; i < w->cluster_count; i++) {
        const unsigned zone =
            (unsigned)w->clusters[i].region * w->zones + (unsigned)w->clusters[i].zone;
        if (!check_fits(w, wish, i) || (without != NULL && without[i] != 0))
            continue;
        exists[zone] = true;
        held_in[zone] += held[i] > 0;
    }
    const unsigned all = w->regions * w->zones, size = by_region ? w->zones : all;
    for (unsigned from = 0; from < all; from += size) {
        int least = INT32_MAX, most = 0;
        for (unsigned z = from; z < from + size; z++) {
            if (!exists[z])
                continue;
            least = held_in[z] < least ? held_in[z] : least;
            most = held_in[z] > most ? held_in[z] : most;
        }
        worst = most > 0 && most - least > worst ? most - least : worst;
    }
    return worst;
}

/* ---- one write ---- */

static struct wish *wish_named(struct world *w, const char *name, size_t n) {
    for (unsigned i = 0; i < w->wish_count; i++)
        if (strlen(w->wishes[i].name) == n && strncmp(w->wishes[i].name, name, n) == 0)
            return &w->wishes[i];
    return NULL;
}

static void find_target(struct world *w, const char *path, struct str body, struct judged *j) {
    const char *at = strstr(path, "/placementdecisions");
    j->kind = at != NULL ? FLEET_DECISIONS : FLEET_PLACEMENTS;
    at = at != NULL ? at + sizeof "/placementdecisions" - 1 : strstr(path, "/placements/");
    if (at != NULL && j->kind == FLEET_PLACEMENTS)
        at += sizeof "/placements" - 1;
    if (at != NULL && at[0] == '/') {
        (void)snprintf(j->name, sizeof j->name, "%.*s", (int)strcspn(at + 1, "/?"), at + 1);
    } else {
        cJSON *sent = cJSON_ParseWithLength(body.p, body.n);
        (void)snprintf(j->name, sizeof j->name, "%s", name_of(sent));
        cJSON_Delete(sent);
    }
    j->wish = wish_named(w, j->name, strcspn(j->name, "-"));
}

void check_begin_write(struct world *w, const char *path, struct str body, struct judged *ret) {
    *ret = (struct judged){.wish = NULL};
    if (strstr(path, "/namespaces/" CROWD_NAMESPACE "/") != NULL)
        return;
    if (strstr(path, "/addonplacementscores") != NULL) {
        check_begin_score(w, path, body, ret);
        return;
    }
    find_target(w, path, body, ret);
    if (ret->wish == NULL) {
        world_fail(w, "nobody has a Placement for '%s'", ret->name);
        return;
    }
    const cJSON *object = store_find(&w->store, ret->kind, NAMESPACE, ret->name);
    ret->object = object != NULL ? cJSON_Duplicate(object, true) : NULL;
    ret->before = check_new_flags(w);
    ret->objects = check_count_held(w, ret->wish, ret->before);
}

static const cJSON *part(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool same_part(const cJSON *a, const cJSON *b, const char *name) {
    const cJSON *left = part(a, name), *right = part(b, name);
    return (left == NULL && right == NULL) || cJSON_Compare(left, right, true);
}

/* Without its version. */
static bool is_same(const cJSON *before, const cJSON *after) {
    cJSON *left = cJSON_Duplicate(before, true), *right = cJSON_Duplicate(after, true);
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(left, "metadata"),
                                            "resourceVersion");
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(right, "metadata"),
                                            "resourceVersion");
    const bool same = cJSON_Compare(left, right, true);
    cJSON_Delete(left);
    cJSON_Delete(right);
    return same;
}

/* Of a Placement only three annotations, the status, and what mode Scores adds are ours. */
static void check_placement(struct world *w, const struct judged *j, const cJSON *after) {
    check_injection(w, j, after);
    cJSON *left = cJSON_Duplicate(j->object, true), *right = cJSON_Duplicate(after, true);
    cJSON *const both[] = {left, right};
    for (int i = 0; i < 2; i++) {
        annotate(both[i], PLACEMENT_DISABLE_ANNOTATION, NULL);
        annotate(both[i], PLACEMENT_DISABLED_ANNOTATION, NULL);
        annotate(both[i], PLACEMENT_INJECTED_ANNOTATION, NULL);
        cJSON_DeleteItemFromObjectCaseSensitive(both[i], "spec");
        cJSON_DeleteItemFromObjectCaseSensitive(both[i], "status");
    }
    if (!is_same(left, right))
        world_fail(w, "more of %s was written than is Evenkeel's", j->name);
    cJSON_Delete(left);
    cJSON_Delete(right);
}

static void check_owner(struct world *w, const struct judged *j) {
    const char *owner = owner_uid_of(j->object);
    if (j->wish->theirs)
        world_fail(w, "%s is not Evenkeel's, and was written", j->name);
    if (j->kind == FLEET_DECISIONS && j->object != NULL && strcmp(owner, "foreign") == 0)
        world_fail(w, "%s is of another controller, and was written", j->name);
    if (j->fair && !wish_is_ours(w, j->wish) && j->kind == FLEET_DECISIONS)
        world_fail(w, "%s is OCM's to decide, and %s was written", j->wish->name, j->name);
}

static void check_emptied(struct world *w, const struct judged *j, const uint8_t *after) {
    bool had = false, has = false, can = false;
    for (unsigned i = 0; i < w->cluster_count; i++) {
        had = had || j->before[i] > 0;
        has = has || after[i] > 0;
        can = can || check_fits(w, j->wish, i);
    }
    if (j->fair && had && !has && can && j->wish->number != 0)
        world_fail(w, "the decisions of %s were emptied, and clusters fit", j->wish->name);
}

/* Is there one of the write's changes that would have kept the hard term? */
static bool could_hold(const struct world *w, const struct judged *j, const uint8_t *after,
                       int most) {
    uint8_t *flags = check_new_flags(w);
    bool could = false;
    uint32_t changes = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        flags[i] = j->before[i] > 0;
    for (unsigned i = 0; i < w->cluster_count && !could; i++) {
        if (flags[i] == (after[i] > 0))
            continue;
        changes++;
        flags[i] ^= 1;
        could = check_hard_skew(w, j->wish, flags, NULL) <= most;
        flags[i] ^= 1;
    }
    free(flags);
    return could && changes > 1;
}

static void check_hard_term(struct world *w, const struct judged *j, const uint8_t *after) {
    const bool taken_in = j->object != NULL && label_of(j->object, PLACEMENT_LABEL)[0] == '\0';
    if (!j->fair || taken_in || !(j->wish->terms & TERM_ZONE_HARD))
        return; /* what is taken in has what it has */
    const int was = check_hard_skew(w, j->wish, j->before, NULL),
              is = check_hard_skew(w, j->wish, after, NULL);
    const int most = was > 1 ? was : 1;
    if (is <= most)
        return;
    if (j->objects <= 1)
        world_fail(w, "%s: a write of its only object takes the skew from %d to %d", j->wish->name,
                   was, is);
    if (could_hold(w, j, after, most))
        world_fail(w, "%s: a write takes the skew from %d to %d, and a part of it would not",
                   j->wish->name, was, is);
    happen(w, BROKE_HARD_TERM);
}

/* Is the zone of a cluster above maxSkew 1, among those that have a cluster which fits? */
static bool is_above(const struct world *w, const struct wish *wish, const uint8_t *held,
                     unsigned cluster) {
    enum { MOST = 64 };
    int held_in[MOST] = {0}, least = INT32_MAX;
    bool exists[MOST] = {false};
    const struct cluster *own = &w->clusters[cluster];
    for (unsigned i = 0; i < w->cluster_count; i++) {
        const struct cluster *c = &w->clusters[i];
        const unsigned zone = (unsigned)c->region * w->zones + (unsigned)c->zone;
        const bool sibling = !(wish->terms & TERM_REGION_SOFT) || c->region == own->region;
        if (!sibling || !check_fits(w, wish, i))
            continue;
        exists[zone] = true;
        held_in[zone] += held[i] > 0;
    }
    for (unsigned zone = 0; zone < MOST; zone++)
        least = exists[zone] && held_in[zone] < least ? held_in[zone] : least;
    return held_in[(unsigned)own->region * w->zones + (unsigned)own->zone] > least + 1;
}

/* No write takes one that fits where fewer than asked for are left, whatever key it lacks; none
 * adds to a zone that is then above the hard term. Several objects cannot change at once. */
static void check_members_stay(struct world *w, const struct judged *j, const uint8_t *after) {
    const struct wish *wish = j->wish;
    const bool taken_in = j->object != NULL && label_of(j->object, PLACEMENT_LABEL)[0] == '\0';
    unsigned left = 0;
    if (!j->fair || taken_in)
        return;
    for (unsigned i = 0; i < w->cluster_count; i++)
        left += after[i] > 0 && w->clusters[i].object != NULL && !w->clusters[i].tainted;
    for (unsigned i = 0; i < w->cluster_count && !w->failed; i++) {
        const bool fits = w->clusters[i].object != NULL && !w->clusters[i].tainted;
        const bool few = wish->number < 0 || left < (unsigned)wish->number;
        if (j->before[i] > 0 && after[i] == 0 && fits && few)
            world_fail(w, "%s: c%04u is taken away, and %u of %d are left", wish->name, i, left,
                       wish->number);
        if ((wish->terms & TERM_ZONE_HARD) && j->objects <= 1 && j->before[i] == 0 &&
            after[i] > 0 && is_above(w, wish, after, i))
            world_fail(w, "%s: c%04u comes to a zone that is above maxSkew", wish->name, i);
    }
}

/* Clusters that are in one of both and not in the other. */
static uint32_t count_changes(const struct world *w, const cJSON *before, const cJSON *after) {
    uint8_t *flags = check_new_flags(w);
    uint32_t changes = 0;
    const cJSON *const both[] = {decisions_in(before), decisions_in(after)};
    for (int i = 0; i < 2; i++)
        for (const cJSON *item = both[i] != NULL ? both[i]->child : NULL; item; item = item->next) {
            const uint32_t c = cluster_number(text_in(item, "clusterName"));
            if (c < w->cluster_count)
                flags[c] ^= 1;
        }
    for (unsigned i = 0; i < w->cluster_count; i++)
        changes += flags[i];
    free(flags);
    return changes;
}

static void count_write(struct world *w, const struct judged *j, const cJSON *after) {
    struct wish *wish = j->wish;
    const bool is_status = j->kind == FLEET_PLACEMENTS && !same_part(j->object, after, "status");
    const uint32_t changes = j->kind == FLEET_DECISIONS ? count_changes(w, j->object, after) : 0;
    if (same_part(j->object, after, "spec"))
        happen(w, j->kind == FLEET_DECISIONS ? WROTE_DECISION
                  : is_status                ? WROTE_STATUS
                                             : WROTE_ANNOTATIONS);
    wish->writes++;
    wish->changes += changes;
    wish->structure += changes == 0 && !is_status;
    /* its last cluster goes with the object, which the status does not name any more, either */
    wish->relabelled = wish->relabelled || (!is_status && (changes == 0 || after == NULL));
    if (is_status) {
        wish->structure += wish->relabelled; /* which the status says, too */
        wish->relabelled = false;
        wish->moves += (wish->changes + 1) / 2;
        wish->changes = 0;
    }
}

static void note_missing(struct world *w, const struct judged *j, const uint8_t *after) {
    const struct wish *wish = j->wish;
    const bool fair = j->informed && world_now(w) > w->scores_end_ms; /* none ends meanwhile */
    for (unsigned i = 0; i < w->cluster_count; i++) {
        if (fair && j->before[i] > 0 && after[i] == 0)
            wish->missing[i] = 1;
        if (j->before[i] == 1 && after[i] > 1)
            happen(w, CHANGED_OBJECT);
    }
}

static void judge(struct world *w, const struct judged *j) {
    const cJSON *after = store_find(&w->store, j->kind, NAMESPACE, j->name);
    if (j->stale)
        happen(w, STALE_WRITE_LANDED);
    check_owner(w, j);
    if (j->kind == FLEET_PLACEMENTS)
        check_placement(w, j, after);
    if (j->fair && j->object != NULL && after != NULL && is_same(j->object, after))
        world_fail(w, "a write of %s changes nothing", j->name);
    count_write(w, j, after);
    if (j->kind != FLEET_DECISIONS)
        return;
    uint8_t *held = check_new_flags(w);
    (void)check_count_held(w, j->wish, held);
    check_emptied(w, j, held);
    check_hard_term(w, j, held);
    check_members_stay(w, j, held);
    note_missing(w, j, held);
    free(held);
}

static const char *cluster_name(const struct judged *j) {
    static char name[16];
    (void)snprintf(name, sizeof name, "c%04u", j->cluster);
    return name;
}

void check_end_write(struct world *w, struct judged *j, int status) {
    if (status < 300 && j->is_score)
        check_score(w, j, store_find(&w->store, FLEET_SCORES, cluster_name(j), j->name));
    else if (status < 300 && j->wish != NULL)
        judge(w, j);
    free(j->before);
    cJSON_Delete(j->object);
}

/* ---- rounds ---- */

void check_begin_round(struct world *w) {
    for (unsigned i = 0; i < w->wish_count; i++) {
        struct wish *wish = &w->wishes[i];
        if (wish->held == NULL) {
            wish->held = check_new_flags(w);
            wish->missing = check_new_flags(w);
        }
        check_scored_round(w, wish);
        (void)check_count_held(w, wish, wish->held);
        memset(wish->missing, 0, w->cluster_count);
        wish->relabelled = wish->freed = false;
        wish->writes = wish->structure = wish->changes = wish->moves = 0;
    }
}

void check_forget_round(const struct world *w, const struct wish *wish) {
    if (wish->held != NULL)
        memset(wish->held, 0, w->cluster_count);
}

void check_done(struct world *w) {
    for (unsigned i = 0; i < PLACEMENTS; i++) {
        free(w->wishes[i].held);
        free(w->wishes[i].missing);
        free(w->wishes[i].had_items);
        free(w->wishes[i].left_out);
        free(w->wishes[i].items);
        free(w->wishes[i].tried);
    }
}

/* Which group each cluster is decided to be in, + 1. */
static void find_groups(const struct world *w, const struct truth *t, uint32_t *ret) {
    for (uint32_t g = 0; g < t->d.group_count; g++)
        for (uint32_t i = 0; i < t->d.groups[g].count; i++) {
            const uint32_t c = truth_cluster(t, t->d.groups[g].slots[i]);
            if (c < w->cluster_count)
                ret[c] = g + 1;
        }
}

static void check_object(struct world *w, const struct truth *t, const cJSON *object,
                         const uint32_t *group_of, uint32_t *in_group) {
    const cJSON *list = decisions_in(object);
    const char *label = label_of(object, PLACEMENT_GROUP_INDEX_LABEL);
    const unsigned long group = strtoul(label, NULL, 10);
    uint32_t count = 0;
    if (label[0] == '\0' || group >= t->d.group_count) {
        world_fail(w, "%s is of group '%s', which there is not", name_of(object), label);
        return;
    }
    in_group[group]++;
    for (const cJSON *item = list != NULL ? list->child : NULL; item; item = item->next) {
        const char *name = text_in(item, "clusterName");
        const uint32_t c = cluster_number(name);
        if (c >= w->cluster_count || group_of[c] != group + 1)
            world_fail(w, "%s has %s, which is not in its group", name_of(object), name);
        count++;
    }
    if (count > OCM_DECISION_CLUSTERS)
        world_fail(w, "%s has %u clusters", name_of(object), count);
    if (count == 0 && (t->d.groups[group].count > 0 || in_group[group] > 1))
        world_fail(w, "%s is empty, and its group is not", name_of(object));
}

const cJSON *check_condition(const cJSON *placement, const char *type) {
    const cJSON *list = part(part(placement, "status"), "conditions");
    for (const cJSON *c = list != NULL ? list->child : NULL; c != NULL; c = c->next)
        if (strcmp(text_in(c, "type"), type) == 0)
            return c;
    return NULL;
}

static void check_status(struct world *w, const struct wish *wish, const struct truth *t) {
    const cJSON *placement = placement_of(w, wish);
    const cJSON *selected = part(part(placement, "status"), "numberOfSelectedClusters");
    const struct ocm_condition *all[] = {&t->d.conditions[0], &t->d.conditions[1],
                                         &t->d.spread.condition};
    if (!cJSON_IsNumber(selected) || selected->valueint != (int)t->d.plan.selected_count)
        world_fail(w, "%s: its status says %d clusters, and there are %u", wish->name,
                   selected != NULL ? selected->valueint : -1, t->d.plan.selected_count);
    for (int i = 0; i < 3; i++) {
        char type[40] = "";
        memcpy(type, all[i]->type.p, all[i]->type.n < sizeof type ? all[i]->type.n : 0);
        const cJSON *c = check_condition(placement, type);
        if (c == NULL || !str_eq(str_of(text_in(c, "status")), ocm_status_names[all[i]->status]) ||
            !str_eq(str_of(text_in(c, "reason")), all[i]->reason))
            world_fail(w, "%s: its condition %s is %s %s, not %.*s", wish->name, type,
                       text_in(c, "status"), text_in(c, "reason"), STR_ARG(all[i]->reason));
    }
}

/* By an own count of what the objects have: zones of hard terms, whose maxSkew is 1. */
static void check_claim(struct world *w, const struct wish *wish) {
    const cJSON *c = check_condition(placement_of(w, wish), SPREAD_CONDITION);
    uint8_t *held = check_new_flags(w);
    (void)check_count_held(w, wish, held);
    const int skew = check_hard_skew(w, wish, held, NULL);
    uint32_t count = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        count += held[i] > 0;
    free(held);
    if (c == NULL || strcmp(text_in(c, "status"), "True") != 0)
        return;
    if (count == 0)
        world_fail(w, "%s: it is even of no cluster", wish->name);
    if ((wish->terms & TERM_ZONE_HARD) && skew > 1)
        world_fail(w, "%s: it is even, and the skew of its zones is %d", wish->name, skew);
}

void check_groups(struct world *w, const struct wish *wish, const struct truth *t) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    uint32_t *group_of = calloc(w->cluster_count, sizeof *group_of),
             *in_group = calloc(t->d.group_count + 1, sizeof *in_group);
    uint8_t *held = check_new_flags(w);
    if (group_of == NULL || in_group == NULL)
        abort();
    (void)check_count_held(w, wish, held);
    find_groups(w, t, group_of);
    for (uint32_t i = 0; i < k->count; i++)
        if (is_of(wish, uid_of(w, wish), k->objects[i]))
            check_object(w, t, k->objects[i], group_of, in_group);
    for (unsigned i = 0; i < w->cluster_count; i++)
        if (held[i] != (group_of[i] > 0))
            world_fail(w, "%s: c%04u is in %u objects, and is %s", wish->name, i, held[i],
                       group_of[i] > 0 ? "decided" : "not decided");
    for (uint32_t g = 0; g < t->d.group_count; g++)
        if (in_group[g] == 0)
            world_fail(w, "%s: nothing is of its group %u", wish->name, g);
    free(in_group);
    free(group_of);
    free(held);
}

static void check_decided(struct world *w, const struct wish *wish) {
    struct truth t;
    if (truth_open(w, w->truth, wish, &t) && truth_answer(w, wish, true, NULL, &t)) {
        check_groups(w, wish, &t);
        check_status(w, wish, &t);
    } else {
        world_fail(w, "%s cannot be decided", wish->name);
    }
    truth_close(&t);
}

static void check_annotations(struct world *w, const struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    const bool ours = wish_is_ours(w, wish);
    const bool disabled = annotation_of(placement, PLACEMENT_DISABLE_ANNOTATION)[0] != '\0';
    const bool marked = annotation_of(placement, PLACEMENT_DISABLED_ANNOTATION)[0] != '\0';
    if (disabled != (ours || wish->handmade) || (marked && !ours))
        world_fail(w, "%s: OCM is %sdisabled%s, and it is %s", wish->name, disabled ? "" : "not ",
                   marked ? " by Evenkeel" : "", ours ? "Evenkeel's" : "not Evenkeel's");
    if (!ours && !wish_is_scored(w, wish) && check_condition(placement, SPREAD_CONDITION) != NULL)
        world_fail(w, "%s is not Evenkeel's any more, and has its condition", wish->name);
}

/* Clusters that were selected before and after, and nowhere in between. */
static void check_held(struct world *w, const struct wish *wish) {
    uint8_t *held = check_new_flags(w);
    (void)check_count_held(w, wish, held);
    for (unsigned i = 0; i < w->cluster_count && wish->held != NULL; i++)
        if (wish->held[i] > 0 && held[i] > 0 && wish->missing[i] != 0)
            world_fail(w, "%s: c%04u stays, and was in no object for a moment", wish->name, i);
    free(held);
}

/* A move is a cluster that comes to an object, and one that goes: two writes of decisions at most,
 * or one of these and one of the status; in mode Scores two of items. The condition is written once
 * more when the fleet is another, and once when it says that moves wait. */
enum { CONDITION_WRITES = 2 };
static void check_count(struct world *w, const struct wish *wish) {
    const uint32_t moves = wish->moves + (wish->changes + 1) / 2;
    if (wish_is_scored(w, wish) && (wish->freed || check_is_refusing(w, wish)))
        return; /* what is tried, or done again, costs more */
    if (w->counted && wish->writes > 2 * moves + wish->structure + CONDITION_WRITES)
        world_fail(w, "%s: %u writes for %u moves and %u other changes", wish->name, wish->writes,
                   moves, wish->structure);
}

/* As after a hub that lost all: then nothing is decided, lest all decisions go. */
static bool lacks_clusters(const struct world *w) {
    return w->store.kinds[FLEET_CLUSTERS].count == 0;
}

void check_quiet(struct world *w) {
    check_dead_items(w);
    crowd_check_quiet(w);
    for (unsigned i = 0; i < w->wish_count && !w->failed; i++) {
        struct wish *wish = &w->wishes[i];
        if (!wish->exists)
            continue;
        check_annotations(w, wish);
        if ((wish_is_ours(w, wish) || wish_is_scored(w, wish)) && !lacks_clusters(w))
            check_claim(w, wish);
        if (wish_is_ours(w, wish) && !lacks_clusters(w))
            check_decided(w, wish);
        if (wish_is_ours(w, wish))
            check_held(w, wish);
        if (wish_is_scored(w, wish) && !lacks_clusters(w))
            check_scored_quiet(w, wish);
        if (!wish_is_ours(w, wish) && !wish_is_scored(w, wish) && !wish->handmade)
            check_left(w, wish);
        check_count(w, wish);
    }
}

void check_gone(struct world *w) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    for (uint32_t i = 0; i < k->count; i++)
        if (strcmp(owner_uid_of(k->objects[i]), FOREIGN_UID) != 0)
            world_fail(w, "all Placements are gone, and %s is there", name_of(k->objects[i]));
    for (unsigned i = 0; i < REPLICAS; i++) {
        const char *what = w->replicas[i] != NULL ? replica_keeps(w->replicas[i]) : NULL;
        if (what != NULL)
            world_fail(w, "all Placements are gone, and %u keeps %s", i, what);
    }
}
