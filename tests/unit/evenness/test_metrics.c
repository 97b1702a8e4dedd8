/* The metrics of a report: never more series than asked for, no two alike, any text in labels. */
#include "evenness/latest.h"
#include "evenness/render.h"

#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, "a b q");
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

static void add_of(struct cluster *c, const char *api, const char *kind, const char *name, int pods,
                   bool spread) {
    static int number;
    char text[1600];
    for (int i = 0; i < pods; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"shop\","
                       "\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\","
                       "\"name\":\"%s\",\"controller\":true}]},\"spec\":{\"nodeName\":\"%s\"}}",
                       number++, api, kind, name, spread && i % 2 != 0 ? "q" : "a");
        cluster_apply_json(c, OBJECT_POD, text);
    }
}

static void add(struct cluster *c, const char *kind, const char *name, int pods) {
    add_of(c, "apps/v1", kind, name, pods, false);
}

static struct evenness_report *measure(struct cluster *c) {
    const struct str keys[] = {STR("zone"), STR("kubernetes.io/hostname")};
    struct evenness_report *report = NULL;
    assert_int_equal(evenness_measure(c->cache, keys, 2, &report, NULL), 0);
    return report;
}

/* The lines of evenkeel_workload_skew. */
static uint32_t expect(struct cluster *c, uint32_t max, const char *want) {
    struct evenness_report *report = measure(c);
    CLEANUP(strbuf_done) struct strbuf out = {0}, got = {0};
    struct str rest, line;
    uint32_t count = 0;
    evenness_metrics_render(report, max, &out);
    rest = strbuf_str(&out);
    while (next_word(&rest, "\n", &line))
        if (str_has_prefix(line, STR("evenkeel_workload_skew"))) {
            strbuf_appendf(&got, "%.*s\n", STR_ARG(line));
            count++;
        }
    strbuf_append_char(&got, '\0');
    if (want != NULL)
        assert_string_equal(got.p, want);
    evenness_report_free(report);
    return count;
}

#define SKEW "evenkeel_workload_skew{namespace=\"shop\",workload="

static void the_worst_have_a_series(void **state) {
    struct cluster *c = *state;
    add(c, "StatefulSet", "x", 3);
    add(c, "StatefulSet", "y", 5);
    add(c, "StatefulSet", "z", 1);
    expect(c, 3,
           SKEW "\"y\",topology_key=\"zone\"} 5\n" SKEW "\"x\",topology_key=\"zone\"} 3\n" SKEW
                "\"y\",topology_key=\"kubernetes.io/hostname\"} 5\n");
    expect(c, 1, SKEW "\"y\",topology_key=\"zone\"} 5\n");
    expect(c, 0, "");
    assert_int_equal(expect(c, 100, NULL), 6);
}

static void no_two_series_are_alike(void **state) {
    struct cluster *c = *state;
    add(c, "StatefulSet", "x", 3);
    add(c, "CloneSet", "x", 5);
    expect(c, 100,
           SKEW "\"x\",topology_key=\"zone\"} 5\n" SKEW
                "\"x\",topology_key=\"kubernetes.io/hostname\"} 5\n");
}

/* What is uneven is not hidden behind an even one of another kind or group. */
static void the_worse_of_one_name_has_the_series(void **state) {
    struct cluster *c = *state;
    add_of(c, "apps/v1", "CloneSet", "x", 4, true);
    add_of(c, "apps/v1", "StatefulSet", "x", 4, false);
    add_of(c, "apps.kruise.io/v1beta1", "StatefulSet", "y", 2, true);
    add_of(c, "apps/v1", "StatefulSet", "y", 3, false);
    struct evenness_report *report = measure(c);
    CLEANUP(strbuf_done) struct strbuf out = {0};
    evenness_metrics_render(report, 100, &out);
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, SKEW "\"x\",topology_key=\"zone\"} 4\n");
    assert_contains(out.p, SKEW "\"y\",topology_key=\"zone\"} 3\n");
    assert_null(strstr(out.p, "topology_key=\"zone\"} 0"));
    evenness_report_free(report);
}

static void groups_are_told_apart(void **state) {
    struct cluster *c = *state;
    add_of(c, "apps/v1", "StatefulSet", "db", 2, true);
    add_of(c, "apps.kruise.io/v1beta1", "StatefulSet", "db", 2, true);
    struct evenness_report *report = measure(c), again;
    CLEANUP(strbuf_done) struct strbuf out = {0}, second = {0};
    const struct evenness_page page = {0, report->keys[0].worst, 2, STR(""), 0};
    struct str more;
    evenness_render(report, &page, &out);
    assert_int_equal(evenness_read(strbuf_str(&out), &c->arena, &again, &more, NULL), 0);
    const struct evenness_page read = {0, again.keys[0].worst, 2, more, 0};
    evenness_render(&again, &read, &second);
    assert_true(str_eq(strbuf_str(&out), strbuf_str(&second)));
    assert_true(str_eq(again.workloads[0].group, STR("apps")));
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, "\"kind\":\"StatefulSet\",\"pods\":2");
    assert_contains(out.p, "\"kind\":\"StatefulSet\",\"apiGroup\":\"apps.kruise.io\",\"pods\":2");
    evenness_report_free(report);
}

/* Files may say anything. */
static void any_text_in_labels(void **state) {
    struct cluster *c = *state;
    add(c, "StatefulSet", "q\\\"u\\\\o\\u000ate\\u0007", 2);
    expect(c, 1, SKEW "\"q\\\"u\\\\o\\nte\x07\",topology_key=\"zone\"} 2\n");
    struct evenness_report *report = measure(c);
    CLEANUP(strbuf_done) struct strbuf out = {0};
    const struct evenness_page page = {0, report->keys[0].worst, 1, STR(""), 0};
    evenness_render(report, &page, &out);
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, "\"name\":\"q\\\"u\\\\o\\u000ate\\u0007\"");
    evenness_report_free(report);
}

/* Owners have no name of more than 253 bytes, and references to none may have any. */
static void long_names_are_cut(void **state) {
    struct cluster *c = *state;
    char x[1001], series[600], name[600];
    memset(x, 'x', sizeof x);
    x[1000] = '\0';
    for (int n = 252; n <= 1000; n += n == 254 ? 746 : 1) {
        const int kept = n < 253 ? n : 253;
        cluster_close(c);
        cluster_open(c);
        cluster_nodes(c, "a b q");
        add(c, "StatefulSet", x + 1000 - n, 2);
        (void)snprintf(series, sizeof series, SKEW "\"%.*s\",topology_key=\"zone\"} 2\n", kept, x);
        (void)snprintf(name, sizeof name, ",\"name\":\"%.*s\",", kept, x); /* both fit */
        struct evenness_report *report = measure(c);
        CLEANUP(strbuf_done) struct strbuf metrics = {0}, json = {0};
        const struct evenness_page page = {0, report->keys[0].worst, 1, STR(""), 0};
        evenness_metrics_render(report, 100, &metrics);
        strbuf_append_char(&metrics, '\0');
        assert_contains(metrics.p, series);
        evenness_render(report, &page, &json);
        strbuf_append_char(&json, '\0');
        assert_contains(json.p, name);
        evenness_report_free(report);
    }
}

static void a_report_is_read_as_it_was_written(void **state) {
    struct cluster *c = *state;
    add(c, "StatefulSet", "x", 3);
    add(c, "StatefulSet", "y", 5);
    struct evenness_report *report = measure(c), again;
    CLEANUP(strbuf_done) struct strbuf out = {0}, second = {0};
    const struct evenness_page page = {0, report->keys[0].worst, 2, STR("7.1-3"), 0};
    struct str more;
    struct err err;
    evenness_render(report, &page, &out);
    assert_int_equal(evenness_read(strbuf_str(&out), &c->arena, &again, &more, &err), 0);
    const struct evenness_page read = {0, again.keys[0].worst, again.workload_count, more, 0};
    evenness_render(&again, &read, &second);
    assert_true(str_eq(strbuf_str(&out), strbuf_str(&second)));
    const struct str text =
        STR("{\"topologyKey\":\"zone\",\"dataAgeMilliseconds\":1500,\"domains\":[{\"name\":\"a\","
            "\"nodes\":1,\"cordoned\":1,\"pods\":1},{\"name\":\"b\",\"nodes\":1,"
            "\"tainted\":1,\"pods\":8}],"
            "\"withoutKey\":{\"nodes\":2,\"tainted\":1,\"pods\":3},"
            "\"onUnknownNodes\":4,\"pending\":5,"
            "\"workloads\":[{\"namespace\":\"n\",\"name\":\"w\",\"kind\":\"Job\","
            "\"pods\":9,\"onUnknownNodes\":2,\"pending\":3,\"domains\":{\"a\":1,\"b\":8},"
            "\"elsewhere\":{\"b\":8},"
            "\"skew\":0,\"bestSkew\":0,\"state\":\"even\"}]}");
    assert_int_equal(evenness_read(text, &c->arena, &again, &more, &err), 0);
    assert_true(again.keys[0].counts[0].feasible == 1 && again.keys[0].counts[1].feasible == 0);
    strbuf_clear(&second);
    evenness_render(&again,
                    &(struct evenness_page){0, again.keys[0].worst, 1, STR(""), again.data_age_ms},
                    &second);
    assert_true(str_eq(text, strbuf_str(&second)));
    assert_int_equal(evenness_read(STR("{\"domains\":[],\"workloads\":[{\"domains\":{\"a\":1}}]}"),
                                   &c->arena, &again, &more, &err),
                     -EINVAL);
    assert_contains(err.text, "report.workloads[0].domains.a: a domain that was not listed");
    assert_int_equal(evenness_read(STR("{\"domains\":[{\"name\":\"b\"},{\"name\":\"a\"}],"
                                       "\"workloads\":[{\"domains\":{\"a\":1}}]}"),
                                   &c->arena, &again, &more, &err),
                     -EINVAL);
    assert_contains(err.text, "report.domains[1]: domains must be in the order of their names");
    evenness_report_free(report);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_worst_have_a_series),
        T(no_two_series_are_alike),
        T(the_worse_of_one_name_has_the_series),
        T(groups_are_told_apart),
        T(any_text_in_labels),
        T(long_names_are_cut),
        T(a_report_is_read_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
