#include "model/ocm.h"

#include "model/fields.h"

#include <stdlib.h>

struct placed_item {
    struct placement_score_item item;
    uint32_t place; /* position in the text */
};

/* An AddOnPlacementScore, while it is read. */
struct read_score {
    struct placement_score score;
    struct placed_item *items;
    uint32_t count;
};

static const struct json_field item_fields[] = {
    JSON_TEXT("name", struct placed_item, item.name),
    JSON_INTEGER("value", struct placed_item, item.value, INT32_MIN, INT32_MAX, .absent = 0),
};
static const struct json_field status_fields[] = {
    JSON_LIST("scores", struct read_score, items, count, UINT32_MAX, item_fields),
    JSON_TIME("validUntil", struct read_score, score.valid_until_ms,
              JSON_GIVEN(struct read_score, score.has_end)),
};
static const struct json_field fields[] = {
    JSON_CALL("metadata", struct read_score, score.meta, meta_read),
    JSON_WITHIN("status", status_fields),
};

static int by_name_and_place(const void *a, const void *b) {
    const struct placed_item *left = a, *right = b;
    int order = str_cmp(left->item.name, right->item.name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the scores by name; of equal names keeps only the last score. */
static void gather(struct json_reader *r, struct read_score *read) {
    struct placed_item *placed = read->items;
    uint32_t kept = 0;
    if (placed == NULL)
        return;
    struct placement_score_item *items = arena_array(r->arena, read->count, sizeof *items);
    if (items == NULL)
        return; /* the arena has failed */
    if (!steps_take_sort(&r->arena->steps, read->count)) {
        json_fail(r, "too many scores");
        return;
    }
    for (uint32_t i = 0; i < read->count; i++)
        placed[i].place = i;
    qsort(placed, read->count, sizeof *placed, by_name_and_place);
    for (uint32_t i = 0; i < read->count; i++)
        if (i + 1 == read->count || !str_eq(placed[i].item.name, placed[i + 1].item.name))
            items[kept++] = placed[i].item;
    read->score.items = items;
    read->score.item_count = kept;
}

void placement_score_decode(struct json_reader *r, struct placement_score *ret) {
    struct read_score read = {.count = 0};
    json_fields(r, &JSON_ROWS(fields), &read);
    gather(r, &read);
    *ret = read.score;
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
}
