/*
 * Shared by the files of a selection by levels.
 */
#pragma once

#include "karmada/select_internal.h"
#include "karmada/tops.h"

/* The number of levels below a level whose minGroups are checked ahead. */
enum { LEVELS_AHEAD = 3 };

/* Data of a group for the search. */
struct level_node {
    uint32_t first_child, child_count; /* children in the level below, as indexes in its
                                          `by_parent` */
    bool usable;                       /* the group has groups below it, down to the last level */
    int64_t replicas; /* available, with as many groups of the next level as are allowed */
    int64_t clusters; /* below it in the last level, or more */
    int64_t below[LEVELS_AHEAD]; /* groups of the levels below */
    int64_t priced;      /* replicas minus the prices of clusters and groups (level_prices.c) */
    const int64_t *sums; /* [sum_count + 1]: available replicas of its largest clusters */
    uint32_t sum_count;
};

struct search_level {
    const struct level_groups *level;
    struct level_node *nodes; /* [level->count] */
    uint32_t *by_parent;      /* [level->count]: groups, parent by parent, best first */
    uint32_t *group_of; /* [count of candidates]: by rank, + 1; only if none is in several groups */
    int64_t min, max;
    int64_t price; /* of a group */
    int64_t base;  /* the limits of the levels below and of clusters, times their prices */
};

/* Sums over the groups chosen so far. */
struct level_sums {
    int64_t replicas, best, members, clusters, priced;
    int64_t below[LEVELS_AHEAD];
};

/* The combinations of one level, below the chosen groups of the level above. */
struct level_frame {
    uint32_t *candidates; /* groups, best first */
    uint32_t count;
    uint32_t *slots; /* [count]: the index of a candidate's parent among the chosen ones */
    uint32_t parents, uncovered;
    uint32_t *last;   /* [parents]: the index of the parent's last candidate */
    uint32_t *covers; /* [parents]: number of chosen groups below it */
    bool started;
    uint32_t least, most, size; /* of a combination */
    uint32_t *chosen;           /* [size]: places */
    uint32_t taken, next;
    struct level_sums *sums; /* [most + 1] */
    struct tops replicas, best, members, clusters, priced, below[LEVELS_AHEAD];
    int64_t *values; /* room for a list */
    int64_t *extra; /* [most_extra + 1]: sums of the largest clusters, each group's best left out */
    uint32_t extra_count;
};

/* Memory for the cluster step, which runs often. */
struct cluster_room {
    /* one group a cluster; [count], but for the links: [count + 2] */
    bool *picked;
    uint32_t *places, *list, *before, *after;
    /* several groups; [count], [count + 2], of the pairs, [groups of the last level] */
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
    int64_t need;        /* available replicas that are wanted */
    int64_t cluster_min, cluster_max;
    uint32_t *by_size;     /* [count]: ranks, by available replicas descending */
    uint32_t *stamps;      /* [count]: by rank */
    uint32_t *group_marks; /* [most groups of a level] */
    uint32_t stamp;
    struct steps budget;
    bool priced; /* prices are known */
    int64_t cluster_price;
    bool reached_clusters;
    struct cluster_room room;
    uint32_t *answer; /* ranks, ascending */
    uint32_t answer_count;
    bool proven;
};

enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_SPENT };

/* Searches the first combinations of the first `depth` levels and, if they count, of clusters.
 * level_search.c */
enum search_result level_search(struct level_search *s);

/* Is the number of clusters a limit, and is each cluster in one group only? */
static inline bool level_search_is_limited(const struct level_search *s) {
    return s->clusters_count && !s->several && s->cluster_max < s->w->count;
}
/* Finds candidates and sizes of the first level. level_search.c */
void level_search_begin(struct level_search *s);

/* Finds prices, after level_search_begin(). False: the budget is used up. level_prices.c */
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
