/*
 * AddOnPlacementScores of Evenkeel's: whose items are in them, and where there can be any.
 */
#include "sim/hub/world.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- items ---- */

const char *item_name(const struct wish *wish, char text[static ITEM_BYTES]) {
    (void)snprintf(text, ITEM_BYTES, INJECTED_SCORE, wish->key.shard, wish->key.number);
    return text;
}

void items_changed(struct world *w, struct str cluster, struct str resource) {
    char name[16] = "";
    uint32_t shard;
    memcpy(name, cluster.p, cluster.n < sizeof name ? cluster.n : 0);
    const uint32_t c = cluster_number(name);
    struct fleet_view view;
    struct fleet_score_object o;
    if (!injected_resource_read(resource, &shard) || c >= w->cluster_count)
        return;
    fleet_view_open(w->truth, &view);
    const bool there = fleet_score_object(&view, cluster, resource, &o);
    for (unsigned i = 0; i < w->wish_count; i++) {
        struct wish *wish = &w->wishes[i];
        char text[ITEM_BYTES];
        if (wish->items != NULL && wish->key.shard == shard)
            wish->items[c] = there && fleet_score_has(&view, &o, str_of(item_name(wish, text)));
    }
    fleet_view_close(&view);
}

void items_begin(struct world *w, struct wish *wish, struct str uid) {
    if (wish->items == NULL) {
        wish->items = check_new_flags(w);
        wish->tried = check_new_flags(w);
    }
    memset(wish->items, 0, w->cluster_count); /* nobody knew its key */
    memset(wish->tried, 0, w->cluster_count);
    wish->key = injected_key_of(uid, SHARDS);
}

struct wish *items_owner(struct world *w, const char *resource, const char *item) {
    struct injected_key key;
    if (!injected_key_read(str_of(resource), str_of(item), &key))
        return NULL;
    for (unsigned i = 0; i < w->wish_count; i++)
        if (w->wishes[i].exists && injected_key_eq(w->wishes[i].key, key))
            return &w->wishes[i];
    return NULL;
}

const char *items_dead(struct world *w, char text[static 80]) {
    const struct store_kind *k = &w->store.kinds[FLEET_SCORES];
    for (uint32_t i = 0; i < k->count; i++) {
        const char *resource = name_of(k->objects[i]);
        struct injected_key key;
        if (strncmp(resource, "evenkeel-", 9) != 0)
            continue;
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(k->objects[i], "status"), "scores");
        for (const cJSON *item = list != NULL ? list->child : NULL; item; item = item->next) {
            const struct wish *wish = items_owner(w, resource, text_in(item, "name"));
            if (injected_key_read(str_of(resource), str_of(text_in(item, "name")), &key) &&
                (wish == NULL || !wish_is_scored(w, wish))) {
                (void)snprintf(text, 80, "%s/%s of %s", resource, text_in(item, "name"),
                               namespace_of(k->objects[i]));
                return text;
            }
        }
    }
    return NULL;
}

/* ---- namespaces ---- */

/* upstream: NamespaceLifecycle: 404 where there is none; nothing is created in one that goes. */
int items_refuse(const struct world *w, const char *method, const char *path) {
    const char *at = strstr(path, "/namespaces/c");
    char name[16] = "";
    if (at == NULL || strstr(path, "/addonplacementscores") == NULL)
        return 0;
    at += sizeof "/namespaces/" - 1;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "/"), at);
    const uint32_t c = cluster_number(name);
    if (c >= w->cluster_count || w->clusters[c].namespace == NAMESPACE_NONE)
        return 404;
    return w->clusters[c].namespace == NAMESPACE_GOING && strcmp(method, "POST") == 0 ? 403 : 0;
}
