/*
 * Resource models of a Karmada Cluster: grades of free amounts, and how many nodes are in each
 * grade. upstream: karmada pkg/apis/cluster/v1alpha1 ResourceModel, AllocatableModeling;
 * pkg/estimator/client buildModelNodes() (v1.18.1) for the model to which a count of nodes belongs.
 */
#include "base/limits.h"
#include "model/fields.h"
#include "model/karmada.h"

#include <stdlib.h>

/* ---- decoding ---- */

struct read_range {
    struct karmada_range range;
    uint32_t place; /* position in the text */
};

static void range_decode(struct json_reader *r, void *into) {
    struct read_range *read = into;
    struct karmada_range *range = &read->range;
    struct quantity min = {0};
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            range->name = json_string(r);
        else if (str_eq(key, STR("min")))
            min = amount_decode(r, NULL);
    }
    range->nano = min.nano;
    range->amount =
        str_eq(range->name, STR("cpu")) ? quantity_milli_value(&min) : quantity_value(&min);
    range->scheduled = resource_is_scheduled(range->name);
}

static int by_name(const void *a, const void *b) {
    const struct read_range *left = a, *right = b;
    const int order = str_cmp(left->range.name, right->range.name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the ranges by name; of equal names the last one counts. */
static void ranges_decode(struct json_reader *r, struct karmada_model *model) {
    uint32_t count, kept = 0;
    struct read_range *read = json_array_of(r, sizeof *read, LIMIT_RESOURCES, range_decode, &count);
    struct karmada_range *ranges = arena_array(r->arena, count, sizeof *ranges);
    if (ranges == NULL || read == NULL)
        return; /* no ranges, or no memory: the error stays in the arena */
    for (uint32_t i = 0; i < count; i++)
        read[i].place = i;
    if (!steps_take_sort(&r->arena->steps, count)) {
        json_fail(r, "too many ranges");
        return;
    }
    qsort(read, count, sizeof *read, by_name);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && str_eq(ranges[kept - 1].name, read[i].range.name))
            kept--;
        ranges[kept++] = read[i].range;
    }
    model->ranges = ranges;
    model->range_count = kept;
}

static void ranges_read(struct json_reader *r, void *into) {
    ranges_decode(r, into);
}

static const struct json_field model_fields[] = {
    JSON_INTEGER("grade", struct karmada_model, grade, 0, INT64_MAX, .absent = 0),
    JSON_CALL_WHOLE("ranges", ranges_read),
};
static const struct json_field modeling_fields[] = {
    JSON_INTEGER("grade", struct karmada_modeling, grade, 0, INT64_MAX, .absent = 0),
    JSON_INTEGER("count", struct karmada_modeling, count, INT64_MIN, INT64_MAX, .absent = 0),
};

static void model_read(struct json_reader *r, void *into) {
    json_fields(r, &JSON_ROWS(model_fields), into);
}

static void modeling_read(struct json_reader *r, void *into) {
    json_fields(r, &JSON_ROWS(modeling_fields), into);
}

void karmada_models_decode(struct json_reader *r, struct karmada_models *ret) {
    ret->items = json_array_of(r, sizeof *ret->items, LIMIT_MODELS, model_read, &ret->count);
}

void karmada_modelings_decode(struct json_reader *r, struct karmada_models *ret) {
    ret->modelings =
        json_array_of(r, sizeof *ret->modelings, LIMIT_MODELS, modeling_read, &ret->modeling_count);
}

/* ---- nodes of each grade ---- */

/* The grade and the index of a model. */
struct graded {
    int64_t grade;
    uint32_t place;
};

static int by_grade(const void *a, const void *b) {
    const struct graded *left = a, *right = b;
    if (left->grade != right->grade)
        return left->grade < right->grade ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* Returns the index of the last model with this grade: of several models, the last gets the nodes.
 * UINT32_MAX: no model has the grade. */
static uint32_t last_of_grade(const struct graded *sorted, uint32_t count, int64_t grade) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sorted[middle].grade <= grade)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && sorted[low - 1].grade == grade ? sorted[low - 1].place : UINT32_MAX;
}

static void count_nodes(struct karmada_models *ret, struct karmada_model *items,
                        const struct graded *sorted) {
    for (uint32_t i = 0; i < ret->modeling_count; i++) {
        const struct karmada_modeling *modeling = &ret->modelings[i];
        const uint32_t place = last_of_grade(sorted, ret->count, modeling->grade);
        ret->negative = ret->negative || modeling->count < 0;
        if (place == UINT32_MAX || modeling->count <= 0)
            continue;
        if (__builtin_add_overflow(items[place].nodes, (uint64_t)modeling->count,
                                   &items[place].nodes))
            items[place].nodes = UINT64_MAX;
    }
}

void karmada_models_finish(struct json_reader *r, struct karmada_models *ret) {
    struct karmada_model *items = arena_array_unset(r->arena, ret->count, sizeof *items);
    struct graded *sorted = arena_array_unset(r->arena, ret->count, sizeof *sorted);
    uint32_t *order = arena_array_unset(r->arena, ret->count, sizeof *order);
    if (items == NULL || sorted == NULL || order == NULL || json_failed(r)) {
        ret->count = 0; /* the error stays in the arena or in the reader */
        return;
    }
    if (!steps_take_sort(&r->arena->steps, ret->count)) {
        json_fail(r, "too many resource models");
        return;
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        items[i] = ret->items[i];
        sorted[i] = (struct graded){items[i].grade, i};
    }
    if (ret->count > 1)
        qsort(sorted, ret->count, sizeof *sorted, by_grade);
    for (uint32_t i = 0; i < ret->count; i++)
        order[i] = sorted[i].place;
    count_nodes(ret, items, sorted);
    ret->items = items;
    ret->by_grade = order;
}
