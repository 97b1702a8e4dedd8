#include "topology/label_set.h"

#include <errno.h>
#include <stdlib.h>

static const uint32_t *keys_of(const struct intern *strings, const struct label_set *set) {
    return (const uint32_t *)(const void *)intern_str(strings, set->keys).p;
}

static uint64_t bytes_of(const struct label_set *set) {
    enum { BESIDE = 16 }; /* bytes that malloc() adds */
    return set->count * sizeof *set->values + BESIDE;
}

static void unref(struct intern *strings, const uint32_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        intern_unref(strings, ids[i]);
}

/* References the strings of all labels, in two lists, or none of them. 0 or -ENOMEM. */
static int ref_all(struct intern *strings, struct labels labels, uint32_t *keys, uint32_t *values) {
    for (uint32_t i = 0; i < labels.count; i++) {
        keys[i] = intern_ref(strings, labels.items[i].key);
        values[i] = intern_ref(strings, labels.items[i].value);
        if (keys[i] == INTERN_NONE || values[i] == INTERN_NONE) {
            unref(strings, keys, i + 1);
            unref(strings, values, i + 1);
            return -ENOMEM;
        }
    }
    return 0;
}

static int make(struct intern *strings, struct labels labels, uint32_t *keys,
                struct label_set *ret) {
    uint32_t *values = malloc(labels.count * sizeof *values);
    if (values == NULL || ref_all(strings, labels, keys, values) != 0) {
        free(values);
        return -ENOMEM;
    }
    uint32_t list = intern_ref(
        strings, (struct str){(const char *)(const void *)keys, labels.count * sizeof *keys});
    if (list == INTERN_NONE) {
        unref(strings, keys, labels.count);
        unref(strings, values, labels.count);
        free(values);
        return -ENOMEM;
    }
    *ret = (struct label_set){values, labels.count, list};
    strings->bytes += bytes_of(ret);
    return 0;
}

int label_set_make(struct intern *strings, struct labels labels, struct label_set *ret) {
    enum { FEW = 64 };
    uint32_t few[FEW], *keys = few;
    if (labels.count == 0) {
        *ret = (struct label_set){0};
        return 0;
    }
    if (labels.count > FEW && (keys = malloc(labels.count * sizeof *keys)) == NULL)
        return -ENOMEM;
    int r = make(strings, labels, keys, ret);
    if (keys != few)
        free(keys);
    return r;
}

void label_set_free(struct intern *strings, struct label_set *set) {
    if (set->count > 0) {
        unref(strings, keys_of(strings, set), set->count);
        unref(strings, set->values, set->count);
        intern_unref(strings, set->keys);
        strings->bytes -= bytes_of(set);
    }
    free(set->values);
    *set = (struct label_set){0};
}

bool label_set_is(const struct intern *strings, const struct label_set *set, struct labels labels) {
    if (set->count != labels.count)
        return false;
    if (set->count == 0)
        return true;
    const uint32_t *keys = keys_of(strings, set);
    for (uint32_t i = 0; i < set->count; i++)
        if (!str_eq(intern_str(strings, keys[i]), labels.items[i].key) ||
            !str_eq(intern_str(strings, set->values[i]), labels.items[i].value))
            return false;
    return true;
}

struct label label_set_at(const struct intern *strings, const struct label_set *set, uint32_t i) {
    return (struct label){intern_str(strings, keys_of(strings, set)[i]),
                          intern_str(strings, set->values[i])};
}

/* Ids have no order; the list is sorted by the strings that they stand for. */
static uint32_t find_among_many(const struct intern *strings, const uint32_t *keys, uint32_t count,
                                uint32_t key) {
    const struct str wanted = intern_str(strings, key);
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys[middle] == key)
            return middle;
        if (str_cmp(intern_str(strings, keys[middle]), wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return count;
}

uint32_t label_set_value(const struct intern *strings, const struct label_set *set, uint32_t key) {
    enum { FEW = 32 }; /* this number of ids fits into a few cache lines */
    uint32_t i = 0;
    if (set->count == 0)
        return INTERN_NONE;
    const uint32_t *keys = keys_of(strings, set);
    if (set->count > FEW)
        i = find_among_many(strings, keys, set->count, key);
    else
        while (i < set->count && keys[i] != key)
            i++;
    return i < set->count ? set->values[i] : INTERN_NONE;
}

uint32_t label_set_first(const struct intern *strings, const struct label_set *set,
                         struct str prefix) {
    uint32_t low = 0, high = set->count;
    if (set->count == 0)
        return 0;
    const uint32_t *keys = keys_of(strings, set);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_cmp(intern_str(strings, keys[middle]), prefix) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && str_has_prefix(intern_str(strings, keys[low]), prefix) ? low
                                                                                      : set->count;
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
