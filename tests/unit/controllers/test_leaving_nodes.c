/*
 * Nodes that workers of datasets are leaving: what is applied to which node, and when. The API
 * server is played: a test answers a write and then shows the node as it became.
 */
#include "controllers/leaving_nodes.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "unit/cluster_builder.h"
#include "unit/controllers/stored.h"
#include "unit/http/fixture.h"
#include "unit/kube/election/lease_store.h"
#include "unit/kube/fake_client.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH(node) "/api/v1/nodes/" node "?fieldManager=evenkeel-leaving-nodes&force=true"
#define APPLY(node, labels)                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" node                      \
    "\",\"labels\":{" labels "}}}"
#define KEY(dataset) "data.fluid.io/storage-scalein-" dataset
#define LABEL(dataset) "\"" KEY(dataset) "\":\"true\""

struct fixture {
    struct kube_client client;
    struct writer *writer;
    struct fluid_live *live;
    struct cluster c;
    struct leaving_nodes_controller *controller;
    bool listed;
};

static bool is_synced(void *ctx) {
    const struct fixture *f = ctx;
    return f->listed;
}

static void start(struct fixture *f, const struct elector *elector) {
    const struct leaving_nodes_options options = {.objects = f->live,
                                                  .is_synced = is_synced,
                                                  .ctx = f,
                                                  .cache = f->c.cache,
                                                  .client = &f->client,
                                                  .writer = f->writer,
                                                  .elector = elector,
                                                  .clock = &f->client.clock.clock,
                                                  .io = &fake_io};
    assert_int_equal(leaving_nodes_start(&options, &f->controller, NULL), 0);
}

static void sync_cache(struct cluster *c, void (*what)(struct cache *, uint32_t)) {
    cache_write_begin(c->cache);
    what(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void apply(struct fixture *f, enum fluid_kind kind, const char *json) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%s", json); /* fits */
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    struct err err;
    if (fluid_live_apply(f->live, kind, str_of(text), &err) != 0)
        fail_msg("%s", err.text);
}

/* A dataset of namespace "n" whose runtime is to have so many workers. */
static void dataset(struct fixture *f, const char *name, int replicas) {
    char json[400];
    (void)snprintf(json, sizeof json,
                   "{'metadata':{'namespace':'n','name':'%s','uid':'u-%s'},'status':{'runtimes':[{"
                   "'type':'alluxio'}]}}",
                   name, name);
    apply(f, FLUID_DATASET, json);
    (void)snprintf(json, sizeof json,
                   "{'metadata':{'namespace':'n','name':'%s'},'spec':{'replicas':%d}}", name,
                   replicas);
    apply(f, FLUID_ALLUXIO, json);
}

static void worker(struct fixture *f, const char *data, int number, const char *node) {
    char json[400];
    (void)snprintf(json, sizeof json,
                   "{'metadata':{'namespace':'n','name':'%s-worker-%d','labels':{'fluid.io/dataset'"
                   ":'n-%s'}},'spec':{'nodeName':'%s'}}",
                   data, number, data, node);
    apply(f, FLUID_WORKER, json);
}

static void gone(struct fixture *f, enum fluid_kind kind, const char *name) {
    fluid_live_remove(f->live, (struct fluid_key){kind, "n", name});
}

/* Nodes a, b and c; dataset d with its workers 0 on a and 1 on b. */
static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.listed = true};
    fake_init(&f.client);
    f.writer = fake_writer(&f.client);
    log_use_clock(&f.client.clock.clock);
    assert_int_equal(fluid_live_new(&f.live, NULL), 0);
    cluster_open(&f.c);
    sync_cache(&f.c, cache_sync_begin);
    cluster_nodes(&f.c, "a b c");
    sync_cache(&f.c, cache_sync_end);
    dataset(&f, "d", 2);
    worker(&f, "d", 0, "a");
    worker(&f, "d", 1, "b");
    *state = &f;
    return 0;
}

/* Nothing is left of it. */
static void finish(struct fixture *f) {
    leaving_nodes_free(f->controller);
    writer_free(f->writer);
    f->controller = NULL;
    f->writer = NULL;
    fake_done(&f->client);
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    fluid_live_free(f->live);
    cluster_close(&f->c);
    log_use_clock(clock_real());
    metrics_reset();
    return 0;
}

static void writes(struct fixture *f, const char *path, const char *body) {
    if (f->client.request == NULL)
        fail_msg("nothing is written, instead of %s", body);
    assert_string_equal(f->client.request->method, "PATCH");
    assert_string_equal(f->client.request->content_type, "application/apply-patch+yaml");
    assert_string_equal(f->client.request->path, path);
    assert_str(f->client.request->body, body);
}

static void answer(struct fixture *f, int status) {
    fake_answer(&f->client, status, STR(""), -1);
}

/* Nothing is written for so long. */
static void is_quiet(struct fixture *f, int64_t ms) {
    fake_pass(&f->client, ms);
    if (f->client.request != NULL)
        fail_msg("it writes %s", f->client.request->path);
}

static void a_node_is_labelled_while_it_is_left(void **state) {
    struct fixture *f = *state;
    start(f, NULL);
    is_quiet(f, 10000);
    dataset(f, "d", 1);
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 200);
    is_quiet(f, 3000); /* the watch has not shown it yet */
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=true");
    is_quiet(f, 60000);
    dataset(f, "d", 2); /* after all */
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", ""));
    answer(f, 200);
    cluster_nodes(&f->c, "b");
    is_quiet(f, 60000);
}

/* All of a node's in one write: what is not applied any more the API server takes away. */
static void the_labels_of_all_datasets_together(void **state) {
    struct fixture *f = *state;
    dataset(f, "e", 0);
    worker(f, "e", 0, "b");
    dataset(f, "d", 1);
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d") "," LABEL("n-e")));
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=true,+" KEY("n-e") "=true");
    is_quiet(f, 10000);
    gone(f, FLUID_WORKER, "d-worker-1");
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-e")));
    answer(f, 200);
}

/* What a process before this one has applied, for what has gone meanwhile. */
static void labels_that_nothing_asks_for_go(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "c,+" KEY("n-gone") "=true");
    f->listed = false;
    start(f, NULL);
    is_quiet(f, 10000); /* what is not listed yet may ask for it */
    f->listed = true;
    fake_pass(&f->client, 1000);
    writes(f, PATH("c"), APPLY("c", ""));
    answer(f, 200);
    cluster_nodes(&f->c, "c");
    is_quiet(f, 60000);
    /* and of a dataset that goes while it is labelled */
    dataset(f, "d", 1);
    fake_pass(&f->client, 1000);
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=true");
    is_quiet(f, 10000);
    gone(f, FLUID_DATASET, "d");
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", ""));
    answer(f, 200);
}

/* A label that another manager owns stays, whatever is applied: that is tried rarely. */
static void labels_of_others_stay(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "c,+" KEY("n-other") "=true");
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("c"), APPLY("c", ""));
    answer(f, 200);
    is_quiet(f, 590000);
    fake_pass(&f->client, 20000);
    writes(f, PATH("c"), APPLY("c", ""));
    answer(f, 200);
    is_quiet(f, 10000);
    worker(f, "d", 2, "c"); /* something else is to be written: not later for that */
    fake_pass(&f->client, 1000);
    writes(f, PATH("c"), APPLY("c", LABEL("n-d")));
    answer(f, 200);
}

/* Somebody takes ours away, or gives it another value. */
static void what_is_undone_is_done_again(void **state) {
    struct fixture *f = *state;
    dataset(f, "d", 1);
    start(f, NULL);
    fake_run(&f->client);
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=true");
    is_quiet(f, 10000);
    cluster_nodes(&f->c, "b");
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=true");
    is_quiet(f, 10000);
    cluster_nodes(&f->c, "b,+" KEY("n-d") "=no");
    fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 200);
}

/* What is written goes by what is known now, whatever has been written and not been shown. */
static void what_is_wanted_changes(void **state) {
    struct fixture *f = *state;
    dataset(f, "d", 1);
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 200);
    dataset(f, "d", 2);
    dataset(f, "e", 0);
    worker(f, "e", 0, "b");
    fake_pass(&f->client, 6000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-e")));
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-e") "=no");
    fake_pass(&f->client, 6000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-e")));
    answer(f, 200);
    cluster_nodes(&f->c, "b,+" KEY("n-e") "=never");
    fake_pass(&f->client, 6000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-e")));
    answer(f, 200);
}

static void what_is_right_meanwhile_is_not_written(void **state) {
    struct fixture *f = *state;
    dataset(f, "d", 0);
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("a"), APPLY("a", LABEL("n-d")));
    cluster_nodes(&f->c, "a,+" KEY("n-d") "=true b,+" KEY("n-d") "=true");
    answer(f, 200);
    is_quiet(f, 10000);
}

/* Two datasets of different namespaces may have the same label. */
static void datasets_that_share_a_label(void **state) {
    struct fixture *f = *state;
    static const char *const names[][2] = {{"n", "x-y"}, {"n-x", "y"}};
    for (int i = 0; i < 2; i++) {
        char json[400];
        (void)snprintf(json, sizeof json,
                       "{'metadata':{'namespace':'%s','name':'%s'},'status':{'runtimes':[{'type':"
                       "'alluxio'}]}}",
                       names[i][0], names[i][1]);
        apply(f, FLUID_DATASET, json);
        (void)snprintf(json, sizeof json,
                       "{'metadata':{'namespace':'%s','name':'w-%d','deletionTimestamp':'x',"
                       "'labels':{'fluid.io/dataset':'n-x-y'}},'spec':{'nodeName':'c'}}",
                       names[i][0], i);
        apply(f, FLUID_WORKER, json);
    }
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("c"), APPLY("c", LABEL("n-x-y")));
    answer(f, 200);
}

static void failures_are_tried_again(void **state) {
    struct fixture *f = *state;
    dataset(f, "d", 1);
    start(f, NULL);
    fake_run(&f->client);
    answer(f, 500);
    is_quiet(f, 4000);
    for (int s = 0; s < 10 && f->client.request == NULL; s++)
        fake_pass(&f->client, 1000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 403); /* no right to: the lane waits a minute */
    is_quiet(f, 59000);
    fake_pass(&f->client, 2000);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 404);
    fake_pass(&f->client, 60000); /* the watch has not said so: it is tried again */
    assert_non_null(f->client.request);
    answer(f, 200);
}

/* One of each node at a time, and no more than five a second. */
static void writes_have_a_pace(void **state) {
    struct fixture *f = *state;
    dataset(f, "d", 0);
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("a"), APPLY("a", LABEL("n-d")));
    answer(f, 200);
    is_quiet(f, 199);
    fake_pass(&f->client, 1);
    writes(f, PATH("b"), APPLY("b", LABEL("n-d")));
    answer(f, 200);
    dataset(f, "d", 2); /* and back again at once */
    is_quiet(f, 3000);
    cluster_nodes(&f->c, "a,+" KEY("n-d") "=true b,+" KEY("n-d") "=true");
    fake_pass(&f->client, 3000);
    writes(f, PATH("a"), APPLY("a", ""));
    answer(f, 200);
}

/* Three refusals in a row, of whatever is written. What has been logged is in `text`. */
static void refuse_three(struct fixture *f, char *text, size_t size) {
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; f->client.request == NULL && s < 600; s++)
            fake_pass(&f->client, 1000);
        assert_non_null(f->client.request);
        answer(f, 403);
    }
    ssize_t n = pread(log, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    (void)close(log);
}

/* Without the permission that is said once. */
static void a_refusal_is_logged_once(void **state) {
    struct fixture *f = *state;
    static char text[4096];
    dataset(f, "d", 0);
    start(f, NULL);
    refuse_three(f, text, sizeof text);
    const char *first = strstr(text, "a node was not labelled");
    assert_non_null(first);
    assert_null(strstr(first + 1, "a node was not labelled"));
}

/* 32 labels are set on one node, whatever its workers say. */
static void a_node_gets_few_labels(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < LIMIT_LEAVING_LABELS + 1; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "x%02d", i);
        dataset(f, name, 0);
        worker(f, name, 0, "c");
    }
    start(f, NULL);
    fake_run(&f->client);
    assert_non_null(f->client.request);
    assert_string_equal(f->client.request->path, PATH("c"));
    int labels = 0;
    const struct str body = f->client.request->body;
    for (size_t i = 0; i + 7 <= body.n; i++)
        labels += memcmp(body.p + i, "scalein", 7) == 0;
    assert_int_equal(labels, LIMIT_LEAVING_LABELS);
    assert_null(memmem(body.p, body.n, "x32", 3)); /* the last by key */
    answer(f, 200);
}

/* Each node has as many: those of one do not count for the next. */
static void labels_are_counted_by_node(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < LIMIT_LEAVING_LABELS - 1; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "x%02d", i);
        dataset(f, name, 0);
        worker(f, name, 0, "b");
        worker(f, name, 1, "c");
    }
    start(f, NULL);
    for (int node = 0; node < 2; node++) {
        fake_pass(&f->client, 5000);
        assert_non_null(f->client.request);
        int labels = 0;
        const struct str body = f->client.request->body;
        for (size_t i = 0; i + 7 <= body.n; i++)
            labels += memcmp(body.p + i, "scalein", 7) == 0;
        assert_int_equal(labels, LIMIT_LEAVING_LABELS - 1);
        answer(f, 200);
    }
}

/* A name that is too long for a label is written with the dataset's uid, as the webhook does. */
static void long_names(void **state) {
    struct fixture *f = *state;
    apply(f, FLUID_DATASET,
          "{'metadata':{'namespace':'n','name':'an-even-longer-name-that-no-label-of-a-node-takes',"
          "'uid':''},'status':{'runtimes':[{'type':'alluxio'}]}}");
    apply(f, FLUID_WORKER,
          "{'metadata':{'namespace':'n','name':'v-0','deletionTimestamp':'x','labels':{"
          "'fluid.io/dataset':'n-an-even-longer-name-that-no-label-of-a-node-takes'}},'spec':{"
          "'nodeName':'b'}}");
    apply(f, FLUID_DATASET,
          "{'metadata':{'namespace':'n','name':'a-name-of-forty-and-more-bytes-which-is-long',"
          "'uid':'u-1'},'status':{'runtimes':[{'type':'alluxio'}]}}");
    apply(f, FLUID_WORKER,
          "{'metadata':{'namespace':'n','name':'w-0','deletionTimestamp':'x','labels':{"
          "'fluid.io/dataset':'n-a-name-of-forty-and-more-bytes-which-is-long'}},'spec':{"
          "'nodeName':'a'}}");
    start(f, NULL);
    fake_run(&f->client);
    writes(f, PATH("a"), APPLY("a", LABEL("u-1")));
    answer(f, 200);
    is_quiet(f, 10000);
}

static void nodes_that_are_not_known_are_not_written(void **state) {
    struct fixture *f = *state;
    worker(f, "d", 2, "nowhere");
    worker(f, "d", 3, "../pods");
    start(f, NULL);
    is_quiet(f, 10000);
}

static void only_the_leader_writes(void **state) {
    struct fixture *f = *state;
    static struct kube_client leases;
    static struct lease_store store;
    struct elector *elector;
    fake_init(&leases);
    const struct elector_options options = {
        .client = &leases,
        .lease = {.namespace = "evenkeel", .name = "controller", .identity = "me"},
        .clock = &leases.clock.clock,
        .io = &fake_io};
    assert_int_equal(elector_new(&options, &elector, NULL), 0);
    dataset(f, "d", 1);
    start(f, elector);
    is_quiet(f, 10000);
    assert_true(metric_now("evenkeel_leaving_nodes") == 0);
    while (!elector_leads(elector)) {
        struct strbuf body = {0};
        fake_run(&leases);
        assert_non_null(leases.request);
        int status = lease_store_call(&store, leases.request->method, leases.request->path,
                                      leases.request->body, &body);
        fake_answer(&leases, status, strbuf_str(&body), -1);
        strbuf_done(&body);
    }
    fake_pass(&f->client, 1000);
    assert_non_null(f->client.request);
    assert_true(f->client.request->timeout_ms <= elector_remaining_ms(elector));
    assert_true(metric_now("evenkeel_leaving_nodes") == 1);
    answer(f, 200);
    leases.clock.at_ms += 60000; /* its term ends */
    fake_pass(&f->client, 1000);
    assert_true(metric_now("evenkeel_leaving_nodes") == 0);
    finish(f);
    elector_free(elector);
    lease_store_done(&store);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_node_is_labelled_while_it_is_left),
        TEST(the_labels_of_all_datasets_together),
        TEST(labels_that_nothing_asks_for_go),
        TEST(labels_of_others_stay),
        TEST(what_is_undone_is_done_again),
        TEST(what_is_wanted_changes),
        TEST(what_is_right_meanwhile_is_not_written),
        TEST(datasets_that_share_a_label),
        TEST(failures_are_tried_again),
        TEST(writes_have_a_pace),
        TEST(a_node_gets_few_labels),
        TEST(a_refusal_is_logged_once),
        TEST(labels_are_counted_by_node),
        TEST(long_names),
        TEST(nodes_that_are_not_known_are_not_written),
        TEST(only_the_leader_writes),
    };
    return cmocka_run_group_tests_name("leaving nodes", tests, NULL, NULL);
}
