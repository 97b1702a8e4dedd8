/*
 * ManagedClusterSets, and the bindings that give them to namespaces.
 */
#include "fleet/internal.h"

#include "base/limits.h"
#include "model/selector_problem.h"

#include <errno.h>
#include <stdlib.h>

/* ---- sets ---- */

static bool is_named(const void *ctx, uint32_t id, const void *key) {
    const uint32_t *name = key;
    return set_at(ctx, id)->name == *name;
}

static uint64_t name_hash_of(uint32_t name) {
    return pair_hash((struct pair){name, 0});
}

uint32_t contents_set_find(const struct fleet_contents *c, struct str name) {
    const uint32_t id = intern_find(&c->strings, name);
    return id == INTERN_NONE ? FLEET_NONE
                             : hashmap_find(&c->set_index, name_hash_of(id), is_named, c, &id);
}

static uint32_t set_make(struct fleet_contents *c, struct str name) {
    uint32_t id = contents_set_find(c, name);
    if (id != FLEET_NONE)
        return id;
    const uint32_t text = intern_ref(&c->strings, name);
    if (text == INTERN_NONE)
        return FLEET_NONE;
    if (hashmap_reserve(&c->set_index) != 0 || (id = pool_take(&c->sets)) == POOL_NONE) {
        intern_unref(&c->strings, text);
        return FLEET_NONE;
    }
    struct set_record *s = set_at(c, id);
    s->name = text;
    s->bindings = FLEET_NONE;
    arena_init(&s->arena, LIMIT_STATE_OBJECT_ARENA);
    s->set.name = intern_str(&c->strings, text);
    hashmap_insert(&c->set_index, name_hash_of(text), id);
    return id;
}

static void set_settle(struct fleet_contents *c, uint32_t id) {
    struct set_record *s = set_at(c, id);
    if (pool_is_known(&c->sets, id) || s->bindings != FLEET_NONE)
        return;
    hashmap_remove(&c->set_index, name_hash_of(s->name), id);
    intern_unref(&c->strings, s->name);
    arena_done(&s->arena);
    pool_give(&c->sets, id);
}

static struct list sets_with_selector(struct fleet_contents *c) {
    return (struct list){&c->sets, offsetof(struct set_record, with_selector),
                         &c->sets_with_selector};
}

/* Copies the selector into the arena; if it does not compile, copies the reason. */
static int compile(const struct cluster_set *from, struct arena *arena, struct fleet_set *set) {
    struct arena work;
    struct selector compiled;
    struct err err;
    arena_init(&work, LIMIT_STATE_OBJECT_ARENA);
    int r = selector_compile(&from->selector, (struct labels){0}, &work, &compiled, &err);
    if (r == 0)
        r = selector_copy(&compiled, arena, &set->selector);
    else if (r != -ENOMEM)
        set->problem = arena_str(arena, selector_problem(&from->selector, &work));
    r = r == -ENOMEM || arena_failed(&work) || arena_failed(arena) ? -ENOMEM : 0;
    arena_done(&work);
    return r;
}

int contents_set_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct cluster_set *from = object->decoded;
    struct arena arena;
    struct fleet_set set = {.type = from->type};
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    const uint32_t id = set_make(c, from->meta.name);
    if (id == FLEET_NONE)
        return -ENOMEM;
    if (from->type == CLUSTER_SET_BY_SELECTOR && compile(from, &arena, &set) != 0) {
        arena_done(&arena);
        set_settle(c, id);
        return -ENOMEM;
    }
    struct set_record *s = set_at(c, id);
    const struct list by_selector = sets_with_selector(c);
    if (pool_is_known(&c->sets, id) && s->set.type == CLUSTER_SET_BY_SELECTOR)
        list_take(&by_selector, id);
    if (set.type == CLUSTER_SET_BY_SELECTOR)
        list_put(&by_selector, id);
    set.name = s->set.name;
    arena_done(&s->arena);
    s->arena = arena;
    s->set = set;
    pool_show(&c->sets, id);
    return 0;
}

void contents_set_forget(struct fleet_contents *c, uint32_t id) {
    struct set_record *s = set_at(c, id);
    const struct list by_selector = sets_with_selector(c);
    if (s->set.type == CLUSTER_SET_BY_SELECTOR)
        list_take(&by_selector, id);
    pool_hide(&c->sets, id);
    arena_reset(&s->arena);
    s->set = (struct fleet_set){.name = s->set.name};
    set_settle(c, id);
}

bool fleet_lacks_all(const struct fleet_view *v) {
    const struct fleet_contents *c = v->contents;
    if (topology_stats(c->clusters).candidates == 0 || c->bindings.count == 0)
        return true;
    return pool_next_known(&c->sets, 0) == POOL_NONE;
}

const struct fleet_set *fleet_set_find(const struct fleet_view *v, struct str name) {
    const uint32_t id = contents_set_find(v->contents, name);
    return id != FLEET_NONE && pool_is_known(&v->contents->sets, id) ? &set_at(v->contents, id)->set
                                                                     : NULL;
}

/* ---- bindings ---- */

static bool is_binding(const void *ctx, uint32_t id, const void *key) {
    const struct binding_record *b = binding_at(ctx, id);
    const struct pair *wanted = key;
    return b->namespace == wanted->a && b->set == wanted->b;
}

static uint32_t binding_find(const struct fleet_contents *c, struct pair key) {
    return hashmap_find(&c->binding_index, pair_hash(key), is_binding, c, &key);
}

static struct list in_namespace(const struct fleet_contents *c, struct namespace_record *n) {
    return (struct list){&c->bindings, offsetof(struct binding_record, in_namespace), &n->bindings};
}

static struct list in_set(const struct fleet_contents *c, struct set_record *s) {
    return (struct list){&c->bindings, offsetof(struct binding_record, in_set), &s->bindings};
}

static void sort_later(struct fleet_contents *c, uint32_t id) {
    struct namespace_record *n = namespace_at(c, id);
    if (n->unsorted)
        return;
    n->unsorted = true;
    n->next_unsorted = c->unsorted_namespaces;
    c->unsorted_namespaces = id;
}

/* Reserves room for one more name, so that sorting needs no memory. */
static int reserve_name(struct namespace_record *n) {
    if (n->binding_count < n->sets_cap)
        return 0;
    const uint32_t cap = n->sets_cap == 0 ? 4 : n->sets_cap * 2;
    struct str *sets = realloc(n->sets, cap * sizeof *sets);
    if (sets == NULL)
        return -ENOMEM;
    n->sets = sets;
    n->sets_cap = cap;
    return 0;
}

static int bind(struct fleet_contents *c, struct pair key) {
    struct namespace_record *n = namespace_at(c, key.a);
    if (reserve_name(n) != 0 || hashmap_reserve(&c->binding_index) != 0)
        return -ENOMEM;
    const uint32_t id = pool_take(&c->bindings);
    if (id == POOL_NONE)
        return -ENOMEM;
    const struct list of_namespace = in_namespace(c, n), of_set = in_set(c, set_at(c, key.b));
    binding_at(c, id)->namespace = key.a;
    binding_at(c, id)->set = key.b;
    list_put(&of_namespace, id);
    list_put(&of_set, id);
    n->binding_count++;
    hashmap_insert(&c->binding_index, pair_hash(key), id);
    sort_later(c, key.a);
    return 0;
}

int contents_binding_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct object_meta *meta = &object->meta;
    const struct pair key = {contents_namespace_make(c, meta->namespace), set_make(c, meta->name)};
    const bool made = key.a != FLEET_NONE && key.b != FLEET_NONE;
    const bool is_new = made && binding_find(c, key) == FLEET_NONE;
    const int r = !made ? -ENOMEM : is_new ? bind(c, key) : 0;
    if (r == 0)
        pool_show(&c->bindings, binding_find(c, key));
    if (key.a != FLEET_NONE)
        contents_namespace_settle(c, key.a);
    if (key.b != FLEET_NONE)
        set_settle(c, key.b);
    return r;
}

uint32_t contents_binding_find(const struct fleet_contents *c, struct str namespace,
                               struct str set) {
    const struct pair key = {contents_namespace_find(c, namespace), contents_set_find(c, set)};
    return key.a == FLEET_NONE || key.b == FLEET_NONE ? FLEET_NONE : binding_find(c, key);
}

void contents_binding_forget(struct fleet_contents *c, uint32_t id) {
    const struct pair key = {binding_at(c, id)->namespace, binding_at(c, id)->set};
    struct namespace_record *n = namespace_at(c, key.a);
    const struct list of_namespace = in_namespace(c, n), of_set = in_set(c, set_at(c, key.b));
    list_take(&of_namespace, id);
    list_take(&of_set, id);
    n->binding_count--;
    hashmap_remove(&c->binding_index, pair_hash(key), id);
    pool_give(&c->bindings, id);
    sort_later(c, key.a);
    set_settle(c, key.b);
}

const struct str *fleet_bindings(const struct fleet_view *v, struct str namespace,
                                 uint32_t *ret_count) {
    const uint32_t id = contents_namespace_find(v->contents, namespace);
    *ret_count = id != FLEET_NONE ? namespace_at(v->contents, id)->binding_count : 0;
    return *ret_count > 0 ? namespace_at(v->contents, id)->sets : NULL;
}
