/*
 * What people, clusters and others do on the hub.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

/* A fact has changed that decisions depend on. */
static void note_fact(struct world *w) {
    w->facts_version = w->store.version;
    for (unsigned i = 0; i < w->wish_count; i++)
        w->wishes[i].unfair = true;
}

/* ---- clusters ---- */

static void put_labels(const struct cluster *c, char text[static 80]) {
    int n = snprintf(text, 80, "'region':'r%d'%s", c->region, c->odd ? ",'odd':''" : "");
    if (c->has_zone)
        (void)snprintf(text + n, (size_t)(80 - n), ",'zone':'r%dz%d'", c->region, c->zone);
}

static cJSON *labels_of(const struct cluster *c) {
    char text[80];
    put_labels(c, text);
    return json_of("{%s}", text);
}

static void settle_somewhere(struct world *w, struct cluster *c) {
    c->region = (int)world_below(w, w->regions);
    c->zone = (int)world_below(w, w->zones);
    c->has_zone = !world_chance(w, 20);
    c->odd = world_chance(w, 80);
}

static void add_cluster(struct world *w, unsigned i) {
    struct cluster *c = &w->clusters[i];
    char labels[80];
    c->tainted = false;
    if (c->namespace == NAMESPACE_NONE && !world_chance(w, 100))
        c->namespace = NAMESPACE_THERE;
    c->late = c->namespace != NAMESPACE_THERE;
    if (c->late)
        happen(w, NAMESPACE_LATE);
    put_labels(c, labels);
    c->object =
        json_of("{'metadata':{'name':'c%04u','labels':{%s}},'spec':{'hubAcceptsClient':true},"
                "'status':{'conditions':[]}}",
                i, labels);
    store_add(&w->store, FLEET_CLUSTERS, c->object);
}

static void remove_cluster(struct world *w, unsigned i) {
    store_remove(&w->store, FLEET_CLUSTERS, w->clusters[i].object);
    w->clusters[i].object = NULL;
    w->going += w->clusters[i].namespace == NAMESPACE_THERE;
    if (w->clusters[i].namespace == NAMESPACE_THERE)
        w->clusters[i].namespace = NAMESPACE_GOING;
}

static void taint_cluster(struct world *w, unsigned i, bool tainted) {
    struct cluster *c = &w->clusters[i];
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(c->object, "spec");
    cJSON_DeleteItemFromObjectCaseSensitive(spec, "taints");
    if (tainted)
        (void)cJSON_AddItemToObject(spec, "taints",
                                    json_of("[{'key':'gone','effect':'%s'}]", "NoSelect"));
    c->tainted = tainted;
    store_touch(&w->store, FLEET_CLUSTERS, c->object);
}

static void move_cluster(struct world *w, unsigned i) {
    struct cluster *c = &w->clusters[i];
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(c->object, "metadata");
    settle_somewhere(w, c);
    (void)cJSON_ReplaceItemInObjectCaseSensitive(meta, "labels", labels_of(c));
    store_touch(&w->store, FLEET_CLUSTERS, c->object);
}

/* As clusters do all the time: nothing that a decision depends on. */
static void beat(struct world *w, unsigned i) {
    struct cluster *c = &w->clusters[i];
    char time[24];
    (void)snprintf(time, sizeof time, "%lld", (long long)world_now(w));
    cJSON *status = cJSON_GetObjectItemCaseSensitive(c->object, "status");
    (void)cJSON_ReplaceItemInObjectCaseSensitive(
        status, "conditions",
        json_of("[{'type':'ManagedClusterConditionAvailable','status':'True','message':'%s'}]",
                time));
    store_touch(&w->store, FLEET_CLUSTERS, c->object);
    happen(w, HEARTBEAT);
}

void changes_beat(struct world *w) {
    const unsigned i = (unsigned)world_below(w, w->cluster_count);
    if (w->clusters[i].object != NULL)
        beat(w, i);
}

static void lose_zone(struct world *w) {
    const int region = (int)world_below(w, w->regions), zone = (int)world_below(w, w->zones);
    for (unsigned i = 0; i < w->cluster_count; i++) {
        const struct cluster *c = &w->clusters[i];
        if (c->object != NULL && c->region == region && c->zone == zone && !c->tainted)
            taint_cluster(w, i, true);
    }
    world_trace(w, "zone r%dz%d is lost", region, zone);
    happen(w, ZONE_LOST);
}

static void change_score(struct world *w, unsigned i) {
    char name[16];
    const int64_t ends_ms = world_now(w) + world_between(w, 5000, 200000);
    (void)snprintf(name, sizeof name, "c%04u", i);
    cJSON *object = store_find(&w->store, FLEET_SCORES, name, "load"), *made;
    if (world_chance(w, 200)) {
        const time_t seconds = (time_t)((w->wall_ms + ends_ms) / 1000);
        struct tm tm;
        char text[32];
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
        made = json_of("{'metadata':{'name':'load','namespace':'%s'},'status':{'validUntil':'%s',"
                       "'scores':[{'name':'s','value':%d}]}}",
                       name, text, (int)world_between(w, -100, 100));
        w->scores_end_ms = ends_ms > w->scores_end_ms ? ends_ms : w->scores_end_ms;
        happen(w, SCORE_ENDS);
    } else {
        made = json_of("{'metadata':{'name':'load','namespace':'%s'},'status':{'scores':[{"
                       "'name':'s','value':%d}]}}",
                       name, (int)world_between(w, -100, 100));
    }
    if (object != NULL)
        store_remove(&w->store, FLEET_SCORES, object);
    store_add(&w->store, FLEET_SCORES, made);
    world_trace(w, "%s has another score", name);
    happen(w, SCORE_CHANGED);
}

static void change_cluster(struct world *w) {
    const unsigned i = (unsigned)world_below(w, w->cluster_count);
    struct cluster *c = &w->clusters[i];
    const unsigned what = (unsigned)world_below(w, 10);
    if (c->object == NULL) {
        settle_somewhere(w, c);
        add_cluster(w, i);
        happen(w, CLUSTER_ADDED);
    } else if (what < 3) {
        remove_cluster(w, i);
        happen(w, CLUSTER_DELETED);
    } else if (what < 7) {
        taint_cluster(w, i, !c->tainted);
        happen(w, CLUSTER_TAINTED);
    } else if (what < 9) {
        move_cluster(w, i);
        happen(w, CLUSTER_MOVED);
    } else {
        change_score(w, i);
        return;
    }
    world_trace(w, "c%04u: %s%s, region %d, zone %d%s", i, c->object != NULL ? "there" : "gone",
                c->tainted ? ", tainted" : "", c->region, c->zone, c->has_zone ? "" : " (none)");
}

/* ---- AddOnPlacementScores ---- */

static cJSON *some_score(struct world *w) {
    const struct store_kind *k = &w->store.kinds[FLEET_SCORES];
    cJSON *object = k->count > 0 ? k->objects[world_below(w, k->count)] : NULL;
    return object != NULL && strncmp(name_of(object), "evenkeel-", 9) == 0 ? object : NULL;
}

static void put_item(cJSON *object, const char *name) {
    cJSON *status = json_need(object, "status");
    cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "scores");
    if (list == NULL)
        list = cJSON_AddArrayToObject(status, "scores");
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        if (strcmp(text_in(item, "name"), name) == 0)
            return;
    (void)cJSON_AddItemToArray(list, json_of("{'name':'%s','value':7}", name));
    cJSON *meta = json_need(object, "metadata");
    cJSON *others = cJSON_GetObjectItemCaseSensitive(meta, STORE_OTHERS);
    if (others == NULL)
        others = cJSON_AddArrayToObject(meta, STORE_OTHERS);
    (void)cJSON_AddItemToArray(others, json_of("{'name':'%s'}", name));
}

static enum happening change_score_object(struct world *w, cJSON *object) {
    cJSON *list = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(object, "status"), "scores");
    const int count = cJSON_GetArraySize(list);
    const unsigned what = (unsigned)world_below(w, 4);
    char name[ITEM_BYTES];
    if (what == 0) {
        store_remove(&w->store, FLEET_SCORES, object);
        return SCORE_OBJECT_DELETED;
    }
    if (what == 1 && count > 0) {
        cJSON_DeleteItemFromArray(list, (int)world_below(w, (uint64_t)count));
    } else if (what == 2) {
        (void)snprintf(name, sizeof name, "s%s-%08x", name_of(object) + sizeof "evenkeel-" - 1,
                       (unsigned)world_below(w, UINT32_MAX));
        put_item(object, name);
    } else {
        put_item(object, "theirs");
    }
    store_touch(&w->store, FLEET_SCORES, object);
    return what == 1 && count > 0 ? ITEM_TAKEN : what == 2 ? ITEM_DEAD : ITEM_THEIRS;
}

/* By a person. */
static void meddle_with_scores(struct world *w) {
    cJSON *object = some_score(w);
    if (object == NULL)
        return;
    world_trace(w, "somebody changes %s of %s", name_of(object), namespace_of(object));
    happen(w, change_score_object(w, object));
    w->edited_version = w->store.version;
    for (unsigned i = 0; i < w->wish_count; i++)
        w->wishes[i].unfair = true;
}

/* ---- PlacementDecisions ---- */

static struct wish *wish_of(struct world *w, const cJSON *decision) {
    for (unsigned i = 0; i < w->wish_count; i++)
        if (strncmp(name_of(decision), w->wishes[i].name, strlen(w->wishes[i].name)) == 0)
            return &w->wishes[i];
    return NULL;
}

static void make_foreign(struct world *w, struct wish *wish) {
    char name[48];
    (void)snprintf(name, sizeof name, "%s-decision-%u", wish->name,
                   1 + (unsigned)world_below(w, 4));
    if (store_find(&w->store, FLEET_DECISIONS, NAMESPACE, name) != NULL)
        return;
    store_add(&w->store, FLEET_DECISIONS,
              json_of("{'metadata':{'name':'%s','namespace':'" NAMESPACE "','labels':{"
                      "'" PLACEMENT_LABEL "':'%s'},'ownerReferences':[{'controller':true,"
                      "'uid':'foreign','kind':'Other','name':'x','apiVersion':'v1'}]},'status':{"
                      "'decisions':[{'clusterName':'c%04u','reason':''}]}}",
                      name, wish->name, (unsigned)world_below(w, w->cluster_count)));
    changes_note(w, wish);
    world_trace(w, "%s is made, of another controller", name);
    happen(w, FOREIGN_MADE);
}

static void replace_clusters(struct world *w, cJSON *object) {
    cJSON *list = json_of("[{'clusterName':'c%04u','reason':''}]",
                          (unsigned)world_below(w, w->cluster_count));
    cJSON *status = cJSON_GetObjectItemCaseSensitive(object, "status");
    if (status == NULL)
        status = cJSON_AddObjectToObject(object, "status");
    cJSON_DeleteItemFromObjectCaseSensitive(status, "decisions");
    (void)cJSON_AddItemToObject(status, "decisions", list);
    store_touch(&w->store, FLEET_DECISIONS, object);
}

/* By a person, or a tool. */
static void meddle(struct world *w) {
    const struct store_kind *k = &w->store.kinds[FLEET_DECISIONS];
    cJSON *object = k->count > 0 ? k->objects[world_below(w, k->count)] : NULL;
    struct wish *wish = object != NULL ? wish_of(w, object) : NULL;
    if (wish == NULL || wish->theirs || strcmp(owner_uid_of(object), "foreign") == 0)
        return;
    world_trace(w, "somebody changes %s", name_of(object));
    switch (world_below(w, 4)) {
    case 0:
        store_remove(&w->store, FLEET_DECISIONS, object);
        happen(w, DECISION_DELETED);
        break;
    case 1:
        replace_clusters(w, object);
        happen(w, DECISION_REPLACED);
        break;
    case 2:
        cJSON_DeleteItemFromObjectCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(object, "metadata"), "labels");
        store_touch(&w->store, FLEET_DECISIONS, object);
        happen(w, LABEL_LOST);
        break;
    default:
        make_foreign(w, wish);
        break;
    }
    changes_note(w, wish);
}

/* ---- all ---- */

void changes_single(struct world *w) {
    const unsigned what = (unsigned)world_below(w, 100);
    if (what < 50) {
        change_cluster(w);
        note_fact(w);
    } else if (what < 60) {
        change_score(w, (unsigned)world_below(w, w->cluster_count));
        note_fact(w);
    } else if (what < 65) {
        changes_beat(w);
    } else if (what < 90) {
        changes_placement(w);
    } else if (what < 92) {
        changes_take_annotation(w);
    } else if (what < 94) {
        changes_take_injection(w);
    } else if (what < 96) {
        meddle_with_scores(w);
    } else {
        meddle(w);
    }
}

void changes_step(struct world *w) {
    if (world_chance(w, 50)) {
        lose_zone(w);
        note_fact(w);
    } else {
        changes_single(w);
    }
}

void changes_begin(struct world *w) {
    store_add(&w->store, FLEET_SETS,
              json_of("{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
                      "'LabelSelector','labelSelector':{}}}}"));
    store_add(&w->store, FLEET_BINDINGS,
              json_of("{'metadata':{'name':'all','namespace':'" NAMESPACE "'},'spec':{"
                      "'clusterSet':'all'}}"));
    store_add(&w->store, FLEET_NAMESPACES, json_of("{'metadata':{'name':'" NAMESPACE "'}}"));
    for (unsigned i = 0; i < w->cluster_count; i++) {
        settle_somewhere(w, &w->clusters[i]);
        if (!world_chance(w, 100))
            add_cluster(w, i);
    }
    for (unsigned i = 0; i < w->wish_count; i++) {
        changes_begin_placement(w, i);
    }
    note_fact(w);
}
