/*
 * Declarations for the files that select clusters by levels.
 */
#pragma once

#include "karmada/select_internal.h"
#include "karmada/tops.h"

/* The search checks minGroups of this many levels below a level ahead of time. */
enum { LEVELS_AHEAD = 3 };

/* Data of a group for the search. */
struct level_node {
    uint32_t first_child, child_count; /* children: indices in `by_parent` of the level below */
    bool usable;                       /* the group has groups below it, down to the last level */
    int64_t replicas; /* upper bound for the available replicas, with the allowed number of child
                         groups */
    int64_t clusters; /* upper bound for the number of clusters below the group */
    int64_t below[LEVELS_AHEAD]; /* [n]: number of usable groups that are n + 1 levels below the
                                    group */
    int64_t priced;      /* replicas minus the prices of clusters and groups (level_prices.c) */
    const int64_t *sums; /* [sum_count + 1]: [n]: replicas that the n largest clusters hold */
    uint32_t sum_count;
};

struct search_level {
    const struct level_groups *level;
    struct level_node *nodes; /* [level->count]: data of each group */
    uint32_t *by_parent;      /* [level->count]: groups, parent by parent, best first */
    uint32_t *group_of; /* [count of candidates]: by rank: index of the cluster's group, + 1; 0: no
                           group; NULL if a cluster is in several groups */
    int64_t min, max;
    int64_t price; /* price of each group of this level */
    int64_t base;  /* the limits of the levels below and of clusters, times their prices */
};

/* Sums over the groups chosen so far. */
struct level_sums {
    int64_t replicas, best, members, clusters, priced;
    int64_t below[LEVELS_AHEAD];
};

/* The combinations of one level, below the chosen groups of the level above. */
struct level_frame {
    uint32_t *candidates; /* indices of groups, best first */
    uint32_t count;
    uint32_t *slots; /* [count]: index of a candidate's parent among the chosen groups of the level
                        above */
    uint32_t parents, uncovered;
    uint32_t *last;   /* [parents]: the index of the parent's last candidate */
    uint32_t *covers; /* [parents]: number of chosen groups below the parent */
    bool started;
    uint32_t least, most, size; /* numbers of groups in a combination: smallest, largest, current */
    uint32_t *chosen;           /* [size]: the chosen groups, as indices in `candidates` */
    uint32_t taken, next;
    struct level_sums *sums; /* [most + 1]: [n]: sums over the first n chosen groups */
    struct tops replicas, best, members, clusters, priced, below[LEVELS_AHEAD];
    int64_t *values; /* scratch memory for a list of numbers */
    int64_t *extra;  /* [most_extra + 1]: sums of the largest clusters, without the best cluster of
                        each group */
    uint32_t extra_count;
};

/* Memory for the cluster step, which runs often. */
struct cluster_room {
    /* for clusters in one group each: [count]; the links `before` and `after`: [count + 2] */
    bool *picked;
    uint32_t *places, *list, *before, *after;
    /* for clusters in several groups: `ranks`, `place`, `chosen`: [count]; `first`: [count + 2];
     * `groups`: [pairs of a cluster and a group]; `last`, `covers`: [groups of the last level] */
    uint32_t *ranks, *place, *chosen;
    uint32_t *first, *groups, *last, *covers;
    int64_t *values;
    __int128 *replicas;
    struct tops tops;
};
/* Returns 0 or -ENOMEM. */
struct level_search;
int cluster_room_init(struct level_search *s) MUST_CHECK;

struct level_search {
    struct select_work *w;
    struct search_level *levels;
    struct level_frame *frames;
    uint32_t depth;
    bool several;        /* a cluster is in more than one group of a level */
    bool clusters_count; /* the cluster step is part of the search */
    int64_t need;        /* available replicas that the selected clusters must hold */
    int64_t cluster_min, cluster_max;
    uint32_t *by_size;     /* [count]: ranks, by available replicas descending */
    uint32_t *stamps;      /* [count]: marks by rank; the current mark is `stamp` */
    uint32_t *group_marks; /* [most groups of a level]: scratch memory, one number per group */
    uint32_t stamp;
    struct steps budget;
    bool priced; /* prices are known */
    int64_t cluster_price;
    bool reached_clusters;
    struct cluster_room room;
    uint32_t *answer; /* ranks of the selected clusters, ascending */
    uint32_t answer_count;
    bool proven;
};

enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_SPENT };

/* Finds the first combination of groups of the first `depth` levels and, if clusters_count is true,
 * of clusters. level_search.c */
enum search_result level_search(struct level_search *s);

/* Is the number of clusters a limit, and is each cluster in one group only? */
static inline bool level_search_is_limited(const struct level_search *s) {
    return s->clusters_count && !s->several && s->cluster_max < s->w->count;
}
/* Finds candidates and sizes of the first level. level_search.c */
void level_search_begin(struct level_search *s);

/* Finds prices, after level_search_begin(). Returns false if the budget is used up.
 * level_prices.c */
bool level_prices_find(struct level_search *s);

/* Selects the clusters below the chosen groups of the last frame. cluster_step.c */
enum search_result cluster_step(struct level_search *s);

/* Takes `count` steps of the search. Returns false if the budget is used up. */
static inline bool search_step(struct level_search *s, uint64_t count) {
    return steps_take(&s->budget, count) && steps_take(&s->w->arena->steps, count);
}

static inline const struct level_group *chosen_group(const struct level_search *s, uint32_t level,
                                                     uint32_t i) {
    const struct level_frame *f = &s->frames[level];
    return &s->levels[level].level->groups[f->candidates[f->chosen[i]]];
}
