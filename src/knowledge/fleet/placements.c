/*
 * Placements: their kept parts, and the names of other objects that affect them.
 */
#include "fleet/internal.h"

#include "base/limits.h"
#include "fleet/placement_text.h"

#include <errno.h>
#include <stdlib.h>

/* ---- records ---- */

static bool is_placement(const void *ctx, uint32_t id, const void *key) {
    const struct placement_record *p = placement_at(ctx, id);
    const struct pair *wanted = key;
    return p->namespace == wanted->a && p->name == wanted->b;
}

static uint32_t find(const struct fleet_contents *c, struct pair key) {
    return key.a == FLEET_NONE || key.b == INTERN_NONE
               ? FLEET_NONE
               : hashmap_find(&c->placement_index, pair_hash(key), is_placement, c, &key);
}

uint32_t contents_placement_find(const struct fleet_contents *c, struct str namespace,
                                 struct str name) {
    return find(
        c, (struct pair){contents_namespace_find(c, namespace), intern_find(&c->strings, name)});
}

static struct list in_namespace(const struct fleet_contents *c, uint32_t namespace) {
    return (struct list){&c->placements, offsetof(struct placement_record, in_namespace),
                         &namespace_at(c, namespace)->placements};
}

/* ---- spread groups ---- */

static struct list in_groups(struct fleet_contents *c, uint32_t namespace) {
    return (struct list){&c->placements, offsetof(struct placement_record, in_groups),
                         &namespace_at(c, namespace)->grouped};
}

static void join_groups(struct fleet_contents *c, uint32_t id) {
    const struct placement_record *p = placement_at(c, id);
    const struct list list = in_groups(c, p->namespace);
    if (!p->grouped)
        return;
    list_put(&list, id);
    namespace_at(c, p->namespace)->group_steps += selector_cost(&p->group).steps;
}

static void leave_groups(struct fleet_contents *c, uint32_t id) {
    const struct placement_record *p = placement_at(c, id);
    const struct list list = in_groups(c, p->namespace);
    if (!p->grouped)
        return;
    list_take(&list, id);
    namespace_at(c, p->namespace)->group_steps -= selector_cost(&p->group).steps;
}

/* ---- records ---- */

/* Makes a new record. */
static uint32_t make(struct fleet_contents *c, struct pair key) {
    if (hashmap_reserve(&c->placement_index) != 0)
        return FLEET_NONE;
    const uint32_t id = pool_take(&c->placements);
    if (id == POOL_NONE)
        return FLEET_NONE;
    struct placement_record *p = placement_at(c, id);
    const struct list of_namespace = in_namespace(c, key.a);
    p->namespace = key.a;
    p->name = key.b;
    p->decisions = FLEET_NONE;
    p->version = INTERN_NONE;
    arena_init(&p->arena, LIMIT_STATE_OBJECT_ARENA);
    list_put(&of_namespace, id);
    hashmap_insert(&c->placement_index, pair_hash(key), id);
    return id;
}

uint32_t contents_placement_make(struct fleet_contents *c, struct str namespace, struct str name) {
    const struct pair key = {contents_namespace_make(c, namespace), intern_ref(&c->strings, name)};
    uint32_t id = FLEET_NONE;
    if (key.a != FLEET_NONE && key.b != INTERN_NONE) {
        id = find(c, key);
        if (id != FLEET_NONE)
            intern_unref(&c->strings, key.b); /* the record has its own reference */
        else if ((id = make(c, key)) == FLEET_NONE)
            intern_unref(&c->strings, key.b);
    } else {
        intern_unref(&c->strings, key.b);
    }
    if (id == FLEET_NONE && key.a != FLEET_NONE)
        contents_namespace_settle(c, key.a);
    return id;
}

static void unref_all(struct fleet_contents *c, uint32_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        intern_unref(&c->strings, ids[i]);
    free(ids);
}

static void free_parts(struct fleet_contents *c, struct placement_record *p) {
    free((void *)(uintptr_t)p->json.p);
    free((void *)(uintptr_t)p->status.p);
    intern_unref(&c->strings, p->version);
    label_set_free(&c->strings, &p->labels);
    unref_all(c, p->sets, p->set_count);
    unref_all(c, p->resources, p->resource_count);
    arena_reset(&p->arena);
    p->json = p->status = (struct str){0};
    p->version = INTERN_NONE;
    p->sets = p->resources = NULL;
    p->set_count = p->resource_count = 0;
    p->grouped = p->too_large = p->status_cut = false;
}

void contents_placement_empty(struct fleet_contents *c, struct placement_record *p) {
    c->record_bytes -= p->json.n + p->status.n;
    free_parts(c, p);
}

void contents_placement_settle(struct fleet_contents *c, uint32_t id) {
    const struct placement_record *p = placement_at(c, id);
    if (pool_is_known(&c->placements, id) || p->unsorted || p->decisions != FLEET_NONE)
        return;
    const uint32_t namespace = p->namespace;
    const struct list of_namespace = in_namespace(c, namespace);
    list_take(&of_namespace, id);
    hashmap_remove(&c->placement_index, pair_hash((struct pair){namespace, p->name}), id);
    intern_unref(&c->strings, p->name);
    pool_give(&c->placements, id);
    contents_namespace_settle(c, namespace);
}

/* ---- the kept parts ---- */

static int by_number(const void *a, const void *b) {
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Interns the names, and makes a sorted array without duplicates. */
static int intern_all(struct fleet_contents *c, const struct str *names, uint32_t count,
                      uint32_t **ret, uint32_t *ret_count) {
    uint32_t *ids = count > 0 ? malloc(count * sizeof *ids) : NULL, kept = 0;
    if (count > 0 && ids == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if ((ids[i] = intern_ref(&c->strings, names[i])) == INTERN_NONE) {
            unref_all(c, ids, i);
            return -ENOMEM;
        }
    if (count > 1)
        qsort(ids, count, sizeof *ids, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (i > 0 && ids[i] == ids[i - 1])
            intern_unref(&c->strings, ids[i]);
        else
            ids[kept++] = ids[i];
    *ret = ids;
    *ret_count = kept;
    return 0;
}

static int intern_resources(struct fleet_contents *c, const struct placement *from,
                            struct placement_record *ret) {
    struct str *names =
        from->prioritizer_count > 0 ? malloc(from->prioritizer_count * sizeof *names) : NULL;
    uint32_t count = 0;
    if (from->prioritizer_count > 0 && names == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->prioritizer_count; i++)
        if (from->prioritizers[i].type == PRIORITIZER_ADD_ON && from->prioritizers[i].has_add_on)
            names[count++] = from->prioritizers[i].resource;
    int r = intern_all(c, names, count, &ret->resources, &ret->resource_count);
    free(names);
    return r;
}

/* A selector that cannot be read selects no Placement: the planner reports it. */
static int copy_group(const struct placement *from, struct placement_record *ret) {
    struct arena work;
    struct selector selector;
    arena_init(&work, LIMIT_STATE_OBJECT_ARENA);
    int r = placement_group_parse(from, &work, &selector, NULL);
    if (r == 0) {
        r = selector_copy(&selector, &ret->arena, &ret->group);
        ret->grouped = r == 0;
    }
    arena_done(&work);
    return r == -ENOMEM ? r : 0;
}

/* Returns the approximate bytes of the record with these texts and labels. */
static uint64_t bytes_of_outline(const struct placement *from, const struct placement_record *texts,
                                 struct labels labels) {
    enum { LABEL = 96 }; /* bytes of a label besides its text */
    uint64_t bytes = sizeof *texts + from->meta.name.n + texts->json.n + texts->status.n;
    for (uint32_t i = 0; i < labels.count; i++)
        bytes += LABEL + labels.items[i].key.n + labels.items[i].value.n;
    return bytes;
}

/* Returns the approximate bytes of the record with all labels and the other names. */
static uint64_t bytes_of(const struct placement *from, const struct placement_record *texts) {
    enum { NAME = 64 }; /* bytes of an interned name besides its text */
    uint64_t bytes = bytes_of_outline(from, texts, from->meta.labels);
    for (uint32_t i = 0; i < from->set_count; i++)
        bytes += NAME + from->sets[i].n;
    for (uint32_t i = 0; i < from->prioritizer_count; i++)
        bytes += NAME + from->prioritizers[i].resource.n;
    return bytes;
}

static int make_whole(struct fleet_contents *c, const struct placement *from,
                      struct placement_record *made) {
    int r = label_set_make(&c->strings, from->meta.labels, &made->labels);
    if (r == 0)
        r = intern_all(c, from->sets, from->set_count, &made->sets, &made->set_count);
    if (r == 0)
        r = intern_resources(c, from, made);
    return r == 0 ? copy_group(from, made) : r;
}

/* Replaces the texts by the outline and the conditions. Policies and spread groups still find the
 * Placement by its labels. */
static int make_outline(struct fleet_contents *c, const struct placement *from,
                        struct placement_record *made) {
    const struct str json = made->json, status = made->status;
    const struct labels labels = placement_outline_labels(from);
    made->json = made->status = (struct str){0};
    made->too_large = true;
    int r = placement_outline(from, &made->json);
    if (r == 0)
        r = placement_conditions_text(status, &made->status, &made->status_cut);
    if (r == 0)
        r = label_set_make(&c->strings, labels, &made->labels);
    made->charged = bytes_of_outline(from, made, labels);
    free((void *)(uintptr_t)json.p);
    free((void *)(uintptr_t)status.p);
    return r;
}

static int make_record(struct fleet_contents *c, const struct placement *from, struct str json,
                       uint32_t id, struct placement_record *made) {
    const struct placement_record *before = placement_at(c, id);
    int r = from->is_outline ? -E2BIG : placement_text(json, &made->json);
    const bool too_long = r == -E2BIG;
    if (r == 0 || too_long)
        r = placement_status_text(json, &made->status);
    if (r == 0 && from->meta.version.n > 0 &&
        (made->version = intern_ref(&c->strings, from->meta.version)) == INTERN_NONE)
        r = -ENOMEM;
    if (r != 0)
        return r;
    made->charged = bytes_of(from, made);
    if (!too_long && made->status.n <= LIMIT_PLACEMENT_STATUS &&
        contents_has_room(c, before->namespace, before->charged, made->charged))
        return make_whole(c, from, made);
    return make_outline(c, from, made);
}

/* Takes over the new parts; links and namespace stay as they are. */
static void take_over(struct placement_record *p, const struct placement_record *made) {
    p->json = made->json;
    p->status = made->status;
    p->version = made->version;
    p->labels = made->labels;
    p->sets = made->sets;
    p->set_count = made->set_count;
    p->resources = made->resources;
    p->resource_count = made->resource_count;
    p->arena = made->arena;
    p->group = made->group;
    p->grouped = made->grouped;
    p->too_large = made->too_large;
    p->status_cut = made->status_cut;
}

int contents_placement_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct placement *from = object->decoded;
    const uint32_t id = contents_placement_make(c, from->meta.namespace, from->meta.name);
    struct placement_record made = {.version = INTERN_NONE};
    if (id == FLEET_NONE)
        return -ENOMEM;
    arena_init(&made.arena, LIMIT_STATE_OBJECT_ARENA);
    const int r = make_record(c, from, object->json, id, &made);
    struct placement_record *p = placement_at(c, id);
    if (r != 0) {
        free_parts(c, &made);
        contents_placement_settle(c, id);
        return r;
    }
    leave_groups(c, id);
    contents_placement_empty(c, p);
    pool_show(&c->placements, id);
    c->record_bytes += made.json.n + made.status.n;
    contents_charge(c, p->namespace, &p->charged, made.charged);
    take_over(p, &made);
    join_groups(c, id);
    return 0;
}

bool contents_placement_has_labels(const struct fleet_contents *c,
                                   const struct informer_object *object) {
    const struct object_meta *m = &object->meta;
    const uint32_t id = contents_placement_find(c, m->namespace, m->name);
    return id != FLEET_NONE && pool_is_known(&c->placements, id) &&
           label_set_is(&c->strings, &placement_at(c, id)->labels, m->labels);
}

void contents_placement_forget(struct fleet_contents *c, uint32_t id) {
    struct placement_record *p = placement_at(c, id);
    leave_groups(c, id);
    contents_placement_empty(c, p);
    contents_charge(c, p->namespace, &p->charged, 0);
    pool_hide(&c->placements, id);
    contents_placement_settle(c, id);
}

/* ---- reading ---- */

struct str fleet_placement_json(const struct fleet_view *v, struct str namespace, struct str name) {
    const uint32_t id = contents_placement_find(v->contents, namespace, name);
    return id != FLEET_NONE ? placement_at(v->contents, id)->json : (struct str){0};
}

struct fleet_placement_state fleet_placement_state(const struct fleet_view *v, struct str namespace,
                                                   struct str name) {
    const struct fleet_contents *c = v->contents;
    const uint32_t id = contents_placement_find(c, namespace, name);
    if (id == FLEET_NONE || !pool_is_known(&c->placements, id))
        return (struct fleet_placement_state){0};
    const struct placement_record *p = placement_at(c, id);
    return (struct fleet_placement_state){
        .status = p->status,
        .version = p->version != INTERN_NONE ? intern_str(&c->strings, p->version) : STR(""),
        .too_large = p->too_large || p->too_many > 0,
        .status_cut = p->status_cut};
}

void fleet_placements_each(const struct fleet_view *v,
                           void (*visit)(void *ctx, struct str namespace, struct str name),
                           void *ctx) {
    const struct fleet_contents *c = v->contents;
    for (POOL_EACH(&c->placements, id)) {
        const struct placement_record *p = placement_at(c, id);
        if (pool_is_known(&c->placements, id))
            visit(ctx, intern_str(&c->strings, namespace_at(c, p->namespace)->name),
                  intern_str(&c->strings, p->name));
    }
}

int fleet_placements_visit(const struct fleet_view *v, struct str namespace,
                           const struct selector *selector, struct steps *steps,
                           int (*visit)(void *ctx, struct str name), void *ctx) {
    const struct fleet_contents *c = v->contents;
    const uint64_t cost = 1 + selector_cost(selector).steps;
    const uint32_t n = contents_namespace_find(c, namespace);
    if (n == FLEET_NONE)
        return 0;
    uint32_t id = namespace_at(c, n)->placements;
    namespace_at(c, n)->groups_reported = false; /* report later changes again */
    for (int r; id != FLEET_NONE; id = placement_at(c, id)->in_namespace.next) {
        const struct placement_record *p = placement_at(c, id);
        const struct label_set_ref labels = {&c->strings, &p->labels};
        if (!steps_take(steps, cost))
            return -E2BIG;
        if (pool_is_known(&c->placements, id) &&
            selector_matches(selector, label_set_lookup, &labels) &&
            (r = visit(ctx, intern_str(&c->strings, p->name))) != 0)
            return r;
    }
    return 0;
}
