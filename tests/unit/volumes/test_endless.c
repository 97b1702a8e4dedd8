/* Volumes and claims as a watch shows them: what a listing ends with, and what one without end
 * leaves. */
#include "volumes/store.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <stdio.h>

enum { CLAIMS, VOLUMES }; /* rows of the table */

struct fixture {
    struct informer *volumes;
    void *contents;
    struct arena arena;
};

static int setup(void **state) {
    static struct fixture f;
    assert_int_equal(informer_new(&volume_store, NULL, &f.volumes, NULL), 0);
    f.contents = informer_write(f.volumes);
    informer_write_done(f.volumes);
    arena_init(&f.arena, LIMIT_REQUEST_ARENA);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    informer_free(f->volumes);
    arena_done(&f->arena);
    return 0;
}

static void give(struct fixture *f, uint32_t kind, const char *json) {
    struct informer_object object = {.kind = kind, .json = str_of(json), .arena = &f->arena};
    struct json_reader r;
    json_reader_init(&r, object.json, &f->arena, "object");
    volume_store.kinds[kind].decode(&r, &object);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(volume_store.kinds[kind].apply(f->contents, &object, NULL), 0);
}

/* A volume that is on a node, and the claim that has it: both are called so. */
static void give_both(struct fixture *f, const char *name, const char *node) {
    char json[400];
    (void)snprintf(
        json, sizeof json,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\"},\"spec\":{\"volumeName\":"
        "\"%s\"}}",
        name, name);
    give(f, CLAIMS, json);
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeAffinity\":{\"required\":{"
                   "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"host\",\"operator\":"
                   "\"In\",\"values\":[\"%s\"]}]}]}}}}",
                   name, node); /* both fit */
    give(f, VOLUMES, json);
}

/* Does the claim's volume pin? */
static bool pins(struct fixture *f, const char *claim) {
    const struct str name = str_of(claim);
    const struct node_affinity *found;
    uint32_t count;
    assert_int_equal(
        volume_affinities(f->volumes, STR("shop"), &name, 1, &f->arena, &found, &count), 0);
    return count > 0;
}

static uint64_t kept(const struct fixture *f) {
    return volume_store.kept_bytes(f->contents);
}

static void both(struct fixture *f, enum informer_listing how) {
    informer_list(&volume_store, f->contents, CLAIMS, how);
    informer_list(&volume_store, f->contents, VOLUMES, how);
}

static void a_listing_forgets(void **state) {
    struct fixture *f = *state;
    assert_int_equal(kept(f), 0);
    give_both(f, "a", "n1");
    const uint64_t one = kept(f);
    assert_true(one > 0);
    both(f, LISTING_BEGINS);
    give_both(f, "b", "n2");
    assert_true(pins(f, "a") && pins(f, "b"));
    assert_in_range(kept(f), one + 1, 2 * one); /* equal texts are kept once */
    both(f, LISTING_ENDS);
    assert_true(!pins(f, "a") && pins(f, "b"));
    assert_int_equal(kept(f), one);
}

/* What was known stays, and what only such listings have shown is gone. */
static void a_listing_without_end(void **state) {
    struct fixture *f = *state;
    both(f, LISTING_BEGINS);
    give_both(f, "a", "n1");
    both(f, LISTING_ENDS);
    const uint64_t before = kept(f);
    both(f, LISTING_BEGINS);
    give_both(f, "b", "n2");
    both(f, LISTING_BEGINS); /* the one before was given up */
    give_both(f, "a", "n3");
    give_both(f, "c", "n2");
    give_both(f, "c", "n1");
    both(f, LISTING_FAILS);
    assert_true(pins(f, "a") && !pins(f, "b") && !pins(f, "c"));
    assert_int_equal(kept(f), before);
    give_both(f, "d", "n1"); /* a watch's */
    both(f, LISTING_BEGINS);
    give_both(f, "a", "n1");
    both(f, LISTING_FAILS);
    assert_true(pins(f, "a") && pins(f, "d"));
    both(f, LISTING_BEGINS);
    give_both(f, "e", "n1");
    both(f, LISTING_ENDS);
    both(f, LISTING_BEGINS);
    both(f, LISTING_FAILS);
    assert_true(!pins(f, "a") && !pins(f, "d") && pins(f, "e"));
    assert_int_equal(kept(f), before);
}

/* A row each: a listing of claims forgets no volume. */
static void kinds_have_listings_of_their_own(void **state) {
    struct fixture *f = *state;
    informer_list(&volume_store, f->contents, CLAIMS, LISTING_BEGINS);
    give_both(f, "a", "n1");
    const uint64_t before = kept(f);
    informer_list(&volume_store, f->contents, VOLUMES, LISTING_FAILS);
    assert_true(pins(f, "a"));
    informer_list(&volume_store, f->contents, CLAIMS, LISTING_FAILS);
    assert_false(pins(f, "a"));
    assert_true(kept(f) > 0 && kept(f) < before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_listing_forgets),
        TEST(a_listing_without_end),
        TEST(kinds_have_listings_of_their_own),
    };
    return cmocka_run_group_tests_name("volumes/endless", tests, NULL, NULL);
}
