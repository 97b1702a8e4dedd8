#include "lines/candidates.h"

#include "base/json_fields.h"
#include "base/limits.h"

#include <stdlib.h>

static int compare_names(const void *left, const void *right) {
    const struct str *a = *(const struct str *const *)left;
    const struct str *b = *(const struct str *const *)right;
    return str_cmp(*a, *b);
}

void names_refuse_repeated(struct json_reader *r, const struct str *names, size_t stride,
                           uint32_t count) {
    if (json_failed(r) || count < 2)
        return;
    const struct str **sorted = arena_array_unset(r->arena, count, sizeof *sorted);
    if (sorted == NULL)
        return;
    if (!steps_take_sort(&r->arena->steps, count)) {
        json_fail(r, "too many items");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (const struct str *)(const void *)((const char *)names + i * stride);
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (uint32_t i = 1; i < count; i++)
        if (str_eq(*sorted[i - 1], *sorted[i])) {
            json_fail(r, "'%.*s' is there twice", STR_ARG(*sorted[i]));
            return;
        }
}

static int64_t saturating_add(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum; /* both numbers are at least 0 */
}

static void traits_member(struct json_reader *r, struct str key, struct cluster_traits *cluster) {
    if (str_eq(key, STR("name")))
        cluster->name = json_string(r);
    else if (str_eq(key, STR("provider")))
        cluster->provider = json_string(r);
    else if (str_eq(key, STR("region")))
        cluster->region = json_string(r);
    else if (str_eq(key, STR("zones")))
        cluster->zones = json_string_array(r, UINT32_MAX, &cluster->zone_count);
    else if (str_eq(key, STR("labels")))
        cluster->labels = labels_decode(r);
}

static void candidate_decode(struct json_reader *r, void *into) {
    struct karmada_candidate *c = into;
    struct str key;
    c->available = KARMADA_NOT_GIVEN;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("score")))
                c->score = json_integer(r, INT64_MIN, INT64_MAX);
            else if (str_eq(key, STR("allocatable")))
                c->allocatable = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("previous")))
                c->previous = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("available")) && json_peek(r) != JSON_NULL)
                c->available = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("overflowOrder")))
                c->overflow_order = (int32_t)json_integer(r, 0, INT32_MAX);
            else
                traits_member(r, key, &c->cluster);
        }
    if (str_empty(c->cluster.name))
        json_fail(r, "name is required");
}

static void selectable_decode(struct json_reader *r, void *into) {
    struct karmada_candidate *c = into;
    candidate_decode(r, c);
    if (c->available == KARMADA_NOT_GIVEN)
        c->available = saturating_add(c->allocatable, c->previous);
}

const struct karmada_candidate *candidates_decode(struct json_reader *r, bool to_select,
                                                  uint32_t *ret_count) {
    const struct karmada_candidate *candidates =
        json_array_of(r, sizeof *candidates, LIMIT_LINE_CLUSTERS,
                      to_select ? selectable_decode : candidate_decode, ret_count);
    if (candidates != NULL)
        names_refuse_repeated(r, &candidates->cluster.name, sizeof *candidates, *ret_count);
    return candidates;
}
