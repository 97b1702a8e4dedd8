/* Nodes alone, as a watch shows them: what a listing ends with, and what one without end leaves. */
#include "candidates/nodes.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

struct fixture {
    struct informer *nodes;
    void *contents;
    struct arena arena;
};

static int setup(void **state) {
    static struct fixture f;
    assert_int_equal(informer_new(&node_store, NULL, &f.nodes, NULL), 0);
    f.contents = informer_write(f.nodes);
    informer_write_done(f.nodes);
    arena_init(&f.arena, LIMIT_REQUEST_ARENA);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    informer_free(f->nodes);
    arena_done(&f->arena);
    return 0;
}

static void give(struct fixture *f, const char *name, const char *more) {
    char json[400];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"n\":\"%s\"}}%s}", name, name,
                   more); /* fits */
    struct informer_object object = {.json = str_of(json), .arena = &f->arena};
    struct json_reader r;
    json_reader_init(&r, object.json, &f->arena, "node");
    node_store.kinds->decode(&r, &object);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(node_store.kinds->apply(f->contents, &object, NULL), 0);
}

#define TAINTED ",\"spec\":{\"taints\":[{\"key\":\"gone\",\"effect\":\"NoSchedule\"}]}"

/* "ac": these and no others. */
static void knows(const struct fixture *f, const char *want) {
    const struct topology *t = nodes_of(f->contents);
    assert_int_equal(topology_stats(t).candidates, strlen(want));
    for (size_t i = 0; want[i] != '\0'; i++)
        assert_true(topology_is_known(t, topology_slot(t, (struct str){&want[i], 1})));
}

static uint64_t kept(const struct fixture *f) {
    return node_store.kept_bytes(f->contents);
}

static void a_listing_without_end(void **state) {
    struct fixture *f = *state;
    assert_int_equal(kept(f), 0);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    give(f, "a", "");
    informer_list(&node_store, f->contents, 0, LISTING_ENDS);
    const uint64_t before = kept(f);
    assert_true(before > 0);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    give(f, "b", TAINTED);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS); /* the one before was given up */
    give(f, "c", "");
    give(f, "a", "");
    give(f, "d", "");
    give(f, "d", TAINTED);
    knows(f, "abcd");
    informer_list(&node_store, f->contents, 0, LISTING_FAILS);
    knows(f, "a");
    assert_int_equal(kept(f), before);
    give(f, "e", TAINTED); /* a watch's */
    assert_true(kept(f) > before);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    informer_list(&node_store, f->contents, 0, LISTING_FAILS);
    knows(f, "ae");
}

static void a_listing_that_ends_after_one_that_does_not(void **state) {
    struct fixture *f = *state;
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    give(f, "a", "");
    give(f, "b", "");
    informer_list(&node_store, f->contents, 0, LISTING_FAILS);
    knows(f, "");
    assert_int_equal(kept(f), 0);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    give(f, "c", "");
    give(f, "d", TAINTED);
    informer_list(&node_store, f->contents, 0, LISTING_ENDS);
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    give(f, "d", "");
    informer_list(&node_store, f->contents, 0,
                  LISTING_FAILS); /* both have been shown by one that ended */
    knows(f, "cd");
    informer_list(&node_store, f->contents, 0, LISTING_BEGINS);
    informer_list(&node_store, f->contents, 0, LISTING_ENDS);
    knows(f, "");
    assert_int_equal(kept(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_listing_without_end),
        TEST(a_listing_that_ends_after_one_that_does_not),
    };
    return cmocka_run_group_tests_name("candidates/nodes", tests, NULL, NULL);
}
