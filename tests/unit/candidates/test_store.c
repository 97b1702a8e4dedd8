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

static const struct candidate_kind *nodes(void) {
    return &candidate_kinds[CANDIDATE_NODES];
}

/* "a=zone-of-a b=..." in the order of slots. */
static void has(struct candidate_store *s, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct topology *t = candidate_store_hold(s);
    for (uint32_t slot = 0; slot < topology_slots(t); slot++) {
        struct str zone = STR("-");
        if (!topology_is_known(t, slot))
            continue;
        (void)topology_label(t, slot, STR("zone"), &zone); /* or "-" */
        strbuf_appendf(&got, "%s%.*s=%.*s", got.n > 0 ? " " : "", STR_ARG(topology_name(t, slot)),
                       STR_ARG(zone));
    }
    candidate_store_release(s);
    assert_str(strbuf_str(&got), wanted);
}

/* ---- files ---- */

static void load(struct candidate_store *s, const char *path, const char *text, const char *wrong) {
    struct err err = {0};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    int r = candidate_store_load(s, &path, 1, &err);
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
    struct candidate_store *s = NULL;
    assert_return_code(mkstemps(path, 5), 0);
    assert_int_equal(candidate_store_new(nodes(), &s, NULL), 0);
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
    candidate_store_free(s);
    assert_int_equal(unlink(path), 0);
}

static struct file_object object_of(const char *kind, const char *json, struct arena *arena) {
    return (struct file_object){{STR(""), str_of(kind)}, str_of(json), arena};
}

static void a_reading_of_others_is_followed(void **state) {
    (void)state;
    struct candidate_store *s = NULL;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    assert_int_equal(candidate_store_new(nodes(), &s, NULL), 0);
    const struct file_follower *f = candidate_store_follower(s);
    const struct file_object node = object_of("Node", NODE("a", "1", "x"), &arena),
                             pod = object_of("Pod", "{\"metadata\":{\"name\":\"p\"}}", &arena),
                             broken = object_of("Node", "{\"metadata\":[]}", &arena);
    f->give_up(f->ctx); /* before it has begun */
    assert_int_equal(f->begin(f->ctx, NULL), 0);
    assert_int_equal(f->take(f->ctx, &node, NULL), 0);
    assert_int_equal(f->take(f->ctx, &pod, NULL), 0);
    has(s, ""); /* not before the end */
    assert_int_equal(f->end(f->ctx, NULL), 0);
    has(s, "a=x");
    assert_int_equal(f->begin(f->ctx, NULL), 0);
    assert_int_not_equal(f->take(f->ctx, &broken, NULL), 0);
    f->give_up(f->ctx);
    has(s, "a=x");
    assert_true(metric_now("evenkeel_candidates{resource=\"nodes\"}") == 1);
    candidate_store_stop(s);
    candidate_store_free(s);
    arena_done(&arena);
}

/* ---- a watch ---- */

static void a_watch_tells_of_them(void **state) {
    (void)state;
    struct api api;
    struct api_call call = {0};
    struct kube_client *client = NULL;
    struct candidate_store *s = NULL;
    api_init(&api);
    const struct kube_access access = {.server = api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&access, NULL, &client, NULL), 0);
    assert_int_equal(candidate_store_new(nodes(), &s, NULL), 0);
    assert_true(candidate_store_listed(s)); /* nothing is watched */
    assert_int_equal(candidate_store_watch(s, client, 1, NULL), 0);
    assert_false(candidate_store_listed(s));
    assert_false(candidate_store_wait(s, 1)); /* nothing has been said */
    api_expect(&api, &call, "GET", PATH);
    assert_true(api_say(&call, STREAM EVENT("ADDED", NODE("a", "1", "x"))
                                   EVENT("ADDED", NODE("b", "2", "y")) MARKER("3")));
    assert_true(candidate_store_wait(s, 5000));
    has(s, "a=x b=y");
    metric_becomes("evenkeel_candidates{resource=\"nodes\"}", 2);
    assert_true(api_say(&call, EVENT("MODIFIED", NODE("b", "4", "z"))
                                   EVENT("DELETED", NODE("a", "5", "x"))));
    metric_becomes("evenkeel_candidates{resource=\"nodes\"}", 1); /* the last event */
    has(s, "b=z");
    candidate_store_stop(s);
    kube_client_free(client);
    candidate_store_free(s);
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
