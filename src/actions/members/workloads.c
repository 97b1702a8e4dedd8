/*
 * Deployments, ReplicaSets and pods without a node: the parts that show the owner of a pod. A
 * question selects the objects of one Deployment for estimator/unschedulable.h.
 */
#include "members/internal.h"

#include "base/limits.h"
#include "estimator/unschedulable.h"

#include <errno.h>
#include <stdlib.h>

/* ---- tables ---- */

static uint32_t find_object(const struct object_table *t, struct str namespace, struct str name) {
    const struct hash128 key = hash_names128(namespace, name);
    return record_find(&t->objects, &t->index, &key);
}

/* ---- lists of an owner ---- */

struct owner_key {
    uint32_t namespace, owner;
};

static struct owner_key owner_key_of(const struct owned_object *object) {
    return (struct owner_key){object->namespace, object->owner};
}

static uint64_t hash_owner(struct owner_key key) {
    return hash_mix(hash_mix(0, key.namespace), key.owner);
}

static bool owner_equal(const void *ctx, uint32_t id, const void *key) {
    const struct object_table *t = ctx;
    const struct owned_object *object = pool_at(&t->objects, id);
    const struct owner_key *wanted = key;
    return object->namespace == wanted->namespace && object->owner == wanted->owner;
}

static uint32_t find_first(const struct object_table *t, struct owner_key key) {
    return hashmap_find(&t->owners, hash_owner(key), owner_equal, t, &key);
}

/* Puts the object behind the first object of its owner; the index must have room. */
static void link_object(struct object_table *t, uint32_t id) {
    const struct owned_object *object = pool_at(&t->objects, id);
    const struct owner_key key = owner_key_of(object);
    if (object->owner != INTERN_NONE)
        record_link(&t->objects, &t->owners, hash_owner(key), find_first(t, key), id);
}

static void unlink_object(struct object_table *t, uint32_t id) {
    const struct owned_object *object = pool_at(&t->objects, id);
    if (object->owner != INTERN_NONE)
        record_unlink(&t->objects, &t->owners, hash_owner(owner_key_of(object)), id);
}

/* ---- objects ---- */

void workloads_init(struct member_contents *c) {
    for (int i = 0; i < TABLES; i++)
        pool_init(&c->tables[i].objects, sizeof(struct owned_object));
}

static void free_parts(struct member_contents *c, struct owned_object *object) {
    intern_unref(&c->strings, object->namespace);
    intern_unref(&c->strings, object->name);
    intern_unref(&c->strings, object->uid);
    intern_unref(&c->strings, object->owner);
    intern_unref(&c->strings, object->selector);
    label_set_free(&c->strings, &object->labels);
}

void workloads_drop(struct member_contents *c, int table, uint32_t id) {
    struct object_table *t = &c->tables[table];
    struct owned_object *object = pool_at(&t->objects, id);
    unlink_object(t, id);
    free_parts(c, object);
    hashmap_remove(&t->index, object->record.key.a, id);
    pool_give(&t->objects, id);
}

void workloads_done(struct member_contents *c) {
    for (int i = 0; i < TABLES; i++) {
        struct object_table *t = &c->tables[i];
        for (POOL_EACH(&t->objects, id))
            workloads_drop(c, i, id);
        pool_done(&t->objects);
        hashmap_done(&t->index);
        hashmap_done(&t->owners);
    }
}

/* Interns a text. Returns false without memory. */
static bool keep_text(struct member_contents *c, struct str text, uint32_t *ret) {
    *ret = intern_ref(&c->strings, text);
    return *ret != INTERN_NONE;
}

static bool keep_text_if(struct member_contents *c, struct str text, uint32_t *ret) {
    *ret = INTERN_NONE;
    return str_empty(text) || keep_text(c, text, ret);
}

static size_t text_bytes(const struct kept_object *object) {
    size_t bytes = object->selector.n;
    for (uint32_t i = 0; i < object->meta->labels.count; i++)
        bytes += object->meta->labels.items[i].key.n + object->meta->labels.items[i].value.n;
    return bytes;
}

/* Interns all parts. A failure frees them again. */
static bool keep_parts(struct member_contents *c, const struct kept_object *from,
                       struct owned_object *ret) {
    const struct object_meta *meta = from->meta;
    *ret = (struct owned_object){.record.key = hash_names128(meta->namespace, meta->name),
                                 .template = from->template,
                                 .since_ms = from->since_ms,
                                 .has_since = from->has_since,
                                 .namespace = INTERN_NONE,
                                 .name = INTERN_NONE,
                                 .uid = INTERN_NONE,
                                 .owner = INTERN_NONE,
                                 .selector = INTERN_NONE};
    const bool kept = keep_text(c, meta->namespace, &ret->namespace) &&
                      keep_text(c, meta->name, &ret->name) && keep_text(c, meta->uid, &ret->uid) &&
                      keep_text_if(c, meta->controller_uid, &ret->owner) &&
                      keep_text_if(c, from->selector, &ret->selector) &&
                      label_set_make(&c->strings, meta->labels, &ret->labels) == 0;
    if (!kept)
        free_parts(c, ret);
    return kept;
}

/* Makes a record in the index; POOL_NONE without memory. */
static uint32_t make_object(struct object_table *t, const struct hash128 *key) {
    const uint32_t id = hashmap_reserve(&t->index) == 0 ? pool_take(&t->objects) : POOL_NONE;
    if (id != POOL_NONE)
        hashmap_insert(&t->index, key->a, id);
    return id;
}

/* Replaces the old object, if any, and takes over the new parts. */
static int put_object(struct member_contents *c, struct object_table *t, uint32_t old,
                      const struct owned_object *object) {
    const bool has_room = hashmap_reserve(&t->owners) == 0;
    const uint32_t id = !has_room             ? POOL_NONE
                        : old != HASHMAP_NONE ? old
                                              : make_object(t, &object->record.key);
    if (id == POOL_NONE)
        return -ENOMEM;
    if (old != HASHMAP_NONE) {
        unlink_object(t, id);
        free_parts(c, pool_at(&t->objects, id));
    }
    *(struct owned_object *)pool_at(&t->objects, id) = *object;
    link_object(t, id);
    pool_show(&t->objects, id);
    return 0;
}

int workloads_apply(struct member_contents *c, int table, const struct kept_object *object) {
    struct object_table *t = &c->tables[table];
    struct owned_object kept;
    const uint32_t old = find_object(t, object->meta->namespace, object->meta->name);
    int r = text_bytes(object) > LIMIT_MEMBER_OBJECT ? -E2BIG : 0;
    if (r == 0 && !keep_parts(c, object, &kept))
        r = -ENOMEM;
    else if (r == 0 && (r = put_object(c, t, old, &kept)) != 0)
        free_parts(c, &kept);
    if (r != 0 && old != HASHMAP_NONE)
        workloads_drop(c, table, old);
    return r;
}

void workloads_remove(struct member_contents *c, int table, struct str namespace, struct str name) {
    struct object_table *t = &c->tables[table];
    const uint32_t id = find_object(t, namespace, name);
    if (id != HASHMAP_NONE)
        workloads_drop(c, table, id);
}

uint64_t workloads_bytes(const struct member_contents *c) {
    enum { OBJECT_BYTES = sizeof(struct owned_object) + 20 }; /* with its places in two indexes */
    uint64_t bytes = 0;
    for (int i = 0; i < TABLES; i++)
        bytes += c->tables[i].objects.count * (uint64_t)OBJECT_BYTES;
    return bytes;
}

/* ---- questions ---- */

static struct str text_of(const struct member_contents *c, uint32_t id) {
    return id != INTERN_NONE ? intern_str(&c->strings, id) : (struct str){0};
}

/* Restores the decoded metadata, in the arena; the controller's kind does not matter. */
static int restore_meta(const struct member_contents *c, const struct owned_object *object,
                        struct arena *arena, struct object_meta *ret) {
    struct label *labels = arena_array_unset(arena, object->labels.count, sizeof *labels);
    if (labels == NULL)
        return -ENOMEM;
    if (!steps_take(&arena->steps, 8 + object->labels.count))
        return -E2BIG;
    for (uint32_t i = 0; i < object->labels.count; i++)
        labels[i] = label_set_at(&c->strings, &object->labels, i);
    *ret = (struct object_meta){.namespace = text_of(c, object->namespace),
                                .name = text_of(c, object->name),
                                .uid = text_of(c, object->uid),
                                .labels = {labels, object->labels.count},
                                .controller_uid = text_of(c, object->owner)};
    ret->controller_kind = ret->controller_uid;
    return 0;
}

static int restore_workload(const struct member_contents *c, const struct owned_object *object,
                            struct arena *arena, struct karmada_workload *ret) {
    *ret = (struct karmada_workload){.has_created = object->has_since,
                                     .created_ms = object->since_ms,
                                     .template = object->template};
    return restore_meta(c, object, arena, &ret->meta);
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Objects selected from a table, in the arena. */
struct picked {
    const struct owned_object **items;
    uint32_t count, cap;
};

/* Adds the objects in a namespace that have this owner. */
static int pick_owned(const struct object_table *t, uint32_t namespace, uint32_t owner,
                      struct arena *arena, struct picked *to) {
    uint32_t id = find_first(t, (struct owner_key){namespace, owner});
    while (id != POOL_NONE) {
        const struct owned_object *object = pool_at(&t->objects, id);
        if (!steps_take(&arena->steps, 1))
            return -E2BIG;
        to->items = arena_push(arena, to->items, to->count, &to->cap, sizeof *to->items);
        if (to->items == NULL)
            return -ENOMEM;
        to->items[to->count++] = object;
        id = object->record.next;
    }
    return 0;
}

/* Restores the waiting pods of these ReplicaSets, which are sorted. */
static int restore_pods(const struct member_contents *c, uint32_t namespace, const uint32_t *sets,
                        uint32_t set_count, struct arena *arena, struct unschedulable_question *q) {
    struct picked picked = {.items = NULL};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < set_count; i++)
        if (i == 0 || sets[i] != sets[i - 1])
            r = pick_owned(&c->tables[TABLE_WAITING_PODS], namespace, sets[i], arena, &picked);
    struct karmada_pod *pods = arena_array(arena, picked.count, sizeof *pods);
    if (r == 0 && pods == NULL)
        r = -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < picked.count; i++) {
        pods[i] = (struct karmada_pod){.unschedulable = true,
                                       .has_transition = picked.items[i]->has_since,
                                       .transition_ms = picked.items[i]->since_ms};
        r = restore_meta(c, picked.items[i], arena, &pods[i].meta);
    }
    q->pods = pods;
    q->pod_count = picked.count;
    return r;
}

/* Restores all objects that the Deployment may count: its ReplicaSets, and the pods of those that
 * have its template. */
static int restore_owned(const struct member_contents *c, const struct owned_object *deployment,
                         struct arena *arena, struct unschedulable_question *q) {
    struct picked picked = {.items = NULL};
    uint32_t alike = 0;
    int r = pick_owned(&c->tables[TABLE_REPLICA_SETS], deployment->namespace, deployment->uid,
                       arena, &picked);
    struct karmada_workload *sets = arena_array(arena, picked.count, sizeof *sets);
    uint32_t *uids = arena_array_unset(arena, picked.count, sizeof *uids);
    if (r == 0 && (sets == NULL || uids == NULL))
        r = -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < picked.count; i++) {
        r = restore_workload(c, picked.items[i], arena, &sets[i]);
        if (picked.items[i]->template.a == deployment->template.a)
            uids[alike++] = picked.items[i]->uid;
    }
    if (r == 0 && !steps_take_sort(&arena->steps, alike))
        r = -E2BIG;
    if (r == 0 && alike > 1)
        qsort(uids, alike, sizeof *uids, compare_ids);
    q->replica_sets = sets;
    q->replica_set_count = picked.count;
    return r == 0 ? restore_pods(c, deployment->namespace, uids, alike, arena, q) : r;
}

static int count_unschedulable(const struct member_contents *c,
                               const struct member_workload *workload, struct arena *arena,
                               int64_t *ret, struct err *err) {
    const struct object_table *t = &c->tables[TABLE_DEPLOYMENTS];
    const uint32_t id = find_object(t, workload->namespace, workload->name);
    struct karmada_workload deployment;
    struct json_reader r;
    if (c->too_large & (MEMBER_KIND(MEMBER_PODS) | MEMBER_KIND(MEMBER_DEPLOYMENTS) |
                        MEMBER_KIND(MEMBER_REPLICA_SETS)))
        return err_set(err, -ENOSPC, "not all objects of the member cluster are kept");
    if (id == HASHMAP_NONE)
        return err_set(err, -ENOENT, "deployments.apps \"%.*s%s%.*s\" not found",
                       STR_ARG(workload->namespace), str_empty(workload->namespace) ? "" : "/",
                       STR_ARG(workload->name));
    const struct owned_object *object = pool_at(&t->objects, id);
    struct unschedulable_question q = {.deployment = &deployment,
                                       .threshold_ns = workload->threshold_ns,
                                       .now_ms = workload->now_ms};
    int e = restore_workload(c, object, arena, &deployment);
    if (e == 0 && object->selector != INTERN_NONE) {
        json_reader_init(&r, text_of(c, object->selector), arena, "spec.selector");
        deployment.selector = label_selector_decode(&r);
        e = json_finish(&r, err);
    }
    if (e == 0)
        e = restore_owned(c, object, arena, &q);
    if (e == -ENOMEM || e == -E2BIG)
        return err_set(err, e, "the Deployment has too many ReplicaSets and pods");
    return e == 0 ? estimator_unschedulable(&q, arena, ret, err) : e;
}

int member_unschedulable(struct informer *informer, const struct member_workload *workload,
                         struct arena *arena, int64_t *ret, struct err *err) {
    const int r = count_unschedulable(informer_read(informer), workload, arena, ret, err);
    informer_read_done(informer);
    return r;
}
