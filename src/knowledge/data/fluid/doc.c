#include "data/fluid/doc.h"

#include <errno.h>

cJSON *doc_object(const cJSON *parent, const char *name) {
    cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);
    return cJSON_IsObject(item) ? item : NULL;
}

cJSON *doc_array(const cJSON *parent, const char *name) {
    cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);
    return cJSON_IsArray(item) ? item : NULL;
}

const char *doc_string(const cJSON *parent, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

cJSON *doc_at(const cJSON *root, const char *path) {
    char name[64];
    cJSON *item = NULL;
    for (;;) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof name)
            return NULL;
        memcpy(name, path, length);
        name[length] = '\0';
        item = cJSON_GetObjectItemCaseSensitive(item != NULL ? item : root, name);
        if (item == NULL || path[length] == '\0')
            return cJSON_IsNull(item) ? NULL : item;
        path += length + 1;
    }
}

static int need(cJSON *parent, const char *name, bool array, cJSON **ret, struct err *err) {
    cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);
    if (item == NULL || cJSON_IsNull(item)) {
        item = array ? cJSON_CreateArray() : cJSON_CreateObject();
        if (doc_set(parent, name, item) != 0)
            return err_set(err, -ENOMEM, "cannot add '%s' to the pod: out of memory", name);
    }
    if (!(array ? cJSON_IsArray(item) : cJSON_IsObject(item)))
        return err_set(err, -EINVAL, "cannot edit '%s' of the pod: it is no %s", name,
                       array ? "array" : "object");
    *ret = item;
    return 0;
}

int doc_need_object(cJSON *parent, const char *name, cJSON **ret, struct err *err) {
    return need(parent, name, false, ret, err);
}

int doc_need_array(cJSON *parent, const char *name, cJSON **ret, struct err *err) {
    return need(parent, name, true, ret, err);
}

int doc_set(cJSON *parent, const char *name, cJSON *item) {
    if (item == NULL)
        return -ENOMEM;
    cJSON *old = cJSON_GetObjectItemCaseSensitive(parent, name);
    if (old == NULL && cJSON_AddItemToObject(parent, name, item))
        return 0;
    if (old == NULL) {
        cJSON_Delete(item);
        return -ENOMEM;
    }
    /* Moves the name: cJSON_ReplaceItemInObject() of 1.7.15 copies it, and does not notice when the
     * copy fails. */
    if ((item->type & cJSON_StringIsConst) == 0)
        cJSON_free(item->string); /* a duplicate of a member already has a name */
    item->string = old->string;
    item->type = (item->type & ~cJSON_StringIsConst) | (old->type & cJSON_StringIsConst);
    old->string = NULL;
    return cJSON_ReplaceItemViaPointer(parent, old, item) ? 0
                                                          : -ENOMEM; /* never fails: `old` exists */
}

int doc_push(cJSON *array, cJSON *item) {
    if (item == NULL)
        return -ENOMEM;
    if (cJSON_AddItemToArray(array, item))
        return 0;
    cJSON_Delete(item);
    return -ENOMEM;
}
