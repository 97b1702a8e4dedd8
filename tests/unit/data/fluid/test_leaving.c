/* Which nodes workers are leaving: the pods of a StatefulSet, and what its runtime wants. */
#include "data/fluid/leaving.h"

#include "base/limits.h"
#include "unit/data/fluid/world.h"

#include <stdio.h>

struct fixture {
    struct world w;
    const struct leaving_node *nodes; /* found last */
    uint32_t count, budget;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.budget = LIMIT_FLUID_WORKERS};
    world_init(&f.w);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    world_done(&f->w);
    return 0;
}

static void worker(struct fixture *f, const char *name, const char *node, bool deleted) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','labels':{"
                   "'fluid.io/dataset':'default-d'}%s},'spec':{'nodeName':'%s'}}",
                   name, deleted ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "", node);
    world_put(&f->w, json);
}

/* "b: worker 'x' is being deleted" of each node, separated by "; ". */
static void expect(struct fixture *f, const char *want) {
    const struct fluid_identity d = {"default", "d", "u-d"};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    assert_int_equal(
        fluid_find_leaving(f->w.store, &d, &f->budget, &f->w.arena, &f->nodes, &f->count), 0);
    for (uint32_t i = 0; i < f->count; i++) {
        strbuf_appendf(&text, "%s%.*s: ", i > 0 ? "; " : "", STR_ARG(f->nodes[i].node));
        leaving_put_reason(&f->nodes[i], &text);
    }
    strbuf_append_char(&text, '\0');
    assert_string_equal(text.p, want);
}

static void none_leaves(void **state) {
    struct fixture *f = *state;
    expect(f, "");
    world_dataset(&f->w, "d", "'replicas':2", "");
    worker(f, "d-worker-0", "a", false);
    worker(f, "d-worker-1", "b", false);
    expect(f, "");
    assert_int_equal(f->budget, LIMIT_FLUID_WORKERS - 2);
}

static void a_worker_that_is_deleted_leaves(void **state) {
    struct fixture *f = *state;
    world_dataset(&f->w, "d", "'replicas':2", "");
    worker(f, "d-worker-0", "a", false);
    worker(f, "d-worker-1", "b", true);
    expect(f, "b: worker 'd-worker-1' is being deleted");
    worker(f, "d-worker-1", "c", false); /* and comes back elsewhere */
    expect(f, "");
}

static void a_worker_above_the_replicas_leaves(void **state) {
    struct fixture *f = *state;
    worker(f, "d-worker-0", "a", false);
    worker(f, "d-worker-1", "b", false);
    worker(f, "d-worker-10", "c", false);
    world_dataset(&f->w, "d", "'replicas':2", "");
    expect(f, "c: worker 'd-worker-10' is one too many for replicas: 2");
    world_dataset(&f->w, "d", "'replicas':10", "");
    expect(f, "c: worker 'd-worker-10' is one too many for replicas: 10");
    world_dataset(&f->w, "d", "'replicas':11", "");
    expect(f, "");
    world_dataset(&f->w, "d", "'replicas':0", "");
    expect(f, "a: worker 'd-worker-0' is one too many for replicas: 0; "
              "b: worker 'd-worker-1' is one too many for replicas: 0; "
              "c: worker 'd-worker-10' is one too many for replicas: 0");
    world_dataset(&f->w, "d", "", ""); /* it does not say */
    expect(f, "");
    world_dataset(&f->w, "d", "'replicas':'none'", "");
    expect(f, "");
    worker(f, "d-worker-10", "c", true); /* the shorter reason */
    world_dataset(&f->w, "d", "'replicas':2", "");
    expect(f, "c: worker 'd-worker-10' is being deleted");
}

/* Shared datasets may have several workers on a node. */
static void a_node_with_a_worker_that_stays_is_not_left(void **state) {
    struct fixture *f = *state;
    world_dataset(&f->w, "d", "'replicas':2", "");
    worker(f, "d-worker-2", "a", false);
    worker(f, "d-worker-3", "a", true);
    expect(f, "a: worker 'd-worker-2' is one too many for replicas: 2");
    worker(f, "d-worker-1", "a", false);
    expect(f, "");
    worker(f, "d-worker-0", "a", true); /* whichever name comes first */
    expect(f, "");
}

/* Each runtime says in its own place how many workers it wants. */
static void replicas_of_each_runtime(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *type, *kind, *spec;
    } rows[] = {
        {"alluxio", "AlluxioRuntime", "'replicas':1"},
        {"jindo", "JindoRuntime", "'replicas':1"},
        {"juicefs", "JuiceFSRuntime", "'replicas':1"},
        {"thin", "ThinRuntime", "'replicas':1"},
        {"efc", "EFCRuntime", "'replicas':1"},
        {"vineyard", "VineyardRuntime", "'replicas':9,'worker':{'replicas':1}"},
        {"cache", "CacheRuntime", "'replicas':9,'worker':{'replicas':1}"},
    };
    worker(f, "d-worker-0", "a", false);
    worker(f, "d-worker-1", "b", false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[400];
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'data.fluid.io/v1alpha1','kind':'Dataset','metadata':{'name':"
                       "'d'},'status':{'runtimes':[{'type':'%s'}]}}",
                       rows[i].type);
        world_put(&f->w, json);
        expect(f, "");
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'data.fluid.io/v1alpha1','kind':'%s','metadata':{'name':'d'},"
                       "'spec':{%s}}",
                       rows[i].kind, rows[i].spec);
        world_put(&f->w, json);
        expect(f, "b: worker 'd-worker-1' is one too many for replicas: 1");
    }
}

static void a_stateful_set_says_where_its_runtime_does_not(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"d-worker", "d-jindofs-worker"};
    world_dataset(&f->w, "d", "", "");
    worker(f, "x-0", "a", false);
    worker(f, "x-1", "b", false);
    for (int i = 0; i < 2; i++) {
        char json[200];
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'%s'},"
                       "'spec':{'replicas':1}}",
                       names[i]);
        world_put(&f->w, json);
        expect(f, "b: worker 'x-1' is one too many for replicas: 1");
        fluid_store_remove(f->w.store, (struct fluid_key){FLUID_STATEFUL_SET, "default", names[i]});
        expect(f, "");
    }
    world_put(&f->w, "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'d-worker'},"
                     "'spec':{'replicas':1}}");
    world_dataset(&f->w, "d", "'replicas':2", ""); /* which is waited with, if it has fewer */
    expect(f, "");
    world_dataset(&f->w, "d", "'replicas':0", "");
    expect(f, "a: worker 'x-0' is one too many for replicas: 0; "
              "b: worker 'x-1' is one too many for replicas: 0");
}

/* Whoever writes thousands of pods with the label gets no more looked at than that. */
static void no_more_are_looked_at_than_the_budget_has(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        worker(f, name, name, true);
    }
    f->budget = 3;
    expect(f, "a: worker 'a' is being deleted; c: worker 'c' is being deleted; d: worker 'd' is "
              "being deleted"); /* the first of the list, and the newest */
    assert_int_equal(f->budget, 0);
    f->budget = 4;
    expect(f, "a: worker 'a' is being deleted; b: worker 'b' is being deleted; c: worker 'c' is "
              "being deleted; d: worker 'd' is being deleted");
    assert_int_equal(f->budget, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_is_deleted_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_above_the_replicas_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_with_a_worker_that_stays_is_not_left, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(replicas_of_each_runtime, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stateful_set_says_where_its_runtime_does_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_more_are_looked_at_than_the_budget_has, setup, teardown),
    };
    return cmocka_run_group_tests_name("leaving", tests, NULL, NULL);
}
