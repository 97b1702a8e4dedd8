/*
 * Names in PlacementDecisions that no cluster has. They are outside the topology, so that writers
 * of decisions cannot make slots, which every plan walks.
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

static struct mention *mention_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->mentions, id);
}

static struct list mentions_of(const struct fleet_contents *c, uint32_t id) {
    return (struct list){&c->mentions, offsetof(struct mention, of_stranger),
                         &stranger_at(c, id)->mentions};
}

static uint32_t make(struct fleet_contents *c, struct str name) {
    const uint32_t text = intern_ref(&c->strings, name);
    const uint32_t id = text != INTERN_NONE && make_room(c) ? pool_take(&c->strangers) : POOL_NONE;
    if (id == POOL_NONE) {
        intern_unref(&c->strings, text);
        return FLEET_NONE;
    }
    *stranger_at(c, id) = (struct stranger_record){text, FLEET_NONE};
    c->strange[id] = 0;
    hashmap_insert(&c->stranger_index, name_hash_of(text), id);
    return id;
}

uint32_t contents_stranger_add(struct fleet_contents *c, struct str name, uint32_t decision,
                               uint32_t *ret_mention) {
    uint32_t id = contents_stranger_find(c, name);
    const uint32_t mention = pool_take(&c->mentions);
    if (mention != POOL_NONE && id == FLEET_NONE)
        id = make(c, name);
    if (mention == POOL_NONE || id == FLEET_NONE) {
        if (mention != POOL_NONE)
            pool_give(&c->mentions, mention);
        return FLEET_NONE;
    }
    const struct list list = mentions_of(c, id);
    mention_at(c, mention)->decision = decision;
    list_put(&list, mention);
    c->strange[id]++;
    *ret_mention = mention;
    return id;
}

uint32_t contents_stranger_decision(const struct fleet_contents *c, struct str name) {
    const uint32_t id = contents_stranger_find(c, name);
    return id != FLEET_NONE ? mention_at(c, stranger_at(c, id)->mentions)->decision : FLEET_NONE;
}

/* Frees all memory of strangers once the last one is gone. */
static void shrink(struct fleet_contents *c) {
    pool_done(&c->strangers);
    pool_done(&c->mentions);
    hashmap_done(&c->stranger_index);
    free(c->strange);
    c->strange = NULL;
    c->strange_cap = 0;
}

void contents_stranger_take(struct fleet_contents *c, uint32_t id, uint32_t mention) {
    const struct list list = mentions_of(c, id);
    list_take(&list, mention);
    pool_give(&c->mentions, mention);
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
