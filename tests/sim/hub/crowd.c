/*
 * A crowd: another namespace with dozens of Placements in mode Owner, which are edited, deleted and
 * made anew in bursts, so that it always has something to be planned and written beside namespace
 * n. fair.c counts what n waits for.
 */
#include "sim/hub/world.h"

#include <stdio.h>

enum {
    LEAST = 24,
    SEEDS = 5, /* every fifth seed has a crowd: one of each kind of pauses */
    OF_THEM = 3,
    LARGE = 400, /* clusters of a fleet that has none */
    NUMBERS = 8,
};

static cJSON *spec_of(unsigned number) {
    return json_of("{'numberOfClusters':%u,'spreadPolicy':{'spreadConstraints':[{"
                   "'topologyKey':'zone','topologyKeyType':'Label','maxSkew':1,"
                   "'whenUnsatisfiable':'ScheduleAnyway'}]}}",
                   number);
}

static cJSON *find(const struct world *w, unsigned i) {
    char name[16];
    (void)snprintf(name, sizeof name, "q%02u", i);
    return store_find(&w->store, FLEET_PLACEMENTS, CROWD_NAMESPACE, name);
}

static void make(struct world *w, unsigned i) {
    cJSON *object = json_of("{'metadata':{'name':'q%02u','namespace':'" CROWD_NAMESPACE "'}}", i);
    (void)cJSON_AddItemToObject(object, "spec", spec_of((unsigned)world_below(w, NUMBERS)));
    annotate(object, PLACEMENT_MODE_ANNOTATION, "Owner");
    store_add(&w->store, FLEET_PLACEMENTS, object);
}

void crowd_begin(struct world *w) {
    w->crowd_ms = INT64_MAX;
    if (w->seed % SEEDS != OF_THEM || w->cluster_count > LARGE)
        return;
    w->crowd_count = (unsigned)world_between(w, LEAST, MOST_CROWD);
    store_add(&w->store, FLEET_BINDINGS,
              json_of("{'metadata':{'name':'all','namespace':'" CROWD_NAMESPACE "'},'spec':{"
                      "'clusterSet':'all'}}"));
    store_add(&w->store, FLEET_NAMESPACES, json_of("{'metadata':{'name':'" CROWD_NAMESPACE "'}}"));
    for (unsigned i = 0; i < w->crowd_count; i++)
        make(w, i);
}

void crowd_work(struct world *w, bool works) {
    w->crowd_ms = works && w->crowd_count > 0 ? world_now(w) : INT64_MAX;
}

void crowd_step(struct world *w) {
    const unsigned i = (unsigned)world_below(w, w->crowd_count);
    cJSON *object = find(w, i);
    if (object == NULL) {
        make(w, i);
    } else if (world_chance(w, 100)) {
        store_remove(&w->store, FLEET_PLACEMENTS, object);
    } else {
        (void)cJSON_ReplaceItemInObjectCaseSensitive(object, "spec",
                                                     spec_of((unsigned)world_below(w, NUMBERS)));
        store_touch(&w->store, FLEET_PLACEMENTS, object);
    }
    w->crowd_ms =
        world_now(w) + (world_chance(w, 25) ? world_between(w, 500, 8000) : world_between(w, 0, 8));
    happen(w, CROWD_CHANGED);
}

void crowd_end(struct world *w) {
    for (unsigned i = 0; i < w->crowd_count; i++) {
        cJSON *object = find(w, i);
        if (object != NULL)
            store_remove(&w->store, FLEET_PLACEMENTS, object);
    }
}

void crowd_check_quiet(struct world *w) {
    unsigned fits = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        fits += check_is_member(w, i);
    for (unsigned i = 0; i < w->crowd_count && w->store.kinds[FLEET_CLUSTERS].count > 0; i++) {
        const cJSON *object = find(w, i);
        const cJSON *status = cJSON_GetObjectItemCaseSensitive(object, "status"),
                    *spec = cJSON_GetObjectItemCaseSensitive(object, "spec");
        const cJSON *selected =
            cJSON_GetObjectItemCaseSensitive(status, "numberOfSelectedClusters");
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(spec, "numberOfClusters");
        if (object == NULL)
            continue;
        const unsigned wanted =
            (unsigned)number->valueint < fits ? (unsigned)number->valueint : fits;
        if (!cJSON_IsNumber(selected) || (unsigned)selected->valueint != wanted)
            world_fail(w, "the crowd's %s has selected %d clusters, not %u", name_of(object),
                       selected != NULL ? selected->valueint : -1, wanted);
    }
}
