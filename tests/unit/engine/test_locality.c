/* How near nodes are to a pod's data. */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

#define ZONES "topology.kubernetes.io/zone"
#define REGIONS "topology.kubernetes.io/region"
#define GIB ((int64_t)1 << 30)

struct fixture {
    struct cluster c;
    struct pod pod;
    struct mounted_dataset datasets[2];
    struct score_result result;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.result.column_count = 0};
    cluster_open(&f.c);
    f.c.options.locality_weight = 100;
    f.pod = cluster_pod(&f.c, "foo", "", "");
    f.datasets[0] = (struct mounted_dataset){.namespace = STR("ns1"),
                                             .id = STR("ns1-data"),
                                             .worker_label = STR("fluid.io/s-ns1-data"),
                                             .quota_label = STR("fluid.io/s-h-alluxio-t-ns1-data"),
                                             .size = 100 * GIB,
                                             .cached = 100 * GIB};
    f.datasets[1] = (struct mounted_dataset){.namespace = STR("ns1"),
                                             .id = STR("ns1-more"),
                                             .worker_label = STR("fluid.io/s-ns1-more"),
                                             .quota_label = STR("fluid.io/s-h-jindo-t-ns1-more"),
                                             .size = 100 * GIB,
                                             .cached = 100 * GIB};
    f.pod.datasets = f.datasets;
    f.pod.dataset_count = 1;
    /* zone z1 in region r1 has a, b, c; z2 in r1 has d; z3 in r2 has e */
    cluster_nodes(&f.c, "a,+" ZONES "=z1,+" REGIONS "=r1 b,+" ZONES "=z1,+" REGIONS "=r1 c,+" ZONES
                        "=z1,+" REGIONS "=r1 d,+" ZONES "=z2,+" REGIONS "=r1 e,+" ZONES
                        "=z3,+" REGIONS "=r2");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

/* A node with labels of workers: again, with its zone and region. */
static void node(struct fixture *f, const char *name, const char *place, const char *labels) {
    struct strbuf text = {0};
    strbuf_appendf(&text, "%s%s%s", name, place, labels);
    strbuf_append_char(&text, '\0');
    assert_false(strbuf_failed(&text));
    cluster_nodes(&f->c, text.p);
    strbuf_done(&text);
}
#define Z1 ",+" ZONES "=z1,+" REGIONS "=r1"
#define Z2 ",+" ZONES "=z2,+" REGIONS "=r1"
#define Z3 ",+" ZONES "=z3,+" REGIONS "=r2"

static void score(struct fixture *f) {
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"no", 2}};
    const struct candidates candidates = {names, 6};
    struct err err;
    if (engine_score(&f->c.options, f->c.cache, &f->pod, &candidates, &f->c.arena, &f->result,
                     &err) != 0)
        fail_msg("%s", err.text);
}

/* Raw scores of a to e; the node that nobody knows has none. */
static void expect(struct fixture *f, int a, int b, int c, int d, int e) {
    const int want[] = {a, b, c, d, e, 0};
    score(f);
    assert_int_equal(f->result.column_count, 1);
    const struct score_column *column = &f->result.columns[0];
    assert_string_equal(column->algorithm, "locality");
    int64_t best = 0;
    for (int i = 0; i < 6; i++)
        best = column->raw[i] > best ? column->raw[i] : best;
    for (int i = 0; i < 6; i++) {
        if (column->raw[i] != want[i])
            fail_msg("node %d: %lld instead of %d", i, (long long)column->raw[i], want[i]);
        assert_int_equal(column->normalized[i], column->raw[i] * 100 / best);
    }
}

static void test_nothing_to_say(void **state) {
    struct fixture *f = *state;
    score(f);
    assert_int_equal(f->result.column_count, 0); /* no worker anywhere */
    f->pod.dataset_count = 0;
    cluster_nodes(&f->c, "a,+fluid.io/s-ns1-data=true");
    score(f);
    assert_int_equal(f->result.column_count, 0);
}

static void test_tiers(void **state) {
    struct fixture *f = *state;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=2GiB");
    expect(f, 1000, 250, 250, 100, 0); /* all on a: 100, 25 in its zone, 10 in its region */
    assert_int_equal(f->result.priorities[0], 10);
    assert_int_equal(f->result.priorities[1], 2);
    assert_int_equal(f->result.priorities[4], 0);
}

static void test_quotas(void **state) {
    struct fixture *f = *state;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=3GiB");
    node(f, "e", Z3, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=1GiB");
    expect(f, 750, 188, 188, 75, 250);
    node(f, "d", Z2, ",+fluid.io/s-ns1-data=true"); /* no quota: as the average, 2 GiB */
    expect(f, 533, 158, 158, 383, 167);
    node(f, "b", Z1, ",+fluid.io/s-h-alluxio-t-ns1-data=9GiB"); /* no worker */
    expect(f, 533, 158, 158, 383, 167);
}

#define RACKS "cloud.provider.com/topology-rack"

/* Racks between the host and the zone. */
static void test_other_tiers(void **state) {
    struct fixture *f = *state;
    static const struct locality_tier racks[] = {
        {STR("kubernetes.io/hostname"), 80}, {STR(RACKS), 40}, {STR(ZONES), 20}};
    node(f, "a", Z1, ",+" RACKS "=r1,+fluid.io/s-ns1-data=true");
    node(f, "b", Z1, ",+" RACKS "=r1");
    node(f, "c", Z1, ",+" RACKS "=r2");
    f->c.options.tiers = racks;
    f->c.options.tier_count = 3;
    expect(f, 1000, 500, 250, 0, 0); /* 80, 40, 20 of 80; its region is no tier */
    f->c.options.tiers = &racks[1];
    f->c.options.tier_count = 1;
    expect(f, 1000, 1000, 0, 0, 0); /* the rack alone: the node has no more of it */
}

/* Whatever stands first: who is with the bytes in the zone loses nothing by a tier after it. */
static void test_host_after_zone(void **state) {
    struct fixture *f = *state;
    static const struct locality_tier tiers[] = {{STR(ZONES), 100},
                                                 {STR("kubernetes.io/hostname"), 50}};
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    f->c.options.tiers = tiers;
    f->c.options.tier_count = 2;
    expect(f, 1000, 1000, 1000, 0, 0);
}

/* Who writes that the zone is worth more than the host wants the zone; never to be off the host. */
static void test_near_is_never_worse_than_far(void **state) {
    struct fixture *f = *state;
    static const struct locality_tier upside_down[] = {{STR("kubernetes.io/hostname"), 10},
                                                       {STR(ZONES), 100}};
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    f->c.options.tiers = upside_down;
    f->c.options.tier_count = 2;
    expect(f, 1000, 1000, 1000, 0, 0);
}

static const struct dataset_report *report(const struct fixture *f, uint32_t i) {
    assert_true(i < f->result.dataset_count);
    return &f->result.datasets[i];
}

static struct str tier_of(const struct fixture *f, uint32_t dataset, int candidate) {
    const struct dataset_report *of = report(f, dataset);
    return of->tier_names[of->tiers[candidate]];
}

/* Each dataset's part of the raw scores that test_quotas and test_tiers expect, and where that is
 * from: 3 of 4 GiB on a, 1 on e. */
static void test_reports(void **state) {
    struct fixture *f = *state;
    static const char *const tiers[] = {"node", "zone", "zone", "region", "node", "none"};
    static const int points[] = {750, 188, 188, 75, 250, 0};
    f->c.options.reports = true;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=3GiB");
    node(f, "e", Z3, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=1GiB");
    expect(f, 750, 188, 188, 75, 250);
    assert_int_equal(f->result.dataset_count, 1);
    assert_int_equal(report(f, 0)->nodes, 2);
    assert_str(report(f, 0)->holders[0].node, "a");
    assert_int_equal(report(f, 0)->holders[0].bytes, 75 * GIB);
    assert_str(report(f, 0)->holders[1].node, "e");
    assert_int_equal(report(f, 0)->holders[1].bytes, 25 * GIB);
    for (int i = 0; i < 6; i++) {
        assert_str(tier_of(f, 0, i), tiers[i]);
        assert_int_equal((int)(report(f, 0)->points[i] + 0.5), points[i]);
    }
}

/* A worker's pod may be seen before its node, which holds nothing until then. */
static void test_a_worker_before_its_node(void **state) {
    struct fixture *f = *state;
    node(f, "e", Z3, ",+fluid.io/s-ns1-data=true");
    expect(f, 0, 0, 0, 0, 1000);
    cluster_pods(&f->c, "ns1/ghost:fluid.io/dataset=ns1-data");
    expect(f, 0, 0, 0, 0, 1000);
    node(f, "ghost", Z1, "");
    expect(f, 125, 125, 125, 50, 500);
}

/* DATASET_HOLDERS nodes are named, however many hold bytes. */
static void test_many_holders(void **state) {
    struct fixture *f = *state;
    f->c.options.reports = true;
    for (uint32_t nodes = 1; nodes <= DATASET_HOLDERS + 1; nodes++) {
        char name[8];
        (void)snprintf(name, sizeof name, "h%u", nodes);
        node(f, name, Z1, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=1GiB");
        static const struct str names[] = {{"a", 1}};
        struct err err;
        assert_int_equal(engine_score(&f->c.options, f->c.cache, &f->pod,
                                      &(struct candidates){names, 1}, &f->c.arena, &f->result,
                                      &err),
                         0);
        assert_int_equal(report(f, 0)->nodes, nodes);
        assert_int_equal(report(f, 0)->holder_count,
                         nodes < DATASET_HOLDERS ? nodes : DATASET_HOLDERS);
    }
}

/* What is on a node that a worker is leaving is nowhere: neither there, nor in its zone, nor added
 * to what others have. */
static void test_a_node_that_is_left(void **state) {
    struct fixture *f = *state;
    static const struct leaving_node leaving[] = {
        {STR("a"), STR("w-1"), -1}, {STR("gone"), STR("w-2"), 1}, {STR("b"), STR("w-3"), 1}};
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=3GiB");
    node(f, "e", Z3, ",+fluid.io/s-ns1-data=true,+fluid.io/s-h-alluxio-t-ns1-data=1GiB");
    f->datasets[0].leaving = leaving;
    f->datasets[0].leaving_count = 2;
    expect(f, 0, 0, 0, 0, 250);
    assert_int_equal(f->result.priorities[0], 0);
    assert_int_equal(f->result.priorities[4], 10);
    f->c.options.reports = true;
    expect(f, 0, 0, 0, 0, 250);
    assert_int_equal(report(f, 0)->nodes, 1);
    assert_str(report(f, 0)->holders[0].node, "e");
    assert_int_equal(report(f, 0)->holders[0].bytes, 25 * GIB);
    assert_str(tier_of(f, 0, 0), "none");
    assert_ptr_equal(report(f, 0)->leaving[0], &leaving[0]);
    for (int i = 1; i < 6; i++)
        assert_null(report(f, 0)->leaving[i]);
    f->datasets[0].leaving_count = 0;
    expect(f, 750, 188, 188, 75, 250);
    assert_null(report(f, 0)->leaving);
    cluster_pods(&f->c, "ns1/b:fluid.io/dataset=ns1-data"); /* as a worker's pod says, too */
    expect(f, 583, 458, 208, 83, 167);
    f->datasets[0].leaving_count = 3;
    expect(f, 0, 0, 0, 0, 167);
    f->datasets[0].leaving = &(struct leaving_node){STR("e"), STR("w"), -1};
    f->datasets[0].leaving_count = 1;
    cluster_unpods(&f->c, "ns1/b:fluid.io/dataset=ns1-data");
    expect(f, 750, 188, 188, 75, 0);
    node(f, "a", Z1, "");
    score(f); /* all that there is is leaving */
    assert_int_equal(f->result.column_count, 0);
}

static void test_reports_name_other_tiers_by_key(void **state) {
    struct fixture *f = *state;
    static const struct locality_tier racks[] = {{STR(RACKS), 40}, {STR(REGIONS), 20}};
    static const char *const tiers[] = {RACKS, RACKS, "region", "region", "none", "none"};
    f->c.options.reports = true;
    f->c.options.tiers = racks;
    f->c.options.tier_count = 2;
    node(f, "a", Z1, ",+" RACKS "=r1,+fluid.io/s-ns1-data=true");
    node(f, "b", Z1, ",+" RACKS "=r1");
    expect(f, 1000, 1000, 500, 500, 0);
    for (int i = 0; i < 6; i++)
        assert_str(tier_of(f, 0, i), tiers[i]);
}

/* A second dataset three times as large, which nobody caches, and whose bytes are not known. */
static void test_reports_of_two(void **state) {
    struct fixture *f = *state;
    f->c.options.reports = true;
    f->pod.dataset_count = 2;
    f->datasets[1].size = 300 * GIB;
    f->datasets[0].cached = -1;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    expect(f, 250, 63, 63, 25, 0);
    assert_int_equal(f->result.dataset_count, 2);
    assert_int_equal((int)(report(f, 0)->weight * 100), 25);
    assert_int_equal(report(f, 0)->holders[0].bytes, -1);
    assert_int_equal(report(f, 1)->nodes, 0);
    assert_str(tier_of(f, 1, 0), "none");
    assert_int_equal((int)report(f, 1)->points[0], 0);
    f->c.options.reports = false;
    expect(f, 250, 63, 63, 25, 0);
    assert_int_equal(f->result.dataset_count, 0);
}

static void test_what_is_cached_so_far(void **state) {
    struct fixture *f = *state;
    f->datasets[0].cached = 40 * GIB;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    expect(f, 400, 100, 100, 40, 0);
    f->datasets[0].cached = 400 * GIB; /* it shrank */
    expect(f, 1000, 250, 250, 100, 0);
    f->datasets[0].cached = -1; /* EFC does not say */
    expect(f, 1000, 250, 250, 100, 0);
    f->datasets[0].cached = 0;
    score(f);
    assert_int_equal(f->result.column_count, 0);
}

/* The labels come seconds later, and never from some runtimes. */
static void test_worker_pods(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "ns1/b:fluid.io/dataset=ns1-data");
    expect(f, 250, 1000, 250, 100, 0);
    cluster_pods(&f->c, "ns1/e:fluid.io/dataset=ns1-other c:fluid.io/dataset=ns1-data");
    expect(f, 250, 1000, 250, 100, 0); /* another dataset, another namespace */
    cluster_unpods(&f->c, "ns1/b:fluid.io/dataset=ns1-data");
    score(f);
    assert_int_equal(f->result.column_count, 0);
}

static void test_datasets_count_by_size(void **state) {
    struct fixture *f = *state;
    f->pod.dataset_count = 2;
    f->datasets[1].size = f->datasets[1].cached = 300 * GIB;
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    node(f, "e", Z3, ",+fluid.io/s-ns1-more=true");
    expect(f, 250, 63, 63, 25, 750);
    f->datasets[1].size = f->datasets[1].cached = -1; /* not known: as the others */
    expect(f, 500, 125, 125, 50, 500);
}

static void test_nodes_without_a_place(void **state) {
    struct fixture *f = *state;
    node(f, "a", "", ",+fluid.io/s-ns1-data=true");
    expect(f, 1000, 0, 0, 0, 0); /* it has all the bytes, whatever its zone is */
}

/* Many clusters have no label of regions. */
static void test_zones_without_regions(void **state) {
    struct fixture *f = *state;
    node(f, "a", ",+" ZONES "=z1", ",+fluid.io/s-ns1-data=true");
    node(f, "b", ",+" ZONES "=z1", "");
    expect(f, 1000, 250, 250, 0, 0); /* c has a region that a is not in */
}

/* The mean of what both say. */
static void test_beside_spread(void **state) {
    struct fixture *f = *state;
    f->c.options.spread_weight = 50;
    f->c.options.locality_weight = 50;
    const struct mounted_dataset *datasets = f->pod.datasets;
    f->pod = cluster_pod(&f->c, "foo", "1/node/foo,soft", "");
    f->pod.datasets = datasets;
    f->pod.dataset_count = 1;
    cluster_pods(&f->c, "a:2");
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    score(f);
    assert_int_equal(f->result.column_count, 2);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const struct score_column *by = f->result.columns;
            int64_t more = by[0].normalized[i] + by[1].normalized[i] - by[0].normalized[j] -
                           by[1].normalized[j];
            assert_int_equal(more > 0, f->result.priorities[i] > f->result.priorities[j]);
        }
    assert_true(f->result.columns[0].normalized[0] < f->result.columns[0].normalized[4]);
    assert_int_equal(f->result.columns[1].normalized[0], 100);
    f->c.options.locality_weight = 0;
    score(f);
    assert_true(f->result.priorities[0] < f->result.priorities[4]);
}

/* Data on a node that a hard constraint forbids does not make it possible. */
static void test_no_constraint_is_broken(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"a", 1}, {"e", 1}};
    const struct candidates candidates = {names, 2};
    const struct mounted_dataset *datasets = f->pod.datasets;
    struct filter_result filtered;
    struct err err;
    f->pod = cluster_pod(&f->c, "foo", "1/node/foo", "");
    f->pod.datasets = datasets;
    f->pod.dataset_count = 1;
    cluster_pods(&f->c, "a:1");
    node(f, "a", Z1, ",+fluid.io/s-ns1-data=true");
    assert_int_equal(engine_filter(&f->c.options, f->c.cache, &f->pod, &candidates, &f->c.arena,
                                   &filtered, &err),
                     0);
    assert_int_equal(filtered.verdicts[0], VERDICT_UNSCHEDULABLE);
    assert_int_equal(filtered.verdicts[1], VERDICT_PASS);
}

static struct str numbered(struct fixture *f, const char *before, unsigned number) {
    char text[64];
    (void)snprintf(text, sizeof text, "%s%u", before, number); /* fits */
    return arena_str(&f->c.arena, str_of(text));
}

/* More datasets than there may be columns, two a dataset. Half of the bytes are on a, and the other
 * half on e. */
static void test_more_datasets_than_columns(void **state) {
    enum { DATASETS = LIMIT_COLUMNS / 2 + 40 };
    struct fixture *f = *state;
    struct mounted_dataset *datasets = arena_array(&f->c.arena, DATASETS, sizeof *datasets);
    struct strbuf on[2] = {{0}};
    assert_non_null(datasets);
    for (unsigned i = 0; i < DATASETS; i++) {
        datasets[i] = f->datasets[0];
        datasets[i].id = numbered(f, "ns1-data", i);
        datasets[i].worker_label = numbered(f, "worker-", i);
        datasets[i].quota_label = numbered(f, "quota-", i);
        strbuf_appendf(&on[i % 2], ",+worker-%u=true,+quota-%u=%uGiB", i, i, 1 + i % 3);
    }
    strbuf_append_char(&on[0], '\0');
    strbuf_append_char(&on[1], '\0');
    node(f, "a", Z1, on[0].p);
    node(f, "e", Z3, on[1].p);
    f->pod.datasets = datasets;
    f->pod.dataset_count = DATASETS;
    expect(f, 500, 125, 125, 50, 500);
    expect(f, 500, 125, 125, 50, 500);
    assert_true(cache_stats(f->c.cache).columns <= LIMIT_COLUMNS);
    strbuf_done(&on[0]);
    strbuf_done(&on[1]);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_to_say),
        TEST(test_tiers),
        TEST(test_quotas),
        TEST(test_other_tiers),
        TEST(test_host_after_zone),
        TEST(test_near_is_never_worse_than_far),
        TEST(test_reports),
        TEST(test_a_worker_before_its_node),
        TEST(test_many_holders),
        TEST(test_a_node_that_is_left),
        TEST(test_reports_name_other_tiers_by_key),
        TEST(test_reports_of_two),
        TEST(test_what_is_cached_so_far),
        TEST(test_worker_pods),
        TEST(test_datasets_count_by_size),
        TEST(test_nodes_without_a_place),
        TEST(test_zones_without_regions),
        TEST(test_beside_spread),
        TEST(test_no_constraint_is_broken),
        TEST(test_more_datasets_than_columns),
    };
    return CLUSTER_RUN_TESTS("locality", tests);
}
