/*
 * Selection by levels on random small fleets, against the contract written down once more, as slow
 * as that is: all combinations in their order, and below them all sets of clusters.
 *
 * LEVEL_CASES is how many fleets there are; `LEVEL_CASES=50000 TEST_SEED=1 test_levels_random`.
 */
#include "base/limits.h"
#include "karmada/select.h"

#include "unit/unit.h"

#include <stdio.h>

enum {
    CLUSTERS = 9,
    LEVELS = 4, /* provider, region, zone, a label */
    ZONES = 3,
    GROUPS = CLUSTERS * ZONES,
    USUAL_CASES = 6000,
    NAIVE_STEPS = 2000000, /* of one fleet; those that take more are left out */
};

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, LIMIT_LINE_ARENA);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- a fleet ---- */

struct fleet {
    struct karmada_candidate candidates[CLUSTERS];
    char names[CLUSTERS][8];
    struct str zones[CLUSTERS][ZONES];
    struct label labels[CLUSTERS];
    uint32_t count;
    struct cluster_spread spread[LEVELS + 1];
    uint32_t spread_count;
    struct cluster_placement placement;
    struct karmada_options options;
    int32_t replicas;
};

static struct str draw_value(uint64_t *random, const char *const *values, uint32_t count,
                             uint32_t missing) {
    if (unit_below(random, 100) < missing)
        return (struct str){0};
    return str_of(values[unit_below(random, count)]);
}

static void draw_cluster(struct fleet *f, uint32_t i, uint64_t *random, uint32_t missing,
                         uint32_t most_zones) {
    static const char *const providers[] = {"P1", "P2", "default"};
    static const char *const regions[] = {"R1", "R2", "R3"};
    static const char *const zones[] = {"Z1", "Z2", "Z1/", "Z4", "default"};
    static const char *const rows[] = {"a", "", "b"};
    struct karmada_candidate *c = &f->candidates[i];
    (void)snprintf(f->names[i], sizeof f->names[i], "m%u", (i * 7 + 3) % 10);
    c->cluster.name = str_of(f->names[i]);
    c->cluster.provider = draw_value(random, providers, 1 + unit_below(random, 3), missing);
    c->cluster.region = draw_value(random, regions, 1 + unit_below(random, 3), missing);
    c->cluster.zones = f->zones[i];
    c->cluster.zone_count =
        unit_below(random, 100) < missing ? 0 : 1 + unit_below(random, most_zones);
    for (uint32_t z = 0; z < c->cluster.zone_count; z++)
        f->zones[i][z] = draw_value(random, zones, 5, 2);
    f->labels[i] = (struct label){STR("row"), draw_value(random, rows, 3, 0)};
    c->cluster.labels.items = &f->labels[i];
    c->cluster.labels.count = unit_below(random, 100) < missing ? 0 : 1;
    c->score = unit_below(random, 3) * 50 - (unit_below(random, 20) == 0 ? 100 : 0);
    c->allocatable = unit_below(random, 6);
    c->previous = unit_below(random, 4) == 0 ? unit_below(random, 4) : 0;
    c->available = c->allocatable + c->previous;
    c->overflow_order = unit_below(random, 10) == 0 ? 1 : 0;
}

static int64_t draw_limit(uint64_t *random, uint32_t most) {
    return unit_below(random, 4) == 0 ? 0 : 1 + unit_below(random, most);
}

static void draw_spread(struct fleet *f, enum spread_field field, uint64_t *random, uint32_t most) {
    struct cluster_spread *s = &f->spread[f->spread_count++];
    *s = (struct cluster_spread){.field = field, .min = draw_limit(random, most)};
    if (field == SPREAD_LABEL)
        s->label = STR("row");
    s->max = unit_below(random, 3) == 0 ? 0 : s->min + unit_below(random, 3);
    if (unit_below(random, 40) == 0 && s->max > 0)
        s->max--; /* below min, perhaps */
}

static void draw_fleet(struct fleet *f, uint64_t *random) {
    static const enum division divisions[] = {DIVISION_AGGREGATED, DIVISION_DYNAMIC,
                                              DIVISION_AGGREGATED, DIVISION_DUPLICATED,
                                              DIVISION_NONE,       DIVISION_STATIC};
    const uint32_t missing = unit_below(random, 3) == 0 ? 25 : 0;
    const uint32_t most_zones = 1 + (unit_below(random, 2) == 0 ? 0 : unit_below(random, ZONES));
    *f = (struct fleet){.options = karmada_defaults};
    f->count = unit_below(random, 30) == 0 ? 0 : 1 + unit_below(random, CLUSTERS);
    for (uint32_t i = 0; i < f->count; i++)
        draw_cluster(f, i, random, missing, most_zones);
    f->options.missing = unit_below(random, 2) == 0 ? MISSING_REFUSE : MISSING_DEFAULT;
    do {
        f->spread_count = 0;
        for (enum spread_field field = SPREAD_PROVIDER; field <= SPREAD_LABEL; field++)
            if (unit_below(random, 2) == 0)
                draw_spread(f, field, random, field == SPREAD_ZONE ? 4 : 2);
    } while (f->spread_count == 0);
    if (unit_below(random, 4) > 0)
        draw_spread(f, SPREAD_CLUSTER, random, 5);
    for (uint32_t i = 0; i < f->spread_count; i++) { /* the order they are written in is free */
        const uint32_t other = unit_below(random, f->spread_count);
        const struct cluster_spread s = f->spread[i];
        f->spread[i] = f->spread[other];
        f->spread[other] = s;
    }
    f->placement.spread = f->spread;
    f->placement.spread_count = f->spread_count;
    f->placement.replicas.division = divisions[unit_below(random, 6)];
    f->placement.replicas.has_weights = true; /* with static weights: an empty weightPreference */
    f->replicas = (int32_t)unit_below(random, 2 + 3 * f->count);
}

/* ---- the contract, once more ---- */

struct naive_group {
    struct str path[LEVELS];
    uint32_t parent;  /* in the level above */
    uint32_t members; /* by rank, a bit each */
    int64_t score, available;
};

struct naive {
    const struct fleet *f;
    uint32_t order[CLUSTERS]; /* of rank */
    struct cluster_spread levels[LEVELS];
    uint32_t depth;
    struct naive_group groups[LEVELS][GROUPS];
    uint32_t counts[LEVELS];
    int64_t cluster_min, cluster_max, need;
    uint32_t chosen[LEVELS][GROUPS], sizes[LEVELS];
    int deepest;     /* level whose search found no combination; the depth: the cluster step */
    uint32_t answer; /* by rank, a bit each; 0: none */
    uint64_t steps;
};

static const struct karmada_candidate *naive_ranked(const struct naive *n, uint32_t rank) {
    return &n->f->candidates[n->order[rank]];
}

static bool cluster_before(const struct karmada_candidate *a, const struct karmada_candidate *b) {
    if (a->overflow_order != b->overflow_order)
        return a->overflow_order < b->overflow_order;
    if (a->score != b->score)
        return a->score > b->score;
    if (a->available != b->available)
        return a->available > b->available;
    return str_cmp(a->cluster.name, b->cluster.name) < 0;
}

static void naive_order(struct naive *n) {
    for (uint32_t i = 0; i < n->f->count; i++) {
        uint32_t at = i;
        for (; at > 0 && cluster_before(&n->f->candidates[i], &n->f->candidates[n->order[at - 1]]);
             at--)
            n->order[at] = n->order[at - 1];
        n->order[at] = i;
    }
}

static bool may_be_default(const struct naive *n, uint32_t level) {
    return n->f->options.missing == MISSING_DEFAULT && n->levels[level].field != SPREAD_LABEL;
}

static uint32_t naive_values(const struct naive *n, uint32_t level,
                             const struct karmada_candidate *c, struct str *ret) {
    uint32_t count = 0;
    if (n->levels[level].field == SPREAD_PROVIDER && c->cluster.provider.n > 0)
        ret[count++] = c->cluster.provider;
    if (n->levels[level].field == SPREAD_REGION && c->cluster.region.n > 0)
        ret[count++] = c->cluster.region;
    for (uint32_t z = 0; n->levels[level].field == SPREAD_ZONE && z < c->cluster.zone_count; z++)
        if (c->cluster.zones[z].n > 0)
            ret[count++] = c->cluster.zones[z];
    if (n->levels[level].field == SPREAD_LABEL && c->cluster.labels.count > 0)
        ret[count++] = c->cluster.labels.items[0].value;
    if (count == 0 && may_be_default(n, level))
        ret[count++] = STR("default");
    return count;
}

static void naive_add(struct naive *n, uint32_t level, uint32_t parent, uint32_t rank,
                      struct str value) {
    uint32_t g = 0;
    while (g < n->counts[level] && (n->groups[level][g].parent != parent ||
                                    !str_eq(n->groups[level][g].path[level], value)))
        g++;
    struct naive_group *group = &n->groups[level][g];
    if (g == n->counts[level]) {
        assert_true(n->counts[level]++ < GROUPS);
        *group = (struct naive_group){.parent = parent, .score = INT64_MIN};
        for (uint32_t l = 0; l < level; l++)
            group->path[l] = n->groups[level - 1][parent].path[l];
        group->path[level] = value;
    }
    if ((group->members >> rank & 1) != 0)
        return;
    group->members |= 1u << rank;
    group->available += naive_ranked(n, rank)->available;
    if (group->score < naive_ranked(n, rank)->score)
        group->score = naive_ranked(n, rank)->score;
}

static bool group_before(const struct naive_group *a, const struct naive_group *b, uint32_t level) {
    if (a->score != b->score)
        return a->score > b->score;
    if (a->available != b->available)
        return a->available > b->available;
    for (uint32_t l = 0; l <= level; l++)
        if (!str_eq(a->path[l], b->path[l]))
            return str_cmp(a->path[l], b->path[l]) < 0;
    return false;
}

static void naive_group_level(struct naive *n, uint32_t level) {
    struct naive_group *groups = n->groups[level];
    for (uint32_t p = 0; p < (level == 0 ? 1 : n->counts[level - 1]); p++)
        for (uint32_t rank = 0; rank < n->f->count; rank++) {
            struct str values[ZONES];
            if (level > 0 && (n->groups[level - 1][p].members >> rank & 1) == 0)
                continue;
            const uint32_t count = naive_values(n, level, naive_ranked(n, rank), values);
            for (uint32_t v = 0; v < count; v++)
                naive_add(n, level, p, rank, values[v]);
        }
    for (uint32_t g = 0; g < n->counts[level]; g++)
        if (may_be_default(n, level) && str_eq(groups[g].path[level], STR("default")))
            groups[g].score = 0;
    for (uint32_t i = 1; i < n->counts[level]; i++)
        for (uint32_t k = i; k > 0 && group_before(&groups[k], &groups[k - 1], level); k--) {
            const struct naive_group group = groups[k];
            groups[k] = groups[k - 1];
            groups[k - 1] = group;
        }
}

/* The next combination of `size` of `count`, in the order of their lists. */
static bool next_list(uint32_t *list, uint32_t size, uint32_t count) {
    uint32_t at = size;
    while (at > 0 && list[at - 1] == count - size + at - 1)
        at--;
    if (at == 0)
        return false;
    list[at - 1]++;
    for (; at < size; at++)
        list[at] = list[at - 1] + 1;
    return true;
}

static uint32_t union_of(const struct naive *n, uint32_t level) {
    uint32_t members = 0;
    for (uint32_t i = 0; i < n->sizes[level]; i++)
        members |= n->groups[level][n->chosen[level][i]].members;
    return members;
}

static bool naive_clusters(struct naive *n) {
    const uint32_t last = n->depth - 1, members = union_of(n, last);
    uint32_t ranks[CLUSTERS], list[CLUSTERS], count = 0;
    for (uint32_t rank = 0; rank < n->f->count; rank++)
        if ((members >> rank & 1) != 0)
            ranks[count++] = rank;
    const uint32_t k = count < n->cluster_max ? count : (uint32_t)n->cluster_max;
    n->deepest = (int)n->depth;
    if (k < n->cluster_min || k < 1)
        return false;
    for (uint32_t i = 0; i < k; i++)
        list[i] = i;
    do {
        uint32_t set = 0;
        int64_t sum = 0;
        bool good = true;
        n->steps++;
        for (uint32_t i = 0; i < k; i++) {
            set |= 1u << ranks[list[i]];
            sum += naive_ranked(n, ranks[list[i]])->available;
        }
        for (uint32_t i = 0; i < n->sizes[last]; i++)
            good = good && (n->groups[last][n->chosen[last][i]].members & set) != 0;
        if (good && sum >= n->need) {
            n->answer = set;
            return true;
        }
    } while (next_list(list, k, count));
    return false;
}

/* Has each of the chosen groups above one below it that is chosen, and no other? */
static bool is_below(const struct naive *n, uint32_t level) {
    uint32_t parents = 0;
    if (level == 0)
        return true;
    for (uint32_t i = 0; i < n->sizes[level]; i++)
        parents |= 1u << n->groups[level][n->chosen[level][i]].parent;
    for (uint32_t i = 0; i < n->sizes[level - 1]; i++) {
        if ((parents >> n->chosen[level - 1][i] & 1) == 0)
            return false;
        parents &= ~(1u << n->chosen[level - 1][i]);
    }
    return parents == 0;
}

static bool naive_level(struct naive *n, uint32_t level) {
    if (level == n->depth)
        return naive_clusters(n);
    const struct cluster_spread *s = &n->levels[level];
    bool any = false;
    uint32_t *list = n->chosen[level];
    for (uint32_t size = s->min == 0 ? 1 : (uint32_t)s->min;
         size <= n->counts[level] && (s->max == 0 || size <= s->max); size++) {
        n->sizes[level] = size;
        for (uint32_t i = 0; i < size; i++)
            list[i] = i;
        do {
            if (n->steps++ > NAIVE_STEPS)
                return false;
            if (!is_below(n, level) || __builtin_popcount(union_of(n, level)) < (int)n->cluster_min)
                continue;
            any = true;
            if (naive_level(n, level + 1))
                return true;
            n->sizes[level] = size;
        } while (next_list(list, size, n->counts[level]));
    }
    if (!any && (int)level > n->deepest)
        n->deepest = (int)level;
    return false;
}

static void naive_select(struct naive *n, const struct fleet *f) {
    *n = (struct naive){.f = f, .cluster_min = 1, .cluster_max = INT64_MAX, .deepest = -1};
    for (enum spread_field field = SPREAD_PROVIDER; field <= SPREAD_CLUSTER; field++)
        for (uint32_t i = 0; i < f->spread_count; i++)
            if (f->spread[i].field != field)
                continue;
            else if (field != SPREAD_CLUSTER)
                n->levels[n->depth++] = f->spread[i];
            else {
                n->cluster_min = f->spread[i].min == 0 ? 1 : f->spread[i].min;
                n->cluster_max = f->spread[i].max == 0 ? INT64_MAX : f->spread[i].max;
            }
    const enum division division = f->placement.replicas.division;
    n->need = division == DIVISION_NONE || division == DIVISION_DUPLICATED ? 0 : f->replicas;
    naive_order(n);
    for (uint32_t level = 0; level < n->depth; level++)
        naive_group_level(n, level);
    (void)naive_level(n, 0);
}

/* ---- both ---- */

static void expect_groups(const struct naive *n, const struct karmada_selection *s) {
    assert_int_equal(s->level_count, n->depth);
    for (uint32_t level = 0; level < n->depth; level++) {
        assert_int_equal(s->levels[level].field, n->levels[level].field);
        assert_int_equal(s->levels[level].group_count, n->counts[level]);
        for (uint32_t g = 0; g < n->counts[level]; g++) {
            const struct karmada_group *got = &s->levels[level].groups[g];
            const struct naive_group *want = &n->groups[level][g];
            assert_int_equal(got->depth, level + 1);
            for (uint32_t l = 0; l <= level; l++)
                assert_true(str_eq(got->path[l], want->path[l]));
            assert_int_equal(got->score, want->score);
            assert_int_equal(got->available, want->available);
            uint32_t i = 0;
            for (uint32_t rank = 0; rank < n->f->count; rank++)
                if ((want->members >> rank & 1) != 0)
                    assert_int_equal(got->clusters[i++], n->order[rank]);
            assert_int_equal(got->cluster_count, i);
        }
    }
}

static void expect_error(const struct naive *n, const struct karmada_selection *s) {
    static const char *const words[] = {"provider", "region", "zone", "label row", "cluster"};
    const bool at_clusters = n->deepest == (int)n->depth;
    char want[80];
    (void)snprintf(want, sizeof want, "no %s combination satisfies the spread constraints",
                   words[at_clusters ? SPREAD_CLUSTER : n->levels[n->deepest].field]);
    assert_int_equal(s->kind, KARMADA_ERROR);
    assert_int_equal(s->count, 0);
    assert_str(s->error, want);
}

static bool is_upstreams(const struct fleet *f) {
    bool region = false, cluster = false;
    for (uint32_t i = 0; i < f->spread_count; i++) {
        region |= f->spread[i].field == SPREAD_REGION;
        cluster |= f->spread[i].field == SPREAD_CLUSTER;
    }
    return cluster && f->spread_count == 1 + (uint32_t)region;
}

static void as_the_contract_says(void **state) {
    const char *wish = getenv("LEVEL_CASES");
    const uint64_t cases = wish != NULL ? strtoull(wish, NULL, 10) : USUAL_CASES;
    uint64_t random = unit_seed(), found = 0, failed = 0, left_out = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct fleet f;
        struct naive n;
        struct karmada_selection s;
        struct err err;
        draw_fleet(&f, &random);
        if (is_upstreams(&f))
            continue;
        naive_select(&n, &f);
        if (n.steps > NAIVE_STEPS) {
            left_out++;
            continue;
        }
        arena_reset(&arena);
        assert_int_equal(karmada_select(f.candidates, f.count, &f.placement, f.replicas, &f.options,
                                        &arena, &s, &err),
                         0);
        expect_groups(&n, &s);
        assert_true(s.proven);
        if (n.answer == 0) {
            failed++;
            expect_error(&n, &s);
            continue;
        }
        found++;
        assert_int_equal(s.kind, KARMADA_OK);
        assert_true(str_empty(s.error));
        uint32_t at = 0;
        assert_int_equal(s.count, __builtin_popcount(n.answer));
        for (uint32_t rank = 0; rank < f.count; rank++)
            if ((n.answer >> rank & 1) != 0)
                assert_int_equal(s.clusters[at++], n.order[rank]);
    }
    assert_true(found > cases / 8); /* of both enough */
    assert_true(failed > cases / 8);
    assert_true(left_out < cases / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_contract_says)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
