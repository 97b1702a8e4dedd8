/*
 * Names in PlacementDecisions that no cluster has: beside the topology, so that whoever writes
 * decisions makes no slots, which every plan walks.
 */
#include "fleet/internal.h"

#include <stdlib.h>

static struct stranger_record *stranger_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->strangers, id);
}

static bool is_named(const void *ctx, uint32_t id, const void *key) {
    const uint32_t *name = key;
    return stranger_at(ctx, id)->name == *name;
}

static uint64_t name_hash_of(uint32_t name) {
    return pair_hash((struct pair){name, 0});
}

uint32_t contents_stranger_find(const struct fleet_contents *c, struct str name) {
    const uint32_t id = intern_find(&c->strings, name);
    return id == INTERN_NONE ? FLEET_NONE
                             : hashmap_find(&c->stranger_index, name_hash_of(id), is_named, c, &id);
}

struct str contents_stranger_name(const struct fleet_contents *c, uint32_t id) {
    return intern_str(&c->strings, stranger_at(c, id)->name);
}

static bool make_room(struct fleet_contents *c) {
    if (hashmap_reserve(&c->stranger_index) != 0)
        return false;
    if (c->strangers.end < c->strange_cap)
        return true;
    const uint32_t cap = c->strange_cap == 0 ? 64 : c->strange_cap * 2;
    uint32_t *strange = realloc(c->strange, cap * sizeof *strange);
    if (strange == NULL)
        return false;
    c->strange = strange;
    c->strange_cap = cap;
    return true;
}

uint32_t contents_stranger_add(struct fleet_contents *c, struct str name) {
    uint32_t id = contents_stranger_find(c, name);
    if (id == FLEET_NONE) {
        const uint32_t text = intern_ref(&c->strings, name);
        id = text != INTERN_NONE && make_room(c) ? pool_take(&c->strangers) : POOL_NONE;
        if (id == POOL_NONE) {
            intern_unref(&c->strings, text);
            return FLEET_NONE;
        }
        stranger_at(c, id)->name = text;
        c->strange[id] = 0;
        hashmap_insert(&c->stranger_index, name_hash_of(text), id);
    }
    c->strange[id]++;
    return id;
}

/* When the last has gone, so has what they took. */
static void shrink(struct fleet_contents *c) {
    pool_done(&c->strangers);
    hashmap_done(&c->stranger_index);
    free(c->strange);
    c->strange = NULL;
    c->strange_cap = 0;
}

void contents_stranger_take(struct fleet_contents *c, uint32_t id) {
    if (--c->strange[id] > 0)
        return;
    const uint32_t name = stranger_at(c, id)->name;
    hashmap_remove(&c->stranger_index, name_hash_of(name), id);
    intern_unref(&c->strings, name);
    pool_give(&c->strangers, id);
    if (c->strangers.count == 0)
        shrink(c);
}

const uint32_t *fleet_strangers(const struct fleet_view *v, uint32_t *ret_count) {
    *ret_count = v->contents->strangers.end;
    return v->contents->strange;
}
