#include "admission/pods/spread_written.h"

#include "base/json_fields.h"
#include "model/names.h"

#include <errno.h>

/* Notes the key in k:{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}. */
static void note_item(struct spread_written *w, struct str key) {
    static const struct json_field field[] = {JSON_TEXT_ALONE("topologyKey")};
    struct json_reader r;
    struct str topology_key = {0};
    if (str_eq(key, STR(".")))
        return;
    if (key.n < 2 || key.p[0] != 'k' || key.p[1] != ':') {
        w->strange = true;
        return;
    }
    json_reader_init(&r, (struct str){key.p + 2, key.n - 2}, w->arena, "managedFields");
    json_fields(&r, &JSON_ROWS(field), &topology_key);
    if (json_finish(&r, NULL) != 0 || str_empty(topology_key)) {
        w->strange = true;
        return;
    }
    w->keys = arena_push(w->arena, w->keys, w->count, &w->cap, sizeof *w->keys);
    if (w->keys != NULL)
        w->keys[w->count++] = topology_key;
}

static void read_items(struct json_reader *r, struct spread_written *w) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        note_item(w, key);
}

/* Descends along a path: each name is a member of the value before it. */
static void read_path(struct json_reader *r, const struct str *path, struct spread_written *w) {
    struct str key;
    if (path->n == 0) {
        read_items(r, w);
        return;
    }
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, *path)) {
            w->known = w->known || str_eq(key, STR("f:spec"));
            read_path(r, path + 1, w); /* the depth of the recursion is the length of the path */
        }
}

static void read_managers(struct json_reader *r, struct spread_written *w) {
    static const struct str path[] = {
        {"fieldsV1", 8}, {"f:spec", 6}, {"f:topologySpreadConstraints", 27}, {"", 0}};
    if (!json_array(r))
        return;
    while (json_element(r))
        read_path(r, path, w);
}

static void read_metadata(struct json_reader *r, struct spread_written *w) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("managedFields")))
            read_managers(r, w);
}

int spread_written_read(struct str object, struct arena *arena, struct spread_written *ret) {
    struct json_reader r;
    struct str key;
    *ret = (struct spread_written){.arena = arena};
    if (!steps_take_bytes(&arena->steps, object.n))
        return -E2BIG;
    json_reader_init(&r, object, arena, POD_KIND);
    bool is_object = json_object(&r);
    while (is_object && json_member(&r, &key))
        if (str_eq(key, STR("metadata")))
            read_metadata(&r, ret);
    int failed = json_finish(&r, NULL);
    if (arena_failed(arena))
        return -ENOMEM;
    ret->known = ret->known && !ret->strange && failed == 0;
    return 0;
}

bool spread_written_has(const struct spread_written *w, struct str topology_key) {
    for (uint32_t i = 0; i < w->count; i++)
        if (str_eq(w->keys[i], topology_key))
            return true;
    return !w->known;
}
