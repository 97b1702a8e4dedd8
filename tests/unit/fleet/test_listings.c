/* Listings of a watch, kind by kind: what client-go's stores do at Replace() (upstream: client-go
 * tools/cache/store.go), and what is forgotten of a listing that has no end. */
#include "unit/fleet/fleet_builder.h"

#include <stdio.h>

static struct fleet_builder b;

static int setup(void **state) {
    (void)state;
    fleet_builder_open(&b);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    fleet_builder_close(&b);
    return 0;
}

#define META "{'metadata':{'name':'%s','namespace':'ns'}"

static const struct row {
    enum fleet_kind kind;
    const char *namespace, *json; /* its %s is the name */
    size_t count;                 /* in the statistics */
} rows[] = {
    {FLEET_SETS, NULL,
     "{'metadata':{'name':'%s'},'spec':{'clusterSelector':{'selectorType':"
     "'LabelSelector','labelSelector':{'matchLabels':{'a':'b'}}}}}",
     offsetof(struct fleet_stats, sets)},
    {FLEET_BINDINGS, "ns", META "}", offsetof(struct fleet_stats, bindings)},
    {FLEET_PLACEMENTS, "ns", META ",'spec':{'numberOfClusters':1}}",
     offsetof(struct fleet_stats, placements)},
    {FLEET_DECISIONS, "ns", META ",'status':{'decisions':[{'clusterName':'c','reason':''}]}}",
     offsetof(struct fleet_stats, decisions)},
    {FLEET_SCORES, "ns", META ",'status':{'scores':[{'name':'cpu','value':1}]}}",
     offsetof(struct fleet_stats, scores)},
    {FLEET_NAMESPACES, NULL, "{'metadata':{'name':'%s','labels':{'a':'b'}}}",
     offsetof(struct fleet_stats, namespaces)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void give(const struct row *r, const char *name) {
    char json[400];
    const char *at = strstr(r->json, "%s");
    (void)snprintf(json, sizeof json, "%.*s%s%s", (int)(at - r->json), r->json, name, at + 2);
    fleet_give(&b, r->kind, json);
}

/* Exactly these of "abcd" are known; then they are dropped and nothing is left. */
static void are_known(const struct row *r, const char *names) {
    const struct fleet_stats stats = contents_stats(b.c);
    assert_int_equal(*(const uint32_t *)(const void *)((const char *)&stats + r->count),
                     strlen(names));
    for (const char *n = names; *n != '\0'; n++)
        fleet_drop(&b, r->kind, r->namespace, (const char[]){*n, '\0'});
    (void)fleet_look(&b);
    fleet_is_empty(&b);
    assert_int_equal(b.c->record_bytes, 0);
}

static void begin(const struct row *r) {
    informer_list(&fleet_store, b.c, r->kind, LISTING_BEGINS);
}

static void end(const struct row *r) {
    informer_list(&fleet_store, b.c, r->kind, LISTING_ENDS);
}

static void give_up(const struct row *r) {
    informer_list(&fleet_store, b.c, r->kind, LISTING_FAILS);
}

/* ---- tests ---- */

static void what_is_not_shown_is_gone(void **state) {
    (void)state;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        begin(r);
        give(r, "a");
        give(r, "b");
        end(r);
        begin(r);
        give(r, "b");
        give(r, "c");
        end(r);
        are_known(r, "bc");
    }
}

/* The watch that follows belongs to the listing. */
static void what_comes_after_it_stays(void **state) {
    (void)state;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        begin(r);
        give(r, "a");
        end(r);
        give(r, "b");
        give(r, "a");
        begin(r);
        give(r, "b");
        end(r);
        are_known(r, "b");
    }
}

static void a_listing_without_end_is_forgotten(void **state) {
    (void)state;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        begin(r);
        give(r, "a");
        end(r);
        begin(r);
        give(r, "a"); /* known before: it stays */
        give(r, "b");
        give(r, "b"); /* twice, but never before */
        give_up(r);
        give(r, "c"); /* by a watch */
        begin(r);
        give(r, "d");
        give_up(r);
        are_known(r, "ac");
    }
}

static void an_end_after_one_that_was_given_up(void **state) {
    (void)state;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        begin(r);
        give(r, "a");
        give(r, "b");
        give_up(r);
        begin(r);
        give(r, "b");
        end(r);
        begin(r);
        give_up(r); /* `b` has been shown to the end */
        are_known(r, "b");
    }
}

/* A listing of one kind takes nothing from the others, and what others refer to stays. */
static void kinds_are_listed_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        give(&rows[i], "a");
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        begin(r);
        end(r);
        const struct fleet_stats stats = contents_stats(b.c);
        for (size_t j = 0; j < ROWS; j++)
            assert_int_equal(
                *(const uint32_t *)(const void *)((const char *)&stats + rows[j].count), j > i);
    }
    (void)fleet_look(&b);
    fleet_is_empty(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_shown_is_gone),
        TEST(what_comes_after_it_stays),
        TEST(a_listing_without_end_is_forgotten),
        TEST(an_end_after_one_that_was_given_up),
        TEST(kinds_are_listed_apart),
    };
    return cmocka_run_group_tests_name("listings of a fleet", tests, NULL, NULL);
}
