/*
 * The search through combinations of groups, level by level, the best first, without recursion:
 * each level has a frame that makes its combinations one after the other: smaller combinations
 * first, combinations of one size in the order of their ranks. A choice is dropped as soon as a
 * bound shows that no answer begins with it. Bounds never drop an answer, so the first answer found
 * is the first of all answers.
 */
#include "karmada/levels_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* ---- entering a level ---- */

static int compare_numbers(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Finds the usable groups below the chosen parents, best first. */
static void find_candidates(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    const struct search_level *l = &s->levels[level];
    f->count = 0;
    if (level == 0) {
        for (uint32_t g = 0; g < l->level->count; g++)
            if (l->nodes[g].usable)
                f->candidates[f->count++] = g;
        f->parents = 1;
    } else {
        const struct level_frame *above = &s->frames[level - 1];
        f->parents = above->size;
        for (uint32_t i = 0; i < above->size; i++) {
            const uint32_t parent = above->candidates[above->chosen[i]];
            const struct level_node *node = &s->levels[level - 1].nodes[parent];
            s->group_marks[parent] = i;
            for (uint32_t c = 0; c < node->child_count; c++)
                if (l->nodes[l->by_parent[node->first_child + c]].usable)
                    f->candidates[f->count++] = l->by_parent[node->first_child + c];
        }
        if (above->size > 1)
            qsort(f->candidates, f->count, sizeof *f->candidates, compare_numbers);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        f->slots[i] = level == 0 ? 0 : s->group_marks[l->level->groups[f->candidates[i]].parent];
        f->last[f->slots[i]] = i;
    }
    memset(f->covers, 0, f->parents * sizeof *f->covers);
    f->uncovered = f->parents;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Finds the possible sizes of a combination. A combination is not larger than a combination of a
 * level below, because each of its groups has a group there. */
static void find_sizes(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    int64_t most = f->count, least = s->levels[level].min;
    for (uint32_t i = level; i < s->depth; i++)
        most = smaller(most, s->levels[i].max);
    if (s->clusters_count && !s->several)
        most = smaller(most, s->cluster_max);
    if (level > 0 && least < f->parents)
        least = f->parents;
    f->most = (uint32_t)most;
    f->least = least > most ? f->most + 1 : (uint32_t)least;
}

static int64_t node_best(const struct level_node *node) {
    return node->sum_count > 0 ? node->sums[1] : 0;
}

/* Sums the largest clusters below the candidates, up to `most` clusters. Leaves out the largest
 * cluster of each candidate, which is counted already. */
static void find_extra(struct level_search *s, uint32_t level, uint32_t most) {
    struct level_frame *f = &s->frames[level];
    const uint32_t *group_of = s->levels[level].group_of;
    f->extra[0] = 0;
    f->extra_count = 0;
    memset(s->group_marks, 0, s->levels[level].level->count * sizeof *s->group_marks);
    for (uint32_t i = 0; i < f->count; i++)
        s->group_marks[f->candidates[i]] = 1;
    for (uint32_t i = 0; i < s->w->count && f->extra_count < most; i++) {
        const uint32_t group = group_of[s->by_size[i]];
        if (group == 0 || s->group_marks[group - 1] == 0)
            continue;
        if (s->group_marks[group - 1]++ == 1)
            continue; /* the group's largest cluster */
        f->extra[f->extra_count + 1] =
            add_saturating(f->extra[f->extra_count], ranked(s->w, s->by_size[i])->available);
        f->extra_count++;
    }
}

static const struct level_node *candidate_node(const struct level_search *s, uint32_t level,
                                               uint32_t place) {
    return &s->levels[level].nodes[s->frames[level].candidates[place]];
}

static uint64_t build_tops(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    const struct search_level *l = &s->levels[level];
    uint64_t steps = 0;
    for (uint32_t i = 0; i < f->count; i++)
        f->values[i] = l->level->groups[f->candidates[i]].shown.cluster_count;
    steps += tops_build(&f->members, f->values, f->count, f->most);
    for (uint32_t i = 0; i < f->count; i++)
        f->values[i] = candidate_node(s, level, i)->clusters;
    steps += tops_build(&f->clusters, f->values, f->count, f->most);
    for (uint32_t i = 0; i < f->count; i++)
        f->values[i] = node_best(candidate_node(s, level, i));
    steps += tops_build(&f->best, f->values, f->count, f->most);
    for (uint32_t i = 0; s->priced && i < f->count; i++)
        f->values[i] = candidate_node(s, level, i)->priced;
    if (s->priced)
        steps += tops_build(&f->priced, f->values, f->count, f->most);
    for (uint32_t a = 0; a < LEVELS_AHEAD && level + 1 + a < s->depth; a++) {
        for (uint32_t i = 0; i < f->count; i++)
            f->values[i] = candidate_node(s, level, i)->below[a];
        steps += tops_build(&f->below[a], f->values, f->count, f->most);
    }
    return steps;
}

/* Returns false if the budget is used up. */
static bool enter_level(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    find_candidates(s, level);
    find_sizes(s, level);
    f->started = false;
    f->taken = 0;
    f->sums[0] = (struct level_sums){0};
    uint64_t steps = f->count / 16 + 1;
    if (f->least <= f->most) {
        steps += build_tops(s, level);
        if (level_search_is_limited(s) && s->need > 0) {
            const int64_t most = s->cluster_max - f->least;
            find_extra(s, level, most > 0 ? (uint32_t)most : 0);
            steps += s->w->count / 64;
        }
    }
    return search_step(s, steps);
}

/* ---- the combinations of a level ---- */

/* Returns the largest number of replicas that a group can add to a combination of this size. Each
 * other group needs a cluster, too. */
static int64_t node_replicas(const struct level_search *s, const struct level_node *node,
                             uint32_t size) {
    if (!level_search_is_limited(s))
        return node->replicas;
    const int64_t clusters = s->cluster_max - size + 1;
    const uint32_t take = clusters < node->sum_count ? (uint32_t)clusters : node->sum_count;
    return smaller(node->sums[take], node->replicas);
}

static bool begin_size(struct level_search *s, uint32_t level, uint32_t size) {
    struct level_frame *f = &s->frames[level];
    f->size = size;
    f->taken = f->next = 0;
    f->started = true;
    if (s->need <= 0)
        return true;
    for (uint32_t i = 0; i < f->count; i++)
        f->values[i] = node_replicas(s, candidate_node(s, level, i), size);
    return search_step(s, tops_build(&f->replicas, f->values, f->count, size));
}

/* Can the taken candidates make a combination with candidates from the next place on? If not,
 * candidates from any later place cannot either. */
static bool is_promising(const struct level_search *s, uint32_t level) {
    const struct level_frame *f = &s->frames[level];
    const struct level_sums *sums = &f->sums[f->taken];
    const uint32_t more = f->size - f->taken, from = f->next;
    if (f->count - from < more || f->uncovered > more)
        return false;
    if (sums->members + tops_sum(&f->members, from, more) < s->cluster_min ||
        sums->clusters + tops_sum(&f->clusters, from, more) < s->cluster_min)
        return false;
    for (uint32_t a = 0; a < LEVELS_AHEAD && level + 1 + a < s->depth; a++)
        if (sums->below[a] + tops_sum(&f->below[a], from, more) < s->levels[level + 1 + a].min)
            return false;
    if (s->need <= 0)
        return true;
    if (add_saturating(sums->replicas, tops_sum(&f->replicas, from, more)) < s->need)
        return false;
    if (s->priced &&
        sums->priced + tops_sum(&f->priced, from, more) + s->levels[level].base < s->need)
        return false;
    if (!level_search_is_limited(s))
        return true;
    const int64_t room = s->cluster_max - f->size;
    const int64_t extra = f->extra[room < f->extra_count ? room : f->extra_count];
    return add_saturating(add_saturating(sums->best, tops_sum(&f->best, from, more)), extra) >=
           s->need;
}

/* Takes the candidate at the next place. */
static void take_candidate(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    const uint32_t place = f->next++;
    const struct level_node *node = candidate_node(s, level, place);
    const struct level_sums *sums = &f->sums[f->taken];
    struct level_sums *with = &f->sums[f->taken + 1];
    with->members =
        sums->members + s->levels[level].level->groups[f->candidates[place]].shown.cluster_count;
    with->clusters = sums->clusters + node->clusters;
    with->replicas = add_saturating(sums->replicas, node_replicas(s, node, f->size));
    with->priced = sums->priced + node->priced;
    with->best = add_saturating(sums->best, node_best(node));
    for (uint32_t a = 0; a < LEVELS_AHEAD; a++)
        with->below[a] = sums->below[a] + node->below[a];
    f->chosen[f->taken++] = place;
    if (f->covers[f->slots[place]]++ == 0)
        f->uncovered--;
}

/* Gives candidates back until one of them can be skipped. A candidate cannot be skipped if it is
 * the last possible one of a parent without a chosen group. Returns false if no candidate can be
 * skipped. */
static bool retreat(struct level_frame *f) {
    while (f->taken > 0) {
        const uint32_t place = f->chosen[--f->taken], slot = f->slots[place];
        f->next = place + 1;
        if (--f->covers[slot] > 0)
            return true;
        f->uncovered++;
        if (f->last[slot] != place)
            return true;
    }
    return false;
}

/* Has the combination enough distinct clusters? */
static bool has_clusters(struct level_search *s, uint32_t level) {
    const struct level_frame *f = &s->frames[level];
    int64_t distinct = 0;
    if (!s->several)
        return f->sums[f->size].members >= s->cluster_min;
    s->stamp++;
    for (uint32_t i = 0; i < f->size && distinct < s->cluster_min; i++) {
        const struct level_group *group = chosen_group(s, level, i);
        (void)search_step(s, group->shown.cluster_count / 16); /* if spent, the next step fails */
        for (uint32_t c = 0; c < group->shown.cluster_count; c++) {
            distinct += s->stamps[group->ranks[c]] != s->stamp;
            s->stamps[group->ranks[c]] = s->stamp;
        }
    }
    return distinct >= s->cluster_min;
}

/* Makes the next combination of a level. */
static enum search_result next_combination(struct level_search *s, uint32_t level) {
    struct level_frame *f = &s->frames[level];
    bool more = f->started && retreat(f);
    for (;;) {
        if (!search_step(s, 1))
            return SEARCH_SPENT;
        if (!more) {
            const uint32_t size = f->started ? f->size + 1 : f->least;
            if (size > f->most)
                return SEARCH_NONE;
            if (!begin_size(s, level, size))
                return SEARCH_SPENT;
            more = true;
        }
        if (!is_promising(s, level)) {
            more = retreat(f);
            continue;
        }
        const uint32_t slot = f->slots[f->next];
        if (f->covers[slot] > 0 && f->uncovered == f->size - f->taken) {
            f->next++; /* only a parent without a group can get another group */
            continue;
        }
        take_candidate(s, level);
        if (f->taken < f->size)
            continue;
        if (has_clusters(s, level))
            return SEARCH_FOUND;
        more = retreat(f);
    }
}

/* ---- the whole search ---- */

void level_search_begin(struct level_search *s) {
    find_candidates(s, 0);
    find_sizes(s, 0);
}

enum search_result level_search(struct level_search *s) {
    uint32_t level = 0;
    if (!enter_level(s, 0))
        return SEARCH_SPENT;
    for (;;) {
        enum search_result r = next_combination(s, level);
        if (r == SEARCH_NONE) {
            if (level == 0)
                return SEARCH_NONE;
            level--;
            continue;
        }
        if (r != SEARCH_FOUND)
            return r;
        if (level + 1 < s->depth) {
            if (!enter_level(s, ++level))
                return SEARCH_SPENT;
            continue;
        }
        r = s->clusters_count ? cluster_step(s) : SEARCH_FOUND;
        if (r != SEARCH_NONE)
            return r;
    }
}
