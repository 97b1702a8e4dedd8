#include "topology/name_order.h"

#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool is_right(const struct name_order *order, const struct topology *t) {
    /* between two frees the number of slots only grows */
    return order->slots != NULL && order->epoch == t->slot_epoch &&
           order->count == t->candidates.count;
}

void name_order_done(struct name_order *order) {
    free(order->slots);
    free(order->rank_of);
    *order = (struct name_order){0};
}

void built_order_free(struct built_order *built) {
    name_order_done(&built->order);
    free(built);
}

void name_order_publish(struct topology *t, struct built_order *built) {
    if (is_right(&t->order, t) || !is_right(&built->order, t))
        return;
    name_order_done(&t->order);
    t->order = built->order;
    built->order = (struct name_order){0}; /* the topology owns its arrays now */
}

/* ---- sorting ---- */

struct named_slot {
    uint64_t key; /* the first bytes after the prefix of all names */
    uint32_t slot;
};

static struct str name_of(const struct topology *t, uint32_t slot) {
    return ((const struct candidate_record *)pool_at(&t->candidates, slot))->text;
}

/* Returns how many bytes all names have in common at the beginning. */
static size_t common_prefix(const struct topology *t, const struct named_slot *items,
                            uint32_t count) {
    const struct str first = name_of(t, items[0].slot);
    size_t common = first.n;
    for (uint32_t i = 1; i < count; i++) {
        const struct str name = name_of(t, items[i].slot);
        size_t n = 0;
        while (n < common && n < name.n && name.p[n] == first.p[n])
            n++;
        common = n;
    }
    return common;
}

static uint64_t key_of(struct str name, size_t from) {
    uint64_t key = 0;
    for (size_t i = from; i < from + sizeof key; i++)
        key = key << 8 | (i < name.n ? (unsigned char)name.p[i] : 0);
    return key;
}

/* If keys differ, the names have the order of their keys, which are parts of the names. */
static int compare(const void *a, const void *b, void *topology) {
    const struct named_slot *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return str_cmp(name_of(topology, left->slot), name_of(topology, right->slot));
}

static int sort(struct topology *t, struct name_order *order) {
    struct named_slot *items = malloc((t->candidates.count + 1) * sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (POOL_EACH(&t->candidates, slot))
        items[order->count++].slot = slot;
    const size_t common = order->count == 0 ? 0 : common_prefix(t, items, order->count);
    for (uint32_t i = 0; i < order->count; i++)
        items[i].key = key_of(name_of(t, items[i].slot), common);
    qsort_r(items, order->count, sizeof *items, compare, t);
    for (uint32_t i = 0; i < order->count; i++) {
        order->slots[i] = items[i].slot;
        order->rank_of[items[i].slot] = i;
    }
    free(items);
    return 0;
}

static int build(struct topology_view *v, struct name_order *order) {
    struct topology *t = v->topology;
    const size_t cap = t->cap > 0 ? t->cap : 1;
    order->epoch = t->slot_epoch;
    order->slots = malloc(cap * sizeof *order->slots);
    order->rank_of = malloc(cap * sizeof *order->rank_of);
    if (order->slots == NULL || order->rank_of == NULL)
        return -ENOMEM;
    memset(order->rank_of, 0xff, cap * sizeof *order->rank_of); /* TOPOLOGY_NONE */
    return sort(t, order);
}

/* ---- asking ---- */

int topology_order(struct topology_view *v, struct topology_order *ret) {
    const struct topology *t = v->topology;
    if (!is_right(&t->order, t) && v->order == NULL) {
        if (v->steps != NULL && !steps_take_sort(v->steps, t->candidates.count))
            return -E2BIG;
        struct built_order *built = calloc(1, sizeof *built);
        if (built == NULL)
            return -ENOMEM;
        if (build(v, &built->order) != 0) {
            built_order_free(built);
            return -ENOMEM;
        }
        v->order = built;
        v->built++;
    }
    const struct name_order *order = is_right(&t->order, t) ? &t->order : &v->order->order;
    *ret = (struct topology_order){order->slots, order->count, order->rank_of};
    return 0;
}
