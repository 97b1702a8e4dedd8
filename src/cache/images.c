/*
 * Images on nodes. A name is stored once, with the size that the first node reported and the number
 * of nodes that have it; a node has a sorted list of ids. upstream: kube-scheduler backend/cache
 * addNodeImageStates().
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct image_record *at(const struct cache *c, uint32_t id) {
    return pool_at(&c->images, id);
}

static bool name_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct str *name = key;
    return str_eq(intern_str(&c->strings, at(c, id)->name), *name);
}

static uint32_t image_find(const struct cache *c, struct str name) {
    return hashmap_find(&c->image_index, hash_str(name), name_equal, c, &name);
}

static uint32_t image_ref(struct cache *c, const struct node_image *image) {
    uint32_t id = image_find(c, image->name);
    if (id != HASHMAP_NONE) {
        at(c, id)->nodes++;
        return id;
    }
    if (hashmap_reserve(&c->image_index) != 0)
        return POOL_NONE;
    uint32_t name = intern_ref(&c->strings, image->name);
    id = name == INTERN_NONE ? POOL_NONE : pool_take(&c->images);
    if (id == POOL_NONE) {
        intern_unref(&c->strings, name);
        return POOL_NONE;
    }
    *at(c, id) = (struct image_record){.name = name, .nodes = 1, .size = image->size};
    hashmap_insert(&c->image_index, hash_str(image->name), id);
    return id;
}

static void image_unref(struct cache *c, uint32_t id) {
    if (--at(c, id)->nodes > 0)
        return;
    hashmap_remove(&c->image_index, hash_str(intern_str(&c->strings, at(c, id)->name)), id);
    intern_unref(&c->strings, at(c, id)->name);
    pool_give(&c->images, id);
}

void image_list_free(struct cache *c, struct image_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        image_unref(c, list->ids[i]);
    free(list->ids);
    *list = (struct image_list){NULL, 0};
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts them, and gives back what is there twice. */
static void make_unique(struct cache *c, struct image_list *list) {
    uint32_t unique = 0;
    qsort(list->ids, list->count, sizeof *list->ids, compare_ids);
    for (uint32_t i = 0; i < list->count; i++)
        if (unique == 0 || list->ids[unique - 1] != list->ids[i])
            list->ids[unique++] = list->ids[i];
        else
            image_unref(c, list->ids[i]);
    list->count = unique;
}

int image_list_make(struct cache *c, const struct node *node, struct image_list *ret) {
    *ret = (struct image_list){NULL, 0};
    if (node->image_count == 0)
        return 0;
    ret->ids = calloc(node->image_count, sizeof *ret->ids);
    if (ret->ids == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < node->image_count; i++) {
        uint32_t id = image_ref(c, &node->images[i]);
        if (id == POOL_NONE) {
            image_list_free(c, ret);
            return -ENOMEM;
        }
        ret->ids[ret->count++] = id;
    }
    c->work += ret->count;
    make_unique(c, ret);
    return 0;
}

/* ---- reading ---- */

bool cache_image_find(const struct cache_view *v, struct str name, struct cache_image *ret) {
    uint32_t id = image_find(v->cache, name);
    if (id == HASHMAP_NONE)
        return false;
    *ret = (struct cache_image){id, at(v->cache, id)->nodes, at(v->cache, id)->size};
    return true;
}

bool cache_node_has_image(const struct cache_view *v, uint32_t slot, uint32_t id) {
    const struct image_list *list = &v->cache->node_records[slot].images;
    return list->count > 0 && bsearch(&id, list->ids, list->count, sizeof id, compare_ids) != NULL;
}
