#include "sim/hub/store.h"

#include "base/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- JSON ---- */

cJSON *json_of(const char *fmt, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    cJSON *object = cJSON_Parse(text);
    if (object == NULL)
        abort();
    free(text);
    return object;
}

static cJSON *member_of(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *text_in(const cJSON *object, const char *member) {
    const char *text = cJSON_GetStringValue(member_of(object, member));
    return text != NULL ? text : "";
}

const cJSON *meta_of(const cJSON *object) {
    return member_of(object, "metadata");
}

const char *name_of(const cJSON *object) {
    return text_in(meta_of(object), "name");
}

const char *namespace_of(const cJSON *object) {
    return text_in(meta_of(object), "namespace");
}

const char *label_of(const cJSON *object, const char *key) {
    return text_in(member_of(meta_of(object), "labels"), key);
}

const char *annotation_of(const cJSON *object, const char *key) {
    return text_in(member_of(meta_of(object), "annotations"), key);
}

const char *owner_uid_of(const cJSON *object) {
    const cJSON *owner = member_of(meta_of(object), "ownerReferences");
    for (owner = owner != NULL ? owner->child : NULL; owner != NULL; owner = owner->next)
        if (cJSON_IsTrue(member_of(owner, "controller")))
            return text_in(owner, "uid");
    return "";
}

cJSON *json_need(cJSON *object, const char *name) {
    cJSON *found = member_of(object, name);
    return cJSON_IsObject(found) ? found : cJSON_AddObjectToObject(object, name);
}

static void set_text(cJSON *object, const char *name, const char *value) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (value != NULL && cJSON_AddStringToObject(object, name, value) == NULL)
        abort();
}

void annotate(cJSON *object, const char *key, const char *value) {
    set_text(json_need(json_need(object, "metadata"), "annotations"), key, value);
}

const cJSON *decisions_in(const cJSON *object) {
    return member_of(member_of(object, "status"), "decisions");
}

/* upstream: RFC 7386 */
static void merge(cJSON *into, const cJSON *changes) {
    for (const cJSON *change = changes->child; change != NULL; change = change->next) {
        if (cJSON_IsObject(change)) {
            merge(json_need(into, change->string), change);
            continue;
        }
        cJSON_DeleteItemFromObjectCaseSensitive(into, change->string);
        if (!cJSON_IsNull(change) &&
            !cJSON_AddItemToObject(into, change->string, cJSON_Duplicate(change, true)))
            abort();
    }
}

/* ---- objects ---- */

static void *grown(void *items, uint32_t count, uint32_t *cap, size_t bytes) {
    if (count < *cap)
        return items;
    *cap = *cap > 0 ? *cap * 2 : 16;
    items = realloc(items, *cap * bytes);
    if (items == NULL)
        abort();
    return items;
}

static void log_change(struct store *s, uint32_t kind, const cJSON *object, bool gone) {
    struct store_kind *k = &s->kinds[kind];
    k->log = grown(k->log, k->log_count, &k->log_cap, sizeof *k->log);
    k->log[k->log_count] = (struct change){gone, s->version, cJSON_PrintUnformatted(object)};
    if (k->log[k->log_count].json == NULL)
        abort();
    k->log_count++;
    if (kind < FLEET_KINDS && s->changed != NULL)
        s->changed(s->ctx, kind, &k->log[k->log_count - 1]);
}

static uint64_t hash_of(const char *namespace, const char *name) {
    return hash_mix(hash_str(str_of(namespace)), hash_str(str_of(name)));
}

static uint32_t find(const struct store *s, uint32_t kind, const char *namespace,
                     const char *name) {
    const struct store_kind *k = &s->kinds[kind];
    const uint64_t hash = hash_of(namespace, name);
    uint32_t i = 0;
    while (i < k->count && (k->hashes[i] != hash || strcmp(name_of(k->objects[i]), name) != 0 ||
                            strcmp(namespace_of(k->objects[i]), namespace) != 0))
        i++;
    return i;
}

cJSON *store_find(const struct store *s, uint32_t kind, const char *namespace, const char *name) {
    const uint32_t i = find(s, kind, namespace, name);
    return i < s->kinds[kind].count ? s->kinds[kind].objects[i] : NULL;
}

void store_touch(struct store *s, uint32_t kind, cJSON *object) {
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)++s->version);
    set_text(json_need(object, "metadata"), "resourceVersion", text);
    log_change(s, kind, object, false);
}

static void name_uid(struct store *s, cJSON *object) {
    char uid[24];
    (void)snprintf(uid, sizeof uid, "u%llu", (unsigned long long)++s->uids);
    if (text_in(meta_of(object), "uid")[0] == '\0')
        set_text(json_need(object, "metadata"), "uid", uid);
}

void store_add(struct store *s, uint32_t kind, cJSON *object) {
    struct store_kind *k = &s->kinds[kind];
    name_uid(s, object);
    k->objects = grown(k->objects, k->count, &k->cap, sizeof(cJSON *));
    k->hashes = grown(k->hashes, k->count, &k->hash_cap, sizeof *k->hashes);
    k->hashes[k->count] = hash_of(namespace_of(object), name_of(object));
    k->objects[k->count++] = object;
    store_touch(s, kind, object);
}

void store_remove(struct store *s, uint32_t kind, cJSON *object) {
    struct store_kind *k = &s->kinds[kind];
    uint32_t at = 0;
    while (k->objects[at] != object)
        at++;
    s->version++;
    log_change(s, kind, object, true);
    k->count--;
    k->objects[at] = k->objects[k->count];
    k->hashes[at] = k->hashes[k->count];
    cJSON_Delete(object);
}

void store_done(struct store *s) {
    for (uint32_t kind = 0; kind < STORE_KINDS; kind++) {
        struct store_kind *k = &s->kinds[kind];
        for (uint32_t i = 0; i < k->count; i++)
            cJSON_Delete(k->objects[i]);
        for (uint32_t i = 0; i < k->log_count; i++)
            free(k->log[i].json);
        free(k->objects);
        free(k->hashes);
        free(k->log);
    }
}

/* ---- requests ---- */

static const char *const resources[STORE_KINDS] = {[FLEET_PLACEMENTS] = "placements",
                                                   [FLEET_DECISIONS] = "placementdecisions",
                                                   [FLEET_SCORES] = "addonplacementscores",
                                                   [STORE_LEASES] = "leases"};

/* A path, in parts that point into `text`. */
struct path {
    char text[400];
    uint32_t kind; /* STORE_KINDS: of none */
    const char *namespace, *name;
    bool is_status;
    bool applies; /* server-side, and takes over what others own */
};

static void read_path(const char *path, struct path *ret) {
    *ret = (struct path){.kind = STORE_KINDS, .namespace = "", .name = ""};
    (void)snprintf(ret->text, sizeof ret->text, "%s", path);
    ret->text[strcspn(ret->text, "?")] = '\0';
    char *rest = strstr(ret->text, "/namespaces/");
    if (rest == NULL)
        return;
    rest += sizeof "/namespaces/" - 1;
    ret->namespace = strsep(&rest, "/");
    const char *resource = strsep(&rest, "/");
    for (uint32_t k = 0; resource != NULL && k < STORE_KINDS; k++)
        if (resources[k] != NULL && strcmp(resources[k], resource) == 0)
            ret->kind = k;
    if (rest != NULL)
        ret->name = strsep(&rest, "/");
    ret->is_status = rest != NULL && strcmp(rest, "status") == 0;
    ret->applies = strstr(path, "force=true") != NULL;
}

static bool is_other(const cJSON *object, const cJSON *wanted, const char *member) {
    const char *text = text_in(wanted, member);
    return text[0] != '\0' && strcmp(text, text_in(meta_of(object), member)) != 0;
}

/* The item of this name of a list; NULL. */
static cJSON *named(const cJSON *list, const char *name) {
    cJSON *item = list != NULL ? list->child : NULL;
    while (item != NULL && strcmp(text_in(item, "name"), name) != 0)
        item = item->next;
    return item;
}

/* What was applied before and is applied no more goes, unless others own it, too; what was
 * never applied stays. Only lists of
 * scores are applied here: a map by name. upstream: apimachinery managedfields; the CRD's
 * x-kubernetes-list-map-keys. */
static void apply(cJSON *object, const cJSON *body) {
    const cJSON *sent = member_of(member_of(body, "status"), "scores");
    cJSON *meta = json_need(object, "metadata"), *status = json_need(object, "status");
    cJSON *scores = member_of(status, "scores");
    const cJSON *owned = member_of(meta, STORE_APPLIED), *others = member_of(meta, STORE_OTHERS);
    if (scores == NULL)
        scores = cJSON_AddArrayToObject(status, "scores");
    for (const cJSON *item = owned != NULL ? owned->child : NULL; item; item = item->next) {
        cJSON *there = named(scores, text_in(item, "name"));
        if (there != NULL && named(sent, text_in(item, "name")) == NULL &&
            named(others, text_in(item, "name")) == NULL)
            cJSON_Delete(cJSON_DetachItemViaPointer(scores, there));
    }
    cJSON *now = cJSON_CreateArray();
    for (const cJSON *item = sent != NULL ? sent->child : NULL; item; item = item->next) {
        cJSON *there = named(scores, text_in(item, "name"));
        if (there == NULL)
            (void)cJSON_AddItemToArray(scores, cJSON_Duplicate(item, true));
        else
            (void)cJSON_ReplaceItemViaPointer(scores, there, cJSON_Duplicate(item, true));
        (void)cJSON_AddItemToArray(now, json_of("{'name':'%s'}", text_in(item, "name")));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(meta, STORE_APPLIED);
    (void)cJSON_AddItemToObject(meta, STORE_APPLIED, now);
}

/* Nobody owns what has been taken away. */
static void forget_owned(cJSON *object) {
    const cJSON *scores = member_of(member_of(object, "status"), "scores");
    const char *const lists[] = {STORE_APPLIED, STORE_OTHERS};
    for (int i = 0; i < 2; i++) {
        cJSON *list = member_of(meta_of(object), lists[i]), *next;
        for (cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = next) {
            next = item->next;
            if (named(scores, text_in(item, "name")) == NULL)
                cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
    }
}

static int change(struct store *s, const struct path *path, cJSON *object, const cJSON *body) {
    if (is_other(object, meta_of(body), "resourceVersion") ||
        is_other(object, meta_of(body), "uid"))
        return 409;
    cJSON *before = cJSON_Duplicate(object, true);
    if (path->applies)
        apply(object, body);
    else if (path->is_status)
        merge(json_need(object, "status"), member_of(body, "status"));
    else
        merge(object, body);
    if (path->kind == FLEET_SCORES && !path->applies)
        forget_owned(object);
    set_text(json_need(object, "metadata"), "resourceVersion",
             text_in(meta_of(before), "resourceVersion"));
    const bool same = cJSON_Compare(before, object, true);
    cJSON_Delete(before);
    if (!same) /* else it keeps its version */
        store_touch(s, path->kind, object);
    return 200;
}

/* Who creates it creates it without a status. */
static int create(struct store *s, const struct path *path, cJSON *body) {
    if (store_find(s, path->kind, path->namespace, name_of(body)) != NULL) {
        cJSON_Delete(body);
        return 409;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(body, "status");
    set_text(json_need(body, "metadata"), "namespace", path->namespace);
    store_add(s, path->kind, body);
    return 201;
}

static int replace(struct store *s, const struct path *path, cJSON *object, cJSON *body) {
    if (object != NULL && (is_other(object, meta_of(body), "resourceVersion") ||
                           is_other(object, meta_of(body), "uid"))) {
        cJSON_Delete(body);
        return 409;
    }
    if (object != NULL)
        store_remove(s, path->kind, object);
    set_text(json_need(body, "metadata"), "namespace", path->namespace);
    store_add(s, path->kind, body);
    return 200;
}

/* upstream: apimachinery meta/v1 Status. */
static int refuse(int status, struct strbuf *answer) {
    static const char form[] = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
                               "\"Failure\",\"message\":\"it is %s\",\"reason\":\"%s\","
                               "\"code\":%d}";
    const char *reason = status == 409 ? "Conflict" : "NotFound";
    strbuf_appendf(answer, form, reason, reason, status);
    return status;
}

static int answer_with(const struct store *s, const struct path *path, int status, const char *name,
                       struct strbuf *answer) {
    const cJSON *object = store_find(s, path->kind, path->namespace, name);
    if (status >= 300)
        return refuse(status, answer);
    char *text = object != NULL ? cJSON_PrintUnformatted(object) : NULL;
    strbuf_append_str(answer, str_of(text != NULL ? text : "{}"));
    free(text);
    return status;
}

int store_call(struct store *s, const char *method, const char *path, struct str body,
               struct strbuf *answer) {
    struct path where;
    char name[300];
    int status = 404;
    read_path(path, &where);
    if (where.kind == STORE_KINDS)
        return 404;
    cJSON *sent = body.n > 0 ? cJSON_ParseWithLength(body.p, body.n) : NULL;
    cJSON *object = store_find(s, where.kind, where.namespace, where.name);
    (void)snprintf(name, sizeof name, "%s", where.name[0] != '\0' ? where.name : name_of(sent));
    if (strcmp(method, "POST") == 0) {
        status = create(s, &where, sent);
        sent = NULL;
    } else if (strcmp(method, "PUT") == 0) {
        status = replace(s, &where, object, sent);
        sent = NULL;
    } else if (object != NULL && strcmp(method, "PATCH") == 0) {
        status = change(s, &where, object, sent);
    } else if (object != NULL && strcmp(method, "DELETE") == 0) {
        const cJSON *conditions = member_of(sent, "preconditions");
        status = is_other(object, conditions, "resourceVersion") ? 409 : 200;
        if (status == 200)
            store_remove(s, where.kind, object);
    } else if (object != NULL) {
        status = 200;
    }
    cJSON_Delete(sent);
    return answer_with(s, &where, status, name, answer);
}
