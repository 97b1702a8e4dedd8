/* The steps of a decision, one after the other. */
#include "ocm/internal.h"

#include <stdlib.h>

/* ---- shared functions of the steps ---- */

void deciding_stop(struct deciding *x, enum ocm_outcome outcome, struct str plugin,
                   struct str problem) {
    x->d->outcome = outcome;
    x->d->plugin = plugin;
    x->d->problem = problem;
}

int deciding_warn(struct deciding *x, struct str warning) {
    struct str *warnings =
        arena_push(x->arena, x->warnings, x->warning_count, &x->warning_cap, sizeof *warnings);
    if (warnings == NULL || arena_failed(x->arena))
        return -ENOMEM;
    x->warnings = warnings;
    x->warnings[x->warning_count++] = warning;
    return 0;
}

struct str deciding_join(struct deciding *x, const struct str *parts, uint32_t count) {
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += parts[i].n;
    char *text = arena_alloc(x->arena, n), *at = text;
    for (uint32_t i = 0; text != NULL && i < count; i++) {
        if (parts[i].n > 0)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    return (struct str){text, text == NULL ? 0 : n};
}

static int compare_ranks(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

int deciding_sort(struct deciding *x, uint32_t *slots, uint32_t count) {
    if (!steps_take_sort(&x->arena->steps, count))
        return -E2BIG;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = x->order.rank_of[slots[i]];
    qsort(slots, count, sizeof *slots, compare_ranks);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = x->order.slots[slots[i]];
    return 0;
}

/* ---- before the filters ---- */

static void read_facts(struct deciding *x) {
    for (uint32_t slot = 0; slot < x->slots; slot++) {
        if (!topology_is_known(x->topology, slot))
            continue;
        const struct fleet_cluster *cluster = fleet_cluster(x->view, slot);
        x->facts[slot] = (uint8_t)(SLOT_KNOWN | (cluster->terminating ? SLOT_TERMINATING : 0) |
                                   (cluster->taint_count > 0 ? SLOT_TAINTED : 0));
    }
}

static int prepare(struct deciding *x) {
    const struct placement *p = x->placement;
    int r = topology_order(&x->view->clusters, &x->order);
    if (r != 0)
        return r;
    x->slots = topology_slots(x->topology);
    x->left = arena_array(x->arena, x->order.count, sizeof *x->left);
    x->verdicts = arena_alloc(x->arena, x->slots);
    x->causes = arena_array(x->arena, x->slots, sizeof *x->causes);
    x->members = arena_alloc(x->arena, x->slots);
    x->decided = arena_array(x->arena, x->slots, sizeof *x->decided);
    x->holds = arena_alloc(x->arena, x->slots);
    x->facts = arena_alloc(x->arena, x->slots);
    if (arena_failed(x->arena))
        return -ENOMEM;
    read_facts(x);
    x->d->verdicts = x->verdicts;
    x->d->causes = x->causes;
    for (uint32_t i = 0; r == 0 && i < p->warning_count; i++)
        r = deciding_warn(x, p->warnings[i]);
    return r == 0 ? deciding_steps(x, x->slots) : r;
}

static int compare_names(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int read_strangers(struct deciding *x, const struct fleet_decision *first, uint32_t listed) {
    struct str *names = arena_array(x->arena, listed, sizeof *names);
    uint32_t count = 0, unique = 0;
    if (names == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&x->arena->steps, listed))
        return -E2BIG;
    for (const struct fleet_decision *d = first; d != NULL; d = d->next)
        for (uint32_t i = 0; i < d->stranger_count; i++)
            names[count++] = d->strangers[i].name;
    if (count > 1)
        qsort(names, count, sizeof *names, compare_names);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || !str_eq(names[unique - 1], names[i]))
            names[unique++] = names[i];
    x->d->strangers = names;
    x->d->stranger_count = unique;
    return 0;
}

/* Reads the Placement's present decisions. */
static int read_current(struct deciding *x) {
    const struct object_meta *meta = &x->placement->meta;
    const struct fleet_decision *first = fleet_decisions(x->view, meta->namespace, meta->name);
    uint32_t listed = 0, strange = 0, count = 0;
    int r = 0;
    for (const struct fleet_decision *d = first; r == 0 && d != NULL; d = d->next) {
        listed += d->slot_count;
        strange += d->stranger_count;
        r = deciding_steps(x, 1 + d->slot_count);
        if (r == 0 && d->too_large)
            r = deciding_warn(
                x, arena_printf(x->arena,
                                "PlacementDecision '%.*s' is too large: its clusters do not count",
                                STR_ARG(d->name)));
    }
    if (r == 0 && strange > 0)
        r = read_strangers(x, first, strange);
    uint32_t *current = arena_array(x->arena, listed, sizeof *current);
    if (r == 0 && current == NULL)
        r = -ENOMEM;
    for (const struct fleet_decision *d = first; r == 0 && d != NULL; d = d->next)
        for (uint32_t i = 0; i < d->slot_count; i++) {
            const uint32_t slot = d->slots[i];
            if (x->decided[slot]++ == 0)
                current[count++] = slot;
            x->members[slot] = 1;
        }
    x->d->current = current;
    x->d->current_count = count;
    return r == 0 ? deciding_sort(x, current, count) : r;
}

/* ---- filters, scores, selection ---- */

static bool goes_on(const struct deciding *x, int r) {
    return r == 0 && x->d->outcome == OCM_DECIDED;
}

static int filter(struct deciding *x) {
    int r = decide_sets(x);
    if (goes_on(x, r))
        r = decide_predicate(x);
    if (goes_on(x, r))
        r = decide_taints(x);
    x->d->filtered = goes_on(x, r);
    return r;
}

static int prioritize(struct deciding *x) {
    struct weighed *weighed = NULL;
    uint32_t count = 0;
    int r = decide_weights(x, &weighed, &count);
    if (goes_on(x, r))
        r = decide_scores(x, weighed, count);
    return r;
}

/* Removes clusters that lack a hard term's key: they have passed OCM's own filters and have
 * scores. */
static void leave_out(struct deciding *x, const uint8_t *lacks) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        if (lacks != NULL && lacks[i] != 0) {
            x->verdicts[slot] = OCM_TOPOLOGY_KEY;
            x->causes[slot] = lacks[i] - 1u;
        } else {
            x->left[left++] = slot;
        }
    }
    x->left_count = left;
}

/* Sets the causes of kept clusters: clusters that pass have no other cause. */
static void note_kept(struct deciding *x) {
    const struct plan *plan = &x->d->plan;
    const uint32_t *kept = ocm_plan_kept(plan);
    for (uint32_t i = 0; i < plan->kept_count; i++)
        x->causes[kept[i]] = plan->kept_terms[i];
}

enum { REACHABLE_TRIES = 8 };

/* Plans again without the new clusters that are above a hard term, until no new cluster is above a
 * hard term. After REACHABLE_TRIES rounds, plans without any new cluster. */
static int plan_reachable(struct deciding *x, struct plan_question *q) {
    struct plan *plan = &x->d->plan;
    uint8_t *barred = arena_alloc(x->arena, x->slots);
    int r = barred == NULL ? -ENOMEM : 0;
    q->barred = barred;
    for (uint32_t tries = 0; r == 0 && plan->above_count > 0; tries++) {
        for (uint32_t i = 0; i < plan->above_count; i++)
            barred[plan->above[i]] = 1;
        for (uint32_t i = 0; tries >= REACHABLE_TRIES && i < x->left_count; i++)
            barred[x->left[i]] = q->members[x->left[i]] == 0;
        r = ocm_plan(&x->view->clusters, q, x->arena, plan);
    }
    return r;
}

static int select_clusters(struct deciding *x) {
    struct ocm_decision *d = x->d;
    uint32_t *others = NULL;
    bool with_domains = x->question->with_domains;
    for (uint32_t t = 0; t < d->term_count; t++)
        with_domains |= d->terms[t].min_domains > 0; /* decide_spread() counts domains */
    int r = d->has_spread ? spread_group_count(x, &others) : 0;
    if (r != 0)
        return r;
    d->others = others;
    struct plan_question question = {.terms = d->terms,
                                     .term_count = d->term_count,
                                     .candidates = x->left,
                                     .candidate_count = x->left_count,
                                     .sums = d->sums,
                                     .members = x->question->members != NULL ? x->question->members
                                                                             : x->members,
                                     .others = others,
                                     .has_number = x->placement->has_number,
                                     .number = (uint32_t)x->placement->number,
                                     .weight = d->spread_weight,
                                     .with_rounds = x->question->with_rounds,
                                     .with_domains = with_domains};
    r = ocm_plan(&x->view->clusters, &question, x->arena, &d->plan);
    if (r == 0 && x->question->reachable && d->plan.above_count > 0)
        r = plan_reachable(x, &question);
    if (r == 0) {
        leave_out(x, d->plan.lacks);
        note_kept(x);
    }
    return r;
}

/* ---- after the selection ---- */

/* Returns the clusters of a list that have no mark, in the order of the list. */
static uint32_t *without(struct deciding *x, const uint32_t *slots, uint32_t count,
                         const uint8_t *marks, uint32_t *ret_count) {
    uint32_t *ret = arena_array(x->arena, count, sizeof *ret);
    for (uint32_t i = 0; ret != NULL && i < count; i++)
        if (marks[slots[i]] == 0)
            ret[(*ret_count)++] = slots[i];
    return ret;
}

static int find_moves(struct deciding *x) {
    struct ocm_decision *d = x->d;
    const uint32_t count = d->plan.selected_count;
    uint32_t *by_name = arena_array(x->arena, count, sizeof *by_name);
    uint8_t *selected = arena_alloc(x->arena, x->slots);
    if (by_name == NULL || selected == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        by_name[i] = d->plan.selected[i];
        selected[by_name[i]] = 1;
    }
    d->selected_by_name = by_name;
    int r = deciding_sort(x, by_name, count);
    if (r == 0) {
        d->add = without(x, by_name, count, x->members, &d->add_count);
        d->remove = without(x, d->current, d->current_count, selected, &d->remove_count);
    }
    return r == 0 && arena_failed(x->arena) ? -ENOMEM : r;
}

/* Keeps today's decisions, as upstream does. */
static int keep_current(struct deciding *x) {
    struct plan *plan = &x->d->plan;
    plan->selected = arena_array(x->arena, x->d->current_count, sizeof *plan->selected);
    if (plan->selected == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < x->d->current_count; i++)
        plan->selected[i] = x->d->current[i];
    plan->selected_count = x->d->current_count;
    return 0;
}

static int conclude(struct deciding *x) {
    const bool untouched = x->d->outcome == OCM_UNTOUCHED;
    int r = untouched ? keep_current(x) : 0;
    if (r == 0)
        r = find_moves(x);
    if (r == 0 && !untouched)
        r = decide_groups(x);
    if (r == 0 && !untouched)
        r = decide_conditions(x);
    if (r == 0)
        r = decide_spread(x);
    if (r == 0)
        r = decide_publish(x);
    if (goes_on(x, r))
        r = decide_requeue(x);
    x->d->warnings = x->warnings;
    x->d->warning_count = x->warning_count;
    return r == 0 && arena_failed(x->arena) ? -ENOMEM : r;
}

static int decide(struct deciding *x) {
    int r = prepare(x);
    if (r == 0)
        r = read_current(x);
    if (r == 0)
        r = filter(x);
    if (r == 0)
        r = decide_terms(x);
    if (goes_on(x, r))
        r = prioritize(x);
    if (goes_on(x, r))
        r = select_clusters(x);
    return r == 0 ? conclude(x) : r;
}

/* Runs steps of a decision with the view's budget, or with the arena's budget if the view has
 * none. */
static int run(int (*steps_of)(struct deciding *x), struct deciding *x,
               const struct ocm_question *question, struct fleet_view *view, struct arena *arena) {
    struct steps *const steps = view->clusters.steps;
    x->question = question;
    x->placement = question->placement;
    x->view = view;
    x->topology = view->clusters.topology;
    x->arena = arena;
    if (steps == NULL)
        view->clusters.steps = &arena->steps;
    const int r = steps_of(x);
    view->clusters.steps = steps;
    return r;
}

int ocm_decide(struct fleet_view *view, const struct ocm_question *question, struct arena *arena,
               struct ocm_decision *ret, struct err *err) {
    struct ocm_decision d = {.placement = question->placement, .view = view};
    struct deciding x = {.d = &d};
    const int r = run(decide, &x, question, view, arena);
    if (r == -E2BIG)
        return err_set(err, r, "deciding placement '%.*s/%.*s' takes more steps than it may",
                       STR_ARG(question->placement->meta.namespace),
                       STR_ARG(question->placement->meta.name));
    if (r != 0)
        return err_set(err, r, "no memory for deciding placement '%.*s/%.*s'",
                       STR_ARG(question->placement->meta.namespace),
                       STR_ARG(question->placement->meta.name));
    *ret = d;
    return 0;
}

static int find_in_sets(struct deciding *x) {
    const int r = prepare(x);
    return r == 0 ? decide_sets(x) : r;
}

int ocm_find_in_sets(struct fleet_view *view, const struct placement *placement,
                     struct arena *arena, const uint8_t **ret) {
    const struct ocm_question question = {.placement = placement};
    struct ocm_decision d = {.placement = placement, .view = view};
    struct deciding x = {.d = &d};
    const int r = run(find_in_sets, &x, &question, view, arena);
    *ret = x.in_sets;
    return r;
}

struct str ocm_cluster_name(const struct ocm_decision *d, uint32_t slot) {
    return topology_name(d->view->clusters.topology, slot);
}
