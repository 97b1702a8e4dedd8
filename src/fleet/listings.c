/*
 * Listings of an API server: what one has not shown is gone when it ends, and what one has shown
 * first is forgotten when it has no end. Clusters are the topology's to list.
 */
#include "fleet/internal.h"

/* ---- kinds ---- */

static bool set_is_known(const struct fleet_contents *c, uint32_t id) {
    return set_at(c, id)->known;
}

static bool placement_is_known(const struct fleet_contents *c, uint32_t id) {
    return placement_at(c, id)->known;
}

static bool namespace_is_known(const struct fleet_contents *c, uint32_t id) {
    return namespace_at(c, id)->known;
}

static struct str text(const struct fleet_contents *c, uint32_t id) {
    return intern_str(&c->strings, id);
}

static void remove_set(struct fleet_contents *c, uint32_t id) {
    contents_set_remove(c, text(c, set_at(c, id)->name));
}

static void remove_binding(struct fleet_contents *c, uint32_t id) {
    const struct binding_record *b = binding_at(c, id);
    contents_binding_remove(c, text(c, namespace_at(c, b->namespace)->name),
                            text(c, set_at(c, b->set)->name));
}

static void remove_placement(struct fleet_contents *c, uint32_t id) {
    const struct placement_record *p = placement_at(c, id);
    contents_placement_remove(c, text(c, namespace_at(c, p->namespace)->name), text(c, p->name));
}

static void remove_decision(struct fleet_contents *c, uint32_t id) {
    const struct decision_record *d = decision_at(c, id);
    contents_decision_remove(c, text(c, d->namespace), text(c, d->name));
}

static void remove_namespace(struct fleet_contents *c, uint32_t id) {
    contents_namespace_remove(c, text(c, namespace_at(c, id)->name));
}

#define RECORDS(member, type)                                                                      \
    .pool = offsetof(struct fleet_contents, member), .shown = offsetof(struct type, shown)

static const struct {
    size_t pool, shown; /* where the records are, and a record's struct shown; 0: not here */
    bool (*is_known)(const struct fleet_contents *c, uint32_t id); /* NULL: each is */
    void (*remove)(struct fleet_contents *c, uint32_t id);
} kinds[FLEET_KINDS] = {
    [FLEET_SETS] = {RECORDS(sets, set_record), set_is_known, remove_set},
    [FLEET_BINDINGS] = {RECORDS(bindings, binding_record), NULL, remove_binding},
    [FLEET_PLACEMENTS] = {RECORDS(placements, placement_record), placement_is_known,
                          remove_placement},
    [FLEET_DECISIONS] = {RECORDS(decisions, decision_record), NULL, remove_decision},
    [FLEET_SCORES] = {RECORDS(scores, score_record), NULL, contents_score_forget},
    [FLEET_NAMESPACES] = {RECORDS(namespaces, namespace_record), namespace_is_known,
                          remove_namespace},
};

static const struct pool *pool_of(const struct fleet_contents *c, enum fleet_kind kind) {
    return (const struct pool *)(const void *)((const char *)c + kinds[kind].pool);
}

/* NULL: the object is not known, though others refer to it. */
static struct shown *shown_of(const struct fleet_contents *c, enum fleet_kind kind, uint32_t id) {
    char *record = pool_at(pool_of(c, kind), id);
    return kinds[kind].is_known == NULL || kinds[kind].is_known(c, id)
               ? (struct shown *)(void *)(record + kinds[kind].shown)
               : NULL;
}

/* ---- listings ---- */

void contents_show(const struct fleet_contents *c, enum fleet_kind kind, bool is_new,
                   struct shown *shown) {
    const struct listing *l = &c->listings[kind];
    if (is_new)
        shown->fresh = l->under_way;
    shown->listing = l->number;
}

void contents_listing_begin(struct fleet_contents *c, enum fleet_kind kind) {
    c->listings[kind].number++;
    c->listings[kind].under_way = true;
}

void contents_listing_end(struct fleet_contents *c, enum fleet_kind kind) {
    struct listing *l = &c->listings[kind];
    l->under_way = false;
    for (POOL_EACH(pool_of(c, kind), id)) {
        struct shown *shown = shown_of(c, kind, id);
        if (shown == NULL)
            continue;
        shown->fresh = false;
        if (shown->listing != l->number)
            kinds[kind].remove(c, id);
    }
}

void contents_listing_abort(struct fleet_contents *c, enum fleet_kind kind) {
    c->listings[kind].under_way = false;
    for (POOL_EACH(pool_of(c, kind), id)) {
        const struct shown *shown = shown_of(c, kind, id);
        if (shown != NULL && shown->fresh)
            kinds[kind].remove(c, id);
    }
}
