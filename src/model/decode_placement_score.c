#include "model/ocm.h"

#include "model/fields.h"

#include <stdlib.h>

struct placed_item {
    struct placement_score_item item;
    uint32_t place; /* in the text */
};

static void item_decode(struct json_reader *r, void *into) {
    struct placed_item *i = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            i->item.name = json_string(r);
        else if (str_eq(key, STR("value")))
            i->item.value = (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
    }
}

static int by_name_and_place(const void *a, const void *b) {
    const struct placed_item *left = a, *right = b;
    int order = str_cmp(left->item.name, right->item.name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

static void items_decode(struct json_reader *r, struct placement_score *ret) {
    uint32_t count, kept = 0;
    struct placed_item *placed = json_array_of(r, sizeof *placed, UINT32_MAX, item_decode, &count);
    struct placement_score_item *items = arena_array(r->arena, count, sizeof *items);
    ret->items = NULL;
    ret->item_count = 0;
    if (placed == NULL || items == NULL)
        return;
    if (!steps_take_sort(&r->arena->steps, count)) {
        json_fail(r, "too many scores");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        placed[i].place = i;
    qsort(placed, count, sizeof *placed, by_name_and_place);
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 == count || !str_eq(placed[i].item.name, placed[i + 1].item.name))
            items[kept++] = placed[i].item;
    ret->items = items;
    ret->item_count = kept;
}

static void status_decode(struct json_reader *r, struct placement_score *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("scores")))
            items_decode(r, ret);
        else if (str_eq(key, STR("validUntil")))
            ret->has_end = json_time(r, &ret->valid_until_ms);
    }
}

void placement_score_decode(struct json_reader *r, struct placement_score *ret) {
    struct str key;
    *ret = (struct placement_score){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret);
    }
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
}
