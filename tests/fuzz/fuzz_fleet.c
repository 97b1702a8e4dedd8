/*
 * Any text as objects of fleets: Open Cluster Management's and Karmada's. Each is decoded and
 * applied; what is kept of a Placement decodes again as the whole did; every question about a
 * change has an answer; and when all are removed again, nothing is left.
 */
#include "fleet/changes.h"
#include "fleet/internal.h"
#include "fleet/karmada.h"
#include "fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>

static const size_t ARENA_BYTES = 16u << 20;

struct world {
    void *fleet, *karmada;
    bool gone; /* objects are removed */
};

/* ---- objects ---- */

static const struct informer_kind *row_of(const struct informer_store *store,
                                          struct object_type type, uint32_t *ret_kind) {
    for (uint32_t k = 0; k < store->kind_count; k++)
        if (watched_kind_find(type) == &watched_kinds[store->kinds[k].row]) {
            *ret_kind = k;
            return &store->kinds[k];
        }
    return NULL;
}

/* The same sentences, terms and numbers. */
static void require_same(const struct placement *a, const struct placement *b) {
    require(a->set_count == b->set_count && a->predicate_count == b->predicate_count &&
            a->prioritizer_count == b->prioritizer_count && a->term_count == b->term_count &&
            a->toleration_count == b->toleration_count && a->group_count == b->group_count &&
            a->warning_count == b->warning_count && a->has_number == b->has_number &&
            a->number == b->number && str_eq(a->mode, b->mode));
    require(a->meta.terminating == b->meta.terminating && str_eq(a->meta.name, b->meta.name) &&
            str_eq(a->meta.namespace, b->meta.namespace) &&
            a->meta.labels.count == b->meta.labels.count);
    for (uint32_t i = 0; i < a->warning_count; i++)
        require(str_eq(a->warnings[i], b->warnings[i]));
}

static void decode_again(const struct fleet_contents *c, const struct placement *whole) {
    const struct fleet_view view = {.contents = c};
    struct placement kept;
    struct json_reader r;
    struct arena arena;
    if (fleet_placement_state(&view, whole->meta.namespace, whole->meta.name).too_large)
        return; /* the outline is there */
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, fleet_placement_json(&view, whole->meta.namespace, whole->meta.name),
                     &arena, "Placement");
    placement_decode(&r, &kept);
    require(json_finish(&r, NULL) == 0);
    require_same(&kept, whole);
    arena_done(&arena);
}

static int give(struct world *w, const struct informer_kind *row, uint32_t kind, void *contents,
                struct json_reader *r, struct err *err) {
    struct informer_object object = {.kind = kind, .arena = r->arena};
    (void)json_peek(r); /* blanks are not the object's */
    const char *begin = r->p;
    row->decode(r, &object);
    if (json_failed(r) || arena_failed(r->arena))
        return 0; /* the walk ends with what is wrong */
    if (str_empty(object.meta.name)) {
        json_fail(r, "no name");
        return 0;
    }
    object.json = (struct str){begin, (size_t)(r->p - begin)};
    if (w->gone) {
        object.json = (struct str){0};
        return row->remove(contents, &object, err);
    }
    require(row->apply(contents, &object, err) == 0);
    if (row->row == KIND_PLACEMENT)
        decode_again(contents, object.decoded);
    return 0;
}

static int visit(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct world *w = ctx;
    uint32_t kind;
    const struct informer_kind *row = row_of(&fleet_store, type, &kind);
    if (row != NULL)
        return give(w, row, kind, w->fleet, r, err);
    row = row_of(&karmada_store, type, &kind);
    if (row != NULL)
        return give(w, row, kind, w->karmada, r, err);
    (void)json_skip(r); /* errors stay in r, for the walk */
    return 0;
}

/* Whether the text was good to its end. */
static bool read_all(struct str text, struct world *w) {
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    int r = objects_walk(text, &arena, visit, w, &err);
    require((r == 0) == (err.code == 0) && (r == 0 || err.text[0] != '\0'));
    arena_done(&arena);
    return r == 0;
}

/* ---- questions ---- */

static void ask_about_names(struct fleet_view *v, struct str namespace, struct str name,
                            struct arena *arena) {
    struct fleet_changed changed;
    uint32_t count;
    require(fleet_changed_by_placement(v, namespace, name, arena, &changed) == 0);
    require(fleet_changed_by_decision(v, namespace, name, arena, &changed) == 0);
    require(fleet_changed_by_cluster(v, name, arena, &changed) == 0);
    require(fleet_changed_by_set(v, name, arena, &changed) == 0);
    require(fleet_changed_by_binding(v, namespace, name, arena, &changed) == 0);
    require(fleet_changed_by_score(v, namespace, name, arena, &changed) == 0);
    require(fleet_changed_by_namespace(v, namespace, arena, &changed) == 0);
    const struct str *sets = fleet_bindings(v, namespace, &count);
    for (uint32_t i = 1; i < count; i++)
        require(str_cmp(sets[i - 1], sets[i]) < 0);
}

static void ask(struct fleet_contents *c) {
    struct fleet_view v = {.contents = c};
    struct arena arena;
    uint64_t decided = 0, named = 0, strange = 0, counted = 0;
    contents_sort(c);
    require(!contents_unsorted(c));
    topology_view_open(c->clusters, &v.clusters);
    arena_init(&arena, ARENA_BYTES);
    for (POOL_EACH(&c->decisions, id)) {
        const struct decision_record *d = pool_at(&c->decisions, id);
        named += d->decision.slot_count;
        strange += d->decision.stranger_count;
        ask_about_names(&v, intern_str(&c->strings, d->namespace), d->decision.name, &arena);
    }
    for (POOL_EACH(&c->placements, id)) {
        const struct placement_record *p = pool_at(&c->placements, id);
        uint32_t count = 0;
        for (const struct fleet_decision *d = p->first; d != NULL; d = d->next)
            count++;
        require(count == p->decision_count);
    }
    for (uint32_t slot = 0; slot < topology_slots(c->clusters); slot++)
        decided += c->decided[slot];
    require(decided == named);
    for (POOL_EACH(&c->strangers, id))
        counted += c->strange[id];
    require(counted == strange);
    arena_done(&arena);
    topology_view_close(&v.clusters);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    struct world w = {.gone = false};
    require(fleet_store.open(&w.fleet, NULL) == 0);
    require(karmada_store.open(&w.karmada, NULL) == 0);
    (void)read_all(text, &w);
    ask(w.fleet);
    w.gone = true;
    (void)read_all(text, &w); /* ends where it ended before */
    ask(w.fleet);
    const struct fleet_stats left = contents_stats(w.fleet);
    require(left.records + left.clusters + left.strings == 0);
    require(karmada_store.kinds[0].count(w.karmada) == 0);
    fleet_store.close(w.fleet);
    karmada_store.close(w.karmada);
    return 0;
}
