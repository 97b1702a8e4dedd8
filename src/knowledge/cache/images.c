/*
 * Images on nodes. A name is stored once, as its hash, with the size that the first node reported
 * and the number of nodes that have it. (Two of 100,000 names have an equal hash with a chance of 1
 * in 3 thousand million; a score would be wrong then.) A node has its images' ids in order, as
 * differences of mostly one byte: so 5,000 nodes with 50 images take 0.9 MB, and not 3 MB as with
 * names and whole ids. upstream: kube-scheduler backend/cache addNodeImageStates().
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct image_record *at(const struct cache *c, uint32_t id) {
    return pool_at(&c->images, id);
}

static bool name_equal(const void *ctx, uint32_t id, const void *name) {
    const struct cache *c = ctx;
    return at(c, id)->name == *(const uint64_t *)name;
}

static uint32_t image_find(const struct cache *c, uint64_t name) {
    return hashmap_find(&c->image_index, name, name_equal, c, &name);
}

static uint32_t image_ref(struct cache *c, const struct node_image *image) {
    uint64_t name = hash_str(image->name);
    uint32_t id = image_find(c, name);
    if (id != HASHMAP_NONE) {
        at(c, id)->nodes++;
        return id;
    }
    if (hashmap_reserve(&c->image_index) != 0)
        return POOL_NONE;
    id = pool_take(&c->images);
    if (id == POOL_NONE)
        return POOL_NONE;
    *at(c, id) = (struct image_record){.name = name, .nodes = 1, .size = image->size};
    hashmap_insert(&c->image_index, name, id);
    return id;
}

static void image_unref(struct cache *c, uint32_t id) {
    if (--at(c, id)->nodes > 0)
        return;
    hashmap_remove(&c->image_index, at(c, id)->name, id);
    pool_give(&c->images, id);
}

/* ---- a node's list ---- */

enum { DIFFERENCE_MAX = 5 }; /* bytes of a difference: seven bits in each, the lowest first */

/* The list ends with a difference of 0. The first difference is the first id + 1. */
static uint8_t *put_difference(uint8_t *p, uint32_t difference) {
    for (; difference >= 0x80; difference >>= 7)
        *p++ = (uint8_t)(difference | 0x80);
    *p++ = (uint8_t)difference;
    return p;
}

bool cache_next_image(struct cache_node_images *images) {
    uint32_t difference = 0;
    if (images->p == NULL || *images->p == 0)
        return false;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *images->p++;
        difference |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    images->id += difference;
    return true;
}

static struct cache_node_images all_of(const uint8_t *list) {
    return (struct cache_node_images){.p = list, .id = UINT32_MAX};
}

/* Returns the list's bytes, with the 0 at its end. */
static uint64_t bytes_of(const uint8_t *list) {
    struct cache_node_images i = all_of(list);
    while (cache_next_image(&i))
        continue;
    return list == NULL ? 0 : (uint64_t)(i.p - list) + 1;
}

void image_list_free(struct cache *c, uint8_t *list) {
    for (struct cache_node_images i = all_of(list); cache_next_image(&i);)
        image_unref(c, i.id);
    c->list_bytes -= bytes_of(list);
    free(list);
}

/* Inserts an id into sorted ids. Returns false if it was there already. Moving a few ids is
 * faster than sorting. */
static bool insert(uint32_t *ids, uint32_t count, uint32_t id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && ids[low] == id)
        return false;
    memmove(ids + low + 1, ids + low, (count - low) * sizeof *ids);
    ids[low] = id;
    return true;
}

/* Returns the encoded list; NULL without memory. */
static uint8_t *encode(const uint32_t *ids, uint32_t count) {
    uint8_t bytes[LIMIT_NODE_IMAGES * DIFFERENCE_MAX + 1], *end = bytes;
    for (uint32_t i = 0; i < count; i++)
        end = put_difference(end, ids[i] - (i == 0 ? UINT32_MAX : ids[i - 1]));
    *end++ = 0;
    uint8_t *list = malloc((size_t)(end - bytes));
    return list == NULL ? NULL : memcpy(list, bytes, (size_t)(end - bytes));
}

int image_list_make(struct cache *c, const struct node *node, uint8_t **ret) {
    uint32_t ids[LIMIT_NODE_IMAGES], count = 0, id = 0, named = node->image_count;
    *ret = NULL;
    if (named == 0)
        return 0;
    if (named > LIMIT_NODE_IMAGES)
        named = LIMIT_NODE_IMAGES;
    c->work += named;
    for (uint32_t i = 0; i < named && (id = image_ref(c, &node->images[i])) != POOL_NONE; i++)
        if (insert(ids, count, id))
            count++;
        else
            image_unref(c, id); /* named twice */
    if (id != POOL_NONE)
        *ret = encode(ids, count);
    c->list_bytes += bytes_of(*ret);
    if (*ret != NULL)
        return 0;
    while (count > 0)
        image_unref(c, ids[--count]);
    return -ENOMEM;
}

/* ---- reading ---- */

bool cache_image_find(const struct cache_view *v, struct str name, struct cache_image *ret) {
    uint32_t id = image_find(v->cache, hash_str(name));
    if (id == HASHMAP_NONE)
        return false;
    *ret = (struct cache_image){id, at(v->cache, id)->nodes, at(v->cache, id)->size};
    return true;
}

struct cache_node_images cache_node_images(const struct cache_view *v, uint32_t slot) {
    return all_of(v->cache->node_records[slot].images);
}
