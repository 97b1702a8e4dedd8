/*
 * The table of a fleet's kinds: functions that decode, apply and remove their objects.
 */
#include "base/limits.h"
#include "fleet/changes.h"
#include "fleet/internal.h"
#include "fleet/placement_text.h"
#include "model/injected.h"

#include <assert.h>
#include <stdlib.h>

/* Decodes into the reader's arena; the caller reports a full arena. */
#define DECODER(name, type, decode_object)                                                         \
    static void name(struct json_reader *r, struct informer_object *ret) {                         \
        struct type *object = ret->decoded = arena_alloc(r->arena, sizeof *object);                \
        if (object == NULL)                                                                        \
            return;                                                                                \
        decode_object(r, object);                                                                  \
        ret->meta = object->meta;                                                                  \
    }
DECODER(decode_cluster, managed_cluster, managed_cluster_decode)
DECODER(decode_set, cluster_set, cluster_set_decode)
DECODER(decode_decision, placement_decision, placement_decision_decode)
DECODER(decode_score, placement_score, placement_score_decode)

/* Decodes a Placement; if only its outline will be kept, decodes only a part. */
static void decode_placement(struct json_reader *r, struct informer_object *ret) {
    struct placement *object = ret->decoded = arena_alloc(r->arena, sizeof *object);
    if (object == NULL)
        return;
    placement_decode_as(r,
                        (struct placement_reading){.is_outline = placement_text_is_long(ret->json),
                                                   .is_stored = ret->is_stored},
                        object);
    ret->meta = object->meta;
}

static void decode_binding(struct json_reader *r, struct informer_object *ret) {
    cluster_set_binding_decode(r, &ret->meta);
}

static void decode_namespace(struct json_reader *r, struct informer_object *ret) {
    struct node object; /* a namespace's metadata is decoded as a node's */
    node_decode(r, &object);
    ret->meta = object.meta;
}

/* ---- records ---- */

static uint32_t find_cluster(const struct fleet_contents *c, struct str namespace,
                             struct str name) {
    (void)namespace;
    return topology_slot(c->clusters, name);
}

static uint32_t find_set(const struct fleet_contents *c, struct str namespace, struct str name) {
    (void)namespace;
    return contents_set_find(c, name);
}

static uint32_t find_namespace(const struct fleet_contents *c, struct str namespace,
                               struct str name) {
    (void)namespace;
    return contents_namespace_find(c, name);
}

static void forget_cluster(struct fleet_contents *c, uint32_t slot) {
    topology_drop(c->clusters, slot);
}

static const struct {
    int (*apply)(struct fleet_contents *c, const struct informer_object *object);
    uint32_t (*find)(const struct fleet_contents *c, struct str namespace, struct str name);
    void (*forget)(struct fleet_contents *c, uint32_t id);
    /* Would the object leave all inputs of other decisions the same? NULL: not checked. */
    bool (*is_same)(const struct fleet_contents *c, const struct informer_object *object);
} rows[FLEET_KINDS] = {
    [FLEET_CLUSTERS] = {contents_cluster_apply, find_cluster, forget_cluster, contents_cluster_is},
    [FLEET_SETS] = {contents_set_apply, find_set, contents_set_forget, NULL},
    [FLEET_BINDINGS] = {contents_binding_apply, contents_binding_find, contents_binding_forget,
                        NULL},
    [FLEET_PLACEMENTS] = {contents_placement_apply, contents_placement_find,
                          contents_placement_forget, contents_placement_has_labels},
    [FLEET_DECISIONS] = {contents_decision_apply, contents_decision_find, contents_decision_forget,
                         contents_decision_is},
    [FLEET_SCORES] = {contents_score_apply, contents_score_find, contents_score_forget, NULL},
    [FLEET_NAMESPACES] = {contents_namespace_apply, find_namespace, contents_namespace_forget,
                          NULL},
};

static struct pool *records(void *contents, uint32_t kind) {
    struct fleet_contents *c = contents;
    struct pool *const pools[FLEET_KINDS] = {
        [FLEET_CLUSTERS] = topology_records(c->clusters),
        [FLEET_SETS] = &c->sets,
        [FLEET_BINDINGS] = &c->bindings,
        [FLEET_PLACEMENTS] = &c->placements,
        [FLEET_DECISIONS] = &c->decisions,
        [FLEET_SCORES] = &c->scores,
        [FLEET_NAMESPACES] = &c->namespaces,
    };
    assert(kind < FLEET_KINDS);
    return pools[kind];
}

/* ---- reports of changes ---- */

static int find_changed(const struct fleet_view *v, const struct informer_object *object,
                        struct fleet_changed *ret) {
    const struct object_meta *m = &object->meta;
    struct arena *a = object->arena;
    switch ((enum fleet_kind)object->kind) {
    case FLEET_CLUSTERS:
        return fleet_changed_by_cluster(v, m->name, a, ret);
    case FLEET_SETS:
        return fleet_changed_by_set(v, m->name, a, ret);
    case FLEET_BINDINGS:
        return fleet_changed_by_binding(v, m->namespace, m->name, a, ret);
    case FLEET_PLACEMENTS:
        return fleet_changed_by_placement(v, m->namespace, m->name, a, ret);
    case FLEET_DECISIONS:
        return fleet_changed_by_decision(v, m->namespace, m->name, a, ret);
    case FLEET_SCORES:
        return fleet_changed_by_score(v, m->namespace, m->name, a, ret);
    case FLEET_NAMESPACES:
        return fleet_changed_by_namespace(v, m->name, a, ret);
    case FLEET_KINDS:
    case FLEET_NOT_WATCHED:
        break;
    }
    return 0;
}

static int by_item_name(const void *a, const void *b) {
    const struct placement_score_item *left = a, *right = b;
    return str_cmp(left->name, right->name);
}

static const struct placement_score_item *find_item(const struct placement_score *s,
                                                    struct str name) {
    const struct placement_score_item key = {.name = name};
    return s->item_count > 0 ? bsearch(&key, s->items, s->item_count, sizeof key, by_item_name)
                             : NULL;
}

/* Reports the items of an AddOnPlacementScore of ours that a change adds, changes or removes. Call
 * it before applying the change; `now` is NULL for a deletion. Observers look at the store only
 * after the change. */
static void report_score(const struct fleet_contents *c, const struct object_meta *m,
                         const struct placement_score *now) {
    const struct fleet_view v = {.contents = c};
    const struct fleet_observer *o = c->observer;
    struct fleet_score_object was;
    uint32_t shard;
    if (o == NULL || o->scored == NULL || c->scores.listing ||
        !injected_resource_read(m->name, &shard))
        return;
    /* if there is no such object, `was` has no item */
    (void)fleet_score_object(&v, m->namespace, m->name, &was);
    o->scored(o->ctx, m->namespace, m->name, STR(""));
    for (uint32_t i = 0; i < was.item_count; i++) {
        const struct fleet_score_item item = fleet_score_item(&v, &was, i);
        const struct placement_score_item *found = now != NULL ? find_item(now, item.name) : NULL;
        if (found == NULL || found->value != item.value)
            o->scored(o->ctx, m->namespace, m->name, item.name);
    }
    for (uint32_t i = 0; now != NULL && i < now->item_count; i++)
        if (!fleet_score_has(&v, &was, now->items[i].name))
            o->scored(o->ctx, m->namespace, m->name, now->items[i].name);
}

/* Reports the affected Placements. Call it before and after a change. */
static void report_changed(struct fleet_contents *c, const struct informer_object *object) {
    const struct fleet_view view = {.contents = c};
    const struct fleet_observer *o = c->observer;
    struct fleet_changed changed = {0};
    uint32_t shard;
    if (o == NULL || records(c, object->kind)->listing) /* the end of the listing reports all */
        return;
    if (object->kind == FLEET_SCORES && injected_resource_read(object->meta.name, &shard))
        return; /* no plan reads this object */
    object->arena->steps = (struct steps){.max = LIMIT_CHANGE_STEPS};
    if (find_changed(&view, object, &changed) != 0)
        o->changed_all(o->ctx);
    object->arena->steps = (struct steps){0};
    for (uint32_t i = 0; i < changed.count; i++)
        o->changed(o->ctx, changed.items[i].namespace, changed.items[i].name);
}

/* Reports the object's own Placement: a Placement if nothing else depends on its change, or the
 * Placement of a PlacementDecision, because the writer of such objects waits until the watch shows
 * them. */
static void report_own(const struct fleet_contents *c, const struct informer_object *object,
                       bool is_same) {
    const struct object_meta *m = &object->meta;
    struct str placement = m->name;
    const bool is_own = object->kind == FLEET_PLACEMENTS
                            ? is_same && !c->placements.listing
                            : object->kind == FLEET_DECISIONS &&
                                  labels_lookup(&m->labels, STR(PLACEMENT_LABEL), &placement);
    if (c->observer != NULL && is_own)
        c->observer->changed(c->observer->ctx, m->namespace, placement);
}

/* ---- kinds ---- */

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    struct fleet_contents *c = contents;
    const bool is_same =
        rows[object->kind].is_same != NULL && rows[object->kind].is_same(c, object);
    if (object->kind == FLEET_SCORES)
        report_score(c, &object->meta, object->decoded);
    if (!is_same)
        report_changed(c, object);
    const int r = rows[object->kind].apply(c, object);
    if (!is_same)
        report_changed(c, object);
    report_own(c, object, is_same);
    return r == 0 ? 0
                  : err_set(err, r, "no memory for '%.*s/%.*s'", STR_ARG(object->meta.namespace),
                            STR_ARG(object->meta.name));
}

static int remove_object(void *contents, const struct informer_object *gone, struct err *err) {
    struct fleet_contents *c = contents;
    const uint32_t id = rows[gone->kind].find(c, gone->meta.namespace, gone->meta.name);
    (void)err;
    if (gone->kind == FLEET_SCORES)
        report_score(c, &gone->meta, NULL);
    report_changed(c, gone);
    if (id != FLEET_NONE && pool_is_known(records(c, gone->kind), id))
        rows[gone->kind].forget(c, id);
    return 0;
}

static void drop(void *contents, uint32_t kind, uint32_t id) {
    rows[kind].forget(contents, id);
}

/* A listing reports no single changes, but all Placements at its end. */
static void listed(void *contents, uint32_t kind, enum informer_listing how) {
    const struct fleet_contents *c = contents;
    (void)kind;
    if (how != LISTING_BEGINS && c->observer != NULL)
        c->observer->changed_all(c->observer->ctx);
}

static uint32_t count_clusters(const void *contents) {
    const struct fleet_contents *c = contents;
    return topology_stats(c->clusters).candidates;
}

static const struct informer_kind kinds[FLEET_KINDS] = {
    [FLEET_CLUSTERS] = {KIND_MANAGED_CLUSTER, decode_cluster, apply, remove_object, count_clusters},
    [FLEET_SETS] = {KIND_MANAGED_CLUSTER_SET, decode_set, apply, remove_object, NULL},
    [FLEET_BINDINGS] = {KIND_MANAGED_CLUSTER_SET_BINDING, decode_binding, apply, remove_object,
                        NULL},
    [FLEET_PLACEMENTS] = {KIND_PLACEMENT, decode_placement, apply, remove_object, NULL},
    [FLEET_DECISIONS] = {KIND_PLACEMENT_DECISION, decode_decision, apply, remove_object, NULL},
    [FLEET_SCORES] = {KIND_ADD_ON_PLACEMENT_SCORE, decode_score, apply, remove_object, NULL},
    [FLEET_NAMESPACES] = {KIND_FLEET_NAMESPACE, decode_namespace, apply, remove_object, NULL},
};

static uint64_t kept_bytes(const void *contents) {
    const struct fleet_contents *c = contents;
    return topology_kept_bytes(c->clusters) + c->strings.bytes + c->taint_bytes + c->record_bytes +
           topology_slots(c->clusters) * sizeof *c->cluster_of +
           c->namespaces.count * sizeof(struct namespace_record) +
           c->sets.count * sizeof(struct set_record) +
           c->bindings.count * sizeof(struct binding_record) +
           c->placements.count * sizeof(struct placement_record) +
           c->decisions.count * sizeof(struct decision_record) +
           c->scores.count * sizeof(struct score_record);
}

const struct informer_store fleet_store = {
    .what = "a fleet",
    .kinds = kinds,
    .kind_count = FLEET_KINDS,
    .open = contents_new,
    .close = contents_free,
    .records = records,
    .drop = drop,
    .listed = listed,
    .kept_bytes = kept_bytes,
    .metric = "evenkeel_candidates",
    .metric_help = "Candidates beside the cluster's nodes, by kind.",
};
