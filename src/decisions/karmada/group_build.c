/*
 * Makes the groups of a level: clusters that have the same values of the declared levels above and
 * of this level. A cluster with several zones is in a group of each zone, and in the groups below
 * each of these.
 */
#include "base/hash.h"
#include "base/hashmap.h"
#include "karmada/select_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static const struct str default_value = STR("default");

/* ---- values ---- */

static bool has_zone(const struct cluster_traits *cluster) {
    for (uint32_t i = 0; i < cluster->zone_count; i++)
        if (!str_empty(cluster->zones[i]))
            return true;
    return false;
}

/* Finds a cluster's values at a level: any number of zones, or at most one other value. Only a
 * label's value may be empty. */
static uint32_t find_values(const struct select_work *w, const struct cluster_spread *spread,
                            const struct cluster_traits *cluster, struct str *one,
                            const struct str **ret) {
    bool has = true;
    *ret = one;
    *one = (struct str){0};
    switch (spread->field) {
    case SPREAD_PROVIDER:
        *one = cluster->provider;
        break;
    case SPREAD_REGION:
        *one = cluster->region;
        break;
    case SPREAD_ZONE:
        if (has_zone(cluster)) {
            *ret = cluster->zones;
            return cluster->zone_count;
        }
        break;
    case SPREAD_LABEL:
        has = labels_lookup(&cluster->labels, spread->label, one);
        return has ? 1 : 0;
    case SPREAD_CLUSTER:
        return 0;
    }
    if (str_empty(*one) && w->options->missing == MISSING_DEFAULT)
        *one = default_value;
    return str_empty(*one) ? 0 : 1;
}

bool level_group_is_default(const struct select_work *w, const struct level_groups *level,
                            const struct level_group *group) {
    return w->options->missing == MISSING_DEFAULT && level->spread.field != SPREAD_LABEL &&
           str_eq(group->shown.path[group->shown.depth - 1], default_value);
}

/* ---- building ---- */

struct pair {
    uint32_t group, rank;
};

struct building {
    struct select_work *w;
    const struct level_groups *above;
    struct level_groups *level;
    struct hashmap index;
    uint32_t group_cap;
    struct pair *pairs;
    uint32_t pair_cap;
    bool *seen; /* [count]: the cluster of this rank is in a group */
};

struct group_key {
    uint32_t parent;
    struct str value;
};

static struct str last_value(const struct level_group *group) {
    return group->shown.path[group->shown.depth - 1];
}

static bool is_group(const void *ctx, uint32_t id, const void *key) {
    const struct level_groups *level = ctx;
    const struct group_key *k = key;
    return level->groups[id].parent == k->parent &&
           str_eq(last_value(&level->groups[id]), k->value);
}

static struct str *make_path(const struct building *b, const struct group_key *key,
                             uint32_t depth) {
    if (!steps_take(&b->w->arena->steps, depth))
        return NULL;
    struct str *path = arena_array_unset(b->w->arena, depth, sizeof *path);
    if (path == NULL)
        return NULL;
    if (depth > 1)
        memcpy(path, b->above->groups[key->parent].shown.path, (depth - 1) * sizeof *path);
    path[depth - 1] = key->value;
    return path;
}

/* Finds or makes the group of a key. Returns HASHMAP_NONE if the group cannot be made. */
static uint32_t find_group(struct building *b, const struct group_key *key) {
    struct level_groups *level = b->level;
    const uint64_t hash = hash_mix(hash_str(key->value), key->parent);
    const uint32_t known = hashmap_find(&b->index, hash, is_group, level, key);
    if (known != HASHMAP_NONE)
        return known;
    struct level_group *groups =
        arena_push(b->w->arena, level->groups, level->count, &b->group_cap, sizeof *groups);
    if (groups == NULL || hashmap_reserve(&b->index) != 0)
        return HASHMAP_NONE;
    const uint32_t depth = b->above == NULL ? 1 : b->above->groups[key->parent].shown.depth + 1;
    level->groups = groups;
    groups[level->count] = (struct level_group){
        .parent = key->parent,
        .shown = {.path = make_path(b, key, depth), .depth = depth},
    };
    if (groups[level->count].shown.path == NULL)
        return HASHMAP_NONE;
    hashmap_insert(&b->index, hash, level->count);
    return level->count++;
}

static int add_pair(struct building *b, uint32_t rank, const struct group_key *key) {
    if (!steps_take_bytes(&b->w->arena->steps, key->value.n + 32))
        return -E2BIG;
    const uint32_t group = find_group(b, key);
    if (group == HASHMAP_NONE)
        return steps_spent(&b->w->arena->steps) ? -E2BIG : -ENOMEM;
    struct level_group *g = &b->level->groups[group];
    /* clusters come by rank, so a cluster that names a zone twice is the last in the group */
    if (g->shown.cluster_count > 0 && b->pairs[g->shown.score].rank == rank)
        return 0;
    struct pair *pairs =
        arena_push(b->w->arena, b->pairs, b->level->pairs, &b->pair_cap, sizeof *pairs);
    if (pairs == NULL)
        return -ENOMEM;
    b->pairs = pairs;
    g->shown.score = b->level->pairs; /* until the groups are complete, this is the index of the
                                         group's last pair */
    pairs[b->level->pairs++] = (struct pair){group, rank};
    g->shown.cluster_count++;
    g->shown.available = add_saturating(g->shown.available, ranked(b->w, rank)->available);
    b->level->several |= b->seen[rank];
    b->seen[rank] = true;
    return 0;
}

static int add_cluster(struct building *b, uint32_t parent, uint32_t rank) {
    const struct str *values;
    struct str one;
    const uint32_t count =
        find_values(b->w, &b->level->spread, &ranked(b->w, rank)->cluster, &one, &values);
    int r = steps_take(&b->w->arena->steps, 4) ? 0 : -E2BIG;
    for (uint32_t v = 0; r == 0 && v < count; v++)
        if (!str_empty(values[v]) || b->level->spread.field == SPREAD_LABEL)
            r = add_pair(b, rank, &(struct group_key){parent, values[v]});
    return r;
}

static int add_clusters(struct building *b) {
    int r = 0;
    if (b->above == NULL)
        for (uint32_t rank = 0; r == 0 && rank < b->w->count; rank++)
            r = add_cluster(b, 0, rank);
    else
        for (uint32_t g = 0; r == 0 && g < b->above->count; g++) {
            const struct level_group *parent = &b->above->groups[g];
            for (uint32_t i = 0; r == 0 && i < parent->shown.cluster_count; i++)
                r = add_cluster(b, g, parent->ranks[i]);
        }
    return r;
}

/* Lists the ranks of each group, in the order of the pairs. */
static int list_members(struct building *b) {
    struct level_groups *level = b->level;
    uint32_t *ranks = arena_array_unset(b->w->arena, level->pairs, sizeof *ranks);
    uint32_t *clusters = arena_array_unset(b->w->arena, level->pairs, sizeof *clusters);
    uint32_t *next = arena_array_unset(b->w->arena, level->count, sizeof *next);
    if (arena_failed(b->w->arena))
        return -ENOMEM;
    uint32_t at = 0;
    assert(level->count == 0 || level->groups != NULL);
    for (uint32_t g = 0; g < level->count; g++) {
        level->groups[g].ranks = ranks + at;
        level->groups[g].shown.clusters = clusters + at;
        level->groups[g].shown.score = 0;
        next[g] = at;
        at += level->groups[g].shown.cluster_count;
    }
    assert(level->pairs == 0 || b->pairs != NULL);
    for (uint32_t p = 0; p < level->pairs; p++) {
        const uint32_t to = next[b->pairs[p].group]++;
        ranks[to] = b->pairs[p].rank;
        clusters[to] = b->w->order[b->pairs[p].rank];
    }
    return 0;
}

int level_build(struct select_work *w, const struct level_groups *above,
                const struct cluster_spread *spread, struct level_groups *ret) {
    struct building b = {.w = w, .above = above, .level = ret};
    *ret = (struct level_groups){.spread = *spread, .several = above != NULL && above->several};
    b.seen = arena_array(w->arena, w->count, sizeof *b.seen);
    int r = b.seen == NULL ? -ENOMEM : add_clusters(&b);
    if (r == 0)
        r = list_members(&b);
    hashmap_done(&b.index);
    return r;
}

/* ---- order ---- */

static int compare_paths(const struct karmada_group *a, const struct karmada_group *b) {
    for (uint32_t i = 0; i < a->depth; i++) {
        const int by_value = str_cmp(a->path[i], b->path[i]);
        if (by_value != 0)
            return by_value;
    }
    return 0;
}

static int compare_groups(const void *left, const void *right) {
    const struct level_group *a = left, *b = right;
    if (a->shown.score != b->shown.score)
        return a->shown.score > b->shown.score ? -1 : 1;
    if (a->shown.available != b->shown.available)
        return a->shown.available > b->shown.available ? -1 : 1;
    return compare_paths(&a->shown, &b->shown);
}

int level_sort(struct select_work *w, struct level_groups *level) {
    const uint32_t depth = level->count > 0 ? level->groups[0].shown.depth : 0;
    if (!steps_take_sort(&w->arena->steps, (uint64_t)level->count * (1 + depth / 4)))
        return -E2BIG;
    if (level->count > 1)
        qsort(level->groups, level->count, sizeof *level->groups, compare_groups);
    return 0;
}

/* ---- showing ---- */

static struct str join_path(struct arena *arena, const struct karmada_group *group) {
    size_t n = group->depth - 1;
    if (group->depth == 1)
        return group->path[0];
    for (uint32_t i = 0; i < group->depth; i++)
        n += group->path[i].n;
    char *name = steps_take_bytes(&arena->steps, n) ? arena_alloc(arena, n) : NULL;
    char *to = name;
    if (name == NULL)
        return (struct str){0};
    for (uint32_t i = 0; i < group->depth; i++) {
        if (i > 0)
            *to++ = '/';
        if (group->path[i].n > 0)
            memcpy(to, group->path[i].p, group->path[i].n);
        to += group->path[i].n;
    }
    return (struct str){name, n};
}

int levels_show(struct select_work *w, const struct level_groups *levels, uint32_t count) {
    struct karmada_level *shown = arena_array(w->arena, count, sizeof *shown);
    for (uint32_t i = 0; shown != NULL && i < count; i++) {
        const struct level_groups *level = &levels[i];
        struct karmada_group *groups = arena_array_unset(w->arena, level->count, sizeof *groups);
        for (uint32_t g = 0; groups != NULL && g < level->count; g++) {
            groups[g] = level->groups[g].shown;
            groups[g].name = join_path(w->arena, &groups[g]);
        }
        shown[i] = (struct karmada_level){.field = level->spread.field,
                                          .label = level->spread.label,
                                          .groups = groups,
                                          .group_count = level->count};
    }
    if (steps_spent(&w->arena->steps))
        return -E2BIG;
    if (arena_failed(w->arena))
        return -ENOMEM;
    w->ret->levels = shown;
    w->ret->level_count = count;
    return 0;
}
