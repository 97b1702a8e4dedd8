/*
 * Any document, and any changes of it:
 *
 *     {"document": ..., "changes": [{"op": "add", "path": ["a", "-"], "value": ...}, ...]}
 *
 * Changes that are refused leave no trace. Otherwise the patched text is JSON, and what an
 * application of the operations one after the other makes of the document, by other code.
 */
#include "admission/patch.h"
#include "base/json_reader.h"
#include "fuzz/fuzz.h"

#include <cJSON.h>
#include <stdlib.h>

enum { CHANGES_MAX = 16 };

/* ---- applying operations, as RFC 6902 says ---- */

/* The next name of a pointer, unescaped; NULL at its end. */
static char *next_name(const char **pointer) {
    if (**pointer != '/')
        return NULL;
    const char *from = ++*pointer;
    size_t n = strcspn(from, "/"), length = 0;
    char *name = malloc(n + 1);
    require(name != NULL);
    for (size_t i = 0; i < n; i++) {
        bool escaped = from[i] == '~';
        i += escaped;
        name[length++] = escaped ? (from[i] == '1' ? '/' : '~') : from[i];
    }
    name[length] = '\0';
    *pointer += n;
    return name;
}

static cJSON *item_of(cJSON *container, const char *name) {
    return cJSON_IsArray(container) ? cJSON_GetArrayItem(container, (int)strtol(name, NULL, 10))
                                    : cJSON_GetObjectItemCaseSensitive(container, name);
}

static void put(cJSON *container, const char *name, cJSON *value) {
    cJSON *old =
        strcmp(name, "-") == 0 && cJSON_IsArray(container) ? NULL : item_of(container, name);
    require(value != NULL);
    if (cJSON_IsArray(container) && old == NULL)
        require(cJSON_AddItemToArray(container, value));
    else if (cJSON_IsArray(container))
        require(cJSON_ReplaceItemViaPointer(container, old, value));
    else if (old == NULL)
        require(cJSON_AddItemToObject(container, name, value));
    else
        require(cJSON_ReplaceItemInObjectCaseSensitive(container, name, value));
}

static void apply(cJSON *document, const struct patch_operation *o, struct arena *arena) {
    const char *pointer = arena_cstr(arena, o->path);
    require(pointer != NULL);
    cJSON *container = document;
    char *name = next_name(&pointer);
    while (name != NULL && *pointer != '\0') {
        container = item_of(container, name);
        require(container != NULL);
        free(name);
        name = next_name(&pointer);
    }
    require(name != NULL);
    if (o->op == PATCH_REMOVE)
        cJSON_Delete(cJSON_DetachItemViaPointer(container, item_of(container, name)));
    else
        put(container, name, cJSON_ParseWithLength(o->value.p, o->value.n));
    free(name);
}

/* ---- the input ---- */

static struct str text_of(const cJSON *item, struct arena *arena) {
    char *text = cJSON_PrintUnformatted(item);
    require(text != NULL);
    struct str copy = arena_str(arena, str_of(text));
    cJSON_free(text);
    return copy;
}

/* False: it is none. */
static bool read_change(const cJSON *item, struct arena *arena, struct patch_change *ret) {
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(item, "op"));
    const cJSON *path = cJSON_GetObjectItem(item, "path"), *name;
    const cJSON *value = cJSON_GetObjectItem(item, "value");
    struct str *names = arena_array(arena, (size_t)cJSON_GetArraySize(path), sizeof *names);
    require(names != NULL);
    *ret = (struct patch_change){.path = names};
    if (op == NULL || !cJSON_IsArray(path) || value == NULL)
        return false;
    ret->op = op[0] == 'a' ? PATCH_ADD : strcmp(op, "remove") == 0 ? PATCH_REMOVE : PATCH_REPLACE;
    cJSON_ArrayForEach(name, path) {
        if (!cJSON_IsString(name))
            return false;
        names[ret->depth++] = arena_str(arena, str_of(name->valuestring));
    }
    ret->value = text_of(value, arena);
    return true;
}

/* Our reader is the stricter one. */
static bool is_good(struct str text, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "text");
    (void)json_skip(&r); /* json_finish() says whether it could be read */
    return json_finish(&r, NULL) == 0;
}

static void check(const cJSON *document, const struct patch_change *changes, uint32_t count,
                  struct arena *arena) {
    struct patch patch;
    struct err err = {0};
    struct str text = text_of(document, arena);
    patch_init(&patch, text, arena);
    int r = patch_apply(&patch, changes, count, &err);
    require((r == 0) == (err.code == 0));
    if (r != 0) {
        require(patch.count == 0 && str_eq(patch.document, text));
        return;
    }
    require(patch.count == count && is_good(patch.document, arena));
    cJSON *ours = cJSON_ParseWithLength(patch.document.p, patch.document.n);
    cJSON *theirs = cJSON_Duplicate(document, true);
    require(ours != NULL && theirs != NULL);
    for (uint32_t i = 0; i < patch.count; i++)
        apply(theirs, &patch.operations[i], arena);
    struct str a = text_of(ours, arena), b = text_of(theirs, arena);
    require(str_eq(a, b) || cJSON_Compare(ours, theirs, true));
    cJSON_Delete(ours);
    cJSON_Delete(theirs);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct patch_change changes[CHANGES_MAX];
    uint32_t count = 0;
    const cJSON *item;
    arena_init(&arena, 64u << 20);
    if (!is_good((struct str){(const char *)bytes, n}, &arena)) {
        arena_done(&arena);
        return 0;
    }
    cJSON *doc = cJSON_ParseWithLength((const char *)bytes, n);
    const cJSON *document = cJSON_GetObjectItem(doc, "document");
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "changes")) {
        count += count < CHANGES_MAX && read_change(item, &arena, &changes[count]);
    }
    if (document != NULL && is_good(text_of(document, &arena), &arena))
        check(document, changes, count, &arena);
    cJSON_Delete(doc);
    arena_done(&arena);
    return 0;
}
