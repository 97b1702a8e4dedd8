#include "ocm/plan.h"

#include "model/ocm.h"
#include "ocm/plan_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

_Static_assert((int)PLACEMENT_TERMS <= (int)ORDERED_TERMS, "a placement has a tree");

/* ---- terms, and the clusters that take part ---- */

int ocm_term_column(struct topology_view *v, const struct placement_term *term, struct arena *arena,
                    struct topology_column *ret) {
    struct str key = term->key;
    if (term->is_claim)
        key = claim_key(term->key, arena);
    else if (str_has_prefix(term->key, STR(CLAIM_PREFIX)))
        key = STR("");
    return arena_failed(arena) ? -ENOMEM : topology_column(v, key, ret);
}

static int find_terms(struct plan_work *w) {
    const struct plan_question *q = w->question;
    int r = 0;
    assert(q->term_count <= PLACEMENT_TERMS);
    for (uint32_t t = 0; r == 0 && t < q->term_count; t++) {
        w->terms[t].hard = q->terms[t].hard;
        w->terms[t].max_skew = q->terms[t].max_skew;
        w->terms[t].min_domains = (uint32_t)q->terms[t].min_domains;
        r = ocm_term_column(w->view, &q->terms[t], w->arena, &w->terms[t].column);
    }
    w->domains.terms = w->terms;
    w->domains.term_count = q->term_count;
    w->weight = q->term_count == 0 ? 0 : q->weight;
    return r;
}

/* Leaves out clusters that lack the key of a hard term. */
static int find_feasible(struct plan_work *w, struct plan *ret) {
    const struct plan_question *q = w->question;
    const bool lack_none = ordered_domains_lack_none(&w->domains, false);
    ret->lacks = arena_array(w->arena, q->candidate_count, sizeof *ret->lacks);
    w->feasible = arena_array_unset(w->arena, q->candidate_count, sizeof *w->feasible);
    if (ret->lacks == NULL || w->feasible == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < q->candidate_count; i++) {
        uint32_t term;
        if (lack_none || !ordered_domains_lack(&w->domains, q->candidates[i], false, &term))
            w->feasible[w->feasible_count++] = q->candidates[i];
        else
            ret->lacks[i] = (uint8_t)(term + 1);
    }
    return plan_spend(w, (uint64_t)q->candidate_count * (1 + q->term_count));
}

/* Finds the domains, with the spread group's counts in them. */
static int find_domains(struct plan_work *w) {
    const uint32_t *others = w->question->others;
    int r = ordered_domains_init(&w->domains, w->view, w->arena);
    for (uint32_t i = 0; r == 0 && i < w->feasible_count; i++) {
        ordered_domains_include(&w->domains, w->feasible[i]);
        if (others != NULL)
            ordered_domains_add(&w->domains, w->feasible[i], others[w->feasible[i]]);
    }
    if (r == 0)
        ordered_domains_settle(&w->domains);
    return r == 0 ? plan_spend(w, w->feasible_count + w->domains.tree.count) : r;
}

int plan_begin(struct plan_work *w, struct plan *ret) {
    int r = find_terms(w);
    if (r == 0)
        r = find_feasible(w, ret);
    return r == 0 ? find_domains(w) : r;
}

/* ---- the candidates of a leaf: a heap with the best candidate on top ---- */

/* Compares candidates without their score of spread. */
static bool is_better(const struct plan_entry *a, const struct plan_entry *b) {
    if (a->sum != b->sum)
        return a->sum > b->sum;
    if (a->member != b->member)
        return a->member;
    return a->place < b->place;
}

static bool is_better_leaf(const void *ctx, uint32_t a, uint32_t b) {
    const struct plan_work *w = ctx;
    return is_better(&w->entries[w->begin[a]], &w->entries[w->begin[b]]);
}

static void sift_down(struct plan_entry *heap, uint32_t count, uint32_t at) {
    const struct plan_entry entry = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_better(&heap[child + 1], &heap[child]))
            child++;
        if (!is_better(&heap[child], &entry))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* Puts the candidates of each leaf side by side. Nothing is sorted: even in a large fleet few
 * clusters are selected. */
static int make_heaps(struct plan_work *w) {
    const struct plan_question *q = w->question;
    const uint8_t *barred = q->barred;
    const struct topology_tree *tree = &w->domains.tree;
    w->entries = arena_array_unset(w->arena, w->feasible_count, sizeof *w->entries);
    w->begin = arena_array(w->arena, tree->count, sizeof *w->begin);
    w->left = arena_array(w->arena, tree->count, sizeof *w->left);
    if (w->entries == NULL || w->begin == NULL || w->left == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->feasible_count; i++)
        w->begin[tree->leaf_of[w->feasible[i]]]++;
    for (uint32_t leaf = 0, sum = 0; leaf < tree->count; leaf++) {
        const uint32_t count = w->begin[leaf];
        w->begin[leaf] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < w->feasible_count; i++) {
        const uint32_t slot = w->feasible[i], leaf = tree->leaf_of[slot];
        if (barred != NULL && barred[slot] != 0)
            continue;
        w->entries[w->begin[leaf] + w->left[leaf]++] = (struct plan_entry){
            .sum = q->sums != NULL ? q->sums[slot] : 0,
            .place = i,
            .member = q->term_count > 0 && q->members != NULL && q->members[slot] != 0};
    }
    for (uint32_t leaf = 0; leaf < tree->count; leaf++)
        for (uint32_t i = w->left[leaf] / 2; i > 0; i--)
            sift_down(&w->entries[w->begin[leaf]], w->left[leaf], i - 1);
    return plan_spend(w, 4 * (uint64_t)w->feasible_count + tree->count);
}

/* Removes the best candidate of a leaf. */
static void drop_best(struct plan_work *w, uint32_t leaf) {
    struct plan_entry *heap = &w->entries[w->begin[leaf]];
    heap[0] = heap[--w->left[leaf]];
    if (w->left[leaf] > 1)
        sift_down(heap, w->left[leaf], 0);
}

/* ---- rounds ---- */

/* Returns the leaf with the highest score of its best candidate, spread included; PREFIX_NONE if no
 * leaf is allowed. */
static uint32_t best_weighed(struct plan_work *w, struct rounds *r, struct rounds_choice *choices) {
    const uint32_t count = rounds_choices(r, choices);
    int64_t least = INT64_MAX, most = INT64_MIN;
    struct plan_entry best;
    uint32_t leaf = PREFIX_NONE;
    for (uint32_t i = 0; i < count; i++) {
        least = choices[i].score < least ? choices[i].score : least;
        most = choices[i].score > most ? choices[i].score : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct plan_entry entry = w->entries[w->begin[choices[i].leaf]];
        entry.sum += w->weight * plan_normalized(choices[i].score, least, most);
        if (leaf == PREFIX_NONE || is_better(&entry, &best)) {
            best = entry;
            leaf = choices[i].leaf;
        }
    }
    return leaf;
}

/* Runs rounds until `number` clusters are selected. */
static int run_rounds(struct plan_work *w, struct rounds *r, uint32_t number,
                      struct plan_trace *trace, struct plan *ret) {
    struct rounds_choice *choices = NULL;
    int error = 0;
    if (w->weight != 0)
        choices = arena_array_unset(w->arena, w->domains.tree.count, sizeof *choices);
    if (w->weight != 0 && choices == NULL)
        return -ENOMEM;
    while (error == 0 && ret->selected_count < number) {
        const uint64_t looked = r->looked;
        const uint32_t leaf = choices != NULL ? best_weighed(w, r, choices) : rounds_best(r);
        if (leaf == PREFIX_NONE)
            break;
        const uint32_t place = w->entries[w->begin[leaf]].place;
        if (trace != NULL)
            error = plan_trace_round(w, trace, place, ret);
        ret->selected[ret->selected_count++] = w->feasible[place];
        drop_best(w, leaf);
        rounds_take(r, leaf);
        if (error == 0)
            error = plan_spend(w, 8 * (1 + w->domains.term_count) + r->looked - looked);
    }
    return error;
}

/* Picks among the candidates that are left in the leaves. */
static int pick(struct plan_work *w, uint32_t number, struct plan_trace *trace, struct plan *ret) {
    const struct rounds_candidates candidates = {is_better_leaf, w, w->left};
    struct rounds rounds;
    const int r =
        rounds_init(&rounds, &w->domains, w->weight != 0 ? ROUNDS_WEIGHED : ROUNDS_BY_SCORE,
                    &candidates, w->arena);
    return r == 0 ? run_rounds(w, &rounds, number, trace, ret) : r;
}

/* ---- the kept clusters ---- */

uint32_t plan_forbidding_term(const struct plan_work *w, uint32_t slot) {
    const struct ordered_count *parent = &w->domains.items[PREFIX_ROOT];
    uint32_t path[ORDERED_TERMS], t = 0;
    ordered_domains_path(&w->domains, slot, path);
    for (; t < w->domains.term_count; t++) {
        const struct ordered_count *own = &w->domains.items[path[t]];
        if (w->terms[t].hard && rounds_over(&w->terms[t], parent, own->count) > 0)
            break;
        parent = own;
    }
    return t;
}

/* Leaves only members in the heaps, and notes the terms that forbid their leaves. Returns true if
 * members are left. */
static bool leave_members(struct plan_work *w) {
    bool any = false;
    for (uint32_t leaf = 0; leaf < w->domains.tree.count; leaf++) {
        struct plan_entry *heap = &w->entries[w->begin[leaf]];
        uint32_t members = 0;
        for (uint32_t i = 0; i < w->left[leaf]; i++)
            if (heap[i].member)
                heap[members++] = heap[i];
        w->left[leaf] = members;
        if (members > 0)
            w->shut[leaf] = (uint8_t)plan_forbidding_term(w, w->feasible[heap[0].place]);
        for (uint32_t i = members / 2; i > 0; i--)
            sift_down(heap, members, i - 1);
        any = any || members > 0;
    }
    return any;
}

static int keep_feasible(struct plan_work *w, uint32_t number, struct plan *ret) {
    const struct topology_tree *tree = &w->domains.tree;
    const uint32_t picked = ret->selected_count;
    w->shut = arena_alloc(w->arena, tree->count);
    if (w->shut == NULL)
        return -ENOMEM;
    if (plan_spend(w, 2 * (uint64_t)w->feasible_count + 2 * tree->count) != 0)
        return -E2BIG;
    if (!leave_members(w))
        return 0;
    for (uint32_t t = 0; t < w->domains.term_count; t++)
        w->terms[t].hard = false;
    const int r = pick(w, number, NULL, ret);
    for (uint32_t i = picked; i < ret->selected_count; i++)
        ret->kept_terms[i - picked] = w->shut[tree->leaf_of[ret->selected[i]]];
    return r;
}

static int compare_entries(const void *a, const void *b) {
    return is_better(a, b) ? -1 : 1; /* no two entries are equal */
}

/* Keeps members that lack the key of a hard term. Here, `place` is an index of all candidates. */
static int keep_keyless(struct plan_work *w, uint32_t number, uint32_t picked, struct plan *ret) {
    const struct plan_question *q = w->question;
    const uint32_t lacking = q->candidate_count - w->feasible_count;
    struct plan_entry *entries = arena_array_unset(w->arena, lacking, sizeof *entries);
    uint32_t count = 0;
    if (entries == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < q->candidate_count; i++)
        if (ret->lacks[i] != 0 && q->members[q->candidates[i]] != 0)
            entries[count++] = (struct plan_entry){
                .sum = q->sums != NULL ? q->sums[q->candidates[i]] : 0, .place = i, .member = true};
    if (!steps_take_sort(&w->arena->steps, count))
        return -E2BIG;
    qsort(entries, count, sizeof *entries, compare_entries);
    for (uint32_t i = 0; i < count && ret->selected_count < number; i++) {
        ret->kept_terms[ret->selected_count - picked] = ret->lacks[entries[i].place] - 1;
        ret->selected[ret->selected_count++] = q->candidates[entries[i].place];
        ret->keyless_count++;
    }
    return 0;
}

static int keep_members(struct plan_work *w, uint32_t number, struct plan *ret) {
    const uint32_t picked = ret->selected_count;
    int r = 0;
    if (w->question->members == NULL || picked == number)
        return 0;
    ret->kept_terms = arena_array(w->arena, number - picked, sizeof *ret->kept_terms);
    if (ret->kept_terms == NULL)
        return -ENOMEM;
    if (picked < w->feasible_count)
        r = keep_feasible(w, number, ret);
    if (r == 0 && w->feasible_count < w->question->candidate_count)
        r = keep_keyless(w, number, picked, ret);
    ret->kept_count = ret->selected_count - picked;
    return r;
}

int64_t plan_above(const struct plan_work *w, uint32_t slot) {
    const struct ordered_count *parent = &w->domains.items[PREFIX_ROOT];
    int64_t most = INT64_MIN;
    uint32_t path[ORDERED_TERMS];
    ordered_domains_path(&w->domains, slot, path);
    for (uint32_t t = 0; t < w->domains.term_count; t++) {
        const struct ordered_count *own = &w->domains.items[path[t]];
        const int64_t above = rounds_over(&w->terms[t], parent, own->count) - 1;
        if (w->question->terms[t].hard && above > most)
            most = above;
        parent = own;
    }
    return most;
}

/* Finds new clusters above a hard term: kept members make a domain fuller after new clusters were
 * picked there. */
static int find_above(struct plan_work *w, struct plan *ret) {
    const uint8_t *members = w->question->members;
    const uint32_t picked = ret->selected_count - ret->kept_count;
    if (ret->kept_count == ret->keyless_count)
        return 0;
    ret->above = arena_array_unset(w->arena, picked, sizeof *ret->above);
    uint32_t *found = arena_array(w->arena, w->domains.tree.count, sizeof *found); /* by leaf */
    if (ret->above == NULL || found == NULL)
        return -ENOMEM;
    for (uint32_t i = picked; i > 0; i--) {
        const uint32_t slot = ret->selected[i - 1], leaf = w->domains.tree.leaf_of[slot];
        if (members[slot] != 0 || plan_above(w, slot) <= (int64_t)found[leaf])
            continue;
        found[leaf]++;
        ret->above[ret->above_count++] = slot;
    }
    return plan_spend(w, (uint64_t)picked * (1 + w->domains.term_count) + w->domains.tree.count);
}

static int select_clusters(struct plan_work *w, struct plan *ret) {
    const struct plan_question *q = w->question;
    const uint32_t wanted = q->has_number ? q->number : q->candidate_count;
    const uint32_t number = wanted < q->candidate_count ? wanted : q->candidate_count;
    const uint32_t rounds = number < w->feasible_count ? number : w->feasible_count;
    struct plan_trace trace;
    int r = 0;
    ret->selected = arena_array_unset(w->arena, number, sizeof *ret->selected);
    if (ret->selected == NULL)
        return -ENOMEM;
    if (q->with_rounds)
        r = plan_trace_begin(w, rounds, &trace, ret);
    if (r == 0)
        r = pick(w, rounds, q->with_rounds ? &trace : NULL, ret);
    if (r == 0)
        r = keep_members(w, number, ret);
    if (r == 0)
        r = find_above(w, ret);
    if (r != 0)
        return r;
    ret->unscheduled = q->has_number ? wanted - ret->selected_count : 0;
    ordered_domains_skews(&w->domains, ret->skew);
    return 0;
}

int ocm_plan(struct topology_view *v, const struct plan_question *q, struct arena *arena,
             struct plan *ret) {
    struct plan_work w = {.view = v, .question = q, .arena = arena};
    struct plan plan = {0};
    int r = plan_begin(&w, &plan);
    if (r == 0)
        r = make_heaps(&w);
    if (r == 0)
        r = select_clusters(&w, &plan);
    if (r == 0 && q->with_domains)
        r = plan_domains(&w, &plan);
    if (r == 0)
        *ret = plan;
    return r;
}
