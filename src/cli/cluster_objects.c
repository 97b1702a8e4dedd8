#include "cli/cluster_objects.h"

#include "base/limits.h"
#include "base/log.h"
#include "kube/client/client.h"
#include "kube/client/status.h"
#include "model/state_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What is listed. */
static const enum kind_row rows[] = {KIND_POD, KIND_TOPOLOGY_POLICY, KIND_CLAIM, KIND_VOLUME};

/* A listing under way. */
struct listing {
    struct kube_client *client;
    const struct watched_kind *kind;
    struct cluster_objects *objects;
    size_t bytes;
    char token[2048]; /* of the next page; "": the first one */
};

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the cluster's objects");
}

/* metadata.continue of a list. API servers write it in the URL's alphabet. */
static int read_token(struct listing *l, struct str page, struct err *err) {
    static const struct json_string_field fields[] = {{{"continue", 8}, 0}};
    CLEANUP(arena_done) struct arena arena;
    struct json_reader r;
    struct str key, token = {0};
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, page, &arena, kind_name(l->kind));
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                json_strings_of(&r, fields, 1, &token);
            else
                (void)json_skip(&r); /* errors stay in r */
        }
    int failed = json_finish(&r, err);
    if (failed != 0)
        return failed;
    bool plain = token.n < sizeof l->token;
    for (size_t i = 0; plain && i < token.n; i++)
        plain = (token.p[i] >= '0' && token.p[i] <= '9') ||
                ((token.p[i] | 0x20) >= 'a' && (token.p[i] | 0x20) <= 'z') || token.p[i] == '-' ||
                token.p[i] == '_' || token.p[i] == '=';
    if (!plain)
        return err_set(err, -EINVAL, "the list of %s goes on in a way that is not understood",
                       kind_name(l->kind));
    if (token.n > 0)
        memcpy(l->token, token.p, token.n);
    l->token[token.n] = '\0';
    return 0;
}

static struct strbuf *add_page(struct cluster_objects *objects) {
    if (objects->count == objects->cap) {
        uint32_t cap = objects->cap == 0 ? 16 : 2 * objects->cap;
        struct strbuf *grown = reallocarray(objects->pages, cap, sizeof *grown);
        if (grown == NULL)
            return NULL;
        objects->pages = grown;
        objects->cap = cap;
    }
    struct strbuf *page = &objects->pages[objects->count++];
    *page = (struct strbuf){.max = LIMIT_KUBE_PAGE};
    return page;
}

/* 0 and *ret_more, or -errno. Without the kind, or the right to see it, there is no object. */
static int list_page(struct listing *l, bool *ret_more, struct err *err) {
    char path[KIND_PATH_SIZE], url[KIND_PATH_SIZE + sizeof l->token + 64];
    struct strbuf *page = add_page(l->objects);
    int status = 0;
    *ret_more = false;
    if (page == NULL)
        return out_of_memory(err);
    kind_path(l->kind, path);
    (void)snprintf(url, sizeof url, "%s?limit=%d%s%s", path, LIMIT_KUBE_PAGE_OBJECTS,
                   l->token[0] != '\0' ? "&continue=" : "", l->token); /* fits */
    int r = kube_call(l->client, "GET", url, STR(""), page, &status, err);
    if (r != 0)
        return r;
    if (status != 200) {
        strbuf_clear(page);
        l->objects->count--;
        strbuf_done(page);
        if (!l->kind->optional)
            return err_set(err, -EIO, "the API server answers %d to a listing of %s", status,
                           kind_name(l->kind));
        if (status != 404)
            LOG_W("objects are not shown", LOG_CSTR("kind", kind_name(l->kind)),
                  LOG_INT("status", status));
        return 0;
    }
    l->bytes += page->n;
    if (l->bytes > LIMIT_STATE_BYTES)
        return err_set(err, -EFBIG, "the cluster has more than %llu bytes of %s",
                       (unsigned long long)LIMIT_STATE_BYTES, kind_name(l->kind));
    r = read_token(l, strbuf_str(page), err);
    *ret_more = r == 0 && l->token[0] != '\0';
    return r;
}

static int list_all(struct kube_client *client, struct cluster_objects *objects, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof rows / sizeof rows[0]; i++) {
        struct listing l = {.client = client, .kind = &watched_kinds[rows[i]], .objects = objects};
        bool more = true;
        while (r == 0 && more)
            r = list_page(&l, &more, err);
    }
    return r;
}

static int read_server(const struct configuration *c, struct cluster_objects *ret,
                       struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct kube_access access = {0};
    struct kube_client *client = NULL;
    arena_init(&arena, 4u * LIMIT_CONFIG_BYTES);
    int r = c->kubernetes.in_cluster
                ? kube_access_in_cluster(&arena, &access, err)
                : kube_access_from_kubeconfig(c->kubernetes.kubeconfig, c->kubernetes.context,
                                              &arena, &access, err);
    if (r == 0)
        r = kube_client_new(&access, NULL, &client, err);
    if (r == 0)
        r = list_all(client, ret, err);
    kube_client_free(client);
    return r;
}

int cluster_objects_read(const struct configuration *c, struct cluster_objects *ret,
                         struct err *err) {
    *ret = (struct cluster_objects){.count = 0};
    if (c->state.path_count == 0)
        return read_server(c, ret, err);
    int r = manifests_list(c->state.paths, c->state.path_count, "state", &ret->files, err);
    return r == 0 ? manifests_read(&ret->files, LIMIT_STATE_BYTES, err) : r;
}

int cluster_objects_walk(const struct cluster_objects *objects, object_read_fn *read, void *ctx,
                         struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    int r = state_files_walk(&objects->files, read, ctx, err);
    for (uint32_t i = 0; r == 0 && i < objects->count; i++) {
        r = objects_walk(strbuf_str(&objects->pages[i]), &arena, read, ctx, err);
        arena_reset(&arena);
    }
    return r;
}

void cluster_objects_done(struct cluster_objects *objects) {
    manifests_done(&objects->files);
    for (uint32_t i = 0; i < objects->count; i++)
        strbuf_done(&objects->pages[i]);
    free(objects->pages);
}
