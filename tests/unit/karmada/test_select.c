/*
 * Selection as upstream has it: its own tables of clusters, regions, order and scores of groups;
 * and what configuration changes of it. Of levels: errors, budgets, and searches that are large.
 */
#include "base/limits.h"
#include "karmada/select.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

enum { MOST = 10, SPREADS = 5, FEW = 16 };

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

struct question {
    const struct karmada_candidate *candidates;
    uint32_t count;
    struct cluster_spread spread[SPREADS];
    uint32_t spread_count;
    enum division division;
    int32_t replicas;
    bool no_preference; /* weightPreference is not there */
    uint32_t weight_count;
    struct karmada_options options;
};

static struct karmada_selection answer(const struct question *q) {
    static const struct static_weight weights[1];
    struct cluster_placement placement = {.spread = q->spread,
                                          .spread_count = q->spread_count,
                                          .replicas = {.division = q->division,
                                                       .has_weights = !q->no_preference,
                                                       .weights = weights,
                                                       .weight_count = q->weight_count}};
    struct karmada_selection s;
    struct err err;
    arena_reset(&arena);
    assert_int_equal(karmada_select(q->candidates, q->count, &placement, q->replicas, &q->options,
                                    &arena, &s, &err),
                     0);
    return s;
}

/* The names of the clusters, each with a blank behind; or the error. */
static void expect(const struct question *q, const char *want) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct karmada_selection s = answer(q);
    for (uint32_t i = 0; i < s.count; i++)
        strbuf_appendf(&got, "%.*s ", STR_ARG(q->candidates[s.clusters[i]].cluster.name));
    if (s.kind != KARMADA_OK)
        strbuf_append_str(&got, s.error);
    assert_true(s.kind == KARMADA_OK || s.kind == KARMADA_ERROR);
    assert_str(strbuf_str(&got), want);
}

#define CLUSTER(n, r, s, a)                                                                        \
    { .cluster = {.name = STR(n), .region = STR(r)}, .score = (s), .available = (a) }
#define OF_CLUSTERS(least, most)                                                                   \
    { .field = SPREAD_CLUSTER, .min = (least), .max = (most) }
#define OF_REGIONS(least, most)                                                                    \
    { .field = SPREAD_REGION, .min = (least), .max = (most) }
#define OF(f, least, most)                                                                         \
    { .field = (f), .min = (least), .max = (most) }

/* ---- by cluster ---- */

static const struct karmada_candidate four[] = {
    CLUSTER("m1", "", 20, 40), CLUSTER("m2", "", 40, 60), CLUSTER("m3", "", 30, 80),
    CLUSTER("m4", "", 60, 50)};

static struct question of_four(int64_t least, int64_t most, enum division division,
                               int32_t replicas) {
    return (struct question){.candidates = four,
                             .count = 4,
                             .spread = {OF_CLUSTERS(least, most)},
                             .spread_count = 1,
                             .division = division,
                             .replicas = replicas,
                             .options = karmada_defaults};
}

static void by_cluster(void **state) {
    struct question q = of_four(1, 2, DIVISION_NONE, 100);
    (void)state;
    expect(&q, "m4 m2 "); /* SC01 */
    q = of_four(1, 2, DIVISION_DUPLICATED, 120);
    expect(&q, "m4 m2 "); /* SC02 */
    q = of_four(1, 2, DIVISION_STATIC, 120);
    q.weight_count = 1;
    expect(&q, "m4 m2 m3 m1 "); /* SC03 */
    q.weight_count = 0;
    expect(&q, "m4 m3 "); /* an empty weightPreference does not ignore it */
    q.no_preference = true;
    expect(&q, "m4 m2 m3 m1 ");
    q.options.static_keeps_spread = true;
    expect(&q, "m4 m3 ");
    q = of_four(1, 2, DIVISION_AGGREGATED, 120);
    expect(&q, "m4 m3 "); /* SC04 */
    q.replicas = 110;
    expect(&q, "m4 m2 ");
    q.replicas = 111;
    expect(&q, "m4 m3 ");
    q.replicas = 130;
    expect(&q, "m4 m3 "); /* 50 + 80 */
    q.replicas = 131;
    expect(&q, "m2 m3 "); /* and m4 for m2, which is now spare */
    q.replicas = 140;
    expect(&q, "m2 m3 ");
    q.replicas = 141;
    expect(&q, "no enough resource when selecting 2 clusters");
    q = of_four(1, 2, DIVISION_DYNAMIC, 200);
    expect(&q, "no enough resource when selecting 2 clusters"); /* SC05 */
    q = of_four(7, 7, DIVISION_DYNAMIC, 30);
    expect(&q, "the number of feasible clusters is less than spreadConstraint.MinGroups");
    q = of_four(5, 0, DIVISION_NONE, 30);
    expect(&q, "the number of feasible clusters is less than spreadConstraint.MinGroups");
    q = of_four(4, 4, DIVISION_NONE, 30);
    expect(&q, "m4 m2 m3 m1 ");
    q = of_four(1, 2, DIVISION_NONE, 0);
    q.spread_count = 0;
    expect(&q, "m4 m2 m3 m1 "); /* SC07 */
    q = of_four(0, 1, DIVISION_NONE, 0);
    expect(&q, "m4 "); /* SC08 */
}

/* Of spare clusters that hold as many the first is taken; one that holds no more is not. */
static void exchanges_of_equal_clusters(void **state) {
    static const struct karmada_candidate equal[] = {CLUSTER("a", "", 9, 5), CLUSTER("b", "", 8, 5),
                                                     CLUSTER("c", "", 7, 9),
                                                     CLUSTER("d", "", 6, 9)};
    static const struct karmada_candidate three[] = {CLUSTER("a", "", 9, 2), CLUSTER("b", "", 8, 5),
                                                     CLUSTER("c", "", 7, 5)};
    struct question q = of_four(1, 1, DIVISION_DYNAMIC, 9);
    (void)state;
    q.candidates = equal;
    expect(&q, "c ");
    q = of_four(1, 2, DIVISION_DYNAMIC, 10);
    q.candidates = three;
    q.count = 3;
    expect(&q, "c b ");
}

static void no_limit(void **state) {
    struct question q = of_four(1, 0, DIVISION_AGGREGATED, 0);
    (void)state;
    expect(&q, "no enough resource when selecting 0 clusters"); /* SC10 */
    q.division = DIVISION_NONE;
    expect(&q, "");
    q.options.max_unset_is_unlimited = true;
    expect(&q, "m4 m2 m3 m1 ");
    q.division = DIVISION_AGGREGATED;
    q.replicas = 230;
    expect(&q, "m4 m2 m3 m1 ");
    q.replicas = 231;
    expect(&q, "no enough resource when selecting 4 clusters");
}

static void overflow_before_score(void **state) {
    struct karmada_candidate two[] = {CLUSTER("c1", "", 10, 9), CLUSTER("c2", "", 20, 9)};
    struct question q = of_four(1, 1, DIVISION_DYNAMIC, 5);
    (void)state;
    two[1].overflow_order = 1;
    q.candidates = two;
    q.count = 2;
    expect(&q, "c1 "); /* SC09 */
}

static void other_fields_as_upstream(void **state) {
    struct question q = of_four(2, 4, DIVISION_NONE, 0);
    (void)state;
    q.options.compat = COMPAT_1_18_1;
    q.spread[1] = (struct cluster_spread)OF(SPREAD_PROVIDER, 1, 1);
    q.spread_count = 2;
    expect(&q, "m4 m2 m3 m1 "); /* SC12 */
    q.spread[0] = q.spread[1];
    q.spread_count = 1;
    expect(&q, "just support cluster and region spread constraint"); /* SC11 */
    q.spread[0] = (struct cluster_spread){.field = SPREAD_LABEL, .label = STR("row")};
    expect(&q, "just support cluster and region spread constraint");
    q.options.compat = COMPAT_NONE;
    q.spread[0].label = (struct str){0}; /* neither a field nor a label */
    expect(&q, "just support cluster and region spread constraint");
    q.spread[1] = (struct cluster_spread)OF_CLUSTERS(1, 3);
    q.spread_count = 2;
    expect(&q, "m4 m2 m3 ");
    q.spread[2] = (struct cluster_spread)OF_CLUSTERS(1, 1); /* the last counts */
    q.spread_count = 3;
    expect(&q, "m4 ");
}

static void until_enough(void **state) {
    struct question q = of_four(1, 1, DIVISION_AGGREGATED, 110);
    (void)state;
    q.spread_count = 0;
    q.options.no_constraint = NO_CONSTRAINT_UNTIL_ENOUGH;
    expect(&q, "m4 m2 ");
    q.replicas = 111;
    expect(&q, "m4 m2 m3 ");
    q.replicas = 0;
    expect(&q, "m4 ");
    q.replicas = 231;
    expect(&q, "m4 m2 m3 m1 ");
    q.replicas = 1;
    q.division = DIVISION_DYNAMIC;
    expect(&q, "m4 ");
    q.division = DIVISION_DUPLICATED;
    expect(&q, "m4 m2 m3 m1 ");
    q.division = DIVISION_STATIC;
    q.weight_count = 1;
    expect(&q, "m4 m2 m3 m1 ");
    q.division = DIVISION_AGGREGATED;
    q.options.no_constraint = NO_CONSTRAINT_ALL;
    expect(&q, "m4 m2 m3 m1 ");
}

/* ---- by region ---- */

/* With one replica, divided, a region's score is 1000 and the mean of as many clusters as are
 * wanted: upstream's table gives the scores themselves, of which the order is kept here. */
static struct question by_regions(const struct karmada_candidate *candidates, uint32_t count,
                                  int64_t least, int64_t most) {
    return (struct question){.candidates = candidates,
                             .count = count,
                             .spread = {OF_REGIONS(least, most)},
                             .spread_count = 1,
                             .division = DIVISION_DYNAMIC,
                             .replicas = 1,
                             .options = karmada_defaults};
}

static void of_clusters(struct question *q, int64_t least, int64_t most) {
    q->spread[1] = (struct cluster_spread)OF_CLUSTERS(least, most);
    q->spread_count = 2;
}

static void by_region(void **state) {
    static const struct karmada_candidate five[] = {
        CLUSTER("m1", "R1", 100, 40), CLUSTER("m2", "R1", 80, 40), CLUSTER("m3", "R2", 80, 9),
        CLUSTER("m4", "R2", 80, 9), CLUSTER("m5", "R2", 60, 9)};
    static const char few[] =
        "the number of clusters is less than the cluster spreadConstraint.MinGroups";
    struct question q = by_regions(five, 5, 1, 1);
    (void)state;
    of_clusters(&q, 2, 2);
    expect(&q, "m1 m2 "); /* SR01 */
    of_clusters(&q, 3, 3);
    expect(&q, "m3 m4 m5 "); /* SR02 */
    of_clusters(&q, 4, 4);
    expect(&q, few); /* SR04 */
    q = by_regions(five, 5, 3, 3);
    of_clusters(&q, 3, 3);
    expect(&q, "the number of feasible region is less than spreadConstraint.MinGroups"); /* SR03 */
    q = by_regions(five, 2, 1, 1);
    of_clusters(&q, 3, 4);
    expect(&q, few); /* SR05 */
    of_clusters(&q, 2, 4);
    expect(&q, "m1 m2 ");
}

static void more_regions_than_clusters(void **state) {
    static const struct karmada_candidate three[] = {
        CLUSTER("a", "A", 5, 9), CLUSTER("b", "B", 4, 9), CLUSTER("c", "C", 3, 9),
        CLUSTER("d", "A", 5, 9)};
    struct question q = by_regions(three, 4, 3, 3);
    (void)state;
    of_clusters(&q, 1, 2);
    expect(&q, "a b c "); /* SR08 */
    of_clusters(&q, 1, 4);
    expect(&q, "a b c d ");
    of_clusters(&q, 1, 0); /* one a region */
    expect(&q, "a b c ");
    q.options.max_unset_is_unlimited = true;
    expect(&q, "a b c d ");
    q = by_regions(three, 4, 1, 2);
    q.options.compat = COMPAT_1_18_1;
    expect(&q, "a "); /* SR09: one region is enough */
    q.spread[0].min = 2;
    expect(&q, "a b ");
    q.options.max_unset_is_unlimited = true;
    expect(&q, "a b d ");
    q = by_regions(three, 4, 1, 0);
    of_clusters(&q, 1, 4);
    expect(&q, "the number of clusters is less than the cluster spreadConstraint.MinGroups");
}

static void a_region_for_those_without(void **state) {
    static const struct karmada_candidate three[] = {
        CLUSTER("a", "", 90, 9), CLUSTER("b", "B", 4, 9), CLUSTER("c", "default", 3, 9)};
    struct question q = by_regions(three, 3, 1, 1);
    (void)state;
    of_clusters(&q, 1, 3);
    expect(&q, "b ");
    q.options.missing = MISSING_DEFAULT;
    expect(&q, "b "); /* the region default has the score 0 */
    of_clusters(&q, 2, 3);
    expect(&q, "a c ");
    assert_int_equal(answer(&q).levels[0].groups[1].score, 0);
    assert_str(answer(&q).levels[0].groups[1].name, "default");
}

/* ---- scores of groups ---- */

struct score_case {
    enum division division;
    int32_t replicas;
    int64_t least;
    int64_t scores[5], available[5];
    int64_t want;
};
static const struct score_case score_cases[] = {
    {DIVISION_DUPLICATED, 20, 1, {100, 100, 0, 0, 0}, {30, 30, 30, 30, 30}, 5040},
    {DIVISION_DUPLICATED, 20, 1, {100, 100, 100, 100, 100}, {30, 30, 30, 10, 10}, 3100},
    {DIVISION_DUPLICATED, 20, 1, {100, 100, 0, 0, 0}, {30, 30, 30, 10, 10}, 3066},
    {DIVISION_DUPLICATED, 30, 1, {100, 100, 0, 0, 0}, {30, 30, 30, 10, 10}, 3066},
    {DIVISION_DUPLICATED, 31, 1, {100, 100, 0, 0, 0}, {30, 30, 30, 10, 10}, 0},
    {DIVISION_NONE, 20, 1, {100, 100, 0, 0, 0}, {30, 30, 30, 10, 10}, 3066},
    {DIVISION_AGGREGATED, 100, 2, {100, 100, 0, 0, 0}, {30, 30, 30, 10, 10}, 50100},
    {DIVISION_AGGREGATED, 100, 2, {100, 100, 100, 100, 100}, {10, 10, 10, 5, 5}, 40100},
    {DIVISION_DYNAMIC, 100, 2, {100, 100, 0, 0, 0}, {10, 10, 10, 10, 5}, 45040},
    {DIVISION_STATIC, 100, 2, {100, 100, 0, 0, 0}, {10, 10, 10, 5, 5}, 40040},
    {DIVISION_AGGREGATED, 100, 2, {0, 0, 0, 0, 0}, {100, 100, 100, 100, 100}, 50000},
    {DIVISION_AGGREGATED, 100, 2, {100, 100, 100, 100, 100}, {50, 50, 50, 50, 50}, 50100},
    {DIVISION_AGGREGATED, 101, 2, {100, 0, 0, 0, 0}, {50, 1, 0, 0, 0}, 51050}, /* rounded up */
    {DIVISION_AGGREGATED, 100, 2, {9, 9, 9, 9, 9}, {49, 1, 0, 0, 0}, 50009},
    {DIVISION_AGGREGATED, 100, 2, {9, 9, 9, 9, 7}, {49, 0, 0, 0, 0}, 49008},
    {DIVISION_DYNAMIC, 0, 0, {9, 7, 5, 3, 1}, {0, 0, 0, 0, 0}, 9}, /* minGroups 0 is 1 */
};

static void scores_of_groups(void **state) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    (void)state;
    for (size_t i = 0; i < sizeof score_cases / sizeof score_cases[0]; i++) {
        const struct score_case *c = &score_cases[i];
        struct karmada_candidate candidates[5];
        for (uint32_t k = 0; k < 5; k++)
            candidates[k] = (struct karmada_candidate){
                .cluster = {.name = str_of(names[k]), .region = STR("R")},
                .score = c->scores[k],
                .available = c->available[k]};
        struct question q = by_regions(candidates, 5, c->least, 9);
        q.division = c->division;
        q.replicas = c->replicas;
        of_clusters(&q, 0, 9);
        assert_int_equal(answer(&q).levels[0].groups[0].score, c->want);
    }
}

/* The clusters' minimum counts, too, where it is larger than the regions'. */
static void as_many_clusters_as_are_wanted(void **state) {
    static const struct karmada_candidate three[] = {
        CLUSTER("a", "A", 90, 9), CLUSTER("b", "A", 60, 9), CLUSTER("c", "A", 30, 9)};
    struct question q = by_regions(three, 3, 1, 1);
    (void)state;
    of_clusters(&q, 1, 3);
    assert_int_equal(answer(&q).levels[0].groups[0].score, 1090);
    of_clusters(&q, 2, 3);
    assert_int_equal(answer(&q).levels[0].groups[0].score, 1075);
    of_clusters(&q, 9, 9);
    assert_int_equal(answer(&q).levels[0].groups[0].score, 1060);
}

static void groups_and_order(void **state) {
    static const struct str zones[] = {STR("Z1"), STR("Z2")};
    struct karmada_candidate m[4];
    static const int64_t scores[] = {20, 40, 30, 60};
    static const char *const names[] = {"m1", "m2", "m3", "m4"};
    static const char *const providers[] = {"P1", "P1", "P2", "P2"};
    static const char *const regions[] = {"R1", "R1", "R1", "R2"};
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        m[i] = (struct karmada_candidate){.cluster = {.name = str_of(names[i]),
                                                      .provider = str_of(providers[i]),
                                                      .region = str_of(regions[i]),
                                                      .zones = &zones[i % 2],
                                                      .zone_count = 1},
                                          .score = scores[i],
                                          .available = 100};
    struct question q = by_regions(m, 4, 1, 2);
    q.options.compat = COMPAT_1_18_1;
    of_clusters(&q, 1, 2);
    assert_int_equal(answer(&q).level_count, 1);
    q.spread[2] = (struct cluster_spread)OF(SPREAD_PROVIDER, 1, 1);
    q.spread[3] = (struct cluster_spread)OF(SPREAD_ZONE, 1, 1);
    q.spread_count = 4;
    const struct karmada_selection s = answer(&q);
    assert_int_equal(s.level_count, 3);
    static const uint32_t order[] = {3, 1, 2, 0};
    assert_memory_equal(s.order, order, sizeof order);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(s.levels[i].group_count, 2);
    assert_int_equal(s.levels[0].field, SPREAD_PROVIDER);
    assert_int_equal(s.levels[2].field, SPREAD_ZONE);
    assert_str(s.levels[2].groups[0].name, "Z2"); /* flat: not below the others */
    q.spread[0] = q.spread[1];
    q.spread_count = 1;
    assert_int_equal(answer(&q).level_count, 0);
}

/* ---- by levels ---- */

static void what_a_failure_names(void **state) {
    static const struct karmada_candidate three[] = {
        CLUSTER("a", "A", 9, 9), CLUSTER("b", "B", 4, 9), CLUSTER("c", "", 3, 9)};
    struct question q = by_regions(three, 3, 3, 0);
    (void)state;
    expect(&q, "no region combination satisfies the spread constraints");
    q.spread[0].min = 2;
    expect(&q, "a b ");
    q.replicas = 18;
    expect(&q, "a b ");
    q.replicas = 19;
    expect(&q, "no cluster combination satisfies the spread constraints");
    q.replicas = 1;
    q.spread[1] = (struct cluster_spread){.field = SPREAD_LABEL, .label = STR("row"), .min = 1};
    q.spread_count = 2;
    expect(&q, "no label row combination satisfies the spread constraints");
    q.spread[0].min = 3;
    expect(&q, "no region combination satisfies the spread constraints");
    q.count = 0;
    expect(&q, "no region combination satisfies the spread constraints");
}

enum { REGIONS = 30, ZONES = 200, LARGE = 5000 };

static struct karmada_candidate *make_large(void) {
    static struct karmada_candidate fleet[LARGE];
    static char names[LARGE][8], regions[REGIONS][8], zones[ZONES][8];
    static struct str zone_names[ZONES];
    for (uint32_t z = 0; z < ZONES; z++) {
        (void)snprintf(zones[z], sizeof zones[z], "Z%u", z);
        zone_names[z] = str_of(zones[z]);
    }
    for (uint32_t r = 0; r < REGIONS; r++)
        (void)snprintf(regions[r], sizeof regions[r], "R%u", r);
    for (uint32_t i = 0; i < LARGE; i++) {
        const uint32_t z = i % ZONES, r = z % REGIONS;
        (void)snprintf(names[i], sizeof names[i], "m%u", i);
        fleet[i] = (struct karmada_candidate){.cluster = {.name = str_of(names[i]),
                                                          .region = str_of(regions[r]),
                                                          .zones = &zone_names[z],
                                                          .zone_count = 1},
                                              /* the better, the less it holds */
                                              .score = REGIONS - r,
                                              .available = r + 1};
    }
    return fleet;
}

/* Ten of thirty regions, twenty of their zones: what they hold at most, and one more. The largest
 * are regions 20 to 29, with six zones each of 25 clusters; regions 25 to 29, with 30, hold more
 * than is needed of twenty zones: 26 to 29 give 6 zones each but one, and 20 to 25 one each. */
static void the_largest_questions(void **state) {
    struct question q = by_regions(make_large(), LARGE, 10, 10);
    (void)state;
    q.spread[1] = (struct cluster_spread)OF(SPREAD_ZONE, 20, 20);
    q.spread_count = 2;
    int64_t most = 0;
    for (int64_t r = 20; r < 30; r++)
        most += 25 * (r + 1);       /* one of each */
    most += 25 * (5 * 30 + 5 * 29); /* and ten more, of the two largest */
    q.replicas = (int32_t)most;
    const struct karmada_selection s = answer(&q);
    assert_str(s.error, "");
    assert_true(s.proven);
    assert_int_equal(s.count, 20 * 25);
    q.replicas++;
    expect(&q, "no cluster combination satisfies the spread constraints");
    /* and with clusters counted: one in each zone, and ten more of the largest */
    of_clusters(&q, 1, 30);
    q.spread[2] = (struct cluster_spread)OF(SPREAD_ZONE, 20, 20);
    q.spread_count = 3;
    most = 10 * 30;
    for (int64_t r = 20; r < 30; r++)
        most += r + 1;
    most += 5 * 30 + 5 * 29;
    q.replicas = (int32_t)most;
    assert_str(answer(&q).error, "");
    assert_int_equal(answer(&q).count, 30);
    q.replicas++;
    expect(&q, "no cluster combination satisfies the spread constraints");
}

static void budgets(void **state) {
    struct question q = by_regions(make_large(), LARGE, 10, 10);
    (void)state;
    q.spread[1] = (struct cluster_spread)OF(SPREAD_ZONE, 20, 20);
    q.spread_count = 2;
    q.replicas = 13000;
    q.options.search_budget = 1;
    expect(&q, "search budget used up");
    /* one region, ten clusters: a set that holds enough is known before the first is found */
    q = by_regions(make_large(), LARGE, 1, 1);
    of_clusters(&q, 1, 10);
    q.spread[2] = (struct cluster_spread)OF(SPREAD_ZONE, 1, 1);
    q.spread_count = 3;
    q.replicas = 10;
    bool unproven = false;
    for (q.options.search_budget = 1; q.options.search_budget < 4000; q.options.search_budget++) {
        const struct karmada_selection s = answer(&q);
        if (s.kind == KARMADA_OK && s.proven)
            break;
        assert_true(s.kind == KARMADA_OK || s.count == 0);
        if (s.kind == KARMADA_OK)
            assert_int_equal(s.count, 10);
        unproven |= s.kind == KARMADA_OK;
    }
    assert_true(unproven);
    assert_true(q.options.search_budget < 4000);
}

/* Clusters in several zones, of which the largest thirty together lack one replica: no zones need
 * be tried. */
static void largest_do_not_suffice(void **state) {
    static const struct str zones[] = {{"Z1", 2}, {"Z2", 2}, {"Z3", 2}, {"Z4", 2}};
    struct karmada_candidate *fleet = make_large();
    (void)state;
    for (uint32_t i = 0; i < LARGE; i++) {
        fleet[i].cluster.zones = &zones[i % 3];
        fleet[i].cluster.zone_count = 2;
        fleet[i].available = 10;
    }
    struct question q = by_regions(fleet, LARGE, 1, 30);
    of_clusters(&q, 1, 30);
    q.spread[2] = (struct cluster_spread)OF(SPREAD_ZONE, 1, 30);
    q.spread_count = 3;
    q.replicas = 301;
    q.options.search_budget = 300;
    expect(&q, "no cluster combination satisfies the spread constraints");
    q.replicas = 300;
    q.options.search_budget = karmada_defaults.search_budget;
    assert_int_equal(answer(&q).count, 30);
}

static void short_of_steps_and_memory(void **state) {
    struct question q = by_regions(make_large(), LARGE, 10, 10);
    struct cluster_placement placement = {.spread = q.spread, .spread_count = 2};
    struct karmada_selection s;
    struct err err;
    (void)state;
    q.spread[1] = (struct cluster_spread)OF(SPREAD_ZONE, 20, 20);
    arena_reset(&arena);
    arena.steps = (struct steps){.max = 20000};
    assert_int_equal(
        karmada_select(q.candidates, q.count, &placement, 1, &q.options, &arena, &s, &err), -E2BIG);
    assert_string_equal(err.text, "selection: too large to be searched");
    arena_reset(&arena);
    arena.steps = (struct steps){.max = 0};
    for (arena.max = 100000;; arena.max *= 2) {
        const int r =
            karmada_select(q.candidates, q.count, &placement, 1, &q.options, &arena, &s, &err);
        arena_reset(&arena);
        if (r == 0)
            break;
        assert_int_equal(r, -ENOMEM);
        assert_string_equal(err.text, "selection: out of memory");
    }
    arena.max = LIMIT_LINE_ARENA;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_cluster),
        cmocka_unit_test(exchanges_of_equal_clusters),
        cmocka_unit_test(no_limit),
        cmocka_unit_test(overflow_before_score),
        cmocka_unit_test(other_fields_as_upstream),
        cmocka_unit_test(until_enough),
        cmocka_unit_test(by_region),
        cmocka_unit_test(more_regions_than_clusters),
        cmocka_unit_test(a_region_for_those_without),
        cmocka_unit_test(scores_of_groups),
        cmocka_unit_test(as_many_clusters_as_are_wanted),
        cmocka_unit_test(groups_and_order),
        cmocka_unit_test(what_a_failure_names),
        cmocka_unit_test(the_largest_questions),
        cmocka_unit_test(budgets),
        cmocka_unit_test(largest_do_not_suffice),
        cmocka_unit_test(short_of_steps_and_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
