/*
 * Walks a document of any shape down to its single objects. Members may come in any order, so a
 * copy of the reader looks ahead for the kind of an object, and skips all members before the kind.
 * This is expensive for a List of kubectl, where "items", almost the whole document, comes before
 * "kind". So if the first item states its own kind, the document counts as a List at once; its kind
 * is checked when the walk reaches it.
 */
#include "model/object.h"

#include <errno.h>

struct walk {
    int levels; /* number of lists around the present object */
    struct arena *arena;
    object_read_fn *read;
    void *ctx;
    struct err *err;
    int failed; /* the error that `read` returned */
};

static bool is_list(struct str kind) {
    return str_has_suffix(kind, STR("List"));
}

/* Returns "Node" for "NodeList". */
static struct str without_list(struct str kind) {
    return (struct str){kind.p, kind.n - (is_list(kind) ? 4 : 0)};
}

static bool is_ours(struct object_type type) {
    return watched_kind_find(type) != NULL;
}

/* Does Evenkeel watch this kind, or the kind of the list's items, in some group? */
static bool needs_group(struct str kind) {
    return is_ours((struct object_type){.kind = without_list(kind)});
}

/* Returns the type of the next object; without apiVersion if the kind is enough. The members
 * apiVersion and kind usually come first. */
static struct object_type peek_type(const struct json_reader *r) {
    struct json_reader ahead = *r;
    struct str api = {0}, kind = {0}, key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return (struct object_type){0};
    while ((kind.n == 0 || (api.n == 0 && needs_group(kind))) && json_member(&ahead, &key)) {
        struct str *into = str_eq(key, STR("kind"))         ? &kind
                           : str_eq(key, STR("apiVersion")) ? &api
                                                            : NULL;
        if (into != NULL && into->n == 0 && json_peek(&ahead) == JSON_STRING)
            *into = json_string(&ahead); /* the decoding pass reports a broken document */
    }
    return object_type_of(api, kind);
}

static void read_object(struct json_reader *r, struct object_type type, struct walk *walk) {
    walk->failed = walk->read(walk->ctx, type, r, walk->err);
}

/* Returns the type of items without a kind: Node in a "NodeList" of the nodes' group; no kind if
 * Evenkeel does not know the kind. The strings are from the table, because strings of the list are
 * freed after each item. */
static struct object_type item_type(struct object_type list) {
    const struct watched_kind *row =
        is_list(list.kind)
            ? watched_kind_find((struct object_type){list.group, without_list(list.kind)})
            : NULL;
    if (row == NULL)
        return (struct object_type){0};
    return (struct object_type){list.group.p != NULL ? str_of(row->group) : list.group,
                                str_of(row->kind)};
}

/* Is it a list of objects that Evenkeel reads? A kind such as "AllowList" may be the kind of a
 * single object. */
static bool is_list_of_ours(struct object_type type) {
    return str_eq(type.kind, STR("List")) || item_type(type).kind.n > 0;
}

struct list {
    struct object_type inherited;      /* the type of items without a kind */
    bool presumed;                     /* the list has items, but its own kind was not read yet */
    const struct json_reader *unknown; /* a reader at the list's begin, until `inherited` is known
                                        */
};

static struct object_type inherited_type(struct list *list) {
    if (list->unknown != NULL)
        list->inherited = item_type(peek_type(list->unknown));
    list->unknown = NULL;
    return list->inherited;
}

static void walk_list(struct json_reader *r, struct list *list, struct walk *walk);

/* Walks the next item. */
static void walk_item(struct json_reader *r, struct list *list, struct walk *walk) {
    struct object_type type = peek_type(r);
    if (is_list_of_ours(type))
        walk_list(r, &(struct list){.inherited = item_type(type)}, walk);
    else
        read_object(r, type.kind.n > 0 ? type : inherited_type(list), walk);
}

static void walk_items(struct json_reader *r, struct list *list, struct walk *walk) {
    if (!json_array(r))
        return;
    while (walk->failed == 0 && json_element(r)) {
        walk_item(r, list, walk);
        if (!arena_failed(walk->arena))
            arena_reset(walk->arena);
    }
}

/* Reads the kind of a document that was read as a list, and checks that it is a list. */
static void confirm_list(struct json_reader *r, struct list *list) {
    struct str kind = json_string(r);
    list->presumed = false;
    if (!json_failed(r) && !is_list(kind))
        json_fail(r,
                  "expected the kind of a List, because items come before the kind; found '%.*s'",
                  STR_ARG(kind));
}

static void walk_list(struct json_reader *r, struct list *list, struct walk *walk) {
    struct str key;
    if (walk->levels == LIMIT_LIST_LEVELS)
        json_fail(r, "lists within lists deeper than %d levels", LIMIT_LIST_LEVELS);
    if (!json_object(r))
        return;
    walk->levels++;
    while (walk->failed == 0 && json_member(r, &key)) {
        if (str_eq(key, STR("items")))
            walk_items(r, list, walk);
        else if (list->presumed && str_eq(key, STR("kind")) && json_peek(r) == JSON_STRING)
            confirm_list(r, list);
    }
    walk->levels--;
}

/* Are the next items objects that Evenkeel reads? Looks only at the first item. */
static bool items_of_ours(struct json_reader *r) {
    if (json_peek(r) != JSON_ARRAY || !json_array(r) || !json_element(r))
        return false;
    struct object_type type = peek_type(r);
    return is_list_of_ours(type) || is_ours(type);
}

/* Returns the type of the next document; if the document has no kind, the type has no kind. */
static struct object_type document_type(const struct json_reader *r, bool *ret_presumed) {
    struct json_reader ahead = *r;
    struct str key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return (struct object_type){0};
    while (json_member(&ahead, &key)) {
        if (str_eq(key, STR("kind")))
            break;
        if (str_eq(key, STR("items"))) {
            *ret_presumed = items_of_ours(&ahead);
            break;
        }
    }
    return *ret_presumed ? (struct object_type){.kind = STR("List")} : peek_type(r);
}

static void walk_document(struct json_reader *r, struct walk *walk) {
    static const char no_kind[] = "expected a Kubernetes object with a kind, or a List of them";
    const struct json_reader begin = *r;
    struct list list = {.presumed = false};
    struct object_type type = document_type(r, &list.presumed);
    if (json_peek(r) != JSON_OBJECT || type.kind.n == 0) {
        (void)json_skip(r); /* if the text is not JSON at all, that error is more useful */
        json_fail(r, no_kind);
    } else if (is_list(type.kind)) {
        list.inherited = item_type(type);
        list.unknown = list.presumed ? &begin : NULL;
        walk_list(r, &list, walk);
        if (list.presumed && walk->failed == 0)
            json_fail(r, no_kind);
    } else {
        read_object(r, type, walk);
    }
}

int objects_walk(struct str json, struct arena *arena, object_read_fn *read, void *ctx,
                 struct err *err) {
    struct walk walk = {.arena = arena, .read = read, .ctx = ctx, .err = err};
    struct json_reader r;
    json_reader_init(&r, json, arena, "document");
    walk_document(&r, &walk);
    if (walk.failed != 0)
        return walk.failed;
    return json_finish(&r, err);
}

/* ---- decoded ---- */

struct visiting {
    enum pod_detail detail;
    object_visit_fn *visit;
    void *ctx;
};

static int visit_object(void *ctx, struct object_type type, struct json_reader *r,
                        struct err *err) {
    const struct visiting *v = ctx;
    enum object_kind kind = object_kind_of(type);
    struct object object;
    object_read(r, kind, v->detail, &object);
    if (kind == OBJECT_OTHER || json_failed(r) || arena_failed(r->arena))
        return 0; /* the walk ends with the error */
    return v->visit(v->ctx, &object, err);
}

int objects_read(struct str json, enum pod_detail detail, struct arena *arena,
                 object_visit_fn *visit, void *ctx, struct err *err) {
    struct visiting visiting = {detail, visit, ctx};
    return objects_walk(json, arena, visit_object, &visiting, err);
}
