/*
 * AddOnPlacementScores, by resource and slot. A score gives its cluster a slot even if the cluster
 * is not known.
 */
#include "fleet/internal.h"

#include "base/limits.h"
#include "model/injected.h"

#include <errno.h>
#include <stdlib.h>

/* ---- resources ---- */

static struct fleet_scores *resource_at(const struct fleet_contents *c, uint32_t id) {
    return pool_at(&c->resources, id);
}

static bool is_named(const void *ctx, uint32_t id, const void *key) {
    const uint32_t *name = key;
    return resource_at(ctx, id)->name == *name;
}

static uint64_t name_hash_of(uint32_t name) {
    return pair_hash((struct pair){name, 0});
}

static uint32_t resource_find(const struct fleet_contents *c, struct str name) {
    const uint32_t id = intern_find(&c->strings, name);
    return id == INTERN_NONE ? FLEET_NONE
                             : hashmap_find(&c->resource_index, name_hash_of(id), is_named, c, &id);
}

static uint32_t resource_make(struct fleet_contents *c, struct str name) {
    uint32_t id = resource_find(c, name);
    if (id != FLEET_NONE)
        return id;
    const uint32_t text = intern_ref(&c->strings, name);
    if (text == INTERN_NONE)
        return FLEET_NONE;
    if (hashmap_reserve(&c->resource_index) != 0 || (id = pool_take(&c->resources)) == POOL_NONE) {
        intern_unref(&c->strings, text);
        return FLEET_NONE;
    }
    *resource_at(c, id) = (struct fleet_scores){.contents = c, .number = id, .name = text};
    hashmap_insert(&c->resource_index, name_hash_of(text), id);
    return id;
}

static void resource_settle(struct fleet_contents *c, uint32_t id) {
    const struct fleet_scores *s = resource_at(c, id);
    if (s->objects > 0)
        return;
    hashmap_remove(&c->resource_index, name_hash_of(s->name), id);
    intern_unref(&c->strings, s->name);
    pool_give(&c->resources, id);
}

/* ---- objects ---- */

static bool is_score(const void *ctx, uint32_t id, const void *key) {
    const struct score_record *s = score_at(ctx, id);
    const struct pair *wanted = key;
    return s->resource == wanted->a && s->slot == wanted->b;
}

static uint32_t find(const struct fleet_contents *c, struct pair key) {
    return hashmap_find(&c->score_index, pair_hash(key), is_score, c, &key);
}

static void free_items(struct fleet_contents *c, struct score_item *items, uint32_t count) {
    c->record_bytes -= count * sizeof *items;
    for (uint32_t i = 0; i < count; i++)
        intern_unref(&c->strings, items[i].name);
    free(items);
}

static int by_number(const void *a, const void *b) {
    const struct score_item *left = a, *right = b;
    return (left->name > right->name) - (left->name < right->name);
}

/* Returns the bytes of an object with its items. Our objects share names with many clusters. */
static uint64_t bytes_of(const struct placement_score *from) {
    enum { NAME = 64, OURS = 16 }; /* bytes of an item besides its text; bytes of an item of ours */
    uint32_t shard;
    uint64_t bytes = sizeof(struct score_record);
    if (injected_resource_read(from->meta.name, &shard))
        return bytes + (uint64_t)OURS * from->item_count;
    for (uint32_t i = 0; i < from->item_count; i++)
        bytes += sizeof(struct score_item) + NAME + from->items[i].name.n;
    return bytes;
}

/* Makes the items; the decoder has removed duplicates. */
static int make_items(struct fleet_contents *c, const struct placement_score *from, uint32_t count,
                      struct score_item **ret) {
    struct score_item *items = count > 0 ? malloc(count * sizeof *items) : NULL;
    if (count > 0 && items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        items[i] =
            (struct score_item){intern_ref(&c->strings, from->items[i].name), from->items[i].value};
        if (items[i].name == INTERN_NONE) {
            free_items(c, items, i);
            return -ENOMEM;
        }
        c->record_bytes += sizeof *items;
    }
    if (count > 1)
        qsort(items, count, sizeof *items, by_number);
    *ret = items;
    return 0;
}

/* Makes a new record, which holds the slot and is counted in its resource. */
static uint32_t make(struct fleet_contents *c, struct pair key) {
    if (hashmap_reserve(&c->score_index) != 0)
        return FLEET_NONE;
    const uint32_t payer = contents_payer_join(c, topology_name(c->clusters, key.b));
    const uint32_t id = payer != FLEET_NONE ? pool_take(&c->scores) : POOL_NONE;
    if (id == POOL_NONE) {
        contents_payer_leave(c, payer);
        return FLEET_NONE;
    }
    score_at(c, id)->payer = payer;
    score_at(c, id)->resource = key.a;
    score_at(c, id)->slot = key.b;
    score_at(c, id)->version = INTERN_NONE;
    resource_at(c, key.a)->objects++;
    topology_hold(c->clusters, key.b);
    hashmap_insert(&c->score_index, pair_hash(key), id);
    return id;
}

/* An object that finds no room gets no items, unless it is ours: we write the whole list, so up to
 * LIMIT_SCORE_ITEMS items must be known. */
static int set_items(struct fleet_contents *c, uint32_t id, const struct placement_score *from) {
    struct score_record *s = score_at(c, id);
    struct score_item *items = NULL;
    const uint64_t bytes = bytes_of(from);
    uint32_t shard;
    const bool is_ours = injected_resource_read(from->meta.name, &shard);
    const bool fits = (is_ours && from->item_count <= LIMIT_SCORE_ITEMS) ||
                      contents_has_room(c, s->payer, s->charged, bytes);
    if (make_items(c, from, fits ? from->item_count : 0, &items) != 0)
        return -ENOMEM;
    free_items(c, s->items, s->item_count);
    s->items = items;
    s->item_count = fits ? from->item_count : 0;
    s->too_large = !fits;
    contents_charge(c, s->payer, &s->charged, fits ? bytes : sizeof *s);
    return 0;
}

static int apply(struct fleet_contents *c, struct pair key, const struct placement_score *from) {
    uint32_t shard, version = INTERN_NONE, id = find(c, key);
    const bool is_new = id == FLEET_NONE;
    if (is_new && (id = make(c, key)) == FLEET_NONE)
        return -ENOMEM;
    if (set_items(c, id, from) != 0) {
        if (is_new)
            contents_score_forget(c, id);
        return -ENOMEM;
    }
    if (injected_resource_read(from->meta.name, &shard) && from->meta.version.n > 0)
        version =
            intern_ref(&c->strings, from->meta.version); /* without a version, writes conflict */
    struct score_record *s = score_at(c, id);
    s->has_end = from->has_end;
    s->valid_until_ms = from->valid_until_ms;
    intern_unref(&c->strings, s->version);
    s->version = version;
    pool_show(&c->scores, id);
    return 0;
}

int contents_score_apply(struct fleet_contents *c, const struct informer_object *object) {
    const struct placement_score *from = object->decoded;
    const struct pair key = {resource_make(c, from->meta.name),
                             topology_slot_make(c->clusters, from->meta.namespace)};
    int r = -ENOMEM;
    if (key.a != FLEET_NONE && key.b != TOPOLOGY_NONE) { /* holds both until this function ends */
        resource_at(c, key.a)->objects++;
        topology_hold(c->clusters, key.b);
        contents_decisions_meet(c, key.b);
        r = apply(c, key, from);
        resource_at(c, key.a)->objects--;
        topology_unhold(c->clusters, key.b);
    }
    if (key.a != FLEET_NONE)
        resource_settle(c, key.a);
    if (key.b != TOPOLOGY_NONE)
        topology_settle(c->clusters, key.b);
    return r;
}

uint32_t contents_score_find(const struct fleet_contents *c, struct str cluster,
                             struct str resource) {
    const struct pair key = {resource_find(c, resource), topology_slot(c->clusters, cluster)};
    return key.a == FLEET_NONE || key.b == TOPOLOGY_NONE ? FLEET_NONE : find(c, key);
}

void contents_score_forget(struct fleet_contents *c, uint32_t id) {
    const struct pair key = {score_at(c, id)->resource, score_at(c, id)->slot};
    free_items(c, score_at(c, id)->items, score_at(c, id)->item_count);
    intern_unref(&c->strings, score_at(c, id)->version);
    hashmap_remove(&c->score_index, pair_hash(key), id);
    contents_charge(c, score_at(c, id)->payer, &score_at(c, id)->charged, 0);
    contents_payer_leave(c, score_at(c, id)->payer);
    pool_give(&c->scores, id);
    resource_at(c, key.a)->objects--;
    resource_settle(c, key.a);
    topology_unhold(c->clusters, key.b);
    topology_settle(c->clusters, key.b);
}

/* ---- reading ---- */

const struct fleet_scores *fleet_scores_find(const struct fleet_view *v, struct str resource) {
    const uint32_t id = resource_find(v->contents, resource);
    return id != FLEET_NONE ? resource_at(v->contents, id) : NULL;
}

uint32_t fleet_score_name(const struct fleet_view *v, struct str score) {
    return intern_find(&v->contents->strings, score);
}

/* Returns the index of the item with this name, or the index where it must be inserted. */
static uint32_t place_of(const struct score_record *s, uint32_t name) {
    uint32_t low = 0, high = s->item_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->items[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fleet_score fleet_score_of(const struct fleet_scores *s, uint32_t slot, uint32_t score) {
    const uint32_t id = find(s->contents, (struct pair){s->number, slot});
    if (id == FLEET_NONE)
        return (struct fleet_score){.has_object = false};
    const struct score_record *object = score_at(s->contents, id);
    struct fleet_score ret = {.has_object = true,
                              .too_large = object->too_large,
                              .has_end = object->has_end,
                              .valid_until_ms = object->valid_until_ms};
    const uint32_t low = place_of(object, score);
    ret.has_item = low < object->item_count && object->items[low].name == score;
    ret.value = ret.has_item ? object->items[low].value : 0;
    return ret;
}

/* ---- objects of ours ---- */

static struct fleet_score_object object_of(const struct fleet_contents *c, uint32_t id) {
    const struct score_record *s = score_at(c, id);
    return (struct fleet_score_object){
        .cluster = topology_name(c->clusters, s->slot),
        .resource = intern_str(&c->strings, resource_at(c, s->resource)->name),
        .version = s->version != INTERN_NONE ? intern_str(&c->strings, s->version) : STR(""),
        .item_count = s->item_count,
        .number = id};
}

bool fleet_score_object(const struct fleet_view *v, struct str cluster, struct str resource,
                        struct fleet_score_object *ret) {
    const struct fleet_contents *c = v->contents;
    const uint32_t id = contents_score_find(c, cluster, resource);
    *ret = (struct fleet_score_object){.item_count = 0};
    if (id != FLEET_NONE)
        *ret = object_of(c, id);
    return id != FLEET_NONE;
}

struct fleet_score_item fleet_score_item(const struct fleet_view *v,
                                         const struct fleet_score_object *o, uint32_t i) {
    const struct score_item *item = &score_at(v->contents, o->number)->items[i];
    return (struct fleet_score_item){intern_str(&v->contents->strings, item->name), item->value};
}

bool fleet_score_has(const struct fleet_view *v, const struct fleet_score_object *o,
                     struct str name) {
    const uint32_t id = intern_find(&v->contents->strings, name);
    if (id == INTERN_NONE || o->item_count == 0)
        return false;
    const struct score_record *s = score_at(v->contents, o->number);
    const uint32_t place = place_of(s, id);
    return place < s->item_count && s->items[place].name == id;
}

void fleet_score_objects_each(const struct fleet_view *v,
                              void (*visit)(void *ctx, const struct fleet_score_object *o),
                              void *ctx) {
    const struct fleet_contents *c = v->contents;
    for (POOL_EACH(&c->scores, id)) {
        const struct fleet_score_object o = object_of(c, id);
        uint32_t shard;
        if (injected_resource_read(o.resource, &shard))
            visit(ctx, &o);
    }
}
