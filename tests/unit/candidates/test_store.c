/* Candidates from files and from a watch of a fake API server, by the example of nodes. */
#include "candidates/store.h"

#include "base/file.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

#define PATH "/api/v1/nodes?*"
#define NODE(name, version, zone)                                                                  \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\",\"resourceVersion\":\"" version "\",\"labels\":{\"zone\":\"" zone "\"}},"                  \
    "\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}}"

/* "a=zone-of-a b=..." in the order of slots. */
static void has(struct informer *s, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct topology *t = candidates_of(informer_read(s));
    for (uint32_t slot = 0; slot < topology_slots(t); slot++) {
        struct str zone = STR("-");
        if (!topology_is_known(t, slot))
            continue;
        (void)topology_label(t, slot, STR("zone"), &zone); /* or "-" */
        strbuf_appendf(&got, "%s%.*s=%.*s", got.n > 0 ? " " : "", STR_ARG(topology_name(t, slot)),
                       STR_ARG(zone));
    }
    informer_read_done(s);
    assert_str(strbuf_str(&got), wanted);
}

/* ---- files ---- */

static void load(struct informer *s, const char *path, const char *text, const char *wrong) {
    struct err err = {0};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    int r = informer_load(s, &path, 1, &err);
    if (wrong == NULL && r != 0)
        fail_msg("%s", err.text);
    if (wrong != NULL) {
        assert_int_not_equal(r, 0);
        assert_contains(err.text, wrong);
    }
}

static void files_say_all_there_is(void **state) {
    (void)state;
    char path[] = "/tmp/evenkeel-store-XXXXXX.yaml";
    struct informer *s = NULL;
    assert_return_code(mkstemps(path, 5), 0);
    assert_int_equal(informer_new(&node_store, NULL, &s, NULL), 0);
    has(s, "");
    load(s, path,
         "{\"kind\":\"List\",\"items\":[" NODE(
             "a", "1", "x") ",{\"kind\":\"Pod\"},"
                            "{\"apiVersion\":\"other.io/"
                            "v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"no\"}}," NODE(
                                "b", "1", "y") "]}",
         NULL);
    has(s, "a=x b=y");
    load(
        s, path,
        "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[{\"metadata\":{\"name\":\"c\"}}]}",
        NULL);
    has(s, "c=-");
    load(s, path, "kind: Node\nmetadata: {name: d}\n---\nkind: Node\nmetadata: {labels: {}}\n",
         "no metadata.name");
    has(s, "c=-"); /* nothing of a bad file */
    load(s, path, "kind: Node\nmetadata: {name: d}\n---\nkind: Node\nmetadata: 7\n", path);
    has(s, "c=-");
    informer_free(s);
    assert_int_equal(unlink(path), 0);
}

static int take(const struct file_follower *f, const char *kind, const char *json,
                struct arena *arena) {
    struct json_reader reader;
    json_reader_init(&reader, str_of(json), arena, "document");
    const struct file_object object = {{STR(""), str_of(kind)}, str_of(json), arena, &reader};
    return f->take(f->ctx, &object, NULL);
}

static void a_reading_of_others_is_followed(void **state) {
    (void)state;
    struct informer *s = NULL;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    assert_int_equal(informer_new(&node_store, NULL, &s, NULL), 0);
    const struct file_follower *f = informer_follower(s);
    f->give_up(f->ctx); /* before it has begun */
    assert_int_equal(f->begin(f->ctx, NULL), 0);
    assert_int_equal(take(f, "Node", NODE("a", "1", "x"), &arena), 0);
    assert_int_equal(take(f, "Pod", "{\"metadata\":{\"name\":\"p\"}}", &arena), 0);
    has(s, ""); /* not before the end */
    assert_int_equal(f->end(f->ctx, NULL), 0);
    has(s, "a=x");
    assert_int_equal(f->begin(f->ctx, NULL), 0);
    assert_int_not_equal(take(f, "Node", "{\"metadata\":[]}", &arena), 0);
    f->give_up(f->ctx);
    has(s, "a=x");
    assert_true(metric_now("evenkeel_candidates{resource=\"nodes\"}") == 1);
    informer_stop(s);
    informer_free(s);
    arena_done(&arena);
}

/* ---- a watch ---- */

static void a_watch_tells_of_them(void **state) {
    (void)state;
    struct api api;
    struct api_call call = {0};
    struct kube_client *client = NULL;
    struct informer *s = NULL;
    api_init(&api);
    const struct kube_access access = {.server = api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&access, NULL, &client, NULL), 0);
    assert_int_equal(informer_new(&node_store, NULL, &s, NULL), 0);
    assert_true(informer_listed(s)); /* nothing is watched */
    assert_int_equal(informer_watch(s, &(struct informer_watch){.client = client, .seed = 1}, NULL),
                     0);
    assert_false(informer_listed(s));
    assert_false(informer_wait(s, 1)); /* nothing has been said */
    api_expect(&api, &call, "GET", PATH);
    assert_true(api_say(&call, STREAM EVENT("ADDED", NODE("a", "1", "x"))
                                   EVENT("ADDED", NODE("b", "2", "y")) MARKER("3")));
    assert_true(informer_wait(s, 5000));
    has(s, "a=x b=y");
    metric_becomes("evenkeel_candidates{resource=\"nodes\"}", 2);
    assert_true(api_say(&call, EVENT("MODIFIED", NODE("b", "4", "z"))
                                   EVENT("DELETED", NODE("a", "5", "x"))));
    metric_becomes("evenkeel_candidates{resource=\"nodes\"}", 1); /* the last event */
    has(s, "b=z");
    informer_stop(s);
    kube_client_free(client);
    informer_free(s);
    api_call_done(&call);
    api_done(&api);
    metrics_reset();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_say_all_there_is),
        cmocka_unit_test(a_reading_of_others_is_followed),
        cmocka_unit_test(a_watch_tells_of_them),
    };
    return cmocka_run_group_tests_name("candidate store", tests, NULL, NULL);
}
