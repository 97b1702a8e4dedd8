/*
 * Makes decision groups: cuts the selected clusters into groups, and the groups into
 * PlacementDecisions. upstream: scheduling_controller.go generateDecisionGroups(),
 * calculateLength(), divideDecisionGroups(), generateDecision().
 */
#include "ocm/internal.h"

#include <math.h>

struct grouping {
    struct deciding *x;
    uint32_t length; /* largest number of clusters in a group */
    uint32_t *rest;  /* slots of selected clusters that are in no group yet, sorted by name */
    uint32_t rest_count;
    uint32_t *slots; /* slots of all groups, group after group */
    uint32_t slot_count;
    struct ocm_group *groups;
    uint32_t group_count, group_cap;
    uint32_t decisions;
};

/* ---- the length of a group ---- */

/* Computes a percentage such as "25%" of `total`. Rounds up in doubles, as upstream does: 28 % of
 * 25 are 8. Returns false if the text is no percentage: the reader accepts texts of digits, as the
 * CRD does. */
static bool percentage_of(struct str text, uint32_t total, double *ret) {
    int64_t percent;
    if (!str_has_suffix(text, STR("%")) || !str_to_i64((struct str){text.p, text.n - 1}, &percent))
        return false;
    *ret = ceil((double)percent / 100 * total);
    return true;
}

/* Finds the length of a group; sets group_problem if it is not valid. */
static void find_length(struct grouping *g) {
    struct deciding *x = g->x;
    const struct placement_group_length *wanted = &x->placement->group_length;
    const uint32_t total = g->rest_count;
    double length = wanted->number;
    if (wanted->is_text && !percentage_of(wanted->text, total, &length)) {
        const struct str parts[] = {wanted->text, STR(" invalid type: string is not a percentage")};
        x->d->group_problem = deciding_join(x, parts, 2);
    } else {
        g->length = length > 0 && length < total ? (uint32_t)length : total;
    }
}

/* ---- groups ---- */

/* Cuts slots, which are sorted by name, into groups with the same name. The slots are copied. */
static int add_groups(struct grouping *g, struct str name, const uint32_t *slots, uint32_t count) {
    for (uint32_t at = 0; at < count;) {
        struct ocm_group *groups =
            arena_push(g->x->arena, g->groups, g->group_count, &g->group_cap, sizeof *groups);
        if (groups == NULL)
            return -ENOMEM;
        const uint32_t n = count - at < g->length ? count - at : g->length;
        const uint32_t objects = (n + OCM_DECISION_CLUSTERS - 1) / OCM_DECISION_CLUSTERS;
        uint32_t *own = g->slots + g->slot_count;
        memcpy(own, slots + at, n * sizeof *own);
        groups[g->group_count++] = (struct ocm_group){name, own, n, g->decisions + 1, objects};
        g->groups = groups;
        g->slot_count += n;
        g->decisions += objects;
        at += n;
    }
    return 0;
}

/* Moves the clusters of g->rest that a selector picks into groups with the name of `group`. */
static int add_selected(struct grouping *g, const struct placement_group *group, uint8_t *flags,
                        uint32_t *picked) {
    struct deciding *x = g->x;
    struct selector selector;
    uint32_t count = 0, rest = 0;
    int r = deciding_steps(x, 1 + g->rest_count / 4);
    if (r == 0)
        r = match_compile(&group->selector, x->arena, &selector, &x->d->group_problem);
    if (r != 0 || x->d->group_problem.n > 0)
        return r;
    memset(flags, 1, g->rest_count);
    r = match_slots(x, &selector, g->rest, g->rest_count, flags, NULL);
    for (uint32_t i = 0; r == 0 && i < g->rest_count; i++)
        if (flags[i] != 0)
            picked[count++] = g->rest[i];
        else
            g->rest[rest++] = g->rest[i];
    if (r != 0)
        return r;
    g->rest_count = rest;
    return add_groups(g, group->name, picked, count);
}

/* Makes all groups. If a selector is not valid, the groups before it stay, and all clusters that
 * are left get no group. */
static int make_groups(struct grouping *g) {
    const struct placement *p = g->x->placement;
    uint8_t *flags = arena_alloc(g->x->arena, g->rest_count);
    uint32_t *picked = arena_array(g->x->arena, g->rest_count, sizeof *picked);
    int r = flags == NULL || picked == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < p->group_count; i++) {
        r = add_selected(g, &p->groups[i], flags, picked);
        if (g->x->d->group_problem.n > 0)
            return r;
    }
    if (r == 0)
        r = add_groups(g, STR(""), g->rest, g->rest_count);
    return r;
}

/* Adds an empty group, so that there is an empty PlacementDecision if nothing is selected. */
static int add_empty(struct grouping *g) {
    struct ocm_group *empty = arena_alloc(g->x->arena, sizeof *empty);
    if (empty == NULL)
        return -ENOMEM;
    *empty = (struct ocm_group){.name = STR(""), .first_decision = 1, .decision_count = 1};
    g->groups = empty;
    g->group_count = 1;
    return 0;
}

static int warn_of_dropped(struct deciding *x, uint32_t left_out) {
    if (left_out == 0)
        return 0;
    return deciding_warn(x,
                         arena_printf(x->arena,
                                      "%u selected clusters are in no decision group, so in no "
                                      "PlacementDecision: spec.decisionStrategy is misconfigured",
                                      left_out));
}

int decide_groups(struct deciding *x) {
    struct ocm_decision *d = x->d;
    const uint32_t count = d->plan.selected_count;
    struct grouping g = {.x = x,
                         .rest = arena_array(x->arena, count, sizeof *g.rest),
                         .rest_count = count,
                         .slots = arena_array(x->arena, count, sizeof *g.slots)};
    if (g.rest == NULL || g.slots == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(g.rest, d->selected_by_name, count * sizeof *g.rest);
    find_length(&g);
    int r = arena_failed(x->arena) ? -ENOMEM : 0;
    if (r == 0 && d->group_problem.n == 0)
        r = make_groups(&g);
    if (r == 0 && g.group_count == 0 && d->group_problem.n == 0)
        r = add_empty(&g);
    if (r == 0)
        r = warn_of_dropped(x, count - g.slot_count);
    d->groups = g.groups;
    d->group_count = g.group_count;
    return r;
}
