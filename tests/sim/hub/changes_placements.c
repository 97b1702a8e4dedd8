/*
 * Placements: what people want of them, and what they and their tools do to them.
 */
#include "admission/placements/decision.h"
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- whose it is ---- */

cJSON *placement_of(const struct world *w, const struct wish *wish) {
    return wish->exists ? store_find(&w->store, FLEET_PLACEMENTS, NAMESPACE, wish->name) : NULL;
}

bool wish_is_ours(const struct world *w, const struct wish *wish) {
    return wish->exists && !wish->theirs && wish->terms != 0 &&
           (wish->mode == MODE_OWNER ||
            (wish->mode == MODE_UNSET && w->by_default == PLACEMENT_OWNER));
}

bool wish_is_scored(const struct world *w, const struct wish *wish) {
    return wish->exists && !wish->theirs && wish->terms != 0 &&
           (wish->mode == MODE_SCORES ||
            (wish->mode == MODE_UNSET && w->by_default == PLACEMENT_SCORES));
}

bool wish_refuses(const struct world *w, const struct wish *wish, unsigned cluster) {
    return wish->picky && w->clusters[cluster].odd;
}

/* ---- as it is written ---- */

/* Nobody asks for OCM's Balance, by which other Placements' decisions count: neither OCM nor
 * Evenkeel decides anew because of these. */
cJSON *changes_spec_of(const struct wish *wish) {
    struct strbuf text = {0};
    cJSON *spec;
    strbuf_append_str(&text, STR("{"));
    if (wish->number >= 0)
        strbuf_appendf(&text, "'numberOfClusters':%d,", wish->number);
    if (wish->bare)
        strbuf_append_str(&text, STR("'prioritizerPolicy':{'mode':'Exact'},"));
    else
        strbuf_appendf(&text,
                       "'prioritizerPolicy':{'mode':'Exact','configurations':[{"
                       "'scoreCoordinate':{%s},'weight':1}]},",
                       wish->scored
                           ? "'type':'AddOn','addOn':{'resourceName':'load','scoreName':'s'}"
                           : "'type':'BuiltIn','builtIn':'Steady'");
    if (wish->picky)
        strbuf_append_str(&text, STR("'predicates':[{'requiredClusterSelector':{'celSelector':{"
                                     "'celExpressions':['!(\\'odd\\' in "
                                     "managedCluster.metadata.labels)']}}}],"));
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
    static const char *const words[MODES] = {[MODE_UNSET] = NULL,
                                             [MODE_OWNER] = "Owner",
                                             [MODE_SCORES] = "Scores",
                                             [MODE_SWITCHED_OFF] = "Off"};
    annotate(object, PLACEMENT_MODE_ANNOTATION, words[wish->mode]);
}

void changes_note(struct world *w, struct wish *wish) {
    wish->changed_version = w->edited_version = w->store.version;
    wish->unfair = true;
    wish->complete = false;
}

/* What the webhook adds to a new Placement in mode Scores, under a key that is nobody's. */
static cJSON *review(struct world *w, cJSON *object) {
    char *json = cJSON_PrintUnformatted(object);
    struct fleet_view view;
    struct patch patch;
    fleet_view_open(w->truth, &view);
    arena_reset(&w->arena);
    const struct placement_live live = {
        .view = &view,
        .namespace = STR(NAMESPACE),
        .json = str_of(json),
        .inject = true,
        .key = {(uint32_t)world_below(w, SHARDS), (uint32_t)world_below(w, UINT32_MAX)}};
    if (placement_live_edit(&live, &w->arena, &patch) == ADMISSION_PATCHED) {
        cJSON_Delete(object);
        object = cJSON_ParseWithLength(patch.document.p, patch.document.n);
    }
    fleet_view_close(&view);
    free(json);
    return object;
}

static void make_placement(struct world *w, struct wish *wish) {
    cJSON *object = json_of("{'metadata':{'name':'%s','namespace':'" NAMESPACE "'}}", wish->name);
    (void)cJSON_AddItemToObject(object, "spec", changes_spec_of(wish));
    set_mode(wish, object);
    wish->exists = true;
    if (wish->handmade)
        annotate(object, PLACEMENT_DISABLE_ANNOTATION, "true");
    else if (wish_is_scored(w, wish) && world_chance(w, 500))
        object = review(w, object);
    store_add(&w->store, FLEET_PLACEMENTS, object);
    items_begin(w, wish, str_of(text_in(meta_of(object), "uid")));
    wish->taken = 0;
    wish->ocm_right = 0;
    changes_note(w, wish);
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

/* Of a large fleet few are in mode Scores: there are as many writes as clusters. */
static int some_number(struct world *w, const struct wish *wish) {
    const bool large = w->cluster_count >= 1000;
    const unsigned most = large && wish->may_score ? 40 : large ? 400 : w->cluster_count;
    return !(large && wish->may_score) && world_chance(w, 150) ? -1 : (int)world_below(w, most);
}

static enum mode some_mode(struct world *w, const struct wish *wish) {
    enum mode mode;
    do {
        mode = world_chance(w, 500)   ? (wish->may_score ? MODE_SCORES : MODE_OWNER)
               : world_chance(w, 400) ? MODE_OWNER
               : world_chance(w, 500) ? MODE_UNSET
                                      : MODE_SWITCHED_OFF;
    } while ((wish->picky &&
              (mode == MODE_OWNER || (mode == MODE_UNSET && w->by_default == PLACEMENT_OWNER))) ||
             (!wish->may_score && mode == MODE_UNSET && w->by_default == PLACEMENT_SCORES));
    return mode;
}

static unsigned some_group(struct world *w) {
    return world_chance(w, 600) ? 0 : 1 + (unsigned)world_below(w, 3 + w->cluster_count / 3);
}

static void show_wish(struct world *w, const struct wish *wish) {
    static const char *const modes[MODES] = {"no mode", "Owner", "Scores", "Off"};
    world_trace(w, "%s: %s, terms %u, number %d, %u a group%s%s%s", wish->name, modes[wish->mode],
                wish->terms, wish->number, wish->per_group, wish->scored ? ", scored" : "",
                wish->picky ? ", picky" : "", wish->exists ? "" : ", deleted");
}

/* As who applies it: the rest stays. */
static void edit_spec(const struct wish *wish, cJSON *spec) {
    static const char *const members[] = {"numberOfClusters", "decisionStrategy", "spreadPolicy"};
    cJSON *wanted = changes_spec_of(wish);
    for (unsigned i = 0; i < sizeof members / sizeof members[0]; i++) {
        cJSON *member = cJSON_DetachItemFromObjectCaseSensitive(wanted, members[i]);
        cJSON_DeleteItemFromObjectCaseSensitive(spec, members[i]);
        if (member != NULL)
            (void)cJSON_AddItemToObject(spec, members[i], member);
    }
    cJSON_Delete(wanted);
}

static void change_spec(struct world *w, struct wish *wish) {
    cJSON *object = placement_of(w, wish);
    const unsigned what = (unsigned)world_below(w, 10);
    if (what < 4) {
        wish->number = some_number(w, wish);
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
        wish->mode = some_mode(w, wish);
        happen(w, wish->mode == MODE_OWNER    ? MODE_ON
                  : wish->mode == MODE_SCORES ? MODE_SCORED
                                              : MODE_OFF);
    }
    edit_spec(wish, cJSON_GetObjectItemCaseSensitive(object, "spec"));
    set_mode(wish, object);
    store_touch(&w->store, FLEET_PLACEMENTS, object);
}

static void delete_placement(struct world *w, struct wish *wish) {
    store_remove(&w->store, FLEET_PLACEMENTS, placement_of(w, wish));
    wish->exists = false;
    happen(w, PLACEMENT_DELETED);
    changes_note(w, wish);
}

void changes_end_placements(struct world *w) {
    for (unsigned i = 0; i < w->wish_count; i++)
        if (w->wishes[i].exists)
            delete_placement(w, &w->wishes[i]);
}

void changes_placement(struct world *w) {
    struct wish *wish = &w->wishes[world_below(w, w->wish_count)];
    if (wish->theirs)
        return;
    if (!wish->exists) {
        make_placement(w, wish);
        happen(w, PLACEMENT_MADE);
    } else if (world_chance(w, 100)) {
        delete_placement(w, wish);
    } else {
        change_spec(w, wish);
    }
    changes_note(w, wish);
    show_wish(w, wish);
}

/* Three times an hour it is put back: twice is asked for. */
void changes_take_annotation(struct world *w) {
    struct wish *wish = &w->wishes[world_below(w, w->wish_count)];
    cJSON *object = placement_of(w, wish);
    if (object == NULL || wish->theirs || wish->taken >= 2 ||
        annotation_of(object, PLACEMENT_DISABLE_ANNOTATION)[0] == '\0')
        return;
    annotate(object, PLACEMENT_DISABLE_ANNOTATION, NULL);
    store_touch(&w->store, FLEET_PLACEMENTS, object);
    wish->taken++;
    changes_note(w, wish);
    world_trace(w, "somebody takes OCM's annotation from %s", wish->name);
    happen(w, ANNOTATION_TAKEN);
}

/* A tool writes it as it was: two times an hour, too. */
void changes_take_injection(struct world *w) {
    struct wish *wish = &w->wishes[world_below(w, w->wish_count)];
    cJSON *object = placement_of(w, wish);
    if (object == NULL || !wish_is_scored(w, wish) || wish->taken >= 2 ||
        annotation_of(object, PLACEMENT_INJECTED_ANNOTATION)[0] == '\0')
        return;
    (void)cJSON_ReplaceItemInObjectCaseSensitive(object, "spec", changes_spec_of(wish));
    if (world_chance(w, 500))
        annotate(object, PLACEMENT_INJECTED_ANNOTATION, NULL);
    store_touch(&w->store, FLEET_PLACEMENTS, object);
    wish->taken++;
    wish->opened = wish->freed = true;
    changes_note(w, wish);
    world_trace(w, "somebody takes our prioritizer from %s", wish->name);
    happen(w, INJECTION_TAKEN);
}

void changes_begin_placement(struct world *w, unsigned i) {
    struct wish *wish = &w->wishes[i];
    (void)snprintf(wish->name, sizeof wish->name, "p%u", i);
    wish->theirs = i == w->wish_count - 1;
    wish->handmade = wish->theirs && world_chance(w, 500);
    wish->may_score = !wish->theirs && (w->cluster_count < 1000 || i == 0);
    wish->picky = wish->may_score && world_chance(w, 150);
    wish->mode = wish->handmade ? MODE_UNSET
                 : wish->theirs ? MODE_SWITCHED_OFF
                                : some_mode(w, wish);
    wish->terms = wish->handmade ? 0 : some_terms(w);
    wish->number = some_number(w, wish);
    wish->per_group = some_group(w);
    wish->scored = world_chance(w, 500);
    wish->bare = !wish->scored && world_chance(w, 300);
    make_placement(w, wish);
    show_wish(w, wish);
}
