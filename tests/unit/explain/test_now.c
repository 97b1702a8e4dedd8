/* What a what-if adds of a pod that the API server has: its state, and the cause for which it is
 * Pending, with the taint and the dataset that stand in the way. */
#include "explain/now.h"

#include "explain/question.h"
#include "state/file_source.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

struct fixture {
    struct cluster c;
    struct fluid_source *fluid; /* NULL: nothing is known */
    struct strbuf out;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.fluid = NULL};
    cluster_open(&f.c);
    f.c.options.filters = FILTERS_ALL;
    f.c.options.reports = true;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    fluid_source_free(f->fluid);
    strbuf_done(&f->out);
    cluster_close(&f->c);
    return 0;
}

#define META                                                                                       \
    "\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\",\"uid\":\"u\","                         \
    "\"creationTimestamp\":\"2026-01-02T03:04:05Z\"}"
#define POD(spec) "{" META ",\"spec\":{" spec "},\"status\":{\"phase\":\"Pending\"}}"

/* The object that is put, NUL-terminated. `is_judged`: by all filters, on all nodes. */
static const char *put(struct fixture *f, const char *text, bool is_judged) {
    struct json_writer w = {.out = &f->out};
    struct simulation simulation;
    struct pod pod;
    struct err err;
    strbuf_clear(&f->out);
    if (explain_pod_decode(str_of(text), &f->c.arena, &pod, &err) != 0)
        fail_msg("%s", err.text);
    if (is_judged &&
        engine_simulate(&f->c.options, f->c.cache, &pod, NULL, &f->c.arena, &simulation, &err) != 0)
        fail_msg("%s", err.text);
    const struct pod_now now = {.text = str_of(text),
                                .pod = &pod,
                                .options = &f->c.options,
                                .simulation = is_judged ? &simulation : NULL,
                                .cache = f->c.cache,
                                .fluid = f->fluid};
    json_begin_object(&w);
    explain_put_now(&now, &f->c.arena, &w);
    json_end_object(&w);
    strbuf_append_char(&f->out, '\0');
    return f->out.p;
}

/* ---- the state ---- */

static void the_state(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        put(f,
            "{" META ",\"spec\":{\"nodeName\":\"a\",\"schedulerName\":\"mine\"},\"status\":{"
            "\"phase\":\"Running\",\"nominatedNodeName\":\"b\",\"conditions\":[{\"type\":"
            "\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-02T03:04:06Z\"},"
            "{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"r\",\"message\":\"m\"}]}}",
            false),
        "{\"cause\":{\"kind\":\"Scheduled\",\"text\":\"on node a, phase Running\"},\"state\":{"
        "\"uid\":\"u\",\"phase\":\"Running\",\"nodeName\":\"a\",\"nominatedNodeName\":\"b\","
        "\"schedulerName\":\"mine\",\"createdAt\":\"2026-01-02T03:04:05Z\",\"podScheduled\":{"
        "\"status\":\"True\",\"since\":\"2026-01-02T03:04:06Z\"}}}");
    /* conditions of other types say nothing of scheduling */
    assert_string_equal(
        put(f,
            "{" META ",\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"Ready\","
            "\"status\":\"False\",\"reason\":\"r\",\"message\":\"m\"}]}}",
            false),
        "{\"cause\":{\"kind\":\"Ended\",\"text\":\"phase Failed\"},\"state\":{\"uid\":\"u\","
        "\"phase\":\"Failed\",\"createdAt\":\"2026-01-02T03:04:05Z\"}}");
}

static void a_pod_that_was_made_up(void **state) {
    struct fixture *f = *state;
    assert_string_equal(put(f, "{\"metadata\":{\"name\":\"web\"},\"status\":{}}", false), "{}");
    assert_string_equal(put(f, "{\"metadata\":{\"name\":\"web\"},\"status\":{}}", true), "{}");
}

#define MOUNTS "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\""

/* A sentence that is too long is cut, and says so: here of four long reasons and four claims. */
static void a_long_cause(void **state) {
    struct fixture *f = *state;
    int whole = 0, cut = 0;
    for (int n = 100; n <= 253; n++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_appendf(&text,
                       "{" META ",\"spec\":{\"volumes\":[" MOUNTS "%0253d\"}}," MOUNTS
                       "%0253d\"}}," MOUNTS "%0253d\"}}," MOUNTS "%0*d\"}}]},",
                       1, 2, 3, n, 4);
        strbuf_appendf(
            &text,
            "\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
            "\"reason\":\"Unschedulable\",\"message\":\"0/9 nodes are available: 4 "
            "node(s) unavailable due to %0220d, 3 %0250d, 2 %0250d, 1 %0250d\"}]}}",
            5, 6, 7, 8);
        strbuf_append_char(&text, '\0');
        const char *said = put(f, text.p, false), *at = strstr(said, "\"text\":\"");
        assert_non_null(at);
        at += strlen("\"text\":\"");
        const size_t length = strcspn(at, "\"");
        assert_true(length <= LIMIT_EXPLAINED_CAUSE);
        const bool has_last = memmem(at, length, "0004", 4) != NULL;
        if (has_last != (memcmp(at + length - 4, " ...", 4) != 0))
            fail_msg("%d: %.*s", n, (int)length, at);
        whole += has_last;
        cut += !has_last;
    }
    assert_true(whole > 0 && cut > 0);
}

/* ---- how it is judged now ---- */

#define TAINTED(name, labels, taints)                                                              \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{" labels "}},\"spec\":{\"taints\":[" taints  \
    "]},\"status\":{}}"
#define TAINT(key, value) "{\"key\":\"" key "\"," value "\"effect\":\"NoSchedule\"}"
#define GATED "Pending: no scheduler has tried it since it was created at 2026-01-02T03:04:05Z: "

static void add_node(struct fixture *f, const char *json) {
    cluster_apply_json(&f->c, OBJECT_NODE, json);
}

/* The first taint that the pod does not tolerate, of the node that is refused for least else. */
static void the_taint_of_the_nearest_node(void **state) {
    struct fixture *f = *state;
    add_node(f, TAINTED("a", "", TAINT("far", "")));
    add_node(f, TAINTED("b", "\"disk\":\"ssd\"",
                        TAINT("fine", "\"value\":\"x\",") "," TAINT("gpu", "\"value\":\"yes\",")));
    add_node(f, "{\"metadata\":{\"name\":\"c\",\"labels\":{\"disk\":\"ssd\"}},\"spec\":{"
                "\"unschedulable\":true,\"taints\":[" TAINT("cordoned", "") "]},\"status\":{}}");
#define WANTS                                                                                      \
    POD("\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"key\":\"fine\",\"operator\":"     \
        "\"Exists\"}]")
    assert_contains(put(f, WANTS, true), "; taint gpu=yes:NoSchedule");
    /* without a nodeSelector a and b are as near: the first */
    assert_contains(
        put(f, POD("\"tolerations\":[{\"key\":\"fine\",\"operator\":\"Exists\"}]"), true),
        "; taint far:NoSchedule");
    /* where only nodes are tainted that the pod does not want, one of them is named */
    add_node(f, TAINTED("b", "\"disk\":\"ssd\"", TAINT("fine", "")));
    add_node(f, TAINTED("c", "", TAINT("other", "")));
    add_node(f, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"disk\":\"ssd\"}},\"spec\":{"
                "\"unschedulable\":true},\"status\":{}}");
    const char *said = put(f, WANTS, true);
    assert_contains(said, "; taint far:NoSchedule");
}

/* A node that the nodeSelector excludes comes after one that is refused for more. */
static void a_node_that_is_not_wanted_is_far(void **state) {
    struct fixture *f = *state;
    add_node(f, TAINTED("a", "", TAINT("far", "")));
    add_node(f, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"disk\":\"ssd\"}},\"spec\":{"
                "\"unschedulable\":true,\"taints\":[" TAINT(
                    "near", "") "]},\"status\":{"
                                "\"allocatable\":{\"cpu\":\"1\",\"pods\":\"0\"}}}");
    assert_contains(put(f, POD("\"nodeSelector\":{\"disk\":\"ssd\"}"), true),
                    "; taint near:NoSchedule");
}

static void no_taint_where_none_is_in_the_way(void **state) {
    struct fixture *f = *state;
    add_node(f, TAINTED("a", "\"disk\":\"ssd\"", TAINT("fine", "")));
    put(f, POD("\"tolerations\":[{\"key\":\"fine\",\"operator\":\"Exists\"}]"), true);
    assert_contains(f->out.p, "judged now, 1 of 1 nodes pass");
    assert_null(strstr(f->out.p, "; taint"));
    /* a pod that is bound is not judged by every filter */
    put(f, "{" META ",\"spec\":{\"nodeName\":\"z\"},\"status\":{\"phase\":\"Running\"}}", true);
    assert_contains(f->out.p, "\"text\":\"on node z, phase Running\"");
}

#define TRIED(spec)                                                                                \
    "{" META ",\"spec\":{" spec "},\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"   \
    "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/2 nodes "  \
    "are available: 2 node(s) were unschedulable.\"}]}}"

/* Filters are asked one by one: kube-scheduler names the first that refuses a node. */
static void every_filter_alone(void **state) {
    struct fixture *f = *state;
    add_node(f, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"unschedulable\":true},\"status\":{"
                "\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"}}}");
    add_node(f, "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"unschedulable\":true},\"status\":{"
                "\"allocatable\":{\"cpu\":\"8\",\"pods\":\"9\"}}}");
    assert_contains(
        put(f,
            TRIED("\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"9\"}}}]"),
            true),
        "\"text\":\"Pending: all 2 nodes are refused: cordoned and Insufficient cpu; "
        "kube-scheduler: of 2 nodes 2 cordoned\"");
    assert_contains(
        put(f,
            TRIED("\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]"),
            true),
        "\"text\":\"Pending: all 2 nodes are refused: cordoned; kube-scheduler: of 2 nodes 2 "
        "cordoned\"");
}

/* ---- a dataset that is not ready ---- */

static void know_dataset(struct fixture *f, const char *namespace, const char *name,
                         const char *status) {
    const struct fluid_source_options options = {.compat = FLUID_CORRECT};
    char text[256];
    fluid_source_free(f->fluid);
    assert_int_equal(fluid_source_new(&options, &f->fluid, NULL), 0);
    struct file_follower *follower = fluid_source_follower(f->fluid);
    struct json_reader reader;
    (void)snprintf(text, sizeof text,
                   "{\"apiVersion\":\"data.fluid.io/v1alpha1\",\"kind\":\"Dataset\",\"metadata\":{"
                   "\"namespace\":\"%s\",\"name\":\"%s\"}%s}",
                   namespace, name, status);
    const struct str json = arena_str(&f->c.arena, str_of(text));
    json_reader_init(&reader, json, &f->c.arena, "document");
    const struct file_object object = {
        object_type_of(STR("data.fluid.io/v1alpha1"), STR("Dataset")), json, &f->c.arena, &reader};
    assert_int_equal(follower->begin(follower->ctx, NULL), 0);
    assert_int_equal(follower->take(follower->ctx, &object, NULL), 0);
    assert_int_equal(follower->end(follower->ctx, NULL), 0);
}

/* upstream: a Dataset's phase is "" or NotBound before it is bound, and Failed if it cannot be. */
static void datasets(void **state) {
    static const struct {
        const char *status, *phase; /* NULL: it is ready */
    } rows[] = {
        {"", "not set"},
        {",\"status\":{}", "not set"},
        {",\"status\":{\"phase\":\"\"}", "not set"},
        {",\"status\":{\"phase\":\"NotBound\"}", "NotBound"},
        {",\"status\":{\"phase\":\"Failed\"}", "Failed"},
        {",\"status\":{\"phase\":\"Bound\"}", NULL},
        {",\"status\":{\"phase\":\"DataMigrating\"}", NULL},
    };
#define MISSING                                                                                    \
    "{" META ",\"spec\":{\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":"   \
    "\"first\"}},{\"name\":\"w\",\"persistentVolumeClaim\":{\"claimName\":\"hot\"}}]},\"status\":" \
    "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"                 \
    "\"Unschedulable\",\"message\":\"0/2 nodes are available: persistentvolumeclaim \\\"hot\\\" "  \
    "not found.\"}]}}"
    struct fixture *f = *state;
    char wanted[160];
    assert_contains(put(f, MISSING, false), "\"kind\":\"ClaimMissing\""); /* nothing is known */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        know_dataset(f, "shop", "hot", rows[i].status);
        (void)snprintf(wanted, sizeof wanted,
                       "\"kind\":\"Dataset\",\"text\":\"Pending: dataset hot, which it mounts, is "
                       "not ready (phase %s): ",
                       rows[i].phase != NULL ? rows[i].phase : "");
        assert_contains(put(f, MISSING, false),
                        rows[i].phase != NULL ? wanted : "\"kind\":\"ClaimMissing\"");
    }
    know_dataset(f, "other", "hot", "");
    assert_contains(put(f, MISSING, false), "\"kind\":\"ClaimMissing\"");
    know_dataset(f, "shop", "cold", "");
    assert_contains(put(f, MISSING, false), "\"kind\":\"ClaimMissing\"");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_state),
        TEST(a_pod_that_was_made_up),
        TEST(a_long_cause),
        TEST(the_taint_of_the_nearest_node),
        TEST(a_node_that_is_not_wanted_is_far),
        TEST(no_taint_where_none_is_in_the_way),
        TEST(every_filter_alone),
        TEST(datasets),
    };
    return CLUSTER_RUN_TESTS("explain/now", tests);
}
