/*
 * Who else acts on the hub: the garbage collector, and what makes and ends namespaces of clusters.
 */
#include "sim/hub/world.h"

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
        if (uid[0] != '\0' && strcmp(uid, FOREIGN_UID) != 0 && !has_owner(w, uid))
            return k->objects[i];
    }
    return NULL;
}

/* ---- namespaces of clusters ---- */

/* One in the namespace of a cluster that is no more. */
static cJSON *find_left_score(const struct world *w) {
    const struct store_kind *k = &w->store.kinds[FLEET_SCORES];
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t c = cluster_number(namespace_of(k->objects[i]));
        if (c < w->cluster_count && w->clusters[c].namespace != NAMESPACE_THERE &&
            strncmp(name_of(k->objects[i]), "evenkeel-", 9) == 0)
            return k->objects[i];
    }
    return NULL;
}

/* A namespace goes when nothing is in it, and comes back after that. */
static bool change_namespaces(struct world *w) {
    cJSON *left = w->going > 0 ? find_left_score(w) : NULL;
    if (left != NULL) {
        world_trace(w, "%s of %s is collected", name_of(left), namespace_of(left));
        store_remove(&w->store, FLEET_SCORES, left);
        happen(w, COLLECTED);
        return true;
    }
    for (unsigned i = 0; i < w->cluster_count; i++)
        if (w->clusters[i].namespace == NAMESPACE_GOING)
            w->clusters[i].namespace = NAMESPACE_NONE;
    w->going = 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        if (w->clusters[i].namespace == NAMESPACE_NONE && w->clusters[i].object != NULL)
            w->clusters[i].namespace = NAMESPACE_THERE;
    return false;
}

static bool namespaces_are_idle(const struct world *w) {
    bool idle = w->going == 0;
    for (unsigned i = 0; i < w->cluster_count; i++)
        idle =
            idle && (w->clusters[i].object == NULL || w->clusters[i].namespace == NAMESPACE_THERE);
    return idle;
}

/* ---- both ---- */

void collect_step(struct world *w) {
    cJSON *garbage = find_garbage(w);
    const bool more = change_namespaces(w) || garbage != NULL;
    w->collect_ms = world_now(w) + world_between(w, 1, more ? 500 : 10000);
    if (garbage == NULL)
        return;
    for (unsigned i = 0; i < w->wish_count; i++)
        if (strcmp(label_of(garbage, PLACEMENT_LABEL), w->wishes[i].name) == 0)
            w->wishes[i].changed_version = w->store.version + 1;
    world_trace(w, "%s is collected", name_of(garbage));
    store_remove(&w->store, FLEET_DECISIONS, garbage);
    happen(w, COLLECTED);
}

bool actors_are_idle(const struct world *w) {
    return ocm_is_idle(w) && find_garbage(w) == NULL && namespaces_are_idle(w);
}
