#include "topology/label_set.h"

#include <errno.h>
#include <stdlib.h>

static void unref(struct intern *strings, struct label_ids *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        intern_unref(strings, items[i].key);
        intern_unref(strings, items[i].value);
    }
}

int label_set_make(struct intern *strings, struct labels labels, struct label_set *ret) {
    struct label_ids *items = NULL;
    if (labels.count > 0) {
        items = malloc(labels.count * sizeof *items);
        if (items == NULL)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < labels.count; i++) {
        items[i] = (struct label_ids){intern_ref(strings, labels.items[i].key),
                                      intern_ref(strings, labels.items[i].value)};
        if (items[i].key == INTERN_NONE || items[i].value == INTERN_NONE) {
            unref(strings, items, i + 1);
            free(items);
            return -ENOMEM;
        }
    }
    *ret = (struct label_set){items, labels.count};
    return 0;
}

void label_set_free(struct intern *strings, struct label_set *set) {
    unref(strings, set->items, set->count);
    free(set->items);
    *set = (struct label_set){0};
}

bool label_set_is(const struct intern *strings, const struct label_set *set, struct labels labels) {
    if (set->count != labels.count)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (!str_eq(intern_str(strings, set->items[i].key), labels.items[i].key) ||
            !str_eq(intern_str(strings, set->items[i].value), labels.items[i].value))
            return false;
    return true;
}

/* Ids have no order, but the strings that they stand for are sorted. */
static uint32_t value_among_many(const struct intern *strings, const struct label_set *set,
                                 uint32_t key) {
    const struct str wanted = intern_str(strings, key);
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->items[middle].key == key)
            return set->items[middle].value;
        if (str_cmp(intern_str(strings, set->items[middle].key), wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return INTERN_NONE;
}

uint32_t label_set_value(const struct intern *strings, const struct label_set *set, uint32_t key) {
    enum { FEW = 32 }; /* that many ids are in a few cache lines */
    if (set->count > FEW)
        return value_among_many(strings, set, key);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].key == key)
            return set->items[i].value;
    return INTERN_NONE;
}

bool label_set_lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct label_set_ref *ref = ctx;
    uint32_t id = intern_find(ref->strings, key);
    uint32_t value = id == INTERN_NONE ? INTERN_NONE : label_set_value(ref->strings, ref->set, id);
    if (value == INTERN_NONE)
        return false;
    *ret_value = intern_str(ref->strings, value);
    return true;
}
