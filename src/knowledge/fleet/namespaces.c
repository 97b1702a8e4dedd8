/*
 * Namespaces: their labels and contents.
 */
#include "fleet/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool is_named(const void *ctx, uint32_t id, const void *key) {
    const uint32_t *name = key;
    return namespace_at(ctx, id)->name == *name;
}

static uint64_t name_hash_of(uint32_t name) {
    return pair_hash((struct pair){name, 0});
}

uint32_t contents_namespace_find(const struct fleet_contents *c, struct str name) {
    const uint32_t id = intern_find(&c->strings, name);
    return id == INTERN_NONE
               ? FLEET_NONE
               : hashmap_find(&c->namespace_index, name_hash_of(id), is_named, c, &id);
}

uint32_t contents_namespace_make(struct fleet_contents *c, struct str name) {
    uint32_t id = contents_namespace_find(c, name);
    if (id != FLEET_NONE)
        return id;
    const uint32_t text = intern_ref(&c->strings, name);
    if (text == INTERN_NONE)
        return FLEET_NONE;
    if (hashmap_reserve(&c->namespace_index) != 0 ||
        (id = pool_take(&c->namespaces)) == POOL_NONE) {
        intern_unref(&c->strings, text);
        return FLEET_NONE;
    }
    struct namespace_record *n = namespace_at(c, id);
    n->name = text;
    n->bindings = n->placements = n->grouped = FLEET_NONE;
    hashmap_insert(&c->namespace_index, name_hash_of(text), id);
    return id;
}

void contents_namespace_settle(struct fleet_contents *c, uint32_t id) {
    struct namespace_record *n = namespace_at(c, id);
    if (pool_is_known(&c->namespaces, id) || n->unsorted || n->bindings != FLEET_NONE ||
        n->placements != FLEET_NONE || n->payers > 0)
        return;
    hashmap_remove(&c->namespace_index, name_hash_of(n->name), id);
    intern_unref(&c->strings, n->name);
    free(n->sets);
    pool_give(&c->namespaces, id);
}

uint32_t contents_payer_join(struct fleet_contents *c, struct str namespace) {
    const uint32_t id = contents_namespace_make(c, namespace);
    if (id != FLEET_NONE)
        namespace_at(c, id)->payers++;
    return id;
}

void contents_payer_leave(struct fleet_contents *c, uint32_t namespace) {
    if (namespace == FLEET_NONE)
        return;
    namespace_at(c, namespace)->payers--;
    contents_namespace_settle(c, namespace);
}

bool contents_has_room(const struct fleet_contents *c, uint32_t namespace, uint64_t before,
                       uint64_t bytes) {
    enum { SHARE = 5 }; /* one namespace may use at most 1/5 of the bytes that are left */
    const uint64_t all = c->charged - before + bytes;
    const uint64_t own = namespace_at(c, namespace)->bytes - before + bytes;
    return bytes <= before || (all <= c->charged_max && own <= (c->charged_max - all) / SHARE);
}

void contents_charge(struct fleet_contents *c, uint32_t namespace, uint64_t *charged,
                     uint64_t bytes) {
    struct namespace_record *n = namespace_at(c, namespace);
    if (!contents_has_room(c, namespace, *charged, bytes))
        return;
    n->bytes += bytes - *charged;
    c->charged += bytes - *charged;
    *charged = bytes;
}

int contents_namespace_apply(struct fleet_contents *c, const struct informer_object *object) {
    struct label_set labels;
    const uint32_t id = contents_namespace_make(c, object->meta.name);
    if (id == FLEET_NONE)
        return -ENOMEM;
    int r = label_set_make(&c->strings, object->meta.labels, &labels);
    if (r == 0) {
        struct namespace_record *n = namespace_at(c, id);
        label_set_free(&c->strings, &n->labels);
        n->labels = labels;
        pool_show(&c->namespaces, id);
    }
    contents_namespace_settle(c, id);
    return r;
}

void contents_namespace_forget(struct fleet_contents *c, uint32_t id) {
    pool_hide(&c->namespaces, id);
    label_set_free(&c->strings, &namespace_at(c, id)->labels);
    contents_namespace_settle(c, id);
}

bool fleet_namespace(const struct fleet_view *v, struct str name, struct label_set_ref *ret) {
    const uint32_t id = contents_namespace_find(v->contents, name);
    if (id == FLEET_NONE || !pool_is_known(&v->contents->namespaces, id))
        return false;
    *ret = (struct label_set_ref){&v->contents->strings, &namespace_at(v->contents, id)->labels};
    return true;
}
