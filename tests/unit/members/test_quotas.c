/* ResourceQuotas of a member cluster, event by event: which count for a namespace, and what they
 * leave. */
#include "unit/members/kept.h"

#include <errno.h>
#include <stdio.h>

static void give(struct informer *i, const char *json) {
    kept_give(i, MEMBER_QUOTAS, json);
}

static void take(struct informer *i, const char *namespace, const char *name) {
    kept_take(i, MEMBER_QUOTAS, namespace, name);
}

#define QUOTA(namespace, name, hard, used)                                                         \
    "{\"metadata\":{\"namespace\":\"" namespace "\",\"name\":\"" name                              \
                                                "\"},\"status\":{\"hard\":{" hard                  \
                                                "},\"used\":{" used "}}}"
#define CPU(namespace, name, hard) QUOTA(namespace, name, "\"cpu\":\"" hard "\"", "\"cpu\":\"0\"")

/* The names are lost, so quotas are told apart by what they leave: thousandths of cpu, in order. */
static void left_in(struct informer *i, const char *namespace, const char *want) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    const struct estimator_quota *quotas;
    struct member_view v;
    uint32_t count;
    int64_t least = 0;
    assert_int_equal(member_view_open(i, &v), 0);
    assert_int_equal(member_quotas(&v, str_of(namespace), &kept_arena, &quotas, &count), 0);
    for (uint32_t n = 0; n < count; n++) { /* the next larger one */
        int64_t next = INT64_MAX;
        for (uint32_t q = 0; q < count; q++) {
            assert_int_equal(quotas[q].room_count, 1);
            assert_str(quotas[q].rooms[0].name, "cpu");
            const int64_t amount = quotas[q].rooms[0].amount;
            next = amount > least && amount < next ? amount : next;
        }
        strbuf_appendf(&got, "%s%lld", n > 0 ? " " : "", (long long)next);
        least = next;
    }
    member_view_close(&v);
    assert_str(strbuf_str(&got), want);
}

static void of_namespaces(void **state) {
    struct informer *i = *state;
    left_in(i, "a", "");
    give(i, CPU("a", "q1", "1"));
    give(i, CPU("a", "q2", "2"));
    give(i, CPU("b", "q1", "3"));
    give(i, CPU("a", "q3", "4"));
    left_in(i, "a", "1000 2000 4000");
    left_in(i, "b", "3000");
    left_in(i, "ab", "");
    left_in(i, "", "1000 2000 3000 4000"); /* all of them */
    give(i, CPU("a", "q2", "5"));
    left_in(i, "a", "1000 4000 5000");
    take(i, "a", "q1"); /* the first of its list */
    left_in(i, "a", "4000 5000");
    take(i, "b", "q3"); /* there is none */
    take(i, "a", "q3");
    left_in(i, "a", "5000");
    take(i, "a", "q2");
    left_in(i, "a", "");
    left_in(i, "", "3000");
    take(i, "b", "q1");
    left_in(i, "", "");
}

/* Every order of removing four of one namespace. */
static void any_order(void **state) {
    static const char *const json[] = {CPU("a", "q1", "1"), CPU("a", "q2", "2"),
                                       CPU("a", "q3", "3"), CPU("a", "q4", "4")};
    struct informer *i = *state;
    const uint64_t empty = member_stats(i).bytes;
    for (unsigned order = 0; order < 256; order++) {
        bool gone[4] = {false};
        for (size_t q = 0; q < 4; q++)
            give(i, json[q]);
        for (unsigned step = 0; step < 4; step++) {
            const unsigned q = order >> (2 * step) & 3;
            char name[4], want[32] = "";
            (void)snprintf(name, sizeof name, "q%u", q + 1);
            take(i, "a", name);
            gone[q] = true;
            for (unsigned k = 0; k < 4; k++)
                if (!gone[k])
                    (void)snprintf(want + strlen(want), sizeof want - strlen(want), "%s%u000",
                                   want[0] != '\0' ? " " : "", k + 1);
            left_in(i, "a", want);
        }
        for (unsigned q = 0; q < 4; q++) {
            char name[4];
            (void)snprintf(name, sizeof name, "q%u", q + 1);
            take(i, "a", name);
        }
        assert_int_equal(member_stats(i).bytes, empty);
        arena_reset(&kept_arena);
    }
}

static void step(struct informer *i, enum informer_listing how) {
    informer_list(&member_store, informer_write(i), MEMBER_QUOTAS, how);
    informer_write_done(i);
}

static void listings(void **state) {
    struct informer *i = *state;
    step(i, LISTING_BEGINS);
    give(i, CPU("a", "q1", "1"));
    give(i, CPU("a", "q2", "2"));
    step(i, LISTING_ENDS);
    left_in(i, "a", "1000 2000");
    step(i, LISTING_BEGINS);
    give(i, CPU("a", "q2", "3"));
    step(i, LISTING_ENDS);
    left_in(i, "a", "3000");
    /* without end: what it was the first to show is forgotten */
    step(i, LISTING_BEGINS);
    give(i, CPU("a", "q3", "4"));
    give(i, CPU("a", "q2", "5"));
    step(i, LISTING_FAILS);
    left_in(i, "a", "5000");
    give(i, CPU("a", "q4", "6")); /* after a listing nothing is fresh */
    step(i, LISTING_BEGINS);
    step(i, LISTING_FAILS);
    left_in(i, "a", "5000 6000");
}

/* Scopes, values and names are the store's own: the object's text is gone. */
static void all_is_copied(void **state) {
    static const char json[] =
        "{\"metadata\":{\"namespace\":\"a\",\"name\":\"q\"},\"spec\":{\"scopes\":[\"BestEffort\"],"
        "\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":"
        "\"In\",\"values\":[\"high\",\"low\"]}]}},\"status\":{\"hard\":{\"requests.cpu\":\"4\","
        "\"memory\":\"1Gi\"},\"used\":{\"requests.cpu\":\"1\",\"memory\":\"1Mi\"}}}";
    struct informer *i = *state;
    const struct estimator_quota *quotas;
    struct member_view v;
    uint32_t count;
    char *text = strdup(json);
    give(i, text);
    memset(text, 'x', strlen(text));
    free(text);
    arena_reset(&kept_arena);
    assert_int_equal(member_view_open(i, &v), 0);
    assert_int_equal(member_quotas(&v, STR("a"), &kept_arena, &quotas, &count), 0);
    assert_int_equal(count, 1);
    assert_str(quotas->namespace, "a");
    assert_int_equal(quotas->scope_count, 2);
    assert_str(quotas->scopes[0].name, "BestEffort");
    assert_str(quotas->scopes[0].op, "Exists");
    assert_str(quotas->scopes[1].name, "PriorityClass");
    assert_str(quotas->scopes[1].op, "In");
    assert_int_equal(quotas->scopes[1].value_count, 2);
    assert_str(quotas->scopes[1].values[0], "high");
    assert_str(quotas->scopes[1].values[1], "low");
    assert_int_equal(quotas->room_count, 2);
    assert_str(quotas->rooms[0].name, "cpu");
    assert_int_equal(quotas->rooms[0].amount, 3000);
    assert_str(quotas->rooms[1].name, "memory");
    assert_int_equal(quotas->rooms[1].amount, (1ll << 30) - (1 << 20));
    member_view_close(&v);
}

static void steps_are_taken(void **state) {
    struct informer *i = *state;
    const struct estimator_quota *quotas;
    struct member_view v;
    uint32_t count;
    for (int q = 0; q < 100; q++) {
        char json[200];
        (void)snprintf(json, sizeof json, CPU("a", "q%d", "1"), q);
        give(i, json);
    }
    assert_int_equal(member_view_open(i, &v), 0);
    kept_arena.steps = (struct steps){.max = 50};
    assert_int_equal(member_quotas(&v, STR("a"), &kept_arena, &quotas, &count), -E2BIG);
    kept_arena.steps = (struct steps){.max = 50};
    assert_int_equal(member_quotas(&v, STR("b"), &kept_arena, &quotas, &count), 0);
    assert_int_equal(count, 0);
    member_view_close(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(of_namespaces, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(any_order, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(listings, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(all_is_copied, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(steps_are_taken, kept_setup, kept_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
