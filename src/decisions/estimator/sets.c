/* Sets of components, and assumed workloads, on the nodes of a member cluster: first fit. */
#include "estimator/first_fit.h"
#include "estimator/internal.h"

#include <errno.h>

/* ---- nodes as groups of one ---- */

/* Puts one column of all nodes into their rooms. */
static void fill_column(const struct estimator_nodes *nodes, const struct first_fit *fit,
                        uint32_t column, int64_t *rooms) {
    const enum node_native native = node_native_of(fit->columns[column]);
    if (native != NODE_NATIVES)
        for (uint32_t row = 0; row < nodes->count; row++)
            rooms[(size_t)row * fit->width + column] = nodes->native[native][row];
}

/* Does the same for resources that only some nodes have. `column_of` maps their names. */
static void fill_scalars(const struct estimator_nodes *nodes, const struct first_fit *fit,
                         const uint32_t *column_of, int64_t *rooms) {
    for (uint32_t row = 0; row < nodes->count; row++)
        for (uint32_t i = nodes->scalar_begin[row]; i < nodes->scalar_begin[row + 1]; i++) {
            const uint32_t column = column_of[nodes->scalars[i].name];
            if (column != UINT32_MAX)
                rooms[(size_t)row * fit->width + column] = nodes->scalars[i].free;
        }
}

static int make_groups(const struct estimator_nodes *nodes, struct first_fit *fit) {
    struct node_group *groups = arena_array_unset(fit->arena, nodes->count, sizeof *groups);
    uint32_t *column_of = arena_array_unset(fit->arena, nodes->name_count, sizeof *column_of);
    if ((uint64_t)nodes->count * fit->width > SIZE_MAX / sizeof(int64_t) ||
        !steps_take(&fit->arena->steps, (uint64_t)nodes->count * (fit->width / 2 + 2) +
                                            nodes->scalar_begin[nodes->count] / 4 +
                                            nodes->name_count))
        return -E2BIG;
    int64_t *rooms = arena_array(fit->arena, nodes->count, fit->width * sizeof *rooms);
    if (groups == NULL || column_of == NULL || rooms == NULL)
        return -ENOMEM;
    for (uint32_t column = 0; column < fit->width; column++)
        fill_column(nodes, fit, column, rooms);
    for (uint32_t name = 0; name < nodes->name_count; name++)
        column_of[name] = first_fit_column(fit, nodes->names[name]);
    fill_scalars(nodes, fit, column_of, rooms);
    for (uint32_t row = 0; row < nodes->count; row++)
        groups[row] = (struct node_group){
            .count = 1, .rows = rooms + (size_t)row * fit->width, .touched = 1, .cap = 1};
    fit->groups = groups;
    fit->group_count = nodes->count;
    return 0;
}

/* ---- components ---- */

/* Copies the flags of usable nodes. *ret is NULL if all nodes are usable. */
static int copy_matches(const struct estimator_nodes *nodes, const uint8_t *flags,
                        struct arena *arena, const uint8_t **ret) {
    uint8_t *matches = NULL;
    if (!steps_take(&arena->steps, nodes->count / 4))
        return -E2BIG;
    for (uint32_t row = 0; row < nodes->count; row++) {
        if ((flags[nodes->slots[row]] & NODE_USABLE) == NODE_USABLE) {
            if (matches != NULL)
                matches[row] = 1;
            continue;
        }
        if (matches != NULL)
            continue;
        matches = arena_array(arena, nodes->count, sizeof *matches);
        if (matches == NULL)
            return -ENOMEM;
        if (row > 0)
            memset(matches, 1, row);
    }
    *ret = matches;
    return 0;
}

/* Finds the usable nodes. A view that has built many parts gets slow; then a new view answers. */
static int find_matches(const struct estimator_nodes *nodes, struct topology_view *view,
                        const struct replica_requirements *requirements, struct arena *arena,
                        const uint8_t **ret) {
    enum { BUILT_MANY = 64 };
    const bool apart = view->built >= BUILT_MANY;
    struct topology_view own;
    const uint8_t *flags;
    if (apart) {
        topology_view_open(view->topology, &own);
        own.asker = view->asker;
        own.steps = view->steps;
    }
    int r = topology_feasibility(apart ? &own : view, &requirements->claim,
                                 requirements->tolerations, &flags);
    if (r == 0)
        r = copy_matches(nodes, flags, arena, ret);
    if (apart)
        topology_view_close(&own);
    return r;
}

static int prepare_set(const struct estimator_nodes *nodes, struct topology_view *view,
                       const struct component_set *set, const struct first_fit *fit,
                       struct placed_component **ret) {
    struct placed_component *components = arena_array(fit->arena, set->count, sizeof *components);
    int r = components == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < set->count; i++) {
        const struct component_demand *component = &set->items[i];
        components[i].replicas = component->replicas;
        r = first_fit_needs(fit, &component->demands, &components[i]);
        if (r == 0)
            r = find_matches(nodes, view, component->requirements, fit->arena,
                             &components[i].matches);
    }
    *ret = components;
    return r;
}

/* Makes the nodes' rooms, and places assumed workloads, as far as they fit. */
static int fill_rooms(const struct estimator_nodes *nodes, struct topology_view *view,
                      const struct estimator_question *q, bool replica, struct first_fit *fit) {
    int64_t placed;
    int r = first_fit_columns(fit, q, replica);
    if (r == 0)
        r = make_groups(nodes, fit);
    for (uint32_t i = 0; r == 0 && i < q->assumed_count; i++) {
        struct placed_component *components;
        r = prepare_set(nodes, view, &q->assumed[i], fit, &components);
        if (r == 0)
            r = first_fit_place(fit, components, q->assumed[i].count, 1, &placed);
    }
    return r;
}

int estimator_replicas_beside(const struct estimator_nodes *nodes, struct topology_view *view,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) {
    struct first_fit fit = {.arena = arena};
    struct placed_component replica = {.replicas = 1};
    int r = fill_rooms(nodes, view, q, true, &fit);
    if (r == 0)
        r = first_fit_needs(&fit, &q->demands, &replica);
    if (r == 0)
        r = find_matches(nodes, view, q->requirements, arena, &replica.matches);
    return r == 0 ? first_fit_count(&fit, &replica, ret) : r;
}

/* Would each component find room for one replica? */
static int each_has_room(struct first_fit *fit, const struct placed_component *components,
                         uint32_t count, bool *ret) {
    *ret = true;
    for (uint32_t i = 0; *ret && i < count; i++) {
        int64_t fits;
        const int r = first_fit_count(fit, &components[i], &fits);
        if (r != 0)
            return r;
        *ret = fits > 0;
    }
    return 0;
}

int estimator_nodes_sets(const struct estimator_nodes *nodes, struct topology_view *view,
                         const struct estimator_question *q, struct arena *arena, int64_t *ret) {
    struct first_fit fit = {.arena = arena};
    struct placed_component *components;
    *ret = 0;
    if (nodes->count == 0)
        return 0;
    if (q->set.count == 0) {
        *ret = ESTIMATE_MAX;
        return 0;
    }
    int r = fill_rooms(nodes, view, q, false, &fit);
    if (r == 0)
        r = prepare_set(nodes, view, &q->set, &fit, &components);
    if (r != 0)
        return r;
    if (q->set.pods > 0)
        return first_fit_place(&fit, components, q->set.count, ESTIMATE_MAX, ret);
    bool room;
    r = each_has_room(&fit, components, q->set.count, &room);
    *ret = r == 0 && room ? ESTIMATE_MAX : 0;
    return r;
}
