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

static enum object_kind kind_of(struct str name) {
    static const struct {
        struct str name;
        enum object_kind kind;
    } kinds[] = {
        {{"Node", 4}, OBJECT_NODE},
        {{"Pod", 3}, OBJECT_POD},
        {{"Namespace", 9}, OBJECT_NAMESPACE},
        {{"Service", 7}, OBJECT_SERVICE},
        {{"ReplicationController", 21}, OBJECT_REPLICATION_CONTROLLER},
        {{"ReplicaSet", 10}, OBJECT_REPLICA_SET},
        {{"StatefulSet", 11}, OBJECT_STATEFUL_SET},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_eq(name, kinds[i].name))
            return kinds[i].kind;
    return OBJECT_OTHER;
}

static void visit_object(struct json_reader *r, enum object_kind kind, struct walk *walk) {
    struct object object;
    object_read(r, kind, walk->detail, &object);
    if (kind != OBJECT_OTHER && !json_failed(r) && !arena_failed(walk->arena))
        walk->failed = walk->visit(walk->ctx, &object, walk->err);
}

static bool is_list(struct str kind) {
    return str_has_suffix(kind, STR("List"));
}

/* What items without a kind are: nodes in a "NodeList". */
static enum object_kind item_kind(struct str list_kind) {
    return is_list(list_kind) ? kind_of((struct str){list_kind.p, list_kind.n - 4}) : OBJECT_OTHER;
}

/* A list of objects that we read. A kind such as "AllowList" may well be a single object's. */
static bool is_list_of_ours(struct str kind) {
    return str_eq(kind, STR("List")) || item_kind(kind) != OBJECT_OTHER;
}

struct list {
    enum object_kind inherited;        /* what items without a kind are */
    bool presumed;                     /* no kind of the list itself was read so far */
    const struct json_reader *unknown; /* where it begins, until `inherited` is looked up */
};

static enum object_kind inherited_kind(struct list *list) {
    if (list->unknown != NULL)
        list->inherited = item_kind(json_peek_member(list->unknown, STR("kind")));
    list->unknown = NULL;
    return list->inherited;
}

static void walk_list(struct json_reader *r, struct list *list, struct walk *walk);

/* The item that comes next. */
static void walk_item(struct json_reader *r, struct list *list, struct walk *walk) {
    struct str kind = json_peek_member(r, STR("kind"));
    if (is_list_of_ours(kind))
        walk_list(r, &(struct list){.inherited = item_kind(kind)}, walk);
    else
        visit_object(r, kind.n > 0 ? kind_of(kind) : inherited_kind(list), walk);
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
    struct str kind = json_peek_member(r, STR("kind"));
    return is_list_of_ours(kind) || kind_of(kind) != OBJECT_OTHER;
}

/* The kind of the document, which comes next; empty if it has none. */
static struct str document_kind(const struct json_reader *r, bool *ret_presumed) {
    struct json_reader ahead = *r;
    struct str key;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return (struct str){0};
    while (json_member(&ahead, &key)) {
        if (str_eq(key, STR("kind")))
            break;
        if (str_eq(key, STR("items"))) {
            *ret_presumed = items_of_ours(&ahead);
            break;
        }
        (void)json_skip(&ahead); /* a broken document is reported by the real pass */
    }
    return *ret_presumed ? STR("List") : json_peek_member(r, STR("kind"));
}

static void walk_document(struct json_reader *r, struct walk *walk) {
    static const char no_kind[] = "expected a Kubernetes object with a kind, or a List of them";
    const struct json_reader begin = *r;
    struct list list = {.presumed = false};
    struct str kind = document_kind(r, &list.presumed);
    if (json_peek(r) != JSON_OBJECT || kind.n == 0) {
        (void)json_skip(r); /* text that is not JSON at all is the better complaint */
        json_fail(r, no_kind);
    } else if (is_list(kind)) {
        list.inherited = item_kind(kind);
        list.unknown = list.presumed ? &begin : NULL;
        walk_list(r, &list, walk);
        if (list.presumed && walk->failed == 0)
            json_fail(r, no_kind);
    } else {
        visit_object(r, kind_of(kind), walk);
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
