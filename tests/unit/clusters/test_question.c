/* The bodies of questions about fleets, and Placements in files. */
#include "clusters/question.h"

#include "base/file.h"
#include "unit/clusters/state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PLACEMENT(spec)                                                                            \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':'Placement','metadata':{"   \
    "'name':'p'},'spec':" spec "}"
#define BINDING                                                                                    \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':'b'},"   \
    "'spec':{'resource':{'apiVersion':'v1','kind':'ConfigMap'}}}"

/* 0, or the code; what was read is in the arena and the text. */
static int decode(const char *body, struct arena *arena, struct clusters_question *ret,
                  struct err *err) {
    char *text = with_quotes(body);
    const int r = clusters_question_decode(arena_str(arena, str_of(text)), arena, ret, err);
    free(text);
    return r;
}

static void members_may_be_missing_or_null(void **state) {
    static const struct {
        const char *body;
        bool placement, binding, state, names, now, rounds;
        uint32_t name_count, limit;
    } cases[] = {
        {.body = "{}"},
        {.body = "{'unknown':{'placement':5}}"},
        {.body = "{'placement':null,'binding':null,'state':null,'clusterNames':null,'now':null,"
                 "'rounds':null,'limit':null}"},
        {.body = "{'placement':" PLACEMENT("{}") "}", .placement = true},
        {.body = "{'binding':" BINDING "}", .binding = true},
        {.body = "{'binding':" BINDING ",'placement':" PLACEMENT("{}") "}",
         .placement = true,
         .binding = true},
        {.body = "{'state':{}}", .state = true},
        {.body = "{'clusterNames':[]}", .names = true},
        {.body = "{'clusterNames':['a','','a']}", .names = true, .name_count = 3},
        {.body = "{'now':'1970-01-01T00:00:01Z'}", .now = true},
        {.body = "{'rounds':true,'limit':4294967295}", .rounds = true, .limit = UINT32_MAX},
        {.body = "{'rounds':false,'limit':0}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        struct clusters_question q;
        struct err err;
        arena_init(&arena, 1 << 20);
        if (decode(cases[i].body, &arena, &q, &err) != 0)
            fail_msg("%s: %s", cases[i].body, err.text);
        assert_int_equal(q.has_placement, cases[i].placement);
        assert_int_equal(q.has_binding, cases[i].binding);
        assert_int_equal(q.state.p != NULL, cases[i].state);
        assert_int_equal(q.has_names, cases[i].names);
        assert_int_equal(q.name_count, cases[i].name_count);
        assert_int_equal(q.has_now, cases[i].now);
        assert_int_equal(q.now_ms, cases[i].now ? 1000 : 0);
        assert_int_equal(q.with_rounds, cases[i].rounds);
        assert_int_equal(q.limit, cases[i].limit);
    }
}

static void bad_members_are_named(void **state) {
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"[]", "question"},
        {"{'placement':5}", "question.placement"},
        {"{'placement':{'kind':'Placement','metadata':{'name':'p'}}}", "expected a Placement of"},
        {"{'placement':{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':"
         "'PlacementDecision','metadata':{'name':'p'}}}",
         "'PlacementDecision' of 'cluster.open-cluster-management.io/v1beta1'"},
        {"{'placement':{'apiVersion':'apps/v1','kind':'Placement','metadata':{'name':'p'}}}",
         "'Placement' of 'apps/v1'"},
        {"{'placement':{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':"
         "'Placement','metadata':{}}}",
         "the Placement that ends here has no metadata.name"},
        {"{'placement':" PLACEMENT("{'numberOfClusters':-1}") "}", "numberOfClusters"},
        {"{'state':[]}", "question.state"},
        {"{'state':'x'}", "expected a List of objects"},
        {"{'clusterNames':'a'}", "question.clusterNames"},
        {"{'clusterNames':['a',5]}", "question.clusterNames[1]"},
        {"{'now':'2026-01-02'}", "'2026-01-02' is no time such as"},
        {"{'now':5}", "question.now"},
        {"{'rounds':'yes'}", "question.rounds"},
        {"{'limit':-1}", "question.limit"},
        {"{'limit':4294967296}", "question.limit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        struct clusters_question q;
        struct err err = {0};
        arena_init(&arena, 1 << 20);
        assert_int_equal(decode(cases[i].body, &arena, &q, &err), -EINVAL);
        assert_contains(err.text, cases[i].words);
    }
}

/* A byte more of the body may cost a step more. */
static void reading_takes_steps(void **state) {
    static char body[1600];
    struct arena arena;
    struct clusters_question q;
    struct err err = {0};
    (void)state;
    memset(body, ' ', sizeof body);
    memcpy(body, "{}", 2);
    arena_init(&arena, 1 << 20);
    arena.steps.max = sizeof body / 16;
    assert_int_equal(clusters_question_decode((struct str){body, sizeof body}, &arena, &q, &err),
                     -E2BIG);
    arena.steps = (struct steps){.max = sizeof body / 16 + 1};
    assert_int_equal(clusters_question_decode((struct str){body, sizeof body}, &arena, &q, &err),
                     0);
    arena_done(&arena);
}

/* ---- files ---- */

static const char *put(const char *text) {
    static char path[64];
    struct err err;
    (void)snprintf(path, sizeof path, "/tmp/evenkeel-test-%d.yaml", (int)getpid()); /* fits */
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, &err), 0);
    return path;
}

#define HEAD                                                                                       \
    "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: "   \
    "p}\n"

static void a_file_has_one_placement(void **state) {
    static const struct {
        const char *text;
        int read, checked; /* 0 or the code: for clusters_placement_read(), and for _check() */
        const char *words;
    } cases[] = {
        {HEAD "spec: {numberOfClusters: 2}\n", 0, 0, ""},
        {HEAD, 0, 0, ""},
        {HEAD "spec: {numberOfClusters: -1}\n", -EINVAL, 0, "line "},
        {HEAD "spec: {numberOfClusters: -1, tolerations: 5}\n", -EINVAL, 0, "line "},
        {HEAD "spec: {numberOfClusters: 1, tolerations: 5}\n", -EINVAL, -EINVAL, "line "},
        {HEAD "spec: {numberOfClusters: 0, clusterSets: 5}\n", -EINVAL, -EINVAL, "clusterSets"},
        {HEAD "---\n" HEAD, -EINVAL, -EINVAL,
         "2 documents, and more than one of them is a Placement"},
        {"", -EINVAL, -EINVAL, ""},
        {"kind: [\n", -EINVAL, -EINVAL, "line"},
        {"kind: Placement\nmetadata: {name: p}\n", -EINVAL, -EINVAL, "expected a Placement"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_done) struct arena arena;
        struct placement placement = {0};
        struct document document;
        struct err err = {0};
        const char *path = put(cases[i].text);
        arena_init(&arena, 1 << 20);
        int read = document_read_only(path, &placement_documents, &arena, &document, &err);
        const bool is_file = read == 0;
        if (is_file)
            read = clusters_placement_read(&document, &arena, &placement, &err);
        if (read != cases[i].read)
            fail_msg("%s: %d, %s", cases[i].text, read, err.text);
        if (read == 0)
            assert_true(str_eq(placement.meta.name, STR("p")));
        else {
            assert_contains(err.text, "placement file '");
            assert_contains(err.text, cases[i].words);
        }
        const int got = is_file ? clusters_placement_check(&document, &arena, &err) : -EINVAL;
        if (got != cases[i].checked)
            fail_msg("%s: %d, %s", cases[i].text, got, err.text);
        (void)unlink(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_may_be_missing_or_null),
        cmocka_unit_test(bad_members_are_named),
        cmocka_unit_test(reading_takes_steps),
        cmocka_unit_test(a_file_has_one_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
