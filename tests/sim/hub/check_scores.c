/*
 * What must be true in mode Scores: of each write of an item, of what is added to a Placement, of
 * each step of OCM's, and when all is quiet.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

#define SPREAD_CONDITION "SpreadSatisfied"

static const cJSON *part(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const cJSON *scores_in(const cJSON *object) {
    return part(part(object, "status"), "scores");
}

static const cJSON *item_in(const cJSON *list, const char *name) {
    const cJSON *item = list != NULL ? list->child : NULL;
    while (item != NULL && strcmp(text_in(item, "name"), name) != 0)
        item = item->next;
    return item;
}

static uint32_t count_flags(const struct world *w, const uint8_t *flags) {
    uint32_t count = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        count += flags[i] > 0;
    return count;
}

/* ---- a write of an AddOnPlacementScore ---- */

static bool is_key(const char *resource, const char *name) {
    struct injected_key key;
    return injected_key_read(str_of(resource), str_of(name), &key);
}

/* Items of ours that are in the first and not in the second. */
static uint32_t count_missing(struct world *w, struct judged *j, const cJSON *from,
                              const cJSON *in) {
    uint32_t count = 0;
    for (const cJSON *item = from != NULL ? from->child : NULL; item; item = item->next) {
        const char *name = text_in(item, "name");
        if (item_in(in, name) != NULL || !is_key(j->name, name))
            continue;
        struct wish *wish = items_owner(w, j->name, name);
        if (wish != NULL)
            j->changed[wish - w->wishes] = 1;
        j->wish = wish != NULL ? wish : j->wish;
        j->unknown += wish == NULL;
        count++;
    }
    return count;
}

void check_begin_score(struct world *w, const char *path, struct str body, struct judged *j) {
    const char *at = strstr(path, "/namespaces/") + sizeof "/namespaces/" - 1;
    char cluster[16];
    (void)snprintf(cluster, sizeof cluster, "%.*s", (int)strcspn(at, "/"), at);
    at = strstr(at, "/addonplacementscores") + sizeof "/addonplacementscores" - 1;
    cJSON *sent = cJSON_ParseWithLength(body.p, body.n);
    (void)snprintf(j->name, sizeof j->name, "%.*s",
                   at[0] == '/' ? (int)strcspn(at + 1, "/?") : (int)sizeof j->name,
                   at[0] == '/' ? at + 1 : name_of(sent));
    j->is_score = true;
    j->kind = FLEET_SCORES;
    j->cluster = cluster_number(cluster);
    const cJSON *object = store_find(&w->store, FLEET_SCORES, cluster, j->name);
    j->object = object != NULL ? cJSON_Duplicate(object, true) : NULL;
    j->comes = count_missing(w, j, scores_in(sent), scores_in(object));
    const uint32_t unknown = j->unknown;
    if (at[0] == '/')
        j->goes = count_missing(w, j, scores_in(object), scores_in(sent));
    j->unknown = unknown;
    cJSON_Delete(sent);
}

/* What is not ours, or a Placement's that it is not about, stays as it is. */
static void check_others(struct world *w, const struct judged *j, const cJSON *after) {
    const cJSON *before = scores_in(j->object);
    for (const cJSON *item = before != NULL ? before->child : NULL; item; item = item->next) {
        const char *name = text_in(item, "name");
        const cJSON *now = item_in(scores_in(after), name);
        const struct wish *owner = items_owner(w, j->name, name);
        const bool may_go =
            is_key(j->name, name) &&
            (owner == NULL || j->changed[owner - w->wishes] != 0 || !wish_is_scored(w, owner));
        if (now == NULL ? !may_go : !cJSON_Compare(item, now, true))
            world_fail(w, "%s of c%04u: its item %s was changed", j->name, j->cluster, name);
    }
}

static bool mentions(const cJSON *placement, const struct wish *wish) {
    char name[ITEM_BYTES], *text = cJSON_PrintUnformatted(placement);
    const bool has = text != NULL && strstr(text, item_name(wish, name)) != NULL;
    free(text);
    return has;
}

static bool is_gate(const cJSON *expression) {
    const char *text = cJSON_GetStringValue(expression);
    return text != NULL && strncmp(text, "managedCluster.scores(\"evenkeel-", 32) == 0;
}

static uint32_t count_gates(const cJSON *placement) {
    const cJSON *list = part(part(placement, "spec"), "predicates");
    uint32_t count = 0;
    for (const cJSON *p = list != NULL ? list->child : NULL; p != NULL; p = p->next) {
        const cJSON *all =
            part(part(part(p, "requiredClusterSelector"), "celSelector"), "celExpressions");
        for (const cJSON *e = all != NULL ? all->child : NULL; e != NULL; e = e->next)
            count += is_gate(e);
    }
    return count;
}

/* Is there another single item that could have come or gone, on the way to what is planned, and
 * keeps the hard term? */
static bool could_hold(struct world *w, const struct judged *j, int most, const uint8_t *left) {
    const struct wish *wish = j->wish;
    uint8_t *flags = check_new_flags(w), *wants = check_new_flags(w);
    const struct replica *r = w->leader > 0 ? w->replicas[w->leader - 1] : NULL;
    const bool known = r != NULL && !j->stale && replica_target(r, wish, wants);
    const bool room = count_flags(w, j->before) < count_flags(w, wants);
    bool could = false;
    memcpy(flags, j->before, w->cluster_count);
    for (unsigned i = 0; known && i < w->cluster_count && !could; i++) {
        if ((flags[i] > 0) == (wants[i] > 0) || (wants[i] > 0 && !room))
            continue;
        flags[i] ^= 1;
        could = check_hard_skew(w, wish, flags, left) <= most;
        flags[i] ^= 1;
    }
    free(flags);
    free(wants);
    return could;
}

static void find_left_out(const struct world *w, const struct wish *wish, uint8_t *ret) {
    const struct replica *r = w->leader > 0 ? w->replicas[w->leader - 1] : NULL;
    memset(ret, 0, w->cluster_count);
    if (r != NULL)
        (void)replica_left_out(r, wish, ret);
}

static void check_items_skew(struct world *w, const struct judged *j) {
    struct wish *wish = j->wish;
    if (!j->fair || !(wish->terms & TERM_ZONE_HARD) || !mentions(placement_of(w, wish), wish) ||
        count_gates(placement_of(w, wish)) == 0)
        return; /* OCM does not heed them yet, or takes others beside them */
    if (wish->number == 1)
        return; /* of two items OCM takes one */
    uint8_t *left = check_new_flags(w);
    find_left_out(w, wish, left);
    const int was = check_hard_skew(w, wish, j->before, left),
              is = check_hard_skew(w, wish, wish->items, left), most = was > 1 ? was : 1;
    if (is > most) {
        if (could_hold(w, j, most, left))
            world_fail(w, "%s: an item takes the skew from %d to %d, and another one would not",
                       wish->name, was, is);
        happen(w, BROKE_ITEMS);
        wish->unfair = true;
    }
    free(left);
}

/* Of these [clusters] flags: how many are of clusters that may be selected, whatever key they lack.
 */
static int count_members(const struct world *w, const uint8_t *flags) {
    int count = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        count += flags[i] > 0 && check_is_member(w, i);
    return count;
}

static bool is_hard(const struct wish *wish) {
    return wish->terms & TERM_ZONE_HARD;
}

/* No item of one that may be selected goes where fewer than asked for are left; or one fewer, where
 * no other order keeps a hard term. */
static void check_items_stay(struct world *w, const struct judged *j) {
    const struct wish *wish = j->wish;
    const unsigned c = j->cluster;
    if (!j->fair || j->goes == 0 || (is_hard(wish) && !wish->complete) ||
        !mentions(placement_of(w, wish), wish) || !check_is_member(w, c) ||
        wish_refuses(w, wish, c) || w->clusters[c].namespace != NAMESPACE_THERE)
        return;
    uint8_t *left_out = check_new_flags(w);
    find_left_out(w, wish, left_out);
    const int left = count_members(w, wish->items), least = wish->number - is_hard(wish);
    if (left_out[c] == 0 && (wish->number < 0 || left < least))
        world_fail(w, "%s: the item of c%04u is taken away, and %d of %d are left", wish->name, c,
                   left, wish->number);
    free(left_out);
}

static void note_refused(struct world *w, const struct judged *j) {
    struct wish *wish = j->wish;
    const bool refuses = wish_refuses(w, wish, j->cluster);
    if (refuses && j->comes > 0) {
        if (wish->tried[j->cluster] != 0)
            happen(w, TRIED_AGAIN);
    } else if (refuses && j->fair && check_fits(w, wish, j->cluster)) {
        happen(w, FOUND_REFUSED);
        wish->tried[j->cluster] = 1;
    }
}

static void count_item(struct world *w, const struct judged *j) {
    struct wish *wish = j->wish;
    happen(w, j->comes > 0 ? WROTE_ITEM : TOOK_ITEM);
    wish->writes++;
    wish->changes++;
    wish->item_writes++;
    note_refused(w, j);
}

/* Its item has come or gone by the write. */
static void check_item(struct world *w, const struct judged *j) {
    struct wish *wish = j->wish;
    if (j->comes > 0 && j->fair && !wish_is_scored(w, wish))
        world_fail(w, "%s is not in mode Scores, and c%04u gets its item", wish->name, j->cluster);
    if (!wish_is_scored(w, wish)) {
        happen(w, SWEPT);
        if (j->fair && j->goes > 0 && mentions(placement_of(w, wish), wish))
            world_fail(w, "%s heeds its items still, and one was taken", wish->name);
        return;
    }
    if (!j->fair)
        wish->unfair = true;
    check_items_skew(w, j);
    check_items_stay(w, j);
    wish->complete = wish->complete || count_members(w, wish->items) >= wish->number;
    count_item(w, j);
}

static void check_item_of(struct world *w, const struct judged *j, struct wish *wish) {
    struct judged one = *j;
    one.wish = wish;
    one.comes = wish->items[j->cluster] != 0;
    one.goes = !one.comes;
    one.before = check_new_flags(w);
    memcpy(one.before, wish->items, w->cluster_count);
    one.before[j->cluster] = !one.comes;
    check_item(w, &one);
    free(one.before);
}

void check_score(struct world *w, struct judged *j, const cJSON *after) {
    uint32_t shard, changed = 0;
    if (j->stale)
        happen(w, STALE_WRITE_LANDED);
    if (!injected_resource_read(str_of(j->name), &shard) || shard >= SHARDS)
        world_fail(w, "%s of c%04u is not Evenkeel's, and was written", j->name, j->cluster);
    check_others(w, j, after);
    if (j->object == NULL) {
        happen(w, MADE_SCORE_OBJECT);
        return;
    }
    if (j->unknown > 0 && j->fair)
        world_fail(w, "%s of c%04u gets an item of no Placement", j->name, j->cluster);
    if (j->fair && j->comes + j->goes == 0)
        world_fail(w, "a write of %s of c%04u changes nothing", j->name, j->cluster);
    for (unsigned i = 0; i < w->wish_count; i++) {
        changed += j->changed[i];
        if (j->changed[i] != 0)
            check_item_of(w, j, &w->wishes[i]);
    }
    if (changed == 0)
        happen(w, SWEPT);
    if (changed > 1)
        happen(w, WROTE_ITEMS);
}

/* ---- what is added to a Placement ---- */

static bool is_ours(const cJSON *configuration) {
    const char *resource =
        text_in(part(part(configuration, "scoreCoordinate"), "addOn"), "resourceName");
    return strncmp(resource, "evenkeel-", 9) == 0;
}

/* Takes items away for which `goes` says so; returns how many are left. */
static int strip(cJSON *list, bool (*goes)(const cJSON *item)) {
    cJSON *next;
    for (cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = next) {
        next = item->next;
        if (goes(item))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
    }
    return cJSON_GetArraySize(list);
}

static bool is_bare(const cJSON *predicate) {
    const cJSON *cel = part(part(predicate, "requiredClusterSelector"), "celSelector");
    return cJSON_GetArraySize(part(cel, "celExpressions")) == 0;
}

static cJSON *spec_without_ours(const cJSON *placement) {
    cJSON *spec = cJSON_Duplicate(part(placement, "spec"), true);
    cJSON *policy = cJSON_GetObjectItemCaseSensitive(spec, "prioritizerPolicy");
    cJSON *list = cJSON_GetObjectItemCaseSensitive(policy, "configurations");
    cJSON *predicates = cJSON_GetObjectItemCaseSensitive(spec, "predicates");
    if (list != NULL && strip(list, is_ours) == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(policy, "configurations");
    for (cJSON *p = predicates != NULL ? predicates->child : NULL; p != NULL; p = p->next)
        (void)strip(
            cJSON_GetObjectItemCaseSensitive(
                cJSON_GetObjectItemCaseSensitive(
                    cJSON_GetObjectItemCaseSensitive(p, "requiredClusterSelector"), "celSelector"),
                "celExpressions"),
            is_gate);
    if (predicates != NULL && strip(predicates, is_bare) == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(spec, "predicates");
    return spec;
}

static uint32_t count_ours(const cJSON *placement) {
    const cJSON *list = part(part(part(placement, "spec"), "prioritizerPolicy"), "configurations");
    uint32_t count = 0;
    for (const cJSON *c = list != NULL ? list->child : NULL; c != NULL; c = c->next)
        count += is_ours(c);
    return count;
}

static bool is_as_users(const struct world *w, const struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    cJSON *is = spec_without_ours(placement), *wanted = changes_spec_of(wish);
    const bool ours = count_ours(placement) > 0;
    /* with ours it need not be told apart from one without configurations */
    const bool same = cJSON_Compare(is, wanted, true) &&
                      (ours || cJSON_Compare(part(placement, "spec"), wanted, true));
    cJSON_Delete(is);
    cJSON_Delete(wanted);
    return same;
}

void check_injection(struct world *w, const struct judged *j, const cJSON *after) {
    struct wish *wish = j->wish;
    if (cJSON_Compare(part(j->object, "spec"), part(after, "spec"), true))
        return;
    if (!is_as_users(w, wish))
        world_fail(w, "%s: a user's entry of its spec was changed", wish->name);
    const bool gated = count_gates(after) > 0;
    happen(w, count_ours(after) == 0 ? TOOK_INJECTION : INJECTED);
    if (gated && count_gates(j->object) == 0)
        happen(w, GATED);
    if (j->fair && count_ours(after) > 0 && !wish_is_scored(w, wish))
        world_fail(w, "%s is not in mode Scores, and is told to heed scores", wish->name);
    if (!j->fair)
        wish->unfair = true;
}

/* ---- a step of OCM's ---- */

void check_begin_ocm(struct world *w, struct ocm_step *step) {
    step->before = check_new_flags(w);
    (void)check_count_held(w, step->wish, step->before);
}

/* Where a user's CEL refuses clusters, Evenkeel does not know which, and cannot be even; nor with
 * one that it takes for refused. */
static bool refuses_any(const struct world *w, const struct wish *wish) {
    uint8_t *left = check_new_flags(w);
    bool any = false;
    find_left_out(w, wish, left);
    for (unsigned i = 0; i < w->cluster_count; i++)
        any = any || ((wish_refuses(w, wish, i) || left[i] != 0) && check_fits(w, wish, i));
    free(left);
    return any;
}

/* OCM takes none that may be selected away where fewer than asked for are left; or one fewer, as
 * our items ask for it. */
static void check_decided_stay(struct world *w, const struct ocm_step *step, const uint8_t *after) {
    const struct wish *wish = step->wish;
    const int left = count_members(w, after), least = wish->number - is_hard(wish);
    for (unsigned i = 0; i < w->cluster_count; i++)
        if (step->before[i] > 0 && after[i] == 0 && check_is_member(w, i) && !w->clusters[i].late &&
            !wish_refuses(w, wish, i) && (wish->number < 0 || left < least))
            world_fail(w, "%s: OCM takes c%04u away, and %d of %d are left", wish->name, i, left,
                       wish->number);
}

static void check_ocm_decided(struct world *w, const struct ocm_step *step, const uint8_t *after) {
    struct wish *wish = step->wish;
    bool had = false, has = false, can = false;
    for (unsigned i = 0; i < w->cluster_count; i++) {
        had = had || step->before[i] > 0;
        has = has || after[i] > 0;
        can = can || (check_fits(w, wish, i) && !wish_refuses(w, wish, i));
    }
    /* of one that is asked for, a refused one may take the place */
    if (had && !has && can && step->number != 0 && !refuses_any(w, wish))
        world_fail(w, "%s: OCM empties its decisions, and clusters fit", wish->name);
    if (!refuses_any(w, wish) && !wish->opened && (wish->complete || !is_hard(wish)))
        check_decided_stay(w, step, after);
    if (!step->gated || !injected_key_eq(step->gate, wish->key) ||
        !(wish->terms & TERM_ZONE_HARD) || wish->was_cut || step->fits > step->number ||
        refuses_any(w, wish))
        return;
    const int was = check_hard_skew(w, wish, step->before, NULL),
              is = check_hard_skew(w, wish, after, NULL);
    if (is > (was > 1 ? was : 1))
        world_fail(w, "%s: OCM takes the skew from %d to %d", wish->name, was, is);
}

/* Before OCM is told all, it may add clusters that have no item, for which there may be no room:
 * these go when it is. */
static void note_opened(const struct world *w, const struct ocm_step *step, const uint8_t *after) {
    struct wish *wish = step->wish;
    const bool told = mentions(placement_of(w, wish), wish) && (step->gated || !is_hard(wish));
    bool adds = false;
    for (unsigned i = 0; i < w->cluster_count; i++)
        adds = adds || (after[i] > 0 && step->before[i] == 0 && wish->items[i] == 0);
    wish->opened = !told && (wish->opened || (wish_is_scored(w, wish) && adds));
}

void check_end_ocm(struct world *w, struct ocm_step *step) {
    uint8_t *after = check_new_flags(w);
    (void)check_count_held(w, step->wish, after);
    if (wish_is_scored(w, step->wish) && !step->wish->unfair)
        check_ocm_decided(w, step, after);
    note_opened(w, step, after);
    step->wish->was_cut = step->fits > step->number;
    free(after);
    free(step->before);
}

/* ---- when all is quiet ---- */

void check_scored_round(struct world *w, struct wish *wish) {
    if (wish->had_items == NULL) {
        wish->had_items = check_new_flags(w);
        wish->left_out = check_new_flags(w);
    }
    if (wish->items != NULL)
        memcpy(wish->had_items, wish->items, w->cluster_count);
    find_left_out(w, wish, wish->left_out);
    wish->item_writes = 0;
}

static void check_items(struct world *w, const struct wish *wish, const struct truth *t) {
    uint8_t *wanted = check_new_flags(w);
    for (uint32_t i = 0; i < t->d.plan.selected_count; i++)
        wanted[truth_cluster(t, t->d.plan.selected[i])] = 1;
    for (unsigned i = 0; i < w->cluster_count; i++)
        if (wish->items[i] != wanted[i])
            world_fail(w, "%s: c%04u has %s item, and is %s", wish->name, i,
                       wish->items[i] != 0 ? "an" : "no",
                       wanted[i] != 0 ? "decided" : "not decided");
    free(wanted);
}

static void check_condition_is(struct world *w, const struct wish *wish, const char *status,
                               const char *reason) {
    const cJSON *c = check_condition(placement_of(w, wish), SPREAD_CONDITION);
    if (c == NULL || strcmp(text_in(c, "status"), status) != 0 ||
        strcmp(text_in(c, "reason"), reason) != 0)
        world_fail(w, "%s: its condition is %s %s, not %s %s", wish->name, text_in(c, "status"),
                   text_in(c, "reason"), status, reason);
}

static void check_heeded(struct world *w, const struct wish *wish) {
    const cJSON *placement = placement_of(w, wish);
    const uint32_t gates = count_gates(placement), ours = count_ours(placement);
    const bool hard = wish->terms & TERM_ZONE_HARD;
    if (ours == 0 || gates != hard || !mentions(placement, wish))
        world_fail(w, "%s: it has %u prioritizers and %u gates", wish->name, ours, gates);
    if (!is_as_users(w, wish))
        world_fail(w, "%s: its spec is not its user's", wish->name);
}

/* Where terms are soft, OCM fills up for a cluster that a user's CEL refuses, and nobody can tell
 * it from one that is outweighed. */
static bool is_outweighed(const struct world *w, const struct wish *wish) {
    bool any = false;
    for (unsigned i = 0; i < w->cluster_count; i++)
        any = any || (wish->items[i] != 0 && wish_refuses(w, wish, i));
    return any && !(wish->terms & TERM_ZONE_HARD);
}

static void check_left_out(struct world *w, const struct wish *wish, const uint8_t *left) {
    for (unsigned i = 0; w->counted && i < w->cluster_count; i++)
        if (left[i] != 0 && wish->left_out[i] == 0 && !wish_refuses(w, wish, i) &&
            w->clusters[i].namespace == NAMESPACE_THERE && !w->clusters[i].late)
            world_fail(w, "%s: c%04u is left out, and nobody refuses it", wish->name, i);
}

/* What must be at once is done at once, and better moves follow: an item comes or goes twice at
 * most, and none for nothing; unless clusters are refused: those that it tries cost more; or what
 * OCM has decided before it is told again counts, too. */
static void check_item_writes(struct world *w, const struct wish *wish) {
    uint32_t changed = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        changed += wish->items[i] != wish->had_items[i];
    if (w->counted && !wish->freed && !check_is_refusing(w, wish) &&
        wish->item_writes > 2 * changed)
        world_fail(w, "%s: %u writes of items, and %u have changed", wish->name, wish->item_writes,
                   changed);
}

bool check_is_refusing(const struct world *w, const struct wish *wish) {
    uint8_t *left = check_new_flags(w);
    find_left_out(w, wish, left);
    uint32_t refused = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        refused += left[i] != 0 || wish->left_out[i] != 0;
    free(left);
    return refused > 0 || refuses_any(w, wish);
}

/* Without hard terms OCM may fill up with clusters whose scores cannot be written: then neither its
 * groups nor what is said of them are the plan's. */
static bool has_any_of(const struct world *w, const struct wish *wish, const uint8_t *left) {
    uint8_t *held = check_new_flags(w);
    bool any = false;
    (void)check_count_held(w, wish, held);
    for (unsigned i = 0; i < w->cluster_count; i++)
        any = any || (held[i] > 0 && left[i] != 0);
    free(held);
    return any && !(wish->terms & TERM_ZONE_HARD);
}

/* Its condition never says that all is well. */
static void check_fills_up(struct world *w, const struct wish *wish) {
    const cJSON *c = check_condition(placement_of(w, wish), SPREAD_CONDITION);
    const char *reason = c != NULL ? text_in(c, "reason") : "none";
    if (strcmp(reason, "Outweighed") != 0 && strcmp(reason, "RefusedClusters") != 0)
        world_fail(w, "%s: OCM fills up with what is left out, and its condition is %s", wish->name,
                   reason);
}

void check_scored_quiet(struct world *w, struct wish *wish) {
    uint8_t *left = check_new_flags(w);
    struct truth t;
    find_left_out(w, wish, left);
    check_heeded(w, wish);
    if (!truth_open(w, w->truth, wish, &t) || !truth_answer(w, wish, true, left, &t)) {
        world_fail(w, "%s cannot be decided", wish->name);
    } else {
        check_items(w, wish, &t);
        if (is_outweighed(w, wish)) {
            check_condition_is(w, wish, "Unknown", "Outweighed");
        } else {
            char status[16], reason[40];
            (void)snprintf(status, sizeof status, "%.*s",
                           STR_ARG(ocm_status_names[t.d.spread.condition.status]));
            (void)snprintf(reason, sizeof reason, "%.*s", STR_ARG(t.d.spread.condition.reason));
            if (!has_any_of(w, wish, left)) {
                check_groups(w, wish, &t);
                if (count_flags(w, left) > 0)
                    check_condition_is(w, wish, "False", "RefusedClusters");
                else
                    check_condition_is(w, wish, status, reason);
            } else {
                check_fills_up(w, wish);
            }
        }
    }
    truth_close(&t);
    check_left_out(w, wish, left);
    check_item_writes(w, wish);
    free(left);
}

void check_left(struct world *w, const struct wish *wish) {
    uint8_t *without = check_new_flags(w);
    struct truth t;
    for (unsigned i = 0; i < w->cluster_count; i++)
        without[i] = wish_refuses(w, wish, i);
    if (!is_as_users(w, wish))
        world_fail(w, "%s is OCM's, and its spec is not its user's", wish->name);
    if (truth_open(w, w->truth, wish, &t) && truth_answer(w, wish, false, without, &t))
        check_groups(w, wish, &t);
    else
        world_fail(w, "%s cannot be decided", wish->name);
    truth_close(&t);
    free(without);
}

void check_dead_items(struct world *w) {
    char text[80];
    if (items_dead(w, text) != NULL)
        world_fail(w, "%s is no Placement's item", text);
}
