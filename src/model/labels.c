#include "model/labels.h"

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
    uint32_t place; /* in the text */
};

static int by_key_and_place(const void *a, const void *b) {
    const struct placed_label *left = a, *right = b;
    int order = str_cmp(left->label.key, right->label.key);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts labels that came in no order, which no API server sends; of equal keys the last stays.
 * Returns how many are left. */
static uint32_t sort(struct label *items, uint32_t count, struct json_reader *r) {
    struct placed_label *placed = arena_array(r->arena, count, sizeof *placed);
    uint32_t kept = 0;
    if (placed == NULL)
        return 0;
    if (!steps_take_sort(&r->arena->steps, count)) {
        json_fail(r, "too many entries that are not sorted");
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        placed[i] = (struct placed_label){items[i], i};
    qsort(placed, count, sizeof *placed, by_key_and_place);
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 == count || !str_eq(placed[i].label.key, placed[i + 1].label.key))
            items[kept++] = placed[i].label;
    return kept;
}

struct labels labels_decode(struct json_reader *r) {
    struct label *items = NULL;
    uint32_t count = 0, cap = 0;
    bool sorted = true;
    struct str key;
    if (!json_object(r))
        return (struct labels){0};
    while (json_member(r, &key)) {
        items = arena_push(r->arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return (struct labels){0};
        sorted = sorted && (count == 0 || str_cmp(items[count - 1].key, key) < 0);
        items[count++] = (struct label){key, json_string(r)};
    }
    return (struct labels){items, sorted ? count : sort(items, count, r)};
}

/* ---- syntax ---- */

static bool is_lower_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* 1..63 characters, alphanumeric at both ends, [-_.A-Za-z0-9] inside. */
static bool name_valid(struct str name) {
    if (name.n == 0 || name.n > 63 || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return false;
    for (size_t i = 1; i + 1 < name.n; i++)
        if (!is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_' && name.p[i] != '.')
            return false;
    return true;
}

/* A DNS-1123 subdomain: dot-separated lower-case parts, each alphanumeric at both ends. */
static bool prefix_valid(struct str prefix) {
    if (prefix.n == 0 || prefix.n > 253)
        return false;
    for (size_t i = 0; i < prefix.n; i++) {
        char c = prefix.p[i];
        bool edge = i == 0 || i + 1 == prefix.n || prefix.p[i - 1] == '.' || prefix.p[i + 1] == '.';
        if (!is_lower_alnum(c) && (edge || (c != '-' && c != '.')))
            return false;
    }
    return true;
}

bool label_key_valid(struct str key) {
    size_t slash = str_find(key, '/');
    if (slash == SIZE_MAX)
        return name_valid(key);
    return prefix_valid((struct str){key.p, slash}) &&
           name_valid((struct str){key.p + slash + 1, key.n - slash - 1});
}

bool label_value_valid(struct str value) {
    return value.n == 0 || name_valid(value);
}
