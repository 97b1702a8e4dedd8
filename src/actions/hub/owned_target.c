/*
 * Chooses the clusters that a Placement gets now: the planned clusters, for the time being its
 * present clusters, or a set in between.
 */
#include "base/hash.h"
#include "hub/owned_internal.h"
#include "ocm/plan_counts.h"

#include <errno.h>

/* Sets of clusters between the present one and the plan's. */
struct changing {
    struct placement_round *x;
    uint8_t *has, *wants; /* [slots]: is in a PlacementDecision; is planned */
    uint32_t *add, *remove;
    uint32_t add_count, remove_count;
    uint32_t infeasible; /* number of clusters at the start of `remove` that do not fit */
    uint32_t even; /* number of changes for evenness: first in `add`, and in `remove` after the
                      infeasible ones */
    bool forced;
    struct plan_counts *counts; /* counts the present clusters that fit, with the changes chosen so
                                   far */
    struct moves_wish wish;
};

static int no_memory(struct placement_round *x) {
    return err_set(x->err, -ENOMEM, "no memory for the moves of a Placement");
}

/* ---- hard terms ---- */

bool owned_has_hard_terms(const struct placement_round *x) {
    struct ocm_terms terms;
    bool any = false;
    ocm_terms_find(&x->is.placement, &x->is.policy, &terms);
    for (uint32_t t = 0; t < terms.count; t++)
        any = any || terms.items[t].hard;
    return any;
}

/* Makes empty counts for the clusters of the spread group. */
static int make_counts(struct placement_round *x, struct arena *arena, struct plan_counts **ret) {
    uint32_t *candidates = arena_array(arena, x->is.slots, sizeof *candidates), count = 0;
    if (candidates == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (x->is.fits[slot] != 0)
            candidates[count++] = slot;
    const struct plan_question question = {.terms = x->d.terms,
                                           .term_count = x->d.term_count,
                                           .candidates = candidates,
                                           .candidate_count = count,
                                           .others = x->d.others};
    return plan_counts_new(&x->q->view->clusters, &question, arena, ret);
}

/* Counts the clusters that our objects have now, once in a look. */
static int find_now(struct placement_round *x) {
    if (x->now.has != NULL)
        return 0;
    uint8_t *has = arena_alloc(x->arena, x->is.slots);
    int r = has == NULL ? -ENOMEM : make_counts(x, x->arena, &x->now.counts);
    if (r != 0) {
        x->now.failed = x->now.failed != 0 ? x->now.failed : r;
        return r;
    }
    for (uint32_t i = 0; i < x->d.current_count; i++) {
        const uint32_t slot = x->d.current[i];
        plan_counts_change(x->now.counts, slot, has[slot] == 0);
        has[slot] = 1;
    }
    plan_counts_skews(x->now.counts, x->now.skew);
    x->now.has = has;
    return 0;
}

enum { MOST_TRIES = 1024 };

/* The counts of a set of clusters. */
struct counted {
    int64_t skew[PLACEMENT_TERMS];
    bool above; /* a new cluster is in a domain above a hard term */
};

/* Changes the counts from the present clusters to the set (sign 1), or back (-1). */
static void change_now(struct placement_round *x, const uint8_t *selected, int sign) {
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if ((selected[slot] != 0) != (x->now.has[slot] != 0))
            plan_counts_change(x->now.counts, slot, selected[slot] != 0 ? sign : -sign);
}

static uint64_t steps_of_count(const struct placement_round *x) {
    return 4 * (uint64_t)x->is.slots;
}

uint32_t owned_tries(const struct placement_round *x) {
    const struct steps *s = &x->arena->steps;
    const uint64_t left = s->max > s->used ? s->max - s->used : 0;
    const uint64_t tries = left / 2 / (steps_of_count(x) + 1);
    return s->max == 0 || tries > MOST_TRIES ? MOST_TRIES : (uint32_t)tries;
}

/* Counts a set of clusters. A failure is kept in x->now.failed, and fails the look. */
static int count_set(struct placement_round *x, const uint8_t *selected, struct counted *ret) {
    if (!steps_take(&x->arena->steps, steps_of_count(x))) {
        x->now.failed = x->now.failed != 0 ? x->now.failed : -E2BIG;
        return -E2BIG;
    }
    change_now(x, selected, 1);
    ret->above = false;
    for (uint32_t slot = 0; slot < x->is.slots; slot++)
        if (selected[slot] != 0 && x->now.has[slot] == 0)
            ret->above = ret->above || plan_counts_above(x->now.counts, slot);
    plan_counts_skews(x->now.counts, ret->skew);
    change_now(x, selected, -1);
    return 0;
}

/* Is each hard term kept, or at least violated no more than now? */
static bool skews_hold(const struct placement_round *x, const int64_t skew[PLACEMENT_TERMS]) {
    bool hold = true;
    for (uint32_t t = 0; t < x->d.term_count; t++)
        hold = hold && (!x->d.terms[t].hard || skew[t] <= x->d.terms[t].max_skew ||
                        skew[t] <= x->now.skew[t]);
    return hold;
}

/* Does the set remove fitting clusters and leave fewer than planned? */
static bool takes_too_many(const struct placement_round *x, const uint8_t *selected) {
    uint32_t left = 0, taken = 0;
    for (uint32_t slot = 0; slot < x->is.slots; slot++) {
        left += selected[slot] != 0 && x->is.fits[slot] != 0;
        taken += selected[slot] == 0 && x->now.has[slot] != 0 && x->is.fits[slot] != 0;
    }
    return taken > 0 && left < x->d.plan.selected_count;
}

bool owned_terms_hold(struct placement_round *x, const uint8_t *selected) {
    struct counted then;
    if (find_now(x) != 0)
        return false;
    if (!owned_has_hard_terms(x))
        return true;
    return count_set(x, selected, &then) == 0 && !then.above && skews_hold(x, then.skew);
}

bool owned_is_above(struct placement_round *x, const uint8_t *selected, uint32_t slot) {
    if (find_now(x) != 0)
        return true;
    if (!steps_take(&x->arena->steps, steps_of_count(x))) {
        x->now.failed = x->now.failed != 0 ? x->now.failed : -E2BIG;
        return true;
    }
    change_now(x, selected, 1);
    const bool above = plan_counts_above(x->now.counts, slot);
    change_now(x, selected, -1);
    return above;
}

bool owned_holds(void *ctx, const uint8_t *selected) {
    struct placement_round *x = ctx;
    return find_now(x) == 0 && !takes_too_many(x, selected) && owned_terms_hold(x, selected);
}

const uint32_t *owned_alike(void *ctx) {
    const struct placement_round *x = ctx;
    if (find_now(ctx) != 0)
        return NULL;
    const uint32_t leaves = plan_counts_leaves(x->now.counts), kinds = leaves + 1;
    uint32_t *ret = arena_array(x->arena, x->is.slots, sizeof *ret);
    uint32_t *first = arena_array(x->arena, kinds, sizeof *first); /* + 1 */
    for (uint32_t slot = 0; ret != NULL && first != NULL && slot < x->is.slots; slot++) {
        const uint32_t kind =
            x->is.fits[slot] != 0 ? plan_counts_leaf(x->now.counts, slot) : leaves;
        first[kind] = first[kind] != 0 ? first[kind] : slot + 1;
        ret[slot] = first[kind] - 1;
    }
    return first != NULL ? ret : NULL;
}

/* ---- the target that was set before ---- */

/* Reads the slots of the names. Returns false if a cluster is no longer known, or does not fit. */
static bool read_target(struct placement_round *x, uint32_t *slots, uint32_t *ret_count) {
    const struct str names = strbuf_str(&x->o->target);
    const struct topology *t = x->q->view->clusters.topology;
    *ret_count = 0;
    for (size_t at = 0; at < names.n;) {
        const struct str name = str_of(names.p + at);
        const uint32_t slot = topology_slot(t, name);
        at += name.n + 1;
        if (slot == TOPOLOGY_NONE || x->is.fits[slot] == 0 || *ret_count == x->is.slots)
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

/* Do hard terms hold for the target? Clusters may have come or gone since it was set. */
static bool target_holds(struct placement_round *x, const uint32_t *slots, uint32_t count) {
    uint8_t *flags = arena_alloc(x->arena, x->is.slots);
    if (flags == NULL)
        return false; /* the arena has failed */
    for (uint32_t i = 0; i < count; i++)
        flags[slots[i]] = 1;
    return owned_holds(x, flags);
}

/* Keeps the earlier target as long as that is possible. */
static bool go_on(struct changing *c, uint32_t *slots) {
    struct placement_round *x = c->x;
    uint32_t count;
    const bool good = read_target(x, slots, &count) && count == x->d.plan.selected_count;
    if (!good || are_selected(c, slots, count) || !target_holds(x, slots, count)) {
        x->o->has_target =
            x->o->has_target && x->now.failed != 0; /* a failed count drops nothing */
        return false;
    }
    x->target.slots = slots;
    x->target.count = count;
    return true;
}

static void set_target(struct placement_round *x, const uint32_t *slots, uint32_t count) {
    x->target.slots = slots;
    x->target.count = count;
    strbuf_clear(&x->o->target);
    for (uint32_t i = 0; i < count; i++)
        owned_put_name(&x->o->target, ocm_cluster_name(&x->d, slots[i]));
    x->o->has_target = !strbuf_failed(&x->o->target); /* otherwise it is chosen anew each time */
}

/* ---- what changes ---- */

static int find_changes(struct changing *c) {
    struct placement_round *x = c->x;
    const struct plan *plan = &x->d.plan;
    c->has = arena_alloc(x->arena, x->is.slots);
    c->wants = arena_alloc(x->arena, x->is.slots);
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
        if (x->is.fits[x->d.current[i]] == 0)
            c->remove[c->remove_count++] = x->d.current[i];
    c->infeasible = c->remove_count;
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (x->is.fits[x->d.current[i]] != 0 && c->wants[x->d.current[i]] == 0)
            c->remove[c->remove_count++] = x->d.current[i];
    c->forced = c->infeasible > 0 || x->scores.at_once ||
                x->d.current_count != plan->selected_count || x->is.existing == NULL;
    return 0;
}

/* ---- changes for evenness ---- */

static uint64_t hash_of_wanted(const struct placement_round *x) {
    uint64_t sum = 0; /* the order of names does not matter */
    for (uint32_t i = 0; i < x->d.plan.selected_count; i++)
        sum += hash_str(ocm_cluster_name(&x->d, x->d.plan.selected[i]));
    return sum;
}

static void count_all(struct changing *c, const uint32_t *slots, uint32_t count, int by) {
    for (uint32_t i = 0; i < count; i++)
        plan_counts_change(c->counts, slots[i], by);
}

/* Brings clusters of domains that need more clusters (`sign` 1) or fewer (-1) to the front; else
 * the order stays. Returns how many it brought. */
static uint32_t put_first(const struct changing *c, uint32_t *slots, uint32_t count, int64_t *diffs,
                          int sign, uint32_t *rest) {
    uint32_t first = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t *diff = &diffs[plan_counts_leaf(c->counts, slots[i])];
        if (*diff * sign > 0) {
            *diff -= sign;
            slots[first++] = slots[i];
        } else {
            rest[others++] = slots[i];
        }
    }
    if (others > 0)
        memcpy(slots + first, rest, others * sizeof *slots);
    return first;
}

/* Finds the changes for evenness. If the shape stays the same, all changes are for scores. */
static int find_wish(struct changing *c) {
    struct placement_round *x = c->x;
    const uint32_t fit = c->remove_count - c->infeasible;
    uint32_t *const remove = c->remove + c->infeasible;
    int64_t *diffs = arena_array(x->arena, plan_counts_leaves(c->counts), sizeof *diffs);
    uint32_t *rest = arena_array(x->arena, (size_t)c->add_count + fit, sizeof *rest);
    if (diffs == NULL || rest == NULL)
        return no_memory(x);
    const uint64_t now = plan_counts_shape(c->counts);
    count_all(c, c->add, c->add_count, 1);
    count_all(c, remove, fit, -1);
    c->wish = (struct moves_wish){
        .shape = plan_counts_shape(c->counts), .names = hash_of_wanted(x), .count = c->add_count};
    count_all(c, remove, fit, 1);
    count_all(c, c->add, c->add_count, -1);
    for (uint32_t i = 0; i < c->add_count; i++)
        diffs[plan_counts_leaf(c->counts, c->add[i])]++;
    for (uint32_t i = 0; i < fit; i++)
        diffs[plan_counts_leaf(c->counts, remove[i])]--;
    if (now == c->wish.shape)
        return 0;
    const uint32_t come = put_first(c, c->add, c->add_count, diffs, 1, rest);
    const uint32_t go = put_first(c, remove, fit, diffs, -1, rest);
    c->wish.even = c->even = come < go ? come : go;
    return 0;
}

/* Returns the reason of the moves. MOVED_SPREAD: the moves make the Placement more even by the
 * first term whose skew changes. */
static enum owned_reason reason_of(struct changing *c) {
    struct placement_round *x = c->x;
    if (c->infeasible > 0 || x->d.stranger_count > 0)
        return MOVED_INFEASIBLE;
    if (x->d.current_count != x->d.plan.selected_count)
        return MOVED_SIZE;
    if (find_now(x) != 0)
        return MOVED_SCORE;
    for (uint32_t t = 0; t < x->d.term_count; t++)
        if (x->now.skew[t] != x->d.plan.skew[t])
            return x->now.skew[t] > x->d.plan.skew[t] ? MOVED_SPREAD : MOVED_SCORE;
    return MOVED_SCORE;
}

enum { SHOWN = 5 };

static void put_names(struct strbuf *text, const char *what, const struct str *names,
                      uint32_t count) {
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        strbuf_append_str(text, i > 0 ? STR(", ") : str_of(what));
        strbuf_append_str(text, names[i]);
    }
    if (count > SHOWN)
        strbuf_appendf(text, " and %u more", count - SHOWN);
}

/* Returns the names of the slots' clusters, then the names in `others`. */
static const struct str *names_of(struct placement_round *x, const uint32_t *slots, uint32_t count,
                                  const struct str *others, uint32_t other_count) {
    struct str *names = arena_array(x->arena, (size_t)count + other_count, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < count; i++)
        names[i] = ocm_cluster_name(&x->d, slots[i]);
    for (uint32_t i = 0; names != NULL && i < other_count; i++)
        names[count + i] = others[i];
    return names; /* NULL: the arena has failed, and the look fails */
}

/* Describes the moves that begin, the first of both lists: "infeasible: to c4 from c2". */
static void note_moves(struct changing *c, uint32_t added, uint32_t removed) {
    struct placement_round *x = c->x;
    struct strbuf text = {0};
    x->ret->moves = added > removed ? added : removed;
    x->ret->first = x->is.existing == NULL || x->scores.at_once;
    x->ret->why = x->ret->first ? MOVED_SIZE : reason_of(c);
    strbuf_appendf(&text, "%s:", owned_reason_names[x->ret->why]);
    /* clusters that are gone from the hub have no slot, and leave with any move */
    const uint32_t strangers = x->d.stranger_count, left = removed + strangers;
    const struct str *to = names_of(x, c->add, added, NULL, 0);
    const struct str *from = names_of(x, c->remove, removed, x->d.strangers, strangers);
    if (to != NULL && from != NULL) {
        put_names(&text, " to ", to, added);
        put_names(&text, " from ", from, left);
    }
    x->ret->note = arena_str(x->arena, strbuf_str(&text));
    x->ret->begun = (struct owned_moves){to, from, added, left};
    strbuf_done(&text);
}

/* ---- a part of the moves ---- */

/* Applies the first `added` and `removed` changes to the present clusters. Returns the number of
 * slots. */
static uint32_t mix(struct changing *c, uint32_t added, uint32_t removed, uint32_t *slots) {
    struct placement_round *x = c->x;
    uint8_t *gone = arena_alloc(x->arena, x->is.slots);
    uint32_t count = 0;
    if (gone == NULL)
        return 0; /* the arena has failed */
    for (uint32_t i = 0; i < removed; i++)
        gone[c->remove[i]] = 1;
    for (uint32_t i = 0; i < x->d.current_count; i++)
        if (gone[x->d.current[i]] == 0)
            slots[count++] = x->d.current[i];
    for (uint32_t i = 0; i < added; i++)
        slots[count++] = c->add[i];
    return count;
}

/* Moves an item forward to a place; the items between keep their order. */
static void bring(uint32_t *items, uint32_t from, uint32_t to) {
    const uint32_t item = items[from];
    memmove(items + to + 1, items + to, (from - to) * sizeof *items);
    items[to] = item;
}

/* ---- moves that must be made ---- */

/* Brings to the front of `add` the clusters that hard terms let in one after the other, and counts
 * them. Returns their number. */
static uint32_t choose_added(struct changing *c, uint32_t wanted) {
    uint32_t taken = 0;
    bool again = true;
    while (again && taken < wanted) {
        again = false;
        for (uint32_t i = taken; i < c->add_count && taken < wanted; i++) {
            plan_counts_change(c->counts, c->add[i], 1);
            if (!steps_take(&c->x->arena->steps, 2 * PLACEMENT_TERMS) ||
                plan_counts_above(c->counts, c->add[i])) {
                plan_counts_change(c->counts, c->add[i], -1);
                continue;
            }
            bring(c->add, i, taken++);
            again = true;
        }
    }
    return taken;
}

/* Returns the index of the cluster in the fullest domains, in remove[from..to), which is not
 * empty. */
static uint32_t fullest(const struct changing *c, uint32_t from, uint32_t to) {
    uint32_t best = from;
    int64_t least = INT64_MAX;
    for (uint32_t i = from; i < to; i++) {
        const int64_t score = plan_counts_score(c->counts, c->remove[i]);
        if (!steps_take(&c->x->arena->steps, PLACEMENT_TERMS))
            break;
        if (score < least) {
            least = score;
            best = i;
        }
    }
    return best;
}

/* Brings `wanted` clusters of `remove` behind the infeasible ones, each time one of the fullest
 * domains. */
static void choose_removed(struct changing *c, uint32_t wanted) {
    for (uint32_t i = 0; i < wanted && wanted < c->remove_count - c->infeasible; i++) {
        const uint32_t at = c->infeasible + i;
        bring(c->remove, fullest(c, at, c->remove_count), at);
        plan_counts_change(c->counts, c->remove[at], -1);
    }
}

/* Removes clusters that do not fit, and adds or removes as many as the planned number needs; the
 * plan's other changes are voluntary and come later. Makes all changes if hard terms let in too
 * few. */
static void move_forced(struct changing *c, uint32_t *slots) {
    struct placement_round *x = c->x;
    const uint32_t number = x->d.plan.selected_count, fit = x->d.current_count - c->infeasible;
    const uint32_t more = fit < number ? number - fit : 0, less = fit > number ? fit - number : 0;
    uint32_t added = c->add_count, removed = c->remove_count;
    bool some = x->is.existing != NULL && more < c->add_count && !x->scores.at_once;
    int64_t never;
    if (some && choose_added(c, more) == more) {
        choose_removed(c, less);
        added = more;
        removed = c->infeasible + less;
    } else {
        some = false;
        (void)moves_allowed(&x->o->moves, &x->q->settings->moves, &(struct moves_wish){0},
                            x->q->now_ms, &never); /* no move waits any more */
    }
    x->ret->waiting = c->add_count - added;
    x->ret->waits = x->ret->waiting > 0 ? OWNED_WAITS_SETTLE : OWNED_WAITS_NOT;
    x->target.count = some ? mix(c, added, removed, slots) : number;
    x->target.slots = some ? slots : x->d.plan.selected;
    if (added + removed > 0) {
        note_moves(c, added, removed);
        set_target(x, x->target.slots, x->target.count);
    }
}

/* ---- voluntary moves ---- */

/* Keeps the present clusters. */
static void hold(struct placement_round *x, uint32_t waiting, int64_t wait_ms) {
    x->target.slots = x->d.current;
    x->target.count = x->d.current_count;
    x->ret->waiting = waiting;
    if (wait_ms < x->ret->wake_ms)
        x->ret->wake_ms = wait_ms;
}

enum { TRIES = 32 };

/* Exchanges remove[at] for the first of add[made..to) that hard terms let in. *tries limits how
 * often it counts skews, the most expensive step. */
static bool exchange_one(struct changing *c, uint32_t at, uint32_t made, uint32_t to,
                         uint32_t *tries) {
    struct placement_round *x = c->x;
    uint32_t *const remove = c->remove + c->infeasible;
    const uint64_t leaves = plan_counts_leaves(c->counts);
    int64_t skew[PLACEMENT_TERMS];
    plan_counts_change(c->counts, remove[at], -1);
    for (uint32_t i = made; i < to && i<made + TRIES && * tries> 0; i++) {
        plan_counts_change(c->counts, c->add[i], 1);
        const bool above = plan_counts_above(c->counts, c->add[i]);
        if (!above)
            plan_counts_skews(c->counts, skew);
        if (!above && skews_hold(x, skew)) {
            bring(c->add, i, made);
            bring(remove, at, made);
            return true;
        }
        plan_counts_change(c->counts, c->add[i], -1);
        *tries -= !above;
        if (!steps_take(&x->arena->steps, above ? 2 * PLACEMENT_TERMS : 2 * leaves))
            break;
    }
    plan_counts_change(c->counts, remove[at], 1);
    return false;
}

/* Exchanges one more pair, after `made` others, within the first `to` of both lists. It removes a
 * cluster of the fullest domains if hard terms allow that, otherwise the next one that they
 * allow. */
static bool exchange(struct changing *c, uint32_t made, uint32_t to) {
    const uint32_t *const remove = c->remove + c->infeasible;
    const uint32_t first = fullest(c, c->infeasible + made, c->infeasible + to) - c->infeasible;
    const uint32_t leaf = plan_counts_leaf(c->counts, remove[first]);
    uint32_t tries = TRIES;
    if (exchange_one(c, first, made, to, &tries))
        return true;
    tries = TRIES;
    for (uint32_t at = made; at < to && at < made + TRIES && tries > 0; at++)
        if (plan_counts_leaf(c->counts, remove[at]) != leaf && /* clusters of `leaf` are alike */
            exchange_one(c, at, made, to, &tries))
            return true;
    return false;
}

/* Makes as many moves as may begin. If not all may, only moves that hard terms allow one by one. */
static void move_some(struct changing *c, uint32_t *slots) {
    struct placement_round *x = c->x;
    int64_t wait_ms;
    const uint32_t count = c->add_count;
    const uint32_t allowed =
        moves_allowed(&x->o->moves, &x->q->settings->moves, &c->wish, x->q->now_ms, &wait_ms);
    uint32_t moves = allowed == count ? count : 0;
    x->ret->waits = moves_settle(&x->o->moves, &x->q->settings->moves, x->q->now_ms)
                        ? OWNED_WAITS_SETTLE
                        : OWNED_WAITS_MINUTE;
    const uint32_t among = allowed <= c->even ? c->even : count;
    if (allowed < count && find_now(x) == 0)
        while (moves < allowed && exchange(c, moves, among))
            moves++;
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
        const uint32_t mixed = mix(c, moves, moves, slots);
        set_target(x, slots, mixed);
    }
    if (moves < count && wait_ms < x->ret->wake_ms)
        x->ret->wake_ms = wait_ms;
}

/* Counts the present clusters, and finds which changes are for evenness. */
static int count_changes(struct changing *c) {
    struct placement_round *x = c->x;
    const int r = make_counts(x, x->arena, &c->counts);
    if (r != 0)
        return err_set(x->err, r, "too many clusters to find a Placement's moves");
    count_all(c, x->d.current, x->d.current_count, 1);
    return find_wish(c);
}

static int find_target(struct placement_round *x) {
    struct changing c = {.x = x};
    uint32_t *slots = arena_array(x->arena, x->is.slots, sizeof *slots);
    int r = slots == NULL ? no_memory(x) : find_changes(&c);
    if (r != 0 || go_on(&c, slots))
        return r;
    r = count_changes(&c);
    if (r != 0)
        return r;
    if (c.forced || c.add_count == 0)
        move_forced(&c, slots);
    else if (x->is.spread.reason == OCM_SPREAD_KEY_UNKNOWN)
        hold(x, 0, INT64_MAX); /* the key is unknown, so the plan is not the intended one */
    else
        move_some(&c, slots);
    return 0;
}

/* ---- groups ---- */

static bool is_decided(const struct placement_round *x, uint8_t *flags) {
    bool same = x->target.count == x->d.plan.selected_count;
    for (uint32_t i = 0; i < x->d.plan.selected_count; i++)
        flags[x->d.plan.selected[i]] = 1;
    for (uint32_t i = 0; i < x->target.count; i++)
        same = same && flags[x->target.slots[i]] != 0;
    return same;
}

/* Groups the target's clusters as OCM would without other clusters and without terms: it then
 * selects all. */
static int group_target(struct placement_round *x) {
    struct placement alone = x->is.placement;
    struct ocm_decision d;
    struct str *names = arena_array(x->arena, x->target.count, sizeof *names);
    if (names == NULL)
        return no_memory(x);
    for (uint32_t i = 0; i < x->target.count; i++)
        names[i] = ocm_cluster_name(&x->d, x->target.slots[i]);
    alone.terms = NULL;
    alone.prioritizers = NULL;
    alone.term_count = alone.prioritizer_count = 0;
    alone.mode = STR("");
    alone.has_number = false;
    const struct ocm_question question = {.placement = &alone,
                                          .now_ms = x->q->wall_ms,
                                          .has_names = true,
                                          .names = names,
                                          .name_count = x->target.count};
    int r = ocm_decide(x->q->view, &question, x->arena, &d, x->err);
    if (r != 0)
        return r;
    if (d.outcome != OCM_DECIDED || d.plan.selected_count != x->target.count ||
        d.group_problem.n > 0)
        return err_set(x->err, -EINVAL, "clusters of a Placement cannot be grouped");
    x->target.groups = d.groups;
    x->target.group_count = d.group_count;
    return 0;
}

int owned_choose(struct placement_round *x) {
    uint8_t *flags = arena_alloc(x->arena, x->is.slots);
    int r = flags == NULL ? no_memory(x) : find_target(x);
    if (r != 0)
        return r;
    x->target.is_final = is_decided(x, flags);
    x->target.groups = x->d.groups;
    x->target.group_count = x->d.group_count;
    return x->target.is_final || x->ret->mode == OWNED_SCORED ? 0 : group_target(x);
}
