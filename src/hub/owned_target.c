/*
 * Which clusters a Placement is to have now: those that are decided, or for the time being those
 * that it has, or something in between.
 */
#include "base/hash.h"
#include "hub/owned_internal.h"

#include <errno.h>

/* Sets of clusters on the way from what is selected to what is decided. */
struct changing {
    struct looking *x;
    uint8_t *has, *wants; /* [slots]: is in some PlacementDecision; is decided */
    uint32_t *add, *remove;
    uint32_t add_count, remove_count;
    uint32_t infeasible; /* that many of `remove`, the first ones */
    bool forced;
};

static int no_memory(struct looking *x) {
    return err_set(x->err, -ENOMEM, "no memory for the moves of a Placement");
}

/* ---- hard terms ---- */

bool owned_has_hard_terms(const struct looking *x) {
    bool any = false;
    for (uint32_t t = 0; t < x->d.term_count; t++)
        any = any || x->d.terms[t].hard;
    return any;
}

/* The skew of each term with these clusters: a plan that begins with them and picks nothing. It
 * takes the look's steps. */
static int skew_of(struct looking *x, const uint8_t *selected, int64_t ret[PLACEMENT_TERMS]) {
    struct arena work;
    struct plan plan;
    arena_init(&work, x->arena->max);
    work.steps = x->arena->steps;
    uint32_t *candidates = arena_array(&work, x->slots, sizeof *candidates), count = 0;
    uint32_t *others = arena_array(&work, x->slots, sizeof *others);
    int r = candidates == NULL || others == NULL ? -ENOMEM : 0;
    for (uint32_t slot = 0; r == 0 && slot < x->slots; slot++) {
        others[slot] = selected[slot];
        if (x->fits[slot] != 0)
            candidates[count++] = slot;
    }
    const struct plan_question question = {.terms = x->d.terms,
                                           .term_count = x->d.term_count,
                                           .candidates = candidates,
                                           .candidate_count = count,
                                           .others = others,
                                           .has_number = true};
    if (r == 0)
        r = ocm_plan(&x->q->view->clusters, &question, &work, &plan);
    if (r == 0)
        memcpy(ret, plan.skew, sizeof plan.skew);
    x->arena->steps = work.steps;
    arena_done(&work);
    if (r == -ENOMEM)
        x->no_memory = true;
    return r;
}

/* Of what our objects have now, once a look. */
static int find_skew_now(struct looking *x) {
    uint8_t *has = x->has_skew ? NULL : arena_alloc(x->arena, x->slots);
    if (x->has_skew)
        return 0;
    if (has == NULL)
        return -ENOMEM; /* the arena says so */
    for (uint32_t i = 0; i < x->d.current_count; i++)
        has[x->d.current[i]] = 1;
    int r = skew_of(x, has, x->skew_now);
    x->has_skew = r == 0;
    return r;
}

/* What cannot be counted, because the steps are spent, does not hold. */
bool owned_holds(void *ctx, const uint8_t *selected) {
    struct looking *x = ctx;
    int64_t then[PLACEMENT_TERMS] = {0};
    if (find_skew_now(x) != 0 || skew_of(x, selected, then) != 0)
        return false;
    bool holds = true;
    for (uint32_t t = 0; t < x->d.term_count; t++) {
        const struct placement_term *term = &x->d.terms[t];
        holds = holds && (!term->hard || then[t] <= term->max_skew || then[t] <= x->skew_now[t]);
    }
    return holds;
}

/* ---- the target that was set before ---- */

/* Slots of the names; false: one is not known any more, or does not fit. */
static bool read_target(struct looking *x, uint32_t *slots, uint32_t *ret_count) {
    const struct str names = strbuf_str(&x->o->target);
    const struct topology *t = x->q->view->clusters.topology;
    *ret_count = 0;
    for (size_t at = 0; at < names.n;) {
        const struct str name = str_of(names.p + at);
        const uint32_t slot = topology_slot(t, name);
        at += name.n + 1;
        if (slot == TOPOLOGY_NONE || x->fits[slot] == 0 || *ret_count == x->slots)
            return false;
        slots[(*ret_count)++] = slot;
    }
    return x->o->has_target;
}

static bool are_selected(const struct changing *c, const uint32_t *slots, uint32_t count) {
    bool all = count == c->x->d.current_count;
    for (uint32_t i = 0; i < count; i++)
        all = all && c->has[slots[i]] != 0;
    return all;
}

/* What was even once may break a hard term, now that clusters have come or gone. */
static bool target_holds(struct looking *x, const uint32_t *slots, uint32_t count) {
    uint8_t *flags = owned_has_hard_terms(x) ? arena_alloc(x->arena, x->slots) : NULL;
    if (flags == NULL)
        return !owned_has_hard_terms(x); /* the arena says so */
    for (uint32_t i = 0; i < count; i++)
        flags[slots[i]] = 1;
    return owned_holds(x, flags);
}

/* Goes on to what it was on the way to, as long as that is possible. */
static bool go_on(struct changing *c, uint32_t *slots) {
    struct looking *x = c->x;
    uint32_t count;
    const bool good = read_target(x, slots, &count) && count == x->d.plan.selected_count;
    if (!good || are_selected(c, slots, count) || !target_holds(x, slots, count)) {
        x->o->has_target = false;
        return false;
    }
    x->target = slots;
    x->target_count = count;
    return true;
}

static void set_target(struct looking *x, const uint32_t *slots, uint32_t count) {
    x->target = slots;
    x->target_count = count;
    strbuf_clear(&x->o->target);
    for (uint32_t i = 0; i < count; i++)
        owned_put_name(&x->o->target, ocm_cluster_name(&x->d, slots[i]));
    x->o->has_target = !strbuf_failed(&x->o->target); /* otherwise it is chosen anew each time */
}

/* ---- what changes ---- */

static int find_changes(struct changing *c) {
    struct looking *x = c->x;
    const struct plan *plan = &x->d.plan;
    c->has = arena_alloc(x->arena, x->slots);
    c->wants = arena_alloc(x->arena, x->slots);
    c->add = arena_array(x->arena, plan->selected_count, sizeof *c->add);
    c->remove = arena_array(x->arena, x->d.current_count, sizeof *c->remove);
    if (c->has == NULL || c->wants == NULL || c->add == NULL || c->remove == NULL)
        return no_memory(x);
    for (uint32_t i = 0; i < x->d.current_count; i++)
        c->has[x->d.current[i]] = 1;
    for (uint32_t i = 0; i < plan->selected_count; i++) {
        c->wants[plan->selected[i]] = 1;
        if (c->has[plan->selected[i]] == 0)
            c->add[c->add_count++] = plan->selected[i];
    }
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (x->fits[x->d.current[i]] == 0)
            c->remove[c->remove_count++] = x->d.current[i];
    c->infeasible = c->remove_count;
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (x->fits[x->d.current[i]] != 0 && c->wants[x->d.current[i]] == 0)
            c->remove[c->remove_count++] = x->d.current[i];
    c->forced = c->infeasible > 0 || x->at_once || x->d.current_count != plan->selected_count ||
                x->existing == NULL;
    return 0;
}

static uint64_t hash_of_wanted(const struct looking *x) {
    uint64_t sum = 0; /* their order does not matter */
    for (uint32_t i = 0; i < x->d.plan.selected_count; i++)
        sum += hash_str(ocm_cluster_name(&x->d, x->d.plan.selected[i]));
    return sum;
}

/* Without them it would be less even, by importance of the terms; otherwise it was for scores. */
static enum owned_reason reason_of(struct changing *c) {
    int64_t now[PLACEMENT_TERMS] = {0};
    struct looking *x = c->x;
    if (c->infeasible > 0)
        return MOVED_INFEASIBLE;
    if (x->d.current_count != x->d.plan.selected_count)
        return MOVED_SIZE;
    if (skew_of(x, c->has, now) != 0)
        return MOVED_SCORE;
    for (uint32_t t = 0; t < x->d.term_count; t++)
        if (now[t] != x->d.plan.skew[t])
            return now[t] > x->d.plan.skew[t] ? MOVED_SPREAD : MOVED_SCORE;
    return MOVED_SCORE;
}

enum { SHOWN = 5 };

static void put_names(struct looking *x, struct strbuf *text, const char *what,
                      const uint32_t *slots, uint32_t count) {
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        strbuf_append_str(text, i > 0 ? STR(", ") : str_of(what));
        strbuf_append_str(text, ocm_cluster_name(&x->d, slots[i]));
    }
    if (count > SHOWN)
        strbuf_appendf(text, " and %u more", count - SHOWN);
}

static const struct str *names_of(struct looking *x, const uint32_t *slots, uint32_t count) {
    struct str *names = arena_array(x->arena, count, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < count; i++)
        names[i] = ocm_cluster_name(&x->d, slots[i]);
    return names; /* NULL: the arena has failed, and with it the look */
}

/* "infeasible: to c4 from c2": what begins now, the first so many of what is to come and to go. */
static void note_moves(struct changing *c, uint32_t added, uint32_t removed) {
    struct looking *x = c->x;
    struct strbuf text = {0};
    x->ret->moves = added > removed ? added : removed;
    x->ret->first = x->existing == NULL || x->at_once;
    x->ret->why = x->ret->first ? MOVED_SIZE : reason_of(c);
    strbuf_appendf(&text, "%s:", owned_reason_names[x->ret->why]);
    put_names(x, &text, " to ", c->add, added);
    put_names(x, &text, " from ", c->remove, removed);
    x->ret->note = arena_str(x->arena, strbuf_str(&text));
    x->ret->begun = (struct owned_moves){names_of(x, c->add, added),
                                         names_of(x, c->remove, removed), added, removed};
    strbuf_done(&text);
}

/* ---- some of the moves ---- */

/* What is selected, with the first so many changes. Returns false if hard terms forbid it. */
static bool mix(struct changing *c, uint32_t added, uint32_t removed, uint32_t *slots,
                uint32_t *ret_count) {
    struct looking *x = c->x;
    uint8_t *flags = arena_alloc(x->arena, x->slots);
    *ret_count = 0;
    if (flags == NULL)
        return false; /* the arena says so */
    for (uint32_t i = 0; i < x->d.current_count; i++)
        flags[x->d.current[i]] = 1;
    for (uint32_t i = 0; i < removed; i++)
        flags[c->remove[i]] = 0;
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (flags[x->d.current[i]] != 0)
            slots[(*ret_count)++] = x->d.current[i];
    for (uint32_t i = 0; i < added; i++) {
        flags[c->add[i]] = 1;
        slots[(*ret_count)++] = c->add[i];
    }
    return !owned_has_hard_terms(x) || owned_holds(x, flags);
}

enum { TRIES = 32 };

/* ---- moves that must be made ---- */

static void rotate(uint32_t *items, uint32_t count) {
    if (count < 2)
        return;
    const uint32_t first = items[0];
    memmove(items, items + 1, (count - 1) * sizeof *items);
    items[count - 1] = first;
}

/* What does not fit goes, and as many come or go as the number asks for; the other changes of the
 * plan are voluntary and come later. All together where hard terms allow none that was tried. */
static void move_forced(struct changing *c, uint32_t *slots) {
    struct looking *x = c->x;
    const uint32_t number = x->d.plan.selected_count, fit = x->d.current_count - c->infeasible;
    uint32_t added = fit < number ? number - fit : 0, mixed = 0;
    uint32_t removed = c->infeasible + (fit > number ? fit - number : 0);
    bool some = x->existing != NULL && added < c->add_count && !x->at_once;
    int64_t never;
    for (uint32_t tries = 0; some && !mix(c, added, removed, slots, &mixed); tries++) {
        rotate(c->add, c->add_count);
        rotate(c->remove + c->infeasible, c->remove_count - c->infeasible);
        some = tries < TRIES;
    }
    if (!some) {
        added = c->add_count;
        removed = c->remove_count;
        (void)moves_allowed(&x->o->moves, &x->q->settings->moves, 0, 0, x->q->now_ms,
                            &never); /* nothing waits any more */
    }
    x->ret->waiting = c->add_count - added;
    x->ret->waits = x->ret->waiting > 0 ? OWNED_WAITS_SETTLE : OWNED_WAITS_NOT;
    x->target = some ? slots : x->d.plan.selected;
    x->target_count = number;
    if (added + removed > 0) {
        note_moves(c, added, removed);
        set_target(x, x->target, x->target_count);
    }
}

/* ---- voluntary moves ---- */

/* Nothing moves yet. */
static void hold(struct looking *x, uint32_t waiting, int64_t wait_ms) {
    x->target = x->d.current;
    x->target_count = x->d.current_count;
    x->ret->waiting = waiting;
    if (wait_ms < x->ret->wake_ms)
        x->ret->wake_ms = wait_ms;
}

/* As many as may begin; of those that hard terms allow. If they allow none of these but all of
 * them, all begin where no other has in the last minute. */
static void move_some(struct changing *c, uint32_t *slots) {
    struct looking *x = c->x;
    int64_t wait_ms;
    const uint32_t count = c->add_count;
    const uint32_t allowed = moves_allowed(&x->o->moves, &x->q->settings->moves, hash_of_wanted(x),
                                           count, x->q->now_ms, &wait_ms);
    uint32_t moves = allowed, mixed = 0;
    x->ret->waits = moves_settle(&x->o->moves, &x->q->settings->moves, x->q->now_ms)
                        ? OWNED_WAITS_SETTLE
                        : OWNED_WAITS_MINUTE;
    if (allowed < count)
        for (uint32_t tries = 0; moves > 0 && !mix(c, moves, moves, slots, &mixed); tries++)
            moves = tries < TRIES ? moves - 1 : 0;
    if (moves == 0 && allowed > 0 && x->o->moves.begun == 0)
        moves = count;
    x->ret->waits_ms = wait_ms;
    if (moves == 0) {
        hold(x, count, wait_ms);
        return;
    }
    note_moves(c, moves, moves);
    moves_begin(&x->o->moves, moves, x->q->now_ms);
    x->ret->waiting = count - moves;
    if (moves == count) {
        x->ret->waits = OWNED_WAITS_NOT;
        set_target(x, x->d.plan.selected, x->d.plan.selected_count);
    } else {
        set_target(x, slots, mixed);
    }
    if (moves < count && wait_ms < x->ret->wake_ms)
        x->ret->wake_ms = wait_ms;
}

static int find_target(struct looking *x) {
    struct changing c = {.x = x};
    uint32_t *slots = arena_array(x->arena, x->slots, sizeof *slots);
    int r = slots == NULL ? no_memory(x) : find_changes(&c);
    if (r != 0 || go_on(&c, slots))
        return r;
    if (c.forced || c.add_count == 0)
        move_forced(&c, slots);
    else if (x->spread.reason == OCM_SPREAD_KEY_UNKNOWN)
        hold(x, 0, INT64_MAX); /* what is wanted is not what was meant */
    else
        move_some(&c, slots);
    return 0;
}

/* ---- groups ---- */

static bool is_decided(const struct looking *x, uint8_t *flags) {
    bool same = x->target_count == x->d.plan.selected_count;
    for (uint32_t i = 0; i < x->d.plan.selected_count; i++)
        flags[x->d.plan.selected[i]] = 1;
    for (uint32_t i = 0; i < x->target_count; i++)
        same = same && flags[x->target[i]] != 0;
    return same;
}

/* Decides them as OCM would if there were no other clusters, and no terms: it takes all. */
static int group_target(struct looking *x) {
    struct placement alone = x->placement;
    struct ocm_decision d;
    struct str *names = arena_array(x->arena, x->target_count, sizeof *names);
    if (names == NULL)
        return no_memory(x);
    for (uint32_t i = 0; i < x->target_count; i++)
        names[i] = ocm_cluster_name(&x->d, x->target[i]);
    alone.terms = NULL;
    alone.prioritizers = NULL;
    alone.term_count = alone.prioritizer_count = 0;
    alone.mode = STR("");
    alone.has_number = false;
    const struct ocm_question question = {.placement = &alone,
                                          .now_ms = x->q->wall_ms,
                                          .has_names = true,
                                          .names = names,
                                          .name_count = x->target_count};
    int r = ocm_decide(x->q->view, &question, x->arena, &d, x->err);
    if (r != 0)
        return r;
    if (d.outcome != OCM_DECIDED || d.plan.selected_count != x->target_count ||
        d.group_problem.n > 0)
        return err_set(x->err, -EINVAL, "clusters of a Placement cannot be grouped");
    x->groups = d.groups;
    x->group_count = d.group_count;
    return 0;
}

int owned_choose(struct looking *x) {
    uint8_t *flags = arena_alloc(x->arena, x->slots);
    int r = flags == NULL ? no_memory(x) : find_target(x);
    if (r != 0)
        return r;
    x->is_final = is_decided(x, flags);
    x->groups = x->d.groups;
    x->group_count = x->d.group_count;
    return x->is_final || x->ret->mode == OWNED_SCORED ? 0 : group_target(x);
}
