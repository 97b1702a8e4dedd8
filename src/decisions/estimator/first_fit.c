#include "estimator/first_fit.h"

#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>

/* ---- columns ---- */

static int by_name(const void *a, const void *b) {
    const struct str *left = a, *right = b;
    return str_cmp(*left, *right);
}

static uint32_t add_names(const struct demands *demands, struct str *names, uint32_t count) {
    for (uint32_t i = 0; i < demands->count; i++)
        if (demands->items[i].scheduled)
            names[count++] = demands->items[i].name;
    return count;
}

static uint32_t add_set_names(const struct component_set *set, struct str *names, uint32_t count) {
    for (uint32_t i = 0; i < set->count; i++)
        count = add_names(&set->items[i].demands, names, count);
    return count;
}

static uint64_t count_names(const struct component_set *set) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->items[i].demands.count;
    return count;
}

int first_fit_columns(struct first_fit *fit, const struct estimator_question *q, bool replica) {
    uint64_t room = 1 + count_names(&q->set) + (replica ? q->demands.count : 0);
    for (uint32_t i = 0; i < q->assumed_count; i++)
        room += count_names(&q->assumed[i]);
    if (room > UINT32_MAX || !steps_take_sort(&fit->arena->steps, room))
        return -E2BIG;
    struct str *names = arena_array(fit->arena, room, sizeof *names);
    uint32_t count = 1, kept = 1;
    if (names == NULL)
        return -ENOMEM;
    names[0] = STR("pods");
    count = add_set_names(&q->set, names, count);
    for (uint32_t i = 0; i < q->assumed_count; i++)
        count = add_set_names(&q->assumed[i], names, count);
    if (replica)
        count = add_names(&q->demands, names, count);
    if (count > 2)
        qsort(names + 1, count - 1, sizeof *names, by_name);
    for (uint32_t i = 1; i < count; i++)
        if (kept == 1 || !str_eq(names[kept - 1], names[i]))
            names[kept++] = names[i];
    fit->columns = names;
    fit->width = kept;
    return 0;
}

uint32_t first_fit_column(const struct first_fit *fit, struct str name) {
    const uint32_t at = sorted_texts_find(fit->columns + 1, fit->width - 1, name);
    return at != UINT32_MAX ? at + 1 : UINT32_MAX;
}

int first_fit_needs(const struct first_fit *fit, const struct demands *demands,
                    struct placed_component *ret) {
    struct column_need *needs =
        arena_array_unset(fit->arena, (size_t)demands->count + 1, sizeof *needs);
    uint32_t count = 0;
    if (needs == NULL)
        return -ENOMEM;
    if (!steps_take(&fit->arena->steps, (uint64_t)demands->count * 4 + 1))
        return -E2BIG;
    needs[count++] = (struct column_need){.column = 0, .amount = 1};
    for (uint32_t i = 0; i < demands->count; i++)
        if (demands->items[i].scheduled)
            needs[count++] = (struct column_need){first_fit_column(fit, demands->items[i].name),
                                                  demands->items[i].amount};
    ret->needs = needs;
    ret->need_count = count;
    return 0;
}

int64_t first_fit_divide(const int64_t *room, const struct placed_component *component) {
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < component->need_count && least > 0; i++) {
        const struct column_need *need = &component->needs[i];
        const int64_t fits =
            need->amount == 1 ? room[need->column] : room[need->column] / need->amount;
        least = fits < least ? fits : least;
    }
    return least > 0 ? least : 0;
}

/* ---- nodes ---- */

/* Returns the room of the node where a component continues. Makes the room if the node is new and
 * holds a replica. Returns NULL if the group has no further node for the component, or without
 * memory. */
static int64_t *node_room(struct first_fit *fit, const struct placed_component *component) {
    struct node_group *group = &fit->groups[component->group];
    if (component->node < group->touched)
        return group->rows + (size_t)component->node * fit->width;
    if (component->node >= group->count || component->node == UINT32_MAX ||
        first_fit_divide(group->fresh, component) == 0)
        return NULL;
    int64_t *rows =
        arena_push(fit->arena, group->rows, group->touched, &group->cap, fit->width * sizeof *rows);
    if (rows == NULL)
        return NULL;
    group->rows = rows;
    int64_t *row = rows + (size_t)group->touched * fit->width;
    memcpy(row, group->fresh, fit->width * sizeof *row);
    group->touched++;
    return row;
}

/* Moves the component to the next node that has room for one replica; tries the present node first.
 * Sets *ret_fits to 0 if no node has room. */
static int find_node(struct first_fit *fit, struct placed_component *component, int64_t **ret_room,
                     int64_t *ret_fits) {
    *ret_fits = 0;
    while (component->group < fit->group_count) {
        int64_t *room = component->matches == NULL || component->matches[component->group] != 0
                            ? node_room(fit, component)
                            : NULL;
        if (arena_failed(fit->arena))
            return -ENOMEM;
        if (!steps_take(&fit->arena->steps, 1 + component->need_count / 4))
            return -E2BIG;
        if (room == NULL) {
            component->group++;
            component->node = 0;
            continue;
        }
        *ret_fits = first_fit_divide(room, component);
        *ret_room = room;
        if (*ret_fits > 0)
            return 0;
        component->node++;
    }
    return 0;
}

static void take_room(int64_t *room, const struct placed_component *component, int64_t replicas) {
    for (uint32_t i = 0; i < component->need_count; i++)
        room[component->needs[i].column] -= component->needs[i].amount * replicas;
}

/* ---- one set ---- */

/* A node that got replicas of a component. */
struct landing {
    uint32_t component, group, node;
};

/* The result of one set. */
struct set_result {
    bool placed;
    bool whole; /* all replicas of each component are on one node */
    uint32_t landing_count;
};

static int place_component(struct first_fit *fit, struct placed_component *component,
                           bool *ret_placed, bool *ret_whole) {
    int64_t remaining = component->replicas;
    *ret_placed = *ret_whole = true;
    while (remaining > 0) {
        int64_t *room = NULL, fits;
        const int r = find_node(fit, component, &room, &fits);
        if (r != 0)
            return r;
        if (fits == 0) {
            *ret_placed = false;
            return 0;
        }
        const int64_t taken = fits < remaining ? fits : remaining;
        take_room(room, component, taken);
        remaining -= taken;
        if (remaining > 0)
            *ret_whole = false;
    }
    return 0;
}

static int place_set(struct first_fit *fit, struct placed_component *components, uint32_t count,
                     struct landing *landings, struct set_result *ret) {
    *ret = (struct set_result){.placed = true, .whole = true};
    for (uint32_t i = 0; i < count; i++) {
        bool whole;
        const int r = place_component(fit, &components[i], &ret->placed, &whole);
        if (r != 0 || !ret->placed)
            return r;
        ret->whole = ret->whole && whole;
        if (components[i].replicas > 0)
            landings[ret->landing_count++] =
                (struct landing){i, components[i].group, components[i].node};
    }
    return 0;
}

/* ---- many equal sets ---- */

static int by_node(const void *a, const void *b) {
    const struct landing *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

/* Adds the needs of a component of one set to `sums`, or clears its columns of `sums`. */
static void sum_needs(const struct placed_component *component, int64_t *sums, bool clear) {
    for (uint32_t i = 0; i < component->need_count; i++) {
        const struct column_need *need = &component->needs[i];
        int64_t *sum = &sums[need->column];
        *sum = clear ? 0 : *sum + need->amount * component->replicas; /* it did fit the node */
    }
}

/* Returns the number of times that `sums` can be taken from `room`, at most `least`. */
static int64_t divide_room(const int64_t *room, const int64_t *sums,
                           const struct placed_component *component, int64_t least) {
    for (uint32_t i = 0; i < component->need_count; i++) {
        const uint32_t column = component->needs[i].column;
        const int64_t times = room[column] / sums[column];
        least = times < least ? times : least;
    }
    return least;
}

/* Returns the number of further sets that go to the same nodes as the last set. Each component of
 * the last set must be on one node. While the nodes have room for a whole set, each component finds
 * the same node again. */
static int64_t count_alike(const struct first_fit *fit, const struct placed_component *components,
                           const struct landing *landings, uint32_t count, int64_t *sums,
                           int64_t most) {
    for (uint32_t i = 0; i < count && most > 0;) {
        const struct node_group *group = &fit->groups[landings[i].group];
        const int64_t *room = group->rows + (size_t)landings[i].node * fit->width;
        uint32_t end = i;
        for (; end < count && by_node(&landings[i], &landings[end]) == 0; end++)
            sum_needs(&components[landings[end].component], sums, false);
        for (uint32_t k = i; k < end; k++)
            most = divide_room(room, sums, &components[landings[k].component], most);
        for (uint32_t k = i; k < end; k++)
            sum_needs(&components[landings[k].component], sums, true);
        i = end;
    }
    return most;
}

static void place_alike(struct first_fit *fit, const struct placed_component *components,
                        const struct landing *landings, uint32_t count, int64_t sets) {
    for (uint32_t i = 0; i < count; i++) {
        const struct placed_component *component = &components[landings[i].component];
        struct node_group *group = &fit->groups[landings[i].group];
        take_room(group->rows + (size_t)landings[i].node * fit->width, component,
                  component->replicas * sets);
    }
}

int first_fit_place(struct first_fit *fit, struct placed_component *components, uint32_t count,
                    int64_t bound, int64_t *ret_sets) {
    struct landing *landings = arena_array_unset(fit->arena, count, sizeof *landings);
    int64_t *sums = arena_array(fit->arena, fit->width, sizeof *sums);
    int64_t sets = 0;
    *ret_sets = 0;
    if (landings == NULL || sums == NULL)
        return -ENOMEM;
    while (sets < bound) {
        struct set_result result;
        const int r = place_set(fit, components, count, landings, &result);
        if (r != 0)
            return r;
        if (!result.placed)
            break;
        sets++;
        if (result.landing_count == 0)
            sets = bound; /* the set demands nothing */
        if (!result.whole || sets == bound)
            continue;
        if (!steps_take_sort(&fit->arena->steps, result.landing_count * UINT64_C(4)))
            return -E2BIG;
        if (result.landing_count > 1)
            qsort(landings, result.landing_count, sizeof *landings, by_node);
        const int64_t alike =
            count_alike(fit, components, landings, result.landing_count, sums, bound - sets);
        place_alike(fit, components, landings, result.landing_count, alike);
        sets += alike;
    }
    *ret_sets = sets;
    return 0;
}

/* ---- all replicas of one kind ---- */

int first_fit_count(struct first_fit *fit, const struct placed_component *component, int64_t *ret) {
    int64_t total = 0;
    for (uint32_t g = 0; g < fit->group_count; g++) {
        const struct node_group *group = &fit->groups[g];
        if (!steps_take(&fit->arena->steps,
                        1 + (uint64_t)group->touched * (1 + component->need_count / 4)))
            return -E2BIG;
        if (component->matches != NULL && component->matches[g] == 0)
            continue;
        for (uint32_t n = 0; n < group->touched && total < ESTIMATE_MAX; n++) {
            const int64_t fits = first_fit_divide(group->rows + (size_t)n * fit->width, component);
            total += fits < ESTIMATE_MAX ? fits : ESTIMATE_MAX;
        }
        if (group->count == group->touched)
            continue;
        const uint64_t left = group->count - group->touched;
        const int64_t fits = first_fit_divide(group->fresh, component);
        if (fits > 0 && left > (uint64_t)(ESTIMATE_MAX / fits))
            total = ESTIMATE_MAX;
        else
            total += (int64_t)left * fits;
    }
    *ret = total < ESTIMATE_MAX ? total : ESTIMATE_MAX;
    return 0;
}
