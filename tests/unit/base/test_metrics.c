#include "base/metrics.h"

#include "unit/unit.h"

#include <pthread.h>

static int tear_down(void **state) {
    (void)state;
    metrics_reset();
    return 0;
}

static void expect(const char *want) {
    struct strbuf text = {0};
    metrics_render(&text);
    assert_str(strbuf_str(&text), want);
    strbuf_done(&text);
}

static double half(void *ctx) {
    return *(int *)ctx / 2.0;
}

static void test_counters_and_gauges(void **state) {
    (void)state;
    static int seven = 7;
    static struct metric requests = {.name = "requests_total", .help = "Requests.", .labels = ""};
    static struct metric depth = {
        .name = "depth", .help = "Depth.", .labels = "queue=\"a\"", .kind = METRIC_GAUGE};
    static struct metric computed = {.name = "computed",
                                     .help = "Computed.",
                                     .labels = "",
                                     .kind = METRIC_GAUGE,
                                     .read = half,
                                     .ctx = &seven};
    metric_register(&requests);
    metric_register(&depth);
    metric_register(&computed);
    metric_add(&requests, 2);
    metric_add(&requests, 3);
    metric_set(&depth, 1767323045);
    metric_add(&depth, -5);
    expect("# HELP requests_total Requests.\n"
           "# TYPE requests_total counter\n"
           "requests_total 5\n"
           "# HELP depth Depth.\n"
           "# TYPE depth gauge\n"
           "depth{queue=\"a\"} 1767323040\n"
           "# HELP computed Computed.\n"
           "# TYPE computed gauge\n"
           "computed 3.5\n");
}

/* HELP and TYPE once per name, whoever registered in between. */
static void test_series_of_one_name_stand_together(void **state) {
    (void)state;
    static struct metric a1 = {.name = "a", .help = "A.", .labels = "n=\"1\""};
    static struct metric b1 = {.name = "b", .help = "B.", .labels = "n=\"1\""};
    static struct metric a2 = {.name = "a", .help = "A.", .labels = "n=\"2\""};
    static struct metric b2 = {.name = "b", .help = "B.", .labels = "n=\"2\""};
    metric_register(&a1);
    metric_register(&b1);
    metric_register(&a2);
    metric_register(&b2);
    expect("# HELP a A.\n# TYPE a counter\na{n=\"1\"} 0\na{n=\"2\"} 0\n"
           "# HELP b B.\n# TYPE b counter\nb{n=\"1\"} 0\nb{n=\"2\"} 0\n");
    metric_unregister(&a1);
    metric_unregister(&b2);
    metric_unregister(&b2); /* twice is harmless */
    expect("# HELP a A.\n# TYPE a counter\na{n=\"2\"} 0\n"
           "# HELP b B.\n# TYPE b counter\nb{n=\"1\"} 0\n");
    metric_register(&a1); /* again, behind its name */
    expect("# HELP a A.\n# TYPE a counter\na{n=\"2\"} 0\na{n=\"1\"} 0\n"
           "# HELP b B.\n# TYPE b counter\nb{n=\"1\"} 0\n");
    metrics_reset();
    expect("");
}

static void test_hidden_zeros(void **state) {
    (void)state;
    static struct metric often = {.name = "a", .help = "A.", .labels = "code=\"200\""};
    static struct metric rare = {
        .name = "a", .help = "A.", .labels = "code=\"500\"", .hide_zero = true};
    metric_register(&often);
    metric_register(&rare);
    expect("# HELP a A.\n# TYPE a counter\na{code=\"200\"} 0\n");
    metric_add(&rare, 1);
    expect("# HELP a A.\n# TYPE a counter\na{code=\"200\"} 0\na{code=\"500\"} 1\n");
}

static void test_histogram(void **state) {
    (void)state;
    static struct metric with = {
        .name = "h_seconds", .help = "H.", .labels = "v=\"x\"", .kind = METRIC_HISTOGRAM};
    metric_register(&with);
    metric_observe_ns(&with, 0);
    metric_observe_ns(&with, -5000000000);   /* a clock that went wrong counts as nothing */
    metric_observe_ns(&with, 500000);        /* a bound belongs to its bucket */
    metric_observe_ns(&with, 500001);        /* ... and not one nanosecond more */
    metric_observe_ns(&with, 30000000);      /* 0.03 */
    metric_observe_ns(&with, 10000000000);   /* 10 */
    metric_observe_ns(&with, 10000000001);   /* beyond */
    metric_observe_ns(&with, 3600000000000); /* an hour */
    expect("# HELP h_seconds H.\n"
           "# TYPE h_seconds histogram\n"
           "h_seconds_bucket{v=\"x\",le=\"0.0005\"} 3\n"
           "h_seconds_bucket{v=\"x\",le=\"0.001\"} 4\n"
           "h_seconds_bucket{v=\"x\",le=\"0.002\"} 4\n"
           "h_seconds_bucket{v=\"x\",le=\"0.005\"} 4\n"
           "h_seconds_bucket{v=\"x\",le=\"0.01\"} 4\n"
           "h_seconds_bucket{v=\"x\",le=\"0.025\"} 4\n"
           "h_seconds_bucket{v=\"x\",le=\"0.05\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"0.1\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"0.25\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"0.5\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"1\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"2.5\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"5\"} 5\n"
           "h_seconds_bucket{v=\"x\",le=\"10\"} 6\n"
           "h_seconds_bucket{v=\"x\",le=\"+Inf\"} 8\n"
           "h_seconds_sum{v=\"x\"} 3620.031\n"
           "h_seconds_count{v=\"x\"} 8\n");
}

static void test_histogram_without_labels(void **state) {
    (void)state;
    static struct metric bare = {
        .name = "h_seconds", .help = "H.", .labels = "", .kind = METRIC_HISTOGRAM};
    struct strbuf text = {0};
    metric_register(&bare);
    metric_observe_ns(&bare, 1500000000);
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    assert_contains(text.p, "\nh_seconds_bucket{le=\"1\"} 0\n");
    assert_contains(text.p, "\nh_seconds_bucket{le=\"2.5\"} 1\n");
    assert_contains(text.p, "\nh_seconds_sum 1.5\nh_seconds_count 1\n");
    strbuf_done(&text);
}

/* One thing under two names, the second of which stores nothing. */
static void test_another_name(void **state) {
    (void)state;
    static struct metric ours = {.name = "ours_total", .help = "O.", .labels = "verb=\"a\""};
    static struct metric theirs = {
        .name = "theirs_total", .help = "T.", .labels = "path=\"/a\"", .same_as = &ours};
    static struct metric took = {
        .name = "took", .help = "T.", .labels = "", .kind = METRIC_HISTOGRAM, .hide_zero = true};
    static struct metric lasted = {
        .name = "lasted", .help = "L.", .labels = "", .kind = METRIC_HISTOGRAM, .same_as = &took};
    struct strbuf text = {0};
    metric_register(&ours);
    metric_register(&theirs);
    metric_register(&took);
    metric_add(&ours, 3);
    expect("# HELP ours_total O.\n# TYPE ours_total counter\nours_total{verb=\"a\"} 3\n"
           "# HELP theirs_total T.\n# TYPE theirs_total counter\ntheirs_total{path=\"/a\"} 3\n"
           "# HELP took T.\n# TYPE took histogram\n");
    metric_register(&lasted);
    metric_observe_ns(&took, 2000000);
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    assert_contains(text.p, "\ntook_bucket{le=\"0.002\"} 1\n");
    assert_contains(text.p, "\nlasted_bucket{le=\"0.001\"} 0\nlasted_bucket{le=\"0.002\"} 1\n");
    assert_contains(text.p, "\nlasted_sum 0.002\nlasted_count 1\n");
    strbuf_done(&text);
}

enum { THREADS = 4, ROUNDS = 20000 };
static struct metric shared_counter = {.name = "c", .help = "C.", .labels = ""};
static struct metric shared_histogram = {
    .name = "h", .help = "H.", .labels = "", .kind = METRIC_HISTOGRAM};

static void *count(void *arg) {
    struct metric own = {.name = "own", .help = "Own.", .labels = "", .kind = METRIC_GAUGE};
    for (int i = 0; i < ROUNDS; i++) {
        metric_add(&shared_counter, 1);
        metric_observe_ns(&shared_histogram, 1000000);
        if (i % 1000 == 0) { /* coming and going while others render */
            metric_register(&own);
            struct strbuf text = {0};
            metrics_render(&text);
            strbuf_done(&text);
            metric_unregister(&own);
        }
    }
    return arg;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    struct strbuf text = {0};
    metric_register(&shared_counter);
    metric_register(&shared_histogram);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    assert_contains(text.p, "\nc 80000\n");
    assert_contains(text.p, "\nh_bucket{le=\"0.0005\"} 0\nh_bucket{le=\"0.001\"} 80000\n");
    assert_contains(text.p, "\nh_sum 80\nh_count 80000\n");
    assert_null(strstr(text.p, "own"));
    strbuf_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_counters_and_gauges, tear_down),
        cmocka_unit_test_teardown(test_series_of_one_name_stand_together, tear_down),
        cmocka_unit_test_teardown(test_hidden_zeros, tear_down),
        cmocka_unit_test_teardown(test_histogram, tear_down),
        cmocka_unit_test_teardown(test_histogram_without_labels, tear_down),
        cmocka_unit_test_teardown(test_another_name, tear_down),
        cmocka_unit_test_teardown(test_threads, tear_down),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
