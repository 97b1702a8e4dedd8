/*
 * Services, ReplicationControllers, ReplicaSets and StatefulSets: kept only for the selector of
 * default constraints.
 */
#include "cache/internal.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

static int copy_selector(const struct label_selector *from, struct arena *arena,
                         struct label_selector *ret) {
    struct label *labels = arena_array(arena, from->match_labels.count, sizeof *labels);
    struct label_expression *expressions =
        arena_array(arena, from->expression_count, sizeof *expressions);
    if (labels == NULL || expressions == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->match_labels.count; i++)
        labels[i] = (struct label){arena_str(arena, from->match_labels.items[i].key),
                                   arena_str(arena, from->match_labels.items[i].value)};
    for (uint32_t i = 0; i < from->expression_count; i++) {
        const struct label_expression *e = &from->expressions[i];
        struct str *values = arena_array(arena, e->value_count, sizeof *values);
        for (uint32_t j = 0; values != NULL && j < e->value_count; j++)
            values[j] = arena_str(arena, e->values[j]);
        expressions[i] = (struct label_expression){arena_str(arena, e->key),
                                                   arena_str(arena, e->op), values, e->value_count};
    }
    *ret = (struct label_selector){
        from->present, {labels, from->match_labels.count}, expressions, from->expression_count};
    return arena_failed(arena) ? -ENOMEM : 0;
}

static struct object_type type_of(enum object_kind kind) {
    const struct watched_kind *row = object_kind_row(kind);
    return (struct object_type){str_of(row->group), str_of(row->kind)};
}

static uint32_t find_in(const struct cache *c, uint32_t namespace, enum object_kind kind,
                        struct str name) {
    if (namespace == POOL_NONE || kind == OBJECT_OTHER)
        return POOL_NONE;
    struct hash128 key = owner_key(namespace, type_of(kind), name);
    uint32_t id = owner_find(c, &key);
    return id == POOL_NONE ? POOL_NONE
                           : ((const struct owner_record *)pool_at(&c->owners, id))->workload;
}

uint32_t workload_find(const struct cache *c, enum object_kind kind,
                       const struct object_meta *meta) {
    return find_in(c, namespace_find(c, meta->namespace), kind, meta->name);
}

/* Adds a Service to its namespace's list, to be walked; other kinds are found by name. */
static void list_service(struct cache *c, uint32_t id) {
    struct workload_record *service = workload_at(c, id);
    struct namespace_record *home = pool_at(&c->namespaces, service->namespace);
    service->previous = POOL_NONE;
    service->next = home->services;
    if (home->services != POOL_NONE)
        workload_at(c, home->services)->previous = id;
    home->services = id;
}

static void unlist_service(struct cache *c, const struct workload_record *service) {
    struct namespace_record *home = pool_at(&c->namespaces, service->namespace);
    *(service->previous == POOL_NONE ? &home->services : &workload_at(c, service->previous)->next) =
        service->next;
    if (service->next != POOL_NONE)
        workload_at(c, service->next)->previous = service->previous;
}

static uint32_t workload_new(struct cache *c, uint32_t namespace, enum object_kind kind,
                             struct str name) {
    struct hash128 key = owner_key(namespace, type_of(kind), name);
    uint32_t owner = owner_make(c, &key);
    uint32_t record =
        owner == POOL_NONE ? POOL_NONE : pool_take(&c->workloads[kind - OBJECT_SERVICE]);
    if (record == POOL_NONE) {
        if (owner != POOL_NONE)
            owner_settle(c, owner);
        return POOL_NONE;
    }
    const uint32_t id = workload_id(kind, record);
    *workload_at(c, id) =
        (struct workload_record){.namespace = namespace, .owner = owner, .kind = (uint8_t)kind};
    ((struct owner_record *)pool_at(&c->owners, owner))->workload = id;
    ((struct namespace_record *)pool_at(&c->namespaces, namespace))->references++;
    if (kind == OBJECT_SERVICE)
        list_service(c, id);
    return id;
}

/* Copies a selector into an arena of its exact size: most selectors are one label, and every
 * ReplicaSet has one. A selector that is too large counts as one that does not parse. */
static int keep_selector(const struct label_selector *from, struct arena *arena,
                         struct label_selector *ret) {
    struct arena measure;
    arena_init(&measure, LIMIT_WORKLOAD_BYTES);
    int r = copy_selector(from, &measure, ret);
    bool too_large = measure.full;
    arena_init(arena, arena_used(&measure));
    arena_done(&measure);
    if (r == 0)
        return copy_selector(from, arena, ret);
    *ret = (struct label_selector){.present = false};
    return too_large ? 0 : r;
}

int workload_apply(struct cache *c, enum object_kind kind, const struct workload *workload) {
    uint32_t namespace = namespace_make(c, workload->meta.namespace);
    if (namespace == POOL_NONE)
        return -ENOMEM;
    struct arena arena;
    struct label_selector selector;
    uint32_t id = POOL_NONE;
    if (keep_selector(&workload->selector, &arena, &selector) == 0) {
        id = find_in(c, namespace, kind, workload->meta.name);
        if (id == POOL_NONE)
            id = workload_new(c, namespace, kind, workload->meta.name);
    }
    if (id == POOL_NONE) {
        arena_done(&arena);
        namespace_settle(c, namespace);
        return -ENOMEM;
    }
    struct workload_record *record = workload_at(c, id);
    c->list_bytes += arena.total - record->arena.total; /* modulo 2^64 */
    arena_done(&record->arena);
    record->arena = arena;
    record->selector = selector;
    pool_show(&c->workloads[kind - OBJECT_SERVICE], id / WORKLOAD_KINDS);
    return 0;
}

void workload_forget(struct cache *c, uint32_t id) {
    struct workload_record *record = workload_at(c, id);
    if (record->kind == OBJECT_SERVICE)
        unlist_service(c, record);
    ((struct namespace_record *)pool_at(&c->namespaces, record->namespace))->references--;
    namespace_settle(c, record->namespace);
    ((struct owner_record *)pool_at(&c->owners, record->owner))->workload = POOL_NONE;
    owner_settle(c, record->owner);
    c->list_bytes -= record->arena.total;
    arena_done(&record->arena);
    pool_give(&c->workloads[id % WORKLOAD_KINDS], id / WORKLOAD_KINDS);
}

/* ---- default selectors ---- */

struct gather {
    const struct cache_view *view;
    struct arena *arena;
    struct requirement *items;
    uint32_t count, cap;
};

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for a default selector");
}

/* Compiles a selector. As upstream, a selector that does not parse selects nothing and adds
 * nothing. */
static int compile(const struct gather *g, const struct label_selector *from, struct selector *ret,
                   struct err *err) {
    *ret = (struct selector){.nothing = true};
    if (view_take(g->view, label_selector_steps(from)) != 0)
        return -E2BIG;
    int r = selector_compile(from, (struct labels){0}, g->arena, ret, NULL);
    return r == -ENOMEM ? out_of_memory(err) : 0;
}

/* Adds the requirements of `selector`; a selector that selects nothing adds none, as in upstream's
 * Requirements(). */
static int gather_selector(struct gather *g, const struct selector *selector, struct err *err) {
    for (uint32_t i = 0; i < selector->count; i++) {
        g->items = arena_push(g->arena, g->items, g->count, &g->cap, sizeof *g->items);
        if (g->items == NULL)
            return out_of_memory(err);
        g->items[g->count++] = selector->items[i];
    }
    return 0;
}

static int gather_services(uint32_t namespace, const struct labels *labels, struct gather *g,
                           struct err *err) {
    const struct cache *c = g->view->cache;
    uint32_t id = ((const struct namespace_record *)pool_at(&c->namespaces, namespace))->services;
    while (id != POOL_NONE) {
        const struct workload_record *service = workload_at(c, id);
        struct selector selector;
        id = service->next;
        if (view_take(g->view, 1) != 0)
            return -E2BIG;
        if (!service->selector.present)
            continue;
        int r = compile(g, &service->selector, &selector, err);
        if (r == 0 && selector_matches(&selector, labels_lookup, labels))
            r = gather_selector(g, &selector, err);
        if (r != 0)
            return r;
    }
    return 0;
}

static int compare_keys(const void *a, const void *b) {
    const struct requirement *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* Removes gathered requirements on the keys of `selector`, whose requirements are sorted. */
static void replace_keys(struct gather *g, const struct selector *selector) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (selector->count == 0 || bsearch(&g->items[i], selector->items, selector->count,
                                            sizeof *selector->items, compare_keys) == NULL)
            g->items[kept++] = g->items[i];
    g->count = kept;
}

/* As upstream, a ReplicationController's labels are merged into those of the services, and win; the
 * other owners' requirements are added. */
static int gather_owner(const struct cache *c, uint32_t owner, struct gather *g, struct err *err) {
    const struct workload_record *workload = workload_at(c, owner);
    struct selector selector;
    int r = compile(g, &workload->selector, &selector, err);
    if (r == 0 && workload->kind == OBJECT_REPLICATION_CONTROLLER)
        replace_keys(g, &selector);
    return r == 0 ? gather_selector(g, &selector, err) : r;
}

static enum object_kind owner_kind(const struct object_meta *pod) {
    if (str_eq(pod->controller_kind, STR(REPLICATION_CONTROLLER_KIND)) &&
        str_eq(pod->controller_api, STR("v1")))
        return OBJECT_REPLICATION_CONTROLLER;
    if (!str_eq(pod->controller_api, STR(APPS_API)))
        return OBJECT_OTHER;
    if (str_eq(pod->controller_kind, STR(REPLICA_SET_KIND)))
        return OBJECT_REPLICA_SET;
    if (str_eq(pod->controller_kind, STR(STATEFUL_SET_KIND)))
        return OBJECT_STATEFUL_SET;
    return OBJECT_OTHER;
}

int cache_default_selector(const struct cache_view *v, const struct object_meta *pod,
                           struct arena *arena, struct selector *ret, struct err *err) {
    const struct cache *c = v->cache;
    struct gather g = {.view = v, .arena = arena};
    uint32_t namespace = namespace_find(c, pod->namespace);
    if (namespace != POOL_NONE) {
        int r = gather_services(namespace, &pod->labels, &g, err);
        uint32_t owner = find_in(c, namespace, owner_kind(pod), pod->controller_name);
        if (r == 0 && owner != POOL_NONE)
            r = gather_owner(c, owner, &g, err);
        if (r != 0)
            return r;
    }
    selector_canonicalize(g.items, g.count, ret);
    return 0;
}
