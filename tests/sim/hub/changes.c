/*
 * What people, clusters and others do on the hub.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

cJSON *placement_of(const struct world *w, const struct wish *wish) {
    return wish->exists ? store_find(&w->store, FLEET_PLACEMENTS, NAMESPACE, wish->name) : NULL;
}

/* A fact has changed that decisions depend on. */
static void note_fact(struct world *w) {
    w->facts_version = w->store.version;
}

/* ---- clusters ---- */

static void put_labels(const struct cluster *c, char text[static 80]) {
    int n = snprintf(text, 80, "'region':'r%d'", c->region);
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
}

static void add_cluster(struct world *w, unsigned i) {
    struct cluster *c = &w->clusters[i];
    char labels[80];
    c->tainted = false;
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

/* ---- Placements ---- */

/* Nobody asks for OCM's Balance, by which other Placements' decisions count: neither OCM nor
 * Evenkeel decides anew because of these. */
static cJSON *spec_of(const struct wish *wish) {
    struct strbuf text = {0};
    cJSON *spec;
    strbuf_append_str(&text, STR("{"));
    if (wish->number >= 0)
        strbuf_appendf(&text, "'numberOfClusters':%d,", wish->number);
    strbuf_appendf(&text,
                   "'prioritizerPolicy':{'mode':'Exact','configurations':[{'scoreCoordinate':{%s},"
                   "'weight':1}]},",
                   wish->scored ? "'type':'AddOn','addOn':{'resourceName':'load','scoreName':'s'}"
                                : "'type':'BuiltIn','builtIn':'Steady'");
    if (wish->per_group > 0)
        strbuf_appendf(&text,
                       "'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':%u}},",
                       wish->per_group);
    strbuf_append_str(&text, STR("'spreadPolicy':{'spreadConstraints':["));
    if (wish->terms & TERM_REGION_SOFT)
        strbuf_append_str(&text, STR("{'topologyKey':'region','topologyKeyType':'Label',"
                                     "'maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'}"));
    if ((wish->terms & TERM_REGION_SOFT) && (wish->terms & ~(unsigned)TERM_REGION_SOFT))
        strbuf_append_char(&text, ',');
    if (wish->terms & ~(unsigned)TERM_REGION_SOFT)
        strbuf_appendf(&text,
                       "{'topologyKey':'zone','topologyKeyType':'Label','maxSkew':1,"
                       "'whenUnsatisfiable':'%s'}",
                       wish->terms & TERM_ZONE_HARD ? "DoNotSchedule" : "ScheduleAnyway");
    strbuf_append_str(&text, STR("]}}"));
    strbuf_append_char(&text, '\0');
    spec = json_of("%s", text.p);
    if (wish->terms == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(spec, "spreadPolicy");
    strbuf_done(&text);
    return spec;
}

static void set_mode(const struct wish *wish, cJSON *object) {
    static const char *const words[] = {[MODE_UNSET] = NULL, "Owner", "Off"};
    annotate(object, PLACEMENT_MODE_ANNOTATION, words[wish->mode]);
}

static void note_wish(struct world *w, struct wish *wish) {
    wish->changed_version = w->store.version;
}

static void make_placement(struct world *w, struct wish *wish) {
    cJSON *object = json_of("{'metadata':{'name':'%s','namespace':'" NAMESPACE "'}}", wish->name);
    (void)cJSON_AddItemToObject(object, "spec", spec_of(wish));
    set_mode(wish, object);
    if (wish->handmade)
        annotate(object, PLACEMENT_DISABLE_ANNOTATION, "true");
    store_add(&w->store, FLEET_PLACEMENTS, object);
    wish->exists = true;
    wish->taken = 0;
    wish->ocm_right = 0;
    note_wish(w, wish);
}

static unsigned some_terms(struct world *w) {
    static const unsigned kinds[] = {TERM_ZONE_HARD,
                                     TERM_ZONE_SOFT,
                                     TERM_REGION_SOFT,
                                     TERM_REGION_SOFT | TERM_ZONE_SOFT,
                                     TERM_REGION_SOFT | TERM_ZONE_HARD,
                                     TERM_ZONE_HARD};
    return kinds[world_below(w, sizeof kinds / sizeof kinds[0])];
}

static int some_number(struct world *w) {
    const unsigned most = w->cluster_count < 400 ? w->cluster_count : 400;
    return world_chance(w, 150) ? -1 : (int)world_below(w, most);
}

static unsigned some_group(struct world *w) {
    return world_chance(w, 600) ? 0 : 1 + (unsigned)world_below(w, 3 + w->cluster_count / 3);
}

static void show_wish(struct world *w, const struct wish *wish) {
    static const char *const modes[] = {"no mode", "Owner", "Off"};
    world_trace(w, "%s: %s, terms %u, number %d, %u a group%s%s", wish->name, modes[wish->mode],
                wish->terms, wish->number, wish->per_group, wish->scored ? ", scored" : "",
                wish->exists ? "" : ", deleted");
}

static void change_spec(struct world *w, struct wish *wish) {
    cJSON *object = placement_of(w, wish);
    const unsigned what = (unsigned)world_below(w, 10);
    if (what < 4) {
        wish->number = some_number(w);
        happen(w, NUMBER_CHANGED);
    } else if (what < 6) {
        wish->terms = some_terms(w);
        happen(w, TERMS_CHANGED);
    } else if (what < 7) {
        wish->terms = 0;
        happen(w, TERMS_REMOVED);
    } else if (what < 8) {
        wish->per_group = some_group(w);
        happen(w, GROUPS_CHANGED);
    } else {
        wish->mode = wish->mode == MODE_OWNER
                         ? (world_chance(w, 500) ? MODE_UNSET : MODE_SWITCHED_OFF)
                         : MODE_OWNER;
        happen(w, wish->mode == MODE_OWNER ? MODE_ON : MODE_OFF);
    }
    (void)cJSON_ReplaceItemInObjectCaseSensitive(object, "spec", spec_of(wish));
    set_mode(wish, object);
    store_touch(&w->store, FLEET_PLACEMENTS, object);
}

static void change_placement(struct world *w) {
    struct wish *wish = &w->wishes[world_below(w, w->wish_count)];
    if (wish->theirs)
        return;
    if (!wish->exists) {
        make_placement(w, wish);
        happen(w, PLACEMENT_MADE);
    } else if (world_chance(w, 100)) {
        store_remove(&w->store, FLEET_PLACEMENTS, placement_of(w, wish));
        wish->exists = false;
        happen(w, PLACEMENT_DELETED);
    } else {
        change_spec(w, wish);
    }
    note_wish(w, wish);
    show_wish(w, wish);
}

/* Three times an hour it is put back: twice is asked for. */
static void take_annotation(struct world *w) {
    struct wish *wish = &w->wishes[world_below(w, w->wish_count)];
    cJSON *object = placement_of(w, wish);
    if (object == NULL || wish->theirs || wish->taken >= 2 ||
        annotation_of(object, PLACEMENT_DISABLE_ANNOTATION)[0] == '\0')
        return;
    annotate(object, PLACEMENT_DISABLE_ANNOTATION, NULL);
    store_touch(&w->store, FLEET_PLACEMENTS, object);
    wish->taken++;
    note_wish(w, wish);
    world_trace(w, "somebody takes OCM's annotation from %s", wish->name);
    happen(w, ANNOTATION_TAKEN);
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
    note_wish(w, wish);
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
    note_wish(w, wish);
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
        change_placement(w);
    } else if (what < 93) {
        take_annotation(w);
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
        struct wish *wish = &w->wishes[i];
        (void)snprintf(wish->name, sizeof wish->name, "p%u", i);
        wish->theirs = i == w->wish_count - 1;
        wish->handmade = wish->theirs && world_chance(w, 500);
        wish->mode = wish->handmade ? MODE_UNSET : wish->theirs ? MODE_SWITCHED_OFF : MODE_OWNER;
        wish->terms = wish->handmade ? 0 : some_terms(w);
        wish->number = some_number(w);
        wish->per_group = some_group(w);
        wish->scored = world_chance(w, 500);
        make_placement(w, wish);
        show_wish(w, wish);
    }
    note_fact(w);
}
