/*
 * The kinds of a fleet as rows: what decodes, applies and removes their objects.
 */
#include "base/limits.h"
#include "fleet/changes.h"
#include "fleet/internal.h"
#include "fleet/placement_text.h"
#include "model/injected.h"

#include <stdlib.h>

/* Decodes into the reader's arena; one that is full is reported by the caller. */
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

/* One of which the outline is kept only is not decoded whole. */
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
    struct node object; /* of which a namespace has the metadata */
    node_decode(r, &object);
    ret->meta = object.meta;
}

/* ---- who is told of changes ---- */

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
    if (o == NULL || o->scored == NULL || (c->listing >> FLEET_SCORES & 1) != 0 ||
        !injected_resource_read(m->name, &shard))
        return;
    (void)fleet_score_object(&v, m->namespace, m->name, &was); /* without one it has no item */
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

/* To be called before a change and after it. */
static void report_changed(const struct fleet_contents *c, const struct informer_object *object) {
    const struct fleet_view view = {.contents = c};
    const struct fleet_observer *o = c->observer;
    struct fleet_changed changed = {0};
    uint32_t shard;
    if (o == NULL || (c->listing >> object->kind & 1) != 0) /* then all are told at its end */
        return;
    if (object->kind == FLEET_SCORES && injected_resource_read(object->meta.name, &shard))
        return; /* they are no part of anybody's question */
    object->arena->steps = (struct steps){.max = LIMIT_CHANGE_STEPS};
    if (find_changed(&view, object, &changed) != 0)
        o->changed_all(o->ctx);
    object->arena->steps = (struct steps){0};
    for (uint32_t i = 0; i < changed.count; i++)
        o->changed(o->ctx, changed.items[i].namespace, changed.items[i].name);
}

/* A Placement that changes nothing for those whose spread group has it. */
static void report_alone(const struct fleet_contents *c, const struct informer_object *placement) {
    const struct object_meta *m = &placement->meta;
    if (c->observer != NULL && (c->listing >> FLEET_PLACEMENTS & 1) == 0)
        c->observer->changed(c->observer->ctx, m->namespace, m->name);
}

static void report_all(struct fleet_contents *c, uint32_t kind) {
    c->listing &= ~(1u << kind);
    if (c->observer != NULL)
        c->observer->changed_all(c->observer->ctx);
}

/* Nothing else depends on what it changed: whoever writes such objects wants to see that it is
 * there. */
static void report_own(const struct fleet_contents *c, const struct placement_decision *d) {
    struct str placement;
    if (c->observer != NULL && labels_lookup(&d->meta.labels, STR(PLACEMENT_LABEL), &placement))
        c->observer->changed(c->observer->ctx, d->meta.namespace, placement);
}

/* ---- kinds ---- */

static int applied(int r, const struct informer_object *object, struct err *err) {
    return r == 0 ? 0
                  : err_set(err, r, "no memory for '%.*s/%.*s'", STR_ARG(object->meta.namespace),
                            STR_ARG(object->meta.name));
}

static int apply_cluster(void *contents, const struct informer_object *object, struct err *err) {
    const bool same = contents_cluster_is(contents, object->decoded);
    if (!same)
        report_changed(contents, object);
    const int r = contents_cluster_apply(contents, object->decoded);
    if (!same)
        report_changed(contents, object);
    return applied(r, object, err);
}

static int apply_set(void *contents, const struct informer_object *object, struct err *err) {
    report_changed(contents, object);
    const int r = contents_set_apply(contents, object->decoded);
    report_changed(contents, object);
    return applied(r, object, err);
}

static int apply_binding(void *contents, const struct informer_object *object, struct err *err) {
    report_changed(contents, object);
    const int r = contents_binding_apply(contents, &object->meta);
    report_changed(contents, object);
    return applied(r, object, err);
}

static int apply_placement(void *contents, const struct informer_object *object, struct err *err) {
    const bool same = contents_placement_has_labels(contents, object->decoded);
    if (!same)
        report_changed(contents, object);
    const int r = contents_placement_apply(contents, object->decoded, object->json);
    if (same)
        report_alone(contents, object);
    else
        report_changed(contents, object);
    return applied(r, object, err);
}

static int apply_decision(void *contents, const struct informer_object *object, struct err *err) {
    const bool same = contents_decision_is(contents, object->decoded);
    if (!same)
        report_changed(contents, object);
    const int r = contents_decision_apply(contents, object->decoded);
    if (!same)
        report_changed(contents, object);
    report_own(contents, object->decoded);
    return applied(r, object, err);
}

static int apply_score(void *contents, const struct informer_object *object, struct err *err) {
    report_score(contents, &object->meta, object->decoded);
    report_changed(contents, object);
    const int r = contents_score_apply(contents, object->decoded);
    report_changed(contents, object);
    return applied(r, object, err);
}

static int apply_namespace(void *contents, const struct informer_object *object, struct err *err) {
    report_changed(contents, object);
    const int r = contents_namespace_apply(contents, &object->meta);
    report_changed(contents, object);
    return applied(r, object, err);
}

static int remove_cluster(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_cluster_remove(contents, gone->meta.name);
    return 0;
}

static int remove_set(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_set_remove(contents, gone->meta.name);
    return 0;
}

static int remove_binding(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_binding_remove(contents, gone->meta.namespace, gone->meta.name);
    return 0;
}

static int remove_placement(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_placement_remove(contents, gone->meta.namespace, gone->meta.name);
    return 0;
}

static int remove_decision(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_decision_remove(contents, gone->meta.namespace, gone->meta.name);
    return 0;
}

static int remove_score(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_score(contents, &gone->meta, NULL);
    report_changed(contents, gone);
    contents_score_remove(contents, gone->meta.namespace, gone->meta.name);
    return 0;
}

static int remove_namespace(void *contents, const struct informer_object *gone, struct err *err) {
    (void)err;
    report_changed(contents, gone);
    contents_namespace_remove(contents, gone->meta.name);
    return 0;
}

static uint32_t count_clusters(const void *contents) {
    const struct fleet_contents *c = contents;
    return topology_stats(c->clusters).candidates;
}

static const struct informer_kind kinds[FLEET_KINDS] = {
    [FLEET_CLUSTERS] = {KIND_MANAGED_CLUSTER, decode_cluster, apply_cluster, remove_cluster,
                        count_clusters},
    [FLEET_SETS] = {KIND_MANAGED_CLUSTER_SET, decode_set, apply_set, remove_set, NULL},
    [FLEET_BINDINGS] = {KIND_MANAGED_CLUSTER_SET_BINDING, decode_binding, apply_binding,
                        remove_binding, NULL},
    [FLEET_PLACEMENTS] = {KIND_PLACEMENT, decode_placement, apply_placement, remove_placement,
                          NULL},
    [FLEET_DECISIONS] = {KIND_PLACEMENT_DECISION, decode_decision, apply_decision, remove_decision,
                         NULL},
    [FLEET_SCORES] = {KIND_ADD_ON_PLACEMENT_SCORE, decode_score, apply_score, remove_score, NULL},
    [FLEET_NAMESPACES] = {KIND_FLEET_NAMESPACE, decode_namespace, apply_namespace, remove_namespace,
                          NULL},
};

static void sync_begin(void *contents, uint32_t kind) {
    struct fleet_contents *c = contents;
    c->listing |= 1u << kind;
    if (kind == FLEET_CLUSTERS)
        topology_sync_begin(c->clusters);
    else
        contents_listing_begin(c, (enum fleet_kind)kind);
}

static void sync_end(void *contents, uint32_t kind) {
    struct fleet_contents *c = contents;
    while (kind == FLEET_CLUSTERS && topology_sync_end(c->clusters))
        continue;
    if (kind != FLEET_CLUSTERS)
        contents_listing_end(c, (enum fleet_kind)kind);
    report_all(contents, kind);
}

static void sync_abort(void *contents, uint32_t kind) {
    struct fleet_contents *c = contents;
    while (kind == FLEET_CLUSTERS && topology_sync_abort(c->clusters))
        continue;
    if (kind != FLEET_CLUSTERS)
        contents_listing_abort(c, (enum fleet_kind)kind);
    report_all(contents, kind);
}

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
    .sync_begin = sync_begin,
    .sync_end = sync_end,
    .sync_abort = sync_abort,
    .kept_bytes = kept_bytes,
    .metric = "evenkeel_candidates",
    .metric_help = "Candidates beside the cluster's nodes, by kind.",
};
