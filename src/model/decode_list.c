/*
 * Walks a document of any shape down to its single objects. Member order is free (kubectl prints
 * "items" before "kind"), so the kind of an object is looked up ahead with a copy of the reader,
 * which costs a skip over what stands before it.
 */
#include "model/object.h"

#include <errno.h>

enum { LIST_LEVELS = 8 }; /* lists within lists; real ones have one level */

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

static void namespace_decode(struct json_reader *r, struct object *object) {
    /* a node without taints has the same shape: metadata and things to skip */
    node_decode(r, &object->node);
}

static void visit_object(struct json_reader *r, enum object_kind kind, struct walk *walk) {
    struct object object = {.kind = kind};
    switch (kind) {
    case OBJECT_OTHER:
        (void)json_skip(r); /* counted by nobody; errors stay in r */
        return;
    case OBJECT_POD:
        pod_decode(r, walk->detail, &object.pod);
        break;
    case OBJECT_NODE:
        node_decode(r, &object.node);
        break;
    case OBJECT_NAMESPACE:
        namespace_decode(r, &object);
        break;
    default:
        workload_decode(r, kind, &object.workload);
    }
    if (!json_failed(r) && object.meta.name.n == 0)
        json_fail(r, "the object that ends here has no metadata.name");
    if (!json_failed(r) && !arena_failed(walk->arena))
        walk->failed = walk->visit(walk->ctx, &object, walk->err);
}

static bool is_list(struct str kind) {
    return str_has_suffix(kind, STR("List"));
}

/* What items without a kind are: nodes in a "NodeList". */
static enum object_kind item_kind(struct str list_kind) {
    return is_list(list_kind) ? kind_of((struct str){list_kind.p, list_kind.n - 4}) : OBJECT_OTHER;
}

static void walk_list(struct json_reader *r, struct str kind, struct walk *walk);

/* The item that comes next. A kind such as "AllowList" may well be a single object's. */
static void walk_item(struct json_reader *r, enum object_kind inherited, struct walk *walk) {
    struct str kind = json_peek_member(r, STR("kind"));
    if (str_eq(kind, STR("List")) || item_kind(kind) != OBJECT_OTHER)
        walk_list(r, kind, walk);
    else
        visit_object(r, kind.n > 0 ? kind_of(kind) : inherited, walk);
}

static void walk_items(struct json_reader *r, enum object_kind inherited, struct walk *walk) {
    if (!json_array(r))
        return;
    while (walk->failed == 0 && json_element(r)) {
        walk_item(r, inherited, walk);
        if (!arena_failed(walk->arena))
            arena_reset(walk->arena);
    }
}

/* `kind` may lie in the arena, which the first item resets. */
static void walk_list(struct json_reader *r, struct str kind, struct walk *walk) {
    enum object_kind inherited = item_kind(kind);
    struct str key;
    if (walk->levels == LIST_LEVELS)
        json_fail(r, "lists within lists deeper than %d levels", LIST_LEVELS);
    if (!json_object(r))
        return;
    walk->levels++;
    while (walk->failed == 0 && json_member(r, &key)) {
        if (str_eq(key, STR("items")))
            walk_items(r, inherited, walk);
        else
            (void)json_skip(r); /* apiVersion, kind, metadata; errors stay in r */
    }
    walk->levels--;
}

int objects_read(struct str json, enum pod_detail detail, struct arena *arena,
                 object_visit_fn *visit, void *ctx, struct err *err) {
    struct walk walk = {.detail = detail, .arena = arena, .visit = visit, .ctx = ctx, .err = err};
    struct json_reader r;
    json_reader_init(&r, json, arena, "document");
    struct str kind = json_peek_member(&r, STR("kind"));
    if (json_peek(&r) != JSON_OBJECT || kind.n == 0) {
        (void)json_skip(&r); /* text that is not JSON at all is the better complaint */
        json_fail(&r, "expected a Kubernetes object with a kind, or a List of them");
    } else if (is_list(kind)) {
        walk_list(&r, kind, &walk);
    } else {
        visit_object(&r, kind_of(kind), &walk);
    }
    if (walk.failed != 0)
        return walk.failed;
    return json_finish(&r, err);
}
