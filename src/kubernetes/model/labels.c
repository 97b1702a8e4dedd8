#include "model/labels.h"

#include "base/dns_name.h"

#include <stdlib.h>

bool labels_lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct labels *labels = ctx;
    uint32_t low = 0, high = labels->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(labels->items[middle].key, key);
        if (order == 0) {
            *ret_value = labels->items[middle].value;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* ---- decoding ---- */

struct placed_label {
    struct label label;
    uint32_t place; /* position in the text */
};

static int by_key_and_place(const void *a, const void *b) {
    const struct placed_label *left = a, *right = b;
    int order = str_cmp(left->label.key, right->label.key);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts labels; of equal keys the last label stays. Returns the number of labels left. */
static uint32_t sort(struct label *items, uint32_t count, struct arena *arena) {
    struct placed_label *placed = arena_array(arena, count, sizeof *placed);
    uint32_t kept = 0;
    if (placed == NULL)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        placed[i] = (struct placed_label){items[i], i};
    qsort(placed, count, sizeof *placed, by_key_and_place);
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 == count || !str_eq(placed[i].label.key, placed[i + 1].label.key))
            items[kept++] = placed[i].label;
    return kept;
}

struct labels labels_merge(struct labels first, struct labels second, struct arena *arena) {
    uint32_t i = 0, k = 0, count = 0;
    struct label *items = arena_array(arena, (size_t)first.count + second.count, sizeof *items);
    while (items != NULL && (i < first.count || k < second.count)) {
        int order = i == first.count    ? 1
                    : k == second.count ? -1
                                        : str_cmp(first.items[i].key, second.items[k].key);
        i += order <= 0;
        items[count++] = order < 0 ? first.items[i - 1] : second.items[k++];
    }
    return (struct labels){items, count};
}

/* Returns the labels in order. API servers send labels in order; a patch adds labels at the end.
 * `sorted`: the number of labels at the beginning that are in order. */
static struct labels in_order(struct label *items, uint32_t count, uint32_t sorted,
                              struct json_reader *r) {
    if (sorted == count)
        return (struct labels){items, count};
    if (!steps_take_sort(&r->arena->steps, count - sorted)) {
        json_fail(r, "too many entries that are not sorted");
        return (struct labels){0};
    }
    uint32_t kept = sort(items + sorted, count - sorted, r->arena);
    return labels_merge((struct labels){items, sorted}, (struct labels){items + sorted, kept},
                        r->arena);
}

struct labels labels_decode(struct json_reader *r) {
    struct label *items = NULL;
    uint32_t count = 0, cap = 0, sorted = 0;
    struct str key;
    if (!json_object(r))
        return (struct labels){0};
    while (json_member(r, &key)) {
        items = arena_push(r->arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return (struct labels){0};
        if (sorted == count && (count == 0 || str_cmp(items[count - 1].key, key) < 0))
            sorted++;
        items[count++] = (struct label){key, json_string(r)};
    }
    (void)steps_take(&r->arena->steps, count); /* the next check sees if steps are left */
    return in_order(items, count, sorted, r);
}

/* ---- syntax ---- */

enum { LABEL_NAME_MAX = 63, CLAIM_NAME_MAX = 253 };

static bool is_lower_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Has the name 1..max characters, alphanumeric at both ends, [-_.A-Za-z0-9] inside? */
static bool name_valid(struct str name, size_t max) {
    if (name.n == 0 || name.n > max || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return false;
    for (size_t i = 1; i + 1 < name.n; i++)
        if (!is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_' && name.p[i] != '.')
            return false;
    return true;
}

/* Is the key [prefix/]name, with a name of at most `max` characters? */
static bool qualified_valid(struct str key, size_t max) {
    size_t slash = str_find(key, '/');
    if (slash == SIZE_MAX)
        return name_valid(key, max);
    return dns_subdomain_valid((struct str){key.p, slash}) &&
           name_valid((struct str){key.p + slash + 1, key.n - slash - 1}, max);
}

bool label_key_valid(struct str key) {
    return qualified_valid(key, LABEL_NAME_MAX);
}

bool claim_key_valid(struct str key) {
    return key.n <= CLAIM_NAME_MAX && qualified_valid(key, CLAIM_NAME_MAX);
}

bool label_value_valid(struct str value) {
    return value.n == 0 || name_valid(value, LABEL_NAME_MAX);
}
