/*
 * Selects by the declared levels: provider, region, zone, and labels in their listed order. A group
 * of a level is a tuple of values of the declared levels down to it; its score is that of its best
 * cluster. Combinations are tried level by level, the best first (level_search.c), and below the
 * last level the clusters (cluster_step.c).
 *
 * If nothing is found, the search looks for the deepest level that can be combined if replicas do
 * not matter. The error names the level below it: a search without bounds would find no combination
 * at that level.
 */
#include "karmada/levels_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
    TOPS = 5 + LEVELS_AHEAD, /* number of struct tops of a level */
    TOPS_CELLS = 1 << 21,    /* number of cells of all struct tops */
    FIRST_STEPS = 5000,      /* largest number of steps of the search without prices */
};

/* ---- declared levels ---- */

static int64_t least_of(int64_t min) {
    return min == 0 ? 1 : min;
}

static int64_t most_of(int64_t max) {
    return max == 0 ? INT64_MAX : max;
}

/* Sorts the declared levels, and returns their number. */
static uint32_t order_levels(const struct select_work *w, struct cluster_spread *ret) {
    static const enum spread_field fields[] = {SPREAD_PROVIDER, SPREAD_REGION, SPREAD_ZONE,
                                               SPREAD_LABEL};
    uint32_t count = 0;
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        for (uint32_t i = 0; i < w->spread_count; i++)
            if (w->spread[i].field == fields[f])
                ret[count++] = w->spread[i];
    return count;
}

static void find_clusters_wanted(struct level_search *s) {
    const struct select_work *w = s->w;
    s->cluster_min = 1;
    s->cluster_max = INT64_MAX;
    for (uint32_t i = 0; i < w->spread_count; i++)
        if (w->spread[i].field == SPREAD_CLUSTER) {
            s->cluster_min = least_of(w->spread[i].min);
            s->cluster_max = most_of(w->spread[i].max);
        }
}

/* Returns the number of replicas that clusters must hold. Static weights need no capacity, unless
 * weightPreference is empty. */
static int64_t find_need(const struct select_work *w) {
    const struct replica_scheduling *r = &w->placement->replicas;
    const bool counts = r->division == DIVISION_DYNAMIC || r->division == DIVISION_AGGREGATED ||
                        (r->division == DIVISION_STATIC && r->has_weights && r->weight_count == 0);
    return counts ? w->replicas : 0;
}

/* ---- groups ---- */

static int score_level(struct select_work *w, struct level_groups *level) {
    if (!steps_take(&w->arena->steps, level->pairs))
        return -E2BIG;
    for (uint32_t g = 0; g < level->count; g++) {
        struct level_group *group = &level->groups[g];
        int64_t best = INT64_MIN;
        for (uint32_t i = 0; i < group->shown.cluster_count; i++) {
            const int64_t score = ranked(w, group->ranks[i])->score;
            best = score > best ? score : best;
        }
        group->shown.score = level_group_is_default(w, level, group) ? 0 : best;
    }
    return 0;
}

static int build_levels(struct select_work *w, const struct cluster_spread *spread, uint32_t count,
                        struct level_groups *levels) {
    for (uint32_t i = 0; i < count; i++) {
        int r = level_build(w, i == 0 ? NULL : &levels[i - 1], &spread[i], &levels[i]);
        if (r == 0)
            r = score_level(w, &levels[i]);
        if (r == 0)
            r = level_sort(w, &levels[i]);
        if (r != 0)
            return r;
    }
    return 0;
}

/* ---- their data for a search ---- */

static int compare_descending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Sums the available replicas of each group's largest clusters. Each cluster counts with at most
 * the needed replicas, so that no sum is too large. */
static int add_sums(const struct level_search *s, struct search_level *l) {
    struct arena *arena = s->w->arena;
    int64_t *room =
        arena_array_unset(arena, (size_t)l->level->pairs + l->level->count, sizeof *room);
    if (room == NULL)
        return -ENOMEM;
    for (uint32_t g = 0; g < l->level->count; g++) {
        const struct level_group *group = &l->level->groups[g];
        const uint32_t count = group->shown.cluster_count;
        if (!steps_take_sort(&arena->steps, count))
            return -E2BIG;
        room[0] = 0;
        for (uint32_t i = 0; i < count; i++)
            room[i + 1] = smaller(ranked(s->w, group->ranks[i])->available, s->need);
        qsort(room + 1, count, sizeof *room, compare_descending);
        for (uint32_t i = 0; i < count; i++)
            room[i + 1] = add_saturating(room[i], room[i + 1]);
        l->nodes[g].sums = room;
        l->nodes[g].sum_count = s->cluster_max < count ? (uint32_t)s->cluster_max : count;
        room += count + 1;
    }
    return 0;
}

static void add_group_of(const struct search_level *l) {
    for (uint32_t g = 0; g < l->level->count; g++)
        for (uint32_t i = 0; i < l->level->groups[g].shown.cluster_count; i++)
            l->group_of[l->level->groups[g].ranks[i]] = g + 1;
}

/* Lists the groups of a level by their parents. */
static int add_children(const struct level_search *s, struct search_level *above,
                        struct search_level *l) {
    uint32_t at = 0;
    uint32_t *next = arena_array_unset(s->w->arena, above->level->count, sizeof *next);
    if (next == NULL)
        return -ENOMEM;
    for (uint32_t g = 0; g < l->level->count; g++)
        above->nodes[l->level->groups[g].parent].child_count++;
    for (uint32_t p = 0; p < above->level->count; p++) {
        above->nodes[p].first_child = next[p] = at;
        at += above->nodes[p].child_count;
    }
    for (uint32_t g = 0; g < l->level->count; g++)
        l->by_parent[next[l->level->groups[g].parent]++] = g;
    return 0;
}

static int init_level(const struct level_search *s, struct search_level *levels, uint32_t i) {
    struct arena *arena = s->w->arena;
    struct search_level *l = &levels[i];
    const uint32_t count = l->level->count;
    l->nodes = arena_array(arena, count, sizeof *l->nodes);
    l->by_parent = arena_array_unset(arena, count, sizeof *l->by_parent);
    l->group_of = s->several ? NULL : arena_array(arena, s->w->count, sizeof *l->group_of);
    if (arena_failed(arena))
        return -ENOMEM;
    if (!s->several)
        add_group_of(l);
    const int r = add_sums(s, l);
    return r == 0 && i > 0 ? add_children(s, &levels[i - 1], l) : r;
}

static int init_frame(const struct level_search *s, struct level_frame *f, uint32_t parents,
                      uint32_t count, int64_t max, size_t cells) {
    struct arena *arena = s->w->arena;
    const uint32_t most = max < count ? (uint32_t)max : count;
    struct tops *tops[TOPS] = {&f->replicas, &f->best, &f->members, &f->clusters, &f->priced};
    f->candidates = arena_array_unset(arena, count, sizeof *f->candidates);
    f->slots = arena_array_unset(arena, count, sizeof *f->slots);
    f->last = arena_array_unset(arena, parents, sizeof *f->last);
    f->covers = arena_array_unset(arena, parents, sizeof *f->covers);
    f->chosen = arena_array_unset(arena, most, sizeof *f->chosen);
    f->sums = arena_array_unset(arena, (size_t)most + 1, sizeof *f->sums);
    f->values = arena_array_unset(arena, count, sizeof *f->values);
    f->extra = arena_array_unset(arena, (size_t)s->w->count + 1, sizeof *f->extra);
    for (uint32_t a = 0; a < LEVELS_AHEAD; a++)
        tops[5 + a] = &f->below[a];
    for (uint32_t t = 0; t < TOPS; t++)
        if (tops_init(tops[t], count, most, cells, arena) != 0)
            return -ENOMEM;
    return arena_failed(arena) ? -ENOMEM : 0;
}

/* ---- data that depends on the number of searched levels ---- */

/* Combines the data of a group with that of its children. Marks the group unusable if no child is
 * usable. */
static void prepare_node(struct level_search *s, uint32_t level, uint32_t group,
                         int64_t *replicas) {
    struct level_node *node = &s->levels[level].nodes[group];
    const struct search_level *below = &s->levels[level + 1];
    const int64_t clusters = node->clusters;
    uint32_t usable = 0;
    node->clusters = 0;
    for (uint32_t c = 0; c < node->child_count; c++) {
        const struct level_node *child = &below->nodes[below->by_parent[node->first_child + c]];
        if (!child->usable)
            continue;
        replicas[usable++] = child->replicas;
        node->clusters += child->clusters;
        for (uint32_t a = 1; a < LEVELS_AHEAD; a++)
            node->below[a] += child->below[a - 1];
    }
    node->usable = usable > 0;
    node->below[0] = usable;
    node->clusters = node->clusters < clusters ? node->clusters : clusters;
    if (usable > below->max) {
        qsort(replicas, usable, sizeof *replicas, compare_descending);
        usable = (uint32_t)below->max;
    }
    int64_t sum = 0;
    for (uint32_t c = 0; c < usable; c++)
        sum = add_saturating(sum, replicas[c]);
    node->replicas = sum < node->replicas ? sum : node->replicas;
}

static void prepare_search(struct level_search *s, int64_t *room) {
    for (uint32_t i = s->depth; i-- > 0;) {
        const struct search_level *l = &s->levels[i];
        for (uint32_t g = 0; g < l->level->count; g++) {
            struct level_node *node = &l->nodes[g];
            node->usable = true;
            node->clusters = l->level->groups[g].shown.cluster_count;
            node->replicas = node->sums[node->sum_count];
            memset(node->below, 0, sizeof node->below);
            if (i + 1 < s->depth)
                prepare_node(s, i, g, room);
        }
    }
}

/* ---- the whole ---- */

static int compare_sizes(const void *left, const void *right) {
    const struct karmada_candidate *const *a = left, *const *b = right;
    if ((*a)->available != (*b)->available)
        return (*a)->available > (*b)->available ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* Sorts the ranks by available replicas. */
static int sort_by_size(struct level_search *s) {
    const struct select_work *w = s->w;
    struct arena *arena = w->arena;
    const struct karmada_candidate **sorted = arena_array_unset(arena, w->count, sizeof(void *));
    uint32_t *rank_of = arena_array_unset(arena, w->count, sizeof *rank_of);
    s->by_size = arena_array_unset(arena, w->count, sizeof *s->by_size);
    if (arena_failed(arena))
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, w->count))
        return -E2BIG;
    for (uint32_t rank = 0; rank < w->count; rank++) {
        sorted[rank] = ranked(w, rank);
        rank_of[w->order[rank]] = rank;
    }
    if (w->count > 1)
        qsort(sorted, w->count, sizeof(void *), compare_sizes);
    for (uint32_t i = 0; i < w->count; i++)
        s->by_size[i] = rank_of[sorted[i] - w->candidates];
    return 0;
}

static int init_search(struct level_search *s, const struct level_groups *levels,
                       int64_t **ret_room) {
    struct arena *arena = s->w->arena;
    const size_t cells = TOPS_CELLS / TOPS / s->depth;
    uint32_t largest = 1;
    s->levels = arena_array(arena, s->depth, sizeof *s->levels);
    s->frames = arena_array(arena, s->depth, sizeof *s->frames);
    int r = arena_failed(arena) ? -ENOMEM : sort_by_size(s);
    for (uint32_t i = 0; r == 0 && i < s->depth; i++) {
        const uint32_t parents = i == 0 ? 1 : levels[i - 1].count;
        s->levels[i] = (struct search_level){.level = &levels[i],
                                             .min = least_of(levels[i].spread.min),
                                             .max = most_of(levels[i].spread.max)};
        largest = levels[i].count > largest ? levels[i].count : largest;
        r = init_level(s, s->levels, i);
        if (r == 0)
            r = init_frame(s, &s->frames[i], parents, levels[i].count, s->levels[i].max, cells);
    }
    s->stamps = arena_array(arena, s->w->count, sizeof *s->stamps);
    s->answer = arena_array_unset(arena, s->w->count, sizeof *s->answer);
    s->group_marks = arena_array(arena, largest, sizeof *s->group_marks);
    *ret_room = arena_array_unset(arena, largest, sizeof **ret_room);
    if (r == 0)
        r = cluster_room_init(s);
    return arena_failed(arena) ? -ENOMEM : r;
}

/* Returns the deepest level that can be combined, without regard to clusters and replicas. */
static uint32_t find_deepest(struct level_search *s, int64_t *room) {
    uint32_t good = 0, bad = s->depth + 1;
    s->clusters_count = s->priced = false;
    s->need = 0;
    while (bad - good > 1) {
        s->depth = good + (bad - good) / 2;
        prepare_search(s, room);
        if (level_search(s) == SEARCH_FOUND)
            good = s->depth;
        else
            bad = s->depth;
    }
    return good;
}

static int fail_level(struct select_work *w, const struct cluster_spread *spread) {
    static const char *const words[] = {[SPREAD_PROVIDER] = "provider",
                                        [SPREAD_REGION] = "region",
                                        [SPREAD_ZONE] = "zone",
                                        [SPREAD_LABEL] = "label ",
                                        [SPREAD_CLUSTER] = "cluster"};
    return select_fail(w, "no %s%.*s combination satisfies the spread constraints",
                       words[spread->field], STR_ARG(spread->label));
}

static int answer_found(struct level_search *s) {
    struct select_work *w = s->w;
    for (uint32_t i = 0; i < s->answer_count; i++)
        s->answer[i] = w->order[s->answer[i]];
    w->ret->clusters = s->answer;
    w->ret->count = s->answer_count;
    w->ret->proven = s->proven;
    return 0;
}

/* Could the largest allowed number of clusters hold the needed replicas, if groups did not
 * matter? */
static bool clusters_suffice(const struct level_search *s) {
    int64_t replicas = 0;
    for (uint32_t i = 0; i < s->w->count && i < s->cluster_max && replicas < s->need; i++)
        replicas = add_saturating(replicas, ranked(s->w, s->by_size[i])->available);
    return replicas >= s->need;
}

/* Searches without prices first, because most searches are short. A long search begins again with
 * prices. */
static enum search_result search_priced(struct level_search *s) {
    const uint64_t max = s->budget.max;
    if (s->need > 0 && !clusters_suffice(s))
        return SEARCH_NONE;
    if (s->need > 0 && max > FIRST_STEPS) {
        s->budget.max = FIRST_STEPS;
        const enum search_result r = level_search(s);
        s->budget.max = max;
        if (r != SEARCH_SPENT || steps_spent(&s->w->arena->steps))
            return r;
        level_search_begin(s);
        if (!level_prices_find(s))
            return SEARCH_SPENT;
    }
    return level_search(s);
}

static int search_levels(struct level_search *s, const struct cluster_spread *spread,
                         int64_t *room) {
    static const struct cluster_spread of_clusters = {.field = SPREAD_CLUSTER};
    const uint32_t depth = s->depth;
    prepare_search(s, room);
    switch (search_priced(s)) {
    case SEARCH_FOUND:
        return answer_found(s);
    case SEARCH_SPENT:
        return steps_spent(&s->w->arena->steps) ? -E2BIG
                                                : select_fail(s->w, "search budget used up");
    case SEARCH_NONE:
        break;
    }
    const uint32_t deepest = s->reached_clusters ? depth : find_deepest(s, room);
    return fail_level(s->w, deepest == depth ? &of_clusters : &spread[deepest]);
}

int select_by_levels(struct select_work *w) {
    struct level_search s = {.w = w,
                             .need = find_need(w),
                             .clusters_count = true,
                             .budget = {.max = w->options->search_budget}};
    int64_t *room;
    struct cluster_spread *spread = arena_array_unset(w->arena, w->spread_count, sizeof *spread);
    struct level_groups *levels = arena_array(w->arena, w->spread_count, sizeof *levels);
    if (arena_failed(w->arena))
        return -ENOMEM;
    s.depth = order_levels(w, spread);
    find_clusters_wanted(&s);
    int r = build_levels(w, spread, s.depth, levels);
    if (r == 0)
        r = levels_show(w, levels, s.depth);
    if (r != 0)
        return r;
    s.several = levels[s.depth - 1].several;
    r = init_search(&s, levels, &room);
    return r == 0 ? search_levels(&s, spread, room) : r;
}
