/*
 * Walks a document of any shape down to its single objects. Member order is free, so the kind of an
 * object is looked up ahead with a copy of the reader, which costs a skip over what stands before
 * it. That is dear where kubectl prints a List: "items", the whole document, comes before "kind".
 * So items whose first one says its own kind are taken for a List's at once, and whether the
 * document really was one is checked where its kind stands.
 */
#include "model/object.h"

#include <errno.h>

struct walk {
    enum pod_detail detail;
    int levels; /* of lists we are in */
    struct arena *arena;
    object_visit_fn *visit;
    void *ctx;
    struct err *err;
    int failed; /* what visit returned */
};

/* What an object says of its type; "" where it says nothing. */
struct type {
    struct str api, kind;
};

static bool is_list(struct str kind) {
    return str_has_suffix(kind, STR("List"));
}

/* Is it a kind of ours, or a list of such, if only the group is right? */
static bool needs_group(struct str kind) {
    struct str single = {kind.p, kind.n - (is_list(kind) ? 4 : 0)};
    return object_kind_of(STR(""), single) != OBJECT_OTHER;
}

/* The type of the object that comes next; without apiVersion where the kind says enough. Both
 * members usually stand first. */
static struct type peek_type(const struct json_reader *r) {
    struct json_reader ahead = *r;
    struct type type = {0};
    struct str key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return type;
    while ((type.kind.n == 0 || (type.api.n == 0 && needs_group(type.kind))) &&
           json_member(&ahead, &key)) {
        struct str *into = str_eq(key, STR("kind"))         ? &type.kind
                           : str_eq(key, STR("apiVersion")) ? &type.api
                                                            : NULL;
        if (into != NULL && into->n == 0 && json_peek(&ahead) == JSON_STRING)
            *into = json_string(&ahead);
        else
            (void)json_skip(&ahead); /* a broken document is reported by the real pass */
    }
    return type;
}

static enum object_kind kind_of(struct type type) {
    return object_kind_of(type.api, type.kind);
}

static void visit_object(struct json_reader *r, enum object_kind kind, struct walk *walk) {
    struct object object;
    object_read(r, kind, walk->detail, &object);
    if (kind != OBJECT_OTHER && !json_failed(r) && !arena_failed(walk->arena))
        walk->failed = walk->visit(walk->ctx, &object, walk->err);
}

/* What items without a kind are: nodes in a "NodeList" of the nodes' group. */
static enum object_kind item_kind(struct type list) {
    return is_list(list.kind) ? object_kind_of(list.api, (struct str){list.kind.p, list.kind.n - 4})
                              : OBJECT_OTHER;
}

/* A list of objects that we read. A kind such as "AllowList" may well be a single object's. */
static bool is_list_of_ours(struct type type) {
    return str_eq(type.kind, STR("List")) || item_kind(type) != OBJECT_OTHER;
}

struct list {
    enum object_kind inherited;        /* what items without a kind are */
    bool presumed;                     /* no kind of the list itself was read so far */
    const struct json_reader *unknown; /* where it begins, until `inherited` is looked up */
};

static enum object_kind inherited_kind(struct list *list) {
    if (list->unknown != NULL)
        list->inherited = item_kind(peek_type(list->unknown));
    list->unknown = NULL;
    return list->inherited;
}

static void walk_list(struct json_reader *r, struct list *list, struct walk *walk);

/* The item that comes next. */
static void walk_item(struct json_reader *r, struct list *list, struct walk *walk) {
    struct type type = peek_type(r);
    if (is_list_of_ours(type))
        walk_list(r, &(struct list){.inherited = item_kind(type)}, walk);
    else
        visit_object(r, type.kind.n > 0 ? kind_of(type) : inherited_kind(list), walk);
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

/* The kind of what was taken for a list stands next. */
static void confirm_list(struct json_reader *r, struct list *list) {
    struct str kind = json_string(r);
    list->presumed = false;
    if (!json_failed(r) && !is_list(kind))
        json_fail(r, "expected the kind of a List, for items stand before it; found '%.*s'",
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
        else
            (void)json_skip(r); /* apiVersion, kind, metadata; errors stay in r */
    }
    walk->levels--;
}

/* Do the items that come next belong to a List, to judge by the first one? */
static bool items_of_ours(struct json_reader *r) {
    if (json_peek(r) != JSON_ARRAY || !json_array(r) || !json_element(r))
        return false;
    struct type type = peek_type(r);
    return is_list_of_ours(type) || kind_of(type) != OBJECT_OTHER;
}

/* The type of the document, which comes next; without a kind if it has none. */
static struct type document_type(const struct json_reader *r, bool *ret_presumed) {
    struct json_reader ahead = *r;
    struct str key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return (struct type){0};
    while (json_member(&ahead, &key)) {
        if (str_eq(key, STR("kind")))
            break;
        if (str_eq(key, STR("items"))) {
            *ret_presumed = items_of_ours(&ahead);
            break;
        }
        (void)json_skip(&ahead); /* a broken document is reported by the real pass */
    }
    return *ret_presumed ? (struct type){.kind = STR("List")} : peek_type(r);
}

static void walk_document(struct json_reader *r, struct walk *walk) {
    static const char no_kind[] = "expected a Kubernetes object with a kind, or a List of them";
    const struct json_reader begin = *r;
    struct list list = {.presumed = false};
    struct type type = document_type(r, &list.presumed);
    if (json_peek(r) != JSON_OBJECT || type.kind.n == 0) {
        (void)json_skip(r); /* text that is not JSON at all is the better complaint */
        json_fail(r, no_kind);
    } else if (is_list(type.kind)) {
        list.inherited = item_kind(type);
        list.unknown = list.presumed ? &begin : NULL;
        walk_list(r, &list, walk);
        if (list.presumed && walk->failed == 0)
            json_fail(r, no_kind);
    } else {
        visit_object(r, kind_of(type), walk);
    }
}

int objects_read(struct str json, enum pod_detail detail, struct arena *arena,
                 object_visit_fn *visit, void *ctx, struct err *err) {
    struct walk walk = {.detail = detail, .arena = arena, .visit = visit, .ctx = ctx, .err = err};
    struct json_reader r;
    json_reader_init(&r, json, arena, "document");
    walk_document(&r, &walk);
    if (walk.failed != 0)
        return walk.failed;
    return json_finish(&r, err);
}
