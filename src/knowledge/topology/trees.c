/*
 * Trees hold every known candidate's place under several topology keys, in order. A tree is made on
 * first use, and is right until labels change, a candidate comes or goes, or slots are added. Such
 * changes are rare, and to make the tree again is as fast as many changes in it.
 */
#include "base/limits.h"
#include "topology/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { BYTES_A_STEP = 1024 }; /* bytes that one step frees */

static bool is_of(const struct tree_record *tree, const struct topology *t,
                  const struct topology_column *columns, uint32_t count) {
    bool same = tree->moves == t->moves && tree->key_count == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = tree->keys[i] == columns[i].record->key;
    return same;
}

void tree_free(void *topology, uint32_t id) {
    struct topology *t = topology;
    struct tree_record *tree = pool_at(&t->trees, id);
    t->work += 1 + tree->entry.cost.bytes / BYTES_A_STEP;
    lru_remove(&t->trees_kept, id);
    free(tree->leaf_of);
    free(tree->parents);
    pool_give(&t->trees, id);
}

void built_tree_free(struct built_tree *built) {
    free(built->record.leaf_of);
    free(built->record.parents);
    free(built);
}

/* ---- building ---- */

static uint32_t domain_or_empty(const struct topology_column *column, uint32_t slot) {
    const uint32_t domain = column->domain_of[slot];
    if (domain != TOPOLOGY_NONE)
        return domain;
    return column->empty != TOPOLOGY_NONE ? column->empty : column->domains;
}

static int fill(const struct topology *t, const struct topology_column *columns,
                struct tree_record *record, struct prefix_tree *ret) {
    for (KNOWN_EACH(t, slot)) {
        uint32_t prefix = PREFIX_ROOT;
        for (uint32_t i = 0; i < record->key_count; i++) {
            prefix = prefix_make(ret, prefix, domain_or_empty(&columns[i], slot));
            if (prefix == PREFIX_NONE)
                return -ENOMEM;
        }
        record->leaf_of[slot] = prefix;
    }
    return 0;
}

/* Makes the arrays with their exact lengths. */
static int make(const struct topology *t, const struct topology_column *columns,
                struct tree_record *record) {
    CLEANUP(arena_done) struct arena arena;
    struct prefix_tree tree;
    arena_init(&arena, LIMIT_TREE_ARENA);
    record->leaf_of = malloc(record->cap * sizeof *record->leaf_of);
    if (record->leaf_of == NULL || prefix_tree_init(&tree, &arena) != 0)
        return -ENOMEM;
    memset(record->leaf_of, 0xff, record->cap * sizeof *record->leaf_of); /* PREFIX_NONE */
    if (fill(t, columns, record, &tree) != 0)
        return -ENOMEM;
    record->parents = malloc(tree.count * sizeof *record->parents);
    if (record->parents == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree.count; i++)
        record->parents[i] = tree.items[i].parent;
    record->count = tree.count;
    return 0;
}

static int build(struct topology_view *v, const struct topology_column *columns, uint32_t count,
                 struct tree_record **ret) {
    const struct topology *t = v->topology;
    if (v->steps != NULL &&
        !steps_take(v->steps, (uint64_t)t->known_names.count * count + topology_walk_steps(t)))
        return -E2BIG;
    struct built_tree *built = calloc(1, sizeof *built);
    if (built == NULL)
        return -ENOMEM;
    struct tree_record *record = &built->record;
    record->moves = t->moves;
    record->cap = t->cap > 0 ? t->cap : 1;
    record->key_count = count;
    for (uint32_t i = 0; i < count; i++)
        record->keys[i] = columns[i].record->key;
    int r = make(t, columns, record);
    if (r != 0) {
        built_tree_free(built);
        return r;
    }
    built->cost = (struct cost){1, sizeof *record + record->cap * sizeof *record->leaf_of +
                                       record->count * sizeof *record->parents};
    built->next = v->trees;
    v->trees = built;
    v->built++;
    *ret = record;
    return 0;
}

/* Forgets outdated trees to make room, some of them at a time: the caller holds a lock. */
static void forget_old(struct topology *t) {
    uint32_t left = LRU_AT_A_TIME;
    for (POOL_EACH(&t->trees, id))
        if (left > 0 && ((const struct tree_record *)pool_at(&t->trees, id))->moves != t->moves) {
            tree_free(t, id);
            left--;
        }
}

static bool is_kept(const struct topology *t, const struct tree_record *wanted) {
    for (POOL_EACH(&t->trees, id)) {
        const struct tree_record *tree = pool_at(&t->trees, id);
        if (tree->moves == wanted->moves && tree->key_count == wanted->key_count &&
            memcmp(tree->keys, wanted->keys, sizeof tree->keys) == 0)
            return true;
    }
    return false;
}

void tree_publish(struct topology *t, struct built_tree *built, const struct topology_view *v) {
    struct lru *lru = &t->trees_kept;
    forget_old(t);
    if (built->record.moves != t->moves || is_kept(t, &built->record) ||
        !lru_make_room(lru, v->asker, &built->cost))
        return;
    uint32_t id = pool_take(&t->trees);
    if (id == POOL_NONE)
        return;
    if (lru_add(lru, id, v->asker, &built->cost, v->tick) != 0) {
        pool_give(&t->trees, id);
        return;
    }
    struct tree_record *tree = pool_at(&t->trees, id);
    const struct lru_entry entry = tree->entry;
    *tree = built->record;
    tree->entry = entry;
    built->record.leaf_of = NULL; /* the topology owns their memory now */
    built->record.parents = NULL;
}

/* ---- asking ---- */

int topology_tree(struct topology_view *v, const struct topology_column *columns, uint32_t count,
                  struct topology_tree *ret) {
    struct topology *t = v->topology;
    struct tree_record *record = NULL;
    assert(count <= TOPOLOGY_TREE_KEYS);
    for (POOL_EACH(&t->trees, id)) {
        struct tree_record *tree = pool_at(&t->trees, id);
        if (!is_of(tree, t, columns, count))
            continue;
        atomic_store_explicit(&tree->entry.used, v->tick, memory_order_relaxed);
        record = tree;
        break;
    }
    for (struct built_tree *b = v->trees; record == NULL && b != NULL; b = b->next)
        if (is_of(&b->record, t, columns, count))
            record = &b->record;
    int r = record == NULL ? build(v, columns, count, &record) : 0;
    if (r == 0)
        *ret = (struct topology_tree){record->leaf_of, record->parents, record->count};
    return r;
}
