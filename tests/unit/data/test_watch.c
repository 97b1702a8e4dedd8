/* Fluid's objects, fed by watches of a fake API server, and read meanwhile. */
#include "data/watch.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define META(name, version)                                                                        \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":\"" version "\"}"
#define OBJECT(name, version) "{" META(name, version) "}"
#define SERIES(name, resource) "evenkeel_watch_" name "{resource=\"" resource "\"}"

struct fixture {
    struct api api;
    struct api_call calls[FLUID_KINDS];
    struct kube_access access;
    struct clock_fake clock;
    struct fluid_live *live;
    struct kube_client *client;
    struct fluid_watch *watch;
};

#define FLUID "/apis/data.fluid.io/v1alpha1/"
static const char *const paths[FLUID_KINDS] = {
    [FLUID_ALLUXIO] = FLUID "alluxioruntimes?",
    [FLUID_JINDO] = FLUID "jindoruntimes?",
    [FLUID_JUICEFS] = FLUID "juicefsruntimes?",
    [FLUID_THIN] = FLUID "thinruntimes?",
    [FLUID_EFC] = FLUID "efcruntimes?",
    [FLUID_VINEYARD] = FLUID "vineyardruntimes?",
    [FLUID_CACHE] = FLUID "cacheruntimes?",
    [FLUID_DATASET] = FLUID "datasets?",
    [FLUID_CLAIM] = "/api/v1/persistentvolumeclaims?",
    [FLUID_STATEFUL_SET] = "/apis/apps/v1/statefulsets?",
    [FLUID_WORKER] = "/api/v1/pods?labelSelector=fluid.io%2Fdataset&",
};

static void start(struct fixture *f, bool eager) {
    struct err err;
    if (kube_client_new(&f->access, &f->clock.clock, &f->client, &err) != 0)
        fail_msg("%s", err.text);
    const struct fluid_watch_options options = {.objects = f->live,
                                                .client = f->client,
                                                .clock = &f->clock.clock,
                                                .seed = 1,
                                                .eager = eager};
    assert_int_equal(fluid_watch_start(&options, &f->watch, &err), 0);
}

static void finish(struct fixture *f) {
    fluid_watch_free(f->watch);
    kube_client_free(f->client);
    f->client = NULL;
    f->watch = NULL;
}

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    assert_int_equal(fluid_live_new(&f.live, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    fluid_live_free(f->live);
    for (int i = 0; i < FLUID_KINDS; i++)
        api_call_done(&f->calls[i]);
    api_done(&f->api);
    metrics_reset();
    return 0;
}

/* Takes so many requests, and says which kinds they ask for, as bits. */
static unsigned take(struct fixture *f, int count) {
    struct api_call call = {0};
    unsigned kinds = 0;
    for (int i = 0; i < count; i++) {
        api_take(&f->api, &call);
        int k = 0;
        while (k < FLUID_KINDS && !str_has_prefix(call.path, str_of(paths[k])))
            k++;
        assert_true(k < FLUID_KINDS);
        api_call_done(&f->calls[k]);
        f->calls[k] = call;
        kinds |= 1u << k;
        call = (struct api_call){0};
    }
    return kinds;
}

static void say(struct fixture *f, enum fluid_kind kind, const char *text) {
    assert_true(api_say(&f->calls[kind], text));
}

static bool knows(struct fixture *f, enum fluid_kind kind, const char *name) {
    fluid_live_hold(f->live);
    const cJSON *doc =
        fluid_store_get(fluid_live_store(f->live), (struct fluid_key){kind, "n", name});
    fluid_live_release(f->live);
    return doc != NULL;
}

/* Waits until an object is known, or not. */
static void expect(struct fixture *f, enum fluid_kind kind, const char *name, bool known) {
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (knows(f, kind, name) != known) {
        if (clock_now_ns() > until_ns)
            fail_msg("%s %s is %s", fluid_kind_name(kind), name, known ? "unknown" : "known");
        (void)sched_yield();
    }
}

enum {
    RUNTIMES = (1 << FLUID_RUNTIMES) - 1,
    DATASETS = 1 << FLUID_DATASET,
    CLAIMS = 1 << FLUID_CLAIM,
    STATEFUL_SETS = 1 << FLUID_STATEFUL_SET,
    WORKERS = 1 << FLUID_WORKER,
};

/* ---- what is watched ---- */

static void without_fluid_there_is_one_question(void **state) {
    struct fixture *f = *state;
    start(f, false);
    assert_int_equal(take(f, 1), DATASETS);
    assert_false(fluid_watch_listed(f->watch));
    api_answer(&f->calls[FLUID_DATASET], 404, "", "404 page not found\n");
    metric_becomes(SERIES("absent", "datasets"), 1);
    assert_true(fluid_watch_listed(f->watch));
    assert_true(api_is_quiet(&f->api));
}

static void the_first_dataset_begins_the_rest(void **state) {
    struct fixture *f = *state;
    start(f, false);
    assert_int_equal(take(f, 1), DATASETS);
    say(f, FLUID_DATASET, STREAM MARKER("1"));
    metric_becomes(SERIES("bookmarks_total", "datasets"), 1);
    assert_true(api_is_quiet(&f->api));
    assert_true(fluid_watch_listed(f->watch));
    say(f, FLUID_DATASET, EVENT("ADDED", OBJECT("d", "2")) EVENT("ADDED", OBJECT("e", "3")));
    assert_int_equal(take(f, 9), RUNTIMES | CLAIMS | WORKERS);
    assert_false(fluid_watch_listed(f->watch));
    for (enum fluid_kind k = 0; k < FLUID_RUNTIMES; k++)
        say(f, k, STREAM MARKER("3"));
    assert_false(fluid_watch_listed(f->watch));
    say(f, FLUID_CLAIM, STREAM MARKER("3"));
    assert_false(fluid_watch_listed(f->watch));
    say(f, FLUID_WORKER, STREAM MARKER("3"));
    metric_becomes(SERIES("bookmarks_total", "persistentvolumeclaims"), 1);
    for (int i = 0; !fluid_watch_synced(f->watch); i++)
        (void)sched_yield();
    assert_true(fluid_watch_listed(f->watch));
    assert_true(api_is_quiet(&f->api));
    say(f, FLUID_EFC, EVENT("ADDED", OBJECT("d", "4")));
    assert_int_equal(take(f, 1), STATEFUL_SETS);
}

static void eager_does_not_wait_for_a_dataset(void **state) {
    struct fixture *f = *state;
    start(f, true);
    assert_int_equal(take(f, 10), RUNTIMES | DATASETS | CLAIMS | WORKERS);
    say(f, FLUID_DATASET, STREAM EVENT("ADDED", OBJECT("d", "2")) MARKER("3"));
    expect(f, FLUID_DATASET, "d", true);
    assert_true(api_is_quiet(&f->api));
}

/* Waiting does not help where there is no right to list; but what is known is not all. */
static void what_is_refused_is_not_synced(void **state) {
    struct fixture *f = *state;
    start(f, false);
    assert_int_equal(take(f, 1), DATASETS);
    assert_false(fluid_watch_synced(f->watch));
    say(f, FLUID_DATASET, STREAM EVENT("ADDED", OBJECT("d", "2")) MARKER("3"));
    assert_int_equal(take(f, 9), RUNTIMES | CLAIMS | WORKERS);
    for (enum fluid_kind k = 0; k < FLUID_RUNTIMES; k++)
        say(f, k, STREAM MARKER("3"));
    say(f, FLUID_CLAIM, STREAM MARKER("3"));
    assert_false(fluid_watch_synced(f->watch));
    api_answer(&f->calls[FLUID_WORKER], 403, "", "{\"kind\":\"Status\",\"code\":403}");
    for (int i = 0; !fluid_watch_listed(f->watch); i++)
        (void)sched_yield();
    assert_false(fluid_watch_synced(f->watch));
}

/* ---- objects ---- */

static void objects_come_and_go(void **state) {
    struct fixture *f = *state;
    start(f, true);
    (void)take(f, 10); /* looked at above */
    say(f, FLUID_DATASET, STREAM EVENT("ADDED", OBJECT("d", "2")) MARKER("3"));
    say(f, FLUID_EFC, STREAM EVENT("ADDED", OBJECT("d", "2")) MARKER("3"));
    say(f, FLUID_CLAIM, STREAM EVENT("ADDED", OBJECT("c", "2")));
    expect(f, FLUID_CLAIM, "c", true);
    assert_int_equal(take(f, 1), STATEFUL_SETS);
    say(f, FLUID_STATEFUL_SET,
        STREAM EVENT("ADDED", OBJECT("web", "2")) EVENT("ADDED", OBJECT("d-worker", "3"))
            MARKER("4"));
    expect(f, FLUID_STATEFUL_SET, "d-worker", true);
    assert_false(knows(f, FLUID_STATEFUL_SET, "web"));
    assert_int_equal(fluid_live_count(f->live), 4);
    say(f, FLUID_EFC, EVENT("DELETED", OBJECT("d", "4")));
    expect(f, FLUID_EFC, "d", false);
    say(f, FLUID_DATASET,
        EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"));
    api_wait_gone(&f->calls[FLUID_DATASET]);
    assert_int_equal(take(f, 1), DATASETS);
    say(f, FLUID_DATASET, STREAM EVENT("ADDED", OBJECT("other", "9")));
    expect(f, FLUID_DATASET, "other", true);
    assert_true(knows(f, FLUID_DATASET, "d"));
    say(f, FLUID_DATASET, MARKER("10"));
    expect(f, FLUID_DATASET, "d", false);
    assert_true(knows(f, FLUID_CLAIM, "c"));
}

static int apply(struct fixture *f, enum fluid_kind kind, const char *object, struct err *err) {
    return fluid_live_apply(f->live, kind, str_of(object), err);
}

/* What it was before would be wrong; that it is not known is told to whoever asks. */
static void what_cannot_be_kept_is_unknown(void **state) {
    struct fixture *f = *state;
    struct err err;
    struct strbuf large = {0};
    assert_int_equal(apply(f, FLUID_DATASET, OBJECT("d", "1"), &err), 0);
    strbuf_appendf(&large, "{" META("d", "2") ",\"status\":{\"runtimes\":[\"%0*d\"]}}",
                   (int)LIMIT_FLUID_OBJECT, 1);
    assert_int_equal(fluid_live_apply(f->live, FLUID_DATASET, strbuf_str(&large), &err), -EFBIG);
    strbuf_done(&large);
    assert_false(knows(f, FLUID_DATASET, "d"));
    assert_int_equal(fluid_live_count(f->live), 0);
    assert_int_equal(apply(f, FLUID_DATASET, "{\"metadata\":{}}", &err), -EINVAL);
    assert_int_equal(apply(f, FLUID_DATASET, "{", &err), -EINVAL);
    assert_string_equal(err.text, "a Dataset cannot be read");
}

/* ---- at the same time ---- */

static _Atomic bool over;

static void drop(void *live, uint32_t kind, uint32_t id) {
    fluid_live_drop(live, (enum fluid_kind)kind, id);
}

/* While it is held, what was found stays what it was, whatever is put meanwhile. */
static void *hold_and_look(void *ctx) {
    struct fixture *f = ctx;
    const struct fluid_key key = {FLUID_DATASET, "n", "d"};
    uint64_t wrong = 0, found = 0;
    while (!over || found == 0) {
        fluid_live_hold(f->live);
        const cJSON *doc = fluid_store_get(fluid_live_store(f->live), key);
        const char *phase = doc_string(doc_object(doc, "status"), "phase");
        const char *uid = doc_string(doc_object(doc, "metadata"), "uid");
        found += doc != NULL;
        wrong += doc != NULL && strcmp(phase, uid) != 0;
        fluid_live_release(f->live);
    }
    return (void *)(uintptr_t)wrong;
}

static void readers_and_the_writer(void **state) {
    struct fixture *f = *state;
    pthread_t readers[3];
    void *wrong;
    char object[256];
    struct err err;
    over = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, hold_and_look, f), 0);
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(
            object, sizeof object,
            "{\"metadata\":{\"name\":\"d\",\"namespace\":\"n\",\"uid\":\"%d\"},\"status\":{"
            "\"phase\":\"%d\"}}",
            i, i); /* fits */
        assert_int_equal(apply(f, FLUID_DATASET, object, &err), 0);
        if (i % 10 == 9) {
            fluid_live_lock(f->live);
            pool_listing_begin(fluid_live_records(f->live, FLUID_DATASET));
            pool_listing_end(fluid_live_records(f->live, FLUID_DATASET), true, drop, f->live,
                             FLUID_DATASET);
            fluid_live_unlock(f->live);
        }
    }
    assert_int_equal(apply(f, FLUID_DATASET, OBJECT("d", "1"), &err), 0);
    over = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void the_end_at_any_moment(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 20; i++) {
        start(f, false);
        (void)take(f, 1); /* the datasets */
        assert_true(api_say(&f->calls[FLUID_DATASET], STREAM EVENT("ADDED", OBJECT("d", "2"))));
        for (int pause = 0; pause < i * 10; pause++)
            (void)sched_yield();
        finish(f);
        assert_true(metric_now(SERIES("absent", "datasets")) == -1);
        api_done(&f->api);
        api_init(&f->api);
        f->access.server = f->api.url;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_fluid_there_is_one_question),
        TEST(the_first_dataset_begins_the_rest),
        TEST(eager_does_not_wait_for_a_dataset),
        TEST(what_is_refused_is_not_synced),
        TEST(objects_come_and_go),
        TEST(what_cannot_be_kept_is_unknown),
        TEST(readers_and_the_writer),
        TEST(the_end_at_any_moment),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("fluid watch", tests, NULL, NULL);
}
