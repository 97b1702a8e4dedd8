#include "unit/controllers/stored.h"

#include "unit/unit.h"

#include <stdio.h>

struct writer *fake_writer(struct kube_client *client) {
    struct writer *writer;
    const struct writer_options options = {
        .client = client,
        .clock = &client->clock.clock,
        .io = &fake_io,
        .limits = {.under_way = 1, .burst = 10, .per_second = 5}};
    assert_int_equal(writer_new(&options, &writer, NULL), 0);
    return writer;
}

void stored_done(struct stored *s) {
    cJSON_Delete(s->object);
    *s = (struct stored){.object = NULL};
}

static cJSON *parse(struct str json) {
    cJSON *parsed = cJSON_ParseWithLength(json.p, json.n);
    assert_non_null(parsed);
    return parsed;
}

static cJSON *need(cJSON *parent, const char *name) {
    cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, name);
    return item != NULL ? item : cJSON_AddObjectToObject(parent, name);
}

void stored_touch(struct stored *s) {
    char version[16];
    cJSON *metadata = need(s->object, "metadata");
    (void)snprintf(version, sizeof version, "%u", ++s->version); /* fits */
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
    assert_non_null(cJSON_AddStringToObject(metadata, "resourceVersion", version));
}

void stored_set(struct stored *s, const char *json) {
    cJSON_Delete(s->object);
    s->object = json != NULL ? parse(str_of(json)) : NULL;
    if (s->object != NULL)
        stored_touch(s);
}

const char *stored_text(const struct stored *s, const char *path) {
    const cJSON *item = s->object;
    char name[64];
    while (item != NULL && *path != '\0') {
        size_t n = strcspn(path, "/");
        (void)snprintf(name, sizeof name, "%.*s", (int)n, path);
        item = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, (int)strtol(name, NULL, 10))
                                   : cJSON_GetObjectItemCaseSensitive(item, name);
        path += n + (path[n] == '/');
    }
    return item != NULL && cJSON_IsString(item) ? item->valuestring : "";
}

/* ---- patches ---- */

static cJSON *with_name(cJSON *list, const cJSON *wanted) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(wanted, "name"));
    assert_non_null(list);
    assert_non_null(name);
    for (cJSON *item = list->child; item != NULL; item = item->next) {
        const cJSON *its = cJSON_GetObjectItemCaseSensitive(item, "name");
        if (cJSON_IsString(its) && strcmp(its->valuestring, name) == 0)
            return item;
    }
    fail_msg("no item is called '%s'", name);
    return NULL;
}

static void merge(cJSON *into, const cJSON *changes) {
    for (const cJSON *change = changes->child; change != NULL; change = change->next) {
        cJSON *there = cJSON_GetObjectItemCaseSensitive(into, change->string);
        if (cJSON_IsObject(change)) {
            merge(need(into, change->string), change);
        } else if (cJSON_IsArray(change)) {
            for (const cJSON *item = change->child; item != NULL; item = item->next)
                merge(with_name(there, item), item);
        } else {
            cJSON_DeleteItemFromObjectCaseSensitive(into, change->string);
            assert_true(cJSON_AddItemToObject(into, change->string, cJSON_Duplicate(change, true)));
        }
    }
}

static int patch(struct stored *s, const cJSON *body) {
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(body, "metadata");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(metadata, "resourceVersion");
    if (s->object == NULL)
        return 404;
    assert_true(cJSON_IsString(version)); /* each patch must have a precondition */
    if (strcmp(version->valuestring, stored_text(s, "metadata/resourceVersion")) != 0)
        return 409;
    merge(s->object, body);
    stored_touch(s);
    return 200;
}

static int post(struct stored *s, const cJSON *body) {
    if (s->object != NULL)
        return 409;
    s->object = cJSON_Duplicate(body, true);
    stored_touch(s);
    return 201;
}

void stored_serve(struct stored *s, struct kube_client *client) {
    const struct kube_request *request = client->request;
    assert_non_null(request);
    cJSON *body = parse(request->body);
    bool creates = strcmp(request->method, "POST") == 0;
    assert_string_equal(request->method, creates ? "POST" : "PATCH");
    int status = s->refuse != 0 ? s->refuse : creates ? post(s, body) : patch(s, body);
    s->writes += status == 200 || status == 201;
    s->conflicts += status == 409;
    cJSON_Delete(body);
    fake_answer(client, status, STR("{\"kind\":\"Status\",\"message\":\"as the test wants\"}"), -1);
}

/* ---- watching ---- */

static void tell(const struct stored *s, const struct reflector_sink *sink) {
    struct err err;
    char *text = cJSON_PrintUnformatted(s->object);
    assert_non_null(text);
    if (sink->apply(sink->ctx, str_of(text), &err) != 0)
        fail_msg("%s", err.text);
    cJSON_free(text);
}

void stored_list(const struct stored *s, const struct reflector_sink *sink) {
    sink->sync_begin(sink->ctx);
    if (s->object != NULL)
        tell(s, sink);
    sink->sync_end(sink->ctx);
}

void stored_tell(const struct stored *s, const struct reflector_sink *sink) {
    struct err err;
    if (s->object != NULL)
        tell(s, sink);
    else
        assert_int_equal(sink->remove(sink->ctx, STR("{}"), &err), 0);
}
