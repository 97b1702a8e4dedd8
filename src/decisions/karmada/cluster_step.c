/*
 * The cluster step: finds k clusters below the chosen groups of the last level. The set must hold
 * the needed replicas and have at least one cluster in every group; of such sets, the first one by
 * rank is taken.
 *
 * If no cluster is in two groups, the sets of k clusters with at least one in every group are the
 * bases of a matroid. So the set with the most replicas is found greedily, and requiring one more
 * cluster changes it by a single exchange. The clusters are tried one after the other, the best
 * first. A cluster is kept if the set with the most replicas that has it still holds the needed
 * replicas: this is exact, without backtracking.
 *
 * If a cluster may be in several groups (zones), the step is a search with bounds.
 */
#include "karmada/levels_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { TOPS_CELLS = 1 << 20 };

int cluster_room_init(struct level_search *s) {
    struct arena *arena = s->w->arena;
    struct cluster_room *room = &s->room;
    const struct level_groups *last = s->levels[s->depth - 1].level;
    const uint32_t count = s->w->count;
    const uint32_t most = s->cluster_max < count ? (uint32_t)s->cluster_max : count;
    if (!s->several) {
        room->picked = arena_array_unset(arena, count, sizeof *room->picked);
        room->places = arena_array_unset(arena, count, sizeof *room->places);
        room->list = arena_array_unset(arena, count, sizeof *room->list);
        room->before = arena_array_unset(arena, (size_t)count + 2, sizeof *room->before);
        room->after = arena_array_unset(arena, (size_t)count + 2, sizeof *room->after);
        return arena_failed(arena) ? -ENOMEM : 0;
    }
    room->ranks = arena_array_unset(arena, count, sizeof *room->ranks);
    room->place = arena_array_unset(arena, count, sizeof *room->place);
    room->chosen = arena_array_unset(arena, most, sizeof *room->chosen);
    room->first = arena_array_unset(arena, (size_t)count + 2, sizeof *room->first);
    room->groups = arena_array_unset(arena, last->pairs, sizeof *room->groups);
    room->last = arena_array_unset(arena, last->count, sizeof *room->last);
    room->covers = arena_array_unset(arena, last->count, sizeof *room->covers);
    room->values = arena_array_unset(arena, count, sizeof *room->values);
    room->replicas = arena_array_unset(arena, (size_t)most + 1, sizeof *room->replicas);
    return tops_init(&room->tops, count, most, TOPS_CELLS, arena);
}

/* Returns the number of clusters to select; 0 if no number is possible. */
static uint32_t find_size(const struct level_search *s, uint32_t clusters) {
    const uint32_t k = s->cluster_max < clusters ? (uint32_t)s->cluster_max : clusters;
    return k < s->cluster_min ? 0 : k;
}

/* ---- one group a cluster ---- */

struct exchange_step {
    struct level_search *s;
    const uint32_t *group_of; /* by rank: index of the cluster's group, + 1 */
    uint32_t *in_group; /* by group: 0 if not chosen; otherwise 1 + number of picked clusters */
    uint32_t size;
    bool *picked;     /* by rank: the cluster is picked */
    uint32_t *places; /* by rank: index of a picked cluster in `list` */
    uint32_t *list;   /* [size]: ranks that are picked, by available replicas, the most first */
    uint32_t *before, *after; /* [size + 2]: linked list of picked clusters that may be given up;
                                 used from its end */
    __int128 replicas;
};

static int64_t available_of(const struct exchange_step *e, uint32_t rank) {
    return ranked(e->s->w, rank)->available;
}

/* Picks the set that holds most replicas: the largest cluster of every group, and the largest of
 * the other clusters. */
static void pick_largest(struct exchange_step *e, uint32_t groups) {
    uint32_t room = e->size - groups, at = 0;
    for (uint32_t i = 0; at < e->size; i++) {
        const uint32_t rank = e->s->by_size[i], group = e->group_of[rank];
        if (group == 0 || e->in_group[group - 1] == 0)
            continue;
        if (e->in_group[group - 1] > 1 && room == 0)
            continue;
        room -= e->in_group[group - 1] > 1;
        e->in_group[group - 1]++;
        e->picked[rank] = true;
        e->places[rank] = at;
        e->list[at++] = rank;
        e->replicas += available_of(e, rank);
    }
    /* place + 1 is linked for each place; 0 and size + 1 are the ends */
    for (uint32_t i = 0; i <= e->size + 1; i++) {
        e->before[i] = i == 0 ? 0 : i - 1;
        e->after[i] = i + 1;
    }
}

static void unlink_place(struct exchange_step *e, uint32_t place) {
    const uint32_t i = place + 1;
    e->after[e->before[i]] = e->after[i];
    e->before[e->after[i]] = e->before[i];
}

/* Picks a cluster instead of the smallest picked cluster that can be given up, if the set still
 * holds the replicas. Clusters that are surely kept are no longer in the linked list. */
static bool exchange_for(struct exchange_step *e, uint32_t rank) {
    const uint32_t group = e->group_of[rank];
    uint32_t i = e->before[e->size + 1];
    for (; i != 0; i = e->before[i]) {
        const uint32_t other = e->group_of[e->list[i - 1]];
        if (other == group || e->in_group[other - 1] > 2)
            break;
    }
    if (i == 0)
        return false;
    const uint32_t out = e->list[i - 1];
    const __int128 replicas = e->replicas - available_of(e, out) + available_of(e, rank);
    if (replicas < e->s->need)
        return false;
    e->replicas = replicas;
    e->in_group[e->group_of[out] - 1]--;
    e->in_group[group - 1]++;
    e->picked[out] = false;
    e->picked[rank] = true;
    unlink_place(e, i - 1);
    return true;
}

/* Decides for each cluster, from the best to the last, whether it is kept. Returns false if the
 * budget is used up. */
static bool keep_best(struct exchange_step *e) {
    uint32_t kept = 0;
    for (uint32_t rank = 0; kept < e->size; rank++) {
        const uint32_t group = e->group_of[rank];
        if (group == 0 || e->in_group[group - 1] == 0)
            continue;
        if (!search_step(e->s, 1))
            return false;
        if (e->picked[rank]) {
            unlink_place(e, e->places[rank]);
            kept++;
        } else
            kept += exchange_for(e, rank);
    }
    return true;
}

static void answer_picked(struct level_search *s, const bool *picked) {
    s->answer_count = 0;
    for (uint32_t rank = 0; rank < s->w->count; rank++)
        if (picked[rank])
            s->answer[s->answer_count++] = rank;
}

static enum search_result step_of_one(struct level_search *s) {
    const struct level_frame *f = &s->frames[s->depth - 1];
    const struct search_level *l = &s->levels[s->depth - 1];
    struct exchange_step e = {
        .s = s,
        .group_of = l->group_of,
        .in_group = s->group_marks,
        .picked = s->room.picked,
        .places = s->room.places,
        .list = s->room.list,
        .before = s->room.before,
        .after = s->room.after,
    };
    e.size = find_size(s, (uint32_t)f->sums[f->size].members);
    if (e.size < f->size)
        return SEARCH_NONE;
    if (!search_step(s, s->w->count / 32 + 1))
        return SEARCH_SPENT;
    memset(e.in_group, 0, l->level->count * sizeof *e.in_group);
    for (uint32_t i = 0; i < f->size; i++)
        e.in_group[f->candidates[f->chosen[i]]] = 1;
    memset(e.picked, 0, s->w->count * sizeof *e.picked);
    pick_largest(&e, f->size);
    if (e.replicas < s->need)
        return SEARCH_NONE;
    s->proven = keep_best(&e);
    answer_picked(s, e.picked);
    return SEARCH_FOUND;
}

/* ---- several groups a cluster ---- */

struct cover_step {
    struct level_search *s;
    struct cluster_room *room;
    uint32_t count, size; /* number of clusters below the chosen groups; number to select */
    uint32_t widest;      /* largest number of chosen groups that have the same cluster */
    uint32_t uncovered;
    uint32_t taken, next;
};

/* Lists the clusters below the chosen groups, by rank, and counts the chosen groups of each. */
static void list_clusters(struct cover_step *c) {
    struct level_search *s = c->s;
    struct cluster_room *room = c->room;
    const struct level_frame *f = &s->frames[s->depth - 1];
    s->stamp++;
    for (uint32_t i = 0; i < f->size; i++) {
        const struct level_group *group = chosen_group(s, s->depth - 1, i);
        for (uint32_t k = 0; k < group->shown.cluster_count; k++)
            s->stamps[group->ranks[k]] = s->stamp;
    }
    for (uint32_t rank = 0; rank < s->w->count; rank++)
        if (s->stamps[rank] == s->stamp) {
            room->place[rank] = c->count;
            room->ranks[c->count++] = rank;
        }
}

/* Lists the chosen groups of each cluster. */
static void list_groups(struct cover_step *c) {
    struct level_search *s = c->s;
    struct cluster_room *room = c->room;
    const struct level_frame *f = &s->frames[s->depth - 1];
    uint32_t *first = room->first;
    memset(first, 0, ((size_t)c->count + 2) * sizeof *first);
    for (uint32_t i = 0; i < f->size; i++) {
        const struct level_group *group = chosen_group(s, s->depth - 1, i);
        for (uint32_t k = 0; k < group->shown.cluster_count; k++)
            first[room->place[group->ranks[k]] + 2]++;
        room->last[i] = room->place[group->ranks[group->shown.cluster_count - 1]];
    }
    for (uint32_t i = 0; i < c->count; i++) {
        c->widest = first[i + 2] > c->widest ? first[i + 2] : c->widest;
        first[i + 2] += first[i + 1];
    }
    for (uint32_t i = 0; i < f->size; i++) {
        const struct level_group *group = chosen_group(s, s->depth - 1, i);
        for (uint32_t k = 0; k < group->shown.cluster_count; k++)
            room->groups[first[room->place[group->ranks[k]] + 1]++] = i;
    }
}

static enum search_result init_cover(struct cover_step *c) {
    struct level_search *s = c->s;
    struct cluster_room *room = c->room;
    const struct level_frame *f = &s->frames[s->depth - 1];
    const uint64_t pairs = (uint64_t)f->sums[f->size].members;
    if (!search_step(s, pairs / 16 + s->w->count / 32 + 1))
        return SEARCH_SPENT;
    list_clusters(c);
    list_groups(c);
    c->uncovered = f->size;
    memset(room->covers, 0, f->size * sizeof *room->covers);
    c->size = find_size(s, c->count);
    if (c->size == 0)
        return SEARCH_NONE;
    for (uint32_t i = 0; i < c->count; i++)
        room->values[i] = ranked(s->w, room->ranks[i])->available;
    room->replicas[0] = 0;
    return search_step(s, tops_build(&room->tops, room->values, c->count, c->size)) ? SEARCH_FOUND
                                                                                    : SEARCH_SPENT;
}

static bool cover_is_promising(const struct cover_step *c) {
    const uint32_t more = c->size - c->taken;
    return c->count - c->next >= more && c->uncovered <= (uint64_t)more * c->widest &&
           c->room->replicas[c->taken] + tops_sum(&c->room->tops, c->next, more) >= c->s->need;
}

static void take_cluster(struct cover_step *c) {
    const uint32_t place = c->next++;
    for (uint32_t g = c->room->first[place]; g < c->room->first[place + 1]; g++)
        c->uncovered -= c->room->covers[c->room->groups[g]]++ == 0;
    c->room->replicas[c->taken + 1] =
        c->room->replicas[c->taken] + ranked(c->s->w, c->room->ranks[place])->available;
    c->room->chosen[c->taken++] = place;
}

/* Gives selected clusters back until one of them can be skipped. A cluster cannot be skipped if a
 * group without a selected cluster has no later cluster. Returns false if no cluster can be
 * skipped. */
static bool give_back(struct cover_step *c) {
    while (c->taken > 0) {
        const uint32_t place = c->room->chosen[--c->taken];
        bool needed = false;
        c->next = place + 1;
        for (uint32_t g = c->room->first[place]; g < c->room->first[place + 1]; g++) {
            const uint32_t group = c->room->groups[g];
            if (--c->room->covers[group] > 0)
                continue;
            c->uncovered++;
            needed |= c->room->last[group] == place;
        }
        if (!needed)
            return true;
    }
    return false;
}

static enum search_result step_of_several(struct level_search *s) {
    struct cover_step c = {.s = s, .room = &s->room};
    enum search_result r = init_cover(&c);
    if (r != SEARCH_FOUND)
        return r;
    bool more = true;
    while (more) {
        if (!search_step(s, 1 + c.widest / 8))
            return SEARCH_SPENT;
        if (c.taken == c.size && c.uncovered == 0 && c.room->replicas[c.size] >= s->need)
            break;
        if (c.taken < c.size && cover_is_promising(&c))
            take_cluster(&c);
        else
            more = give_back(&c);
    }
    if (!more)
        return SEARCH_NONE;
    for (uint32_t i = 0; i < c.size; i++)
        s->answer[i] = c.room->ranks[c.room->chosen[i]];
    s->answer_count = c.size;
    s->proven = true;
    return SEARCH_FOUND;
}

enum search_result cluster_step(struct level_search *s) {
    s->reached_clusters = true;
    return s->several ? step_of_several(s) : step_of_one(s);
}
