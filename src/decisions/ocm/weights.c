/*
 * Finds the prioritizers and their weights. upstream: schedule.go getWeights(), mergeWeights(),
 * getPrioritizers().
 *
 * Upstream merges configurations in a Go map whose key is the whole score coordinate, with a
 * pointer to addOn. If two coordinates are equal and have no addOn, the last one counts. Two
 * coordinates with an addOn are never equal, so an add-on score that is listed twice counts twice.
 *
 * `builtIn: Spread` is in upstream's API only, and a misconfiguration for its scheduler. With
 * spread terms, rounds use its weight for the score of spread.
 */
#include "model/injected.h"
#include "ocm/internal.h"

#include <stdlib.h>

struct entry {
    const struct placement_prioritizer *of;
    uint32_t place;
    bool counts; /* no later entry replaces this entry */
};

static const struct placement_prioritizer defaults[] = {
    {.has_coordinate = true, .built_in = {"Balance", 7}, .weight = 1},
    {.has_coordinate = true, .built_in = {"Steady", 6}, .weight = 1},
};
enum { DEFAULTS = sizeof defaults / sizeof defaults[0] };

/* ---- the entries that count ---- */

static int compare_coordinates(const struct placement_prioritizer *a,
                               const struct placement_prioritizer *b) {
    return a->type != b->type ? (int)a->type - (int)b->type : str_cmp(a->built_in, b->built_in);
}

static int compare_entries(const void *a, const void *b) {
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    const int order = compare_coordinates(left->of, right->of);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

static int mark_last(struct deciding *x, struct entry *entries, uint32_t count) {
    struct entry **sorted = arena_array(x->arena, count, sizeof *sorted);
    uint32_t n = 0;
    if (sorted == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&x->arena->steps, count))
        return -E2BIG;
    for (uint32_t i = 0; i < count; i++) {
        entries[i].counts = true;
        if (!entries[i].of->has_add_on)
            sorted[n++] = &entries[i];
    }
    qsort(sorted, n, sizeof *sorted, compare_entries);
    for (uint32_t i = 0; i + 1 < n; i++)
        sorted[i]->counts = compare_coordinates(sorted[i]->of, sorted[i + 1]->of) != 0;
    return 0;
}

/* Merges the defaults and, after them, the configured entries; *ret is NULL after a
 * misconfiguration. */
static int merge(struct deciding *x, struct entry **ret, uint32_t *ret_count) {
    const struct placement *p = x->placement;
    const bool exact = str_eq(p->mode, STR("Exact"));
    const uint32_t first = exact ? 0 : DEFAULTS;
    *ret = NULL;
    if (!exact && p->mode.n > 0 && !str_eq(p->mode, STR("Additive"))) {
        const struct str problem[] = {STR("incorrect prioritizer policy mode: "), p->mode};
        deciding_stop(x, OCM_MISCONFIGURED, STR(""), deciding_join(x, problem, 2));
        return 0;
    }
    struct entry *entries =
        arena_array(x->arena, (size_t)p->prioritizer_count + first, sizeof *entries);
    if (entries == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < first + p->prioritizer_count; i++) {
        entries[i] =
            (struct entry){i < first ? &defaults[i] : &p->prioritizers[i - first], i, true};
        if (!entries[i].of->has_coordinate) {
            deciding_stop(x, OCM_MISCONFIGURED, STR(""), STR("scoreCoordinate field is required"));
            return 0;
        }
    }
    *ret = entries;
    *ret_count = first + p->prioritizer_count;
    return mark_last(x, entries, *ret_count);
}

/* ---- the prioritizers of the entries ---- */

static bool make_built_in(struct deciding *x, const struct placement_prioritizer *from,
                          struct weighed *ret) {
    *ret = (struct weighed){.weight = from->weight, .name = from->built_in};
    if (prioritizer_find(from->built_in, &ret->kind))
        return true;
    const struct str problem[] = {STR("incorrect builtin prioritizer: "), from->built_in};
    deciding_stop(x, OCM_MISCONFIGURED, STR(""), deciding_join(x, problem, 2));
    return false;
}

static bool make_add_on(struct deciding *x, const struct placement_prioritizer *from,
                        struct weighed *ret) {
    if (!from->has_add_on) {
        deciding_stop(x, OCM_MISCONFIGURED, STR(""), STR("addOn should not be empty"));
        return false;
    }
    const struct str name[] = {STR("AddOn/"), from->resource, STR("/"), from->score};
    *ret = (struct weighed){.kind = PRIORITIZE_ADD_ON,
                            .weight = from->weight,
                            .name = deciding_join(x, name, 4),
                            .resource = from->resource,
                            .score = from->score};
    return true;
}

static bool is_spread(const struct placement_prioritizer *p) {
    return p->type == PRIORITIZER_BUILT_IN && str_eq(p->built_in, STR("Spread"));
}

static bool is_ours(const struct placement_prioritizer *p) {
    struct injected_key key;
    return p->type == PRIORITIZER_ADD_ON && p->has_add_on &&
           injected_key_read(p->resource, p->score, &key);
}

/* Returns the weight of the `builtIn: Spread` that Evenkeel's prioritizer has replaced. */
static int32_t replaced_weight(const struct deciding *x) {
    struct injected injected = {.weight = 0};
    struct str text;
    if (labels_lookup(&x->placement->annotations, STR(PLACEMENT_INJECTED_ANNOTATION), &text))
        injected_read(text, x->arena, &injected);
    return injected.weight;
}

/* Sorts by name, and equal names by their place in the list. */
static int compare_weighed(const void *a, const void *b) {
    const struct weighed *left = a, *right = b;
    const int order = str_cmp(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

int decide_weights(struct deciding *x, struct weighed **ret, uint32_t *ret_count) {
    struct entry *entries;
    uint32_t count, n = 0, ours = 0, spreads = 0;
    int r = merge(x, &entries, &count);
    if (r != 0 || entries == NULL)
        return r;
    struct weighed *weighed = arena_array(x->arena, count, sizeof *weighed);
    if (weighed == NULL)
        return -ENOMEM;
    if (deciding_steps(x, count) != 0)
        return -E2BIG;
    for (uint32_t i = 0; i < count; i++) {
        const struct placement_prioritizer *of = entries[i].of;
        if (!entries[i].counts || of->weight == 0)
            continue;
        if (x->d->has_spread && is_spread(of)) {
            x->d->spread_weight += of->weight;
            spreads++;
            continue;
        }
        if (x->d->has_spread && is_ours(of)) {
            ours++;
            continue;
        }
        if (!(of->type == PRIORITIZER_ADD_ON ? make_add_on(x, of, &weighed[n])
                                             : make_built_in(x, of, &weighed[n])))
            return 0;
        weighed[n].place = n;
        n++;
    }
    if (ours > 0 && spreads == 0)
        x->d->spread_weight = replaced_weight(x);
    if (!steps_take_sort(&x->arena->steps, n))
        return -E2BIG;
    qsort(weighed, n, sizeof *weighed, compare_weighed);
    *ret = weighed;
    *ret_count = n;
    return arena_failed(x->arena) ? -ENOMEM : 0;
}
