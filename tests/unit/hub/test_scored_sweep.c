/* Items of scores that belong to no Placement any more. */
#include "hub/scored_sweep.h"

#include "unit/fleet/fleet_builder.h"

#include <stdio.h>
#include <stdlib.h>

#define ALIVE "s3-0a1b2c3d"
#define DEAD "s3-ffffffff"

static struct fleet_builder fleet;
static struct score_sweep sweep;
static struct owned owned;
static struct arena arena;
static struct owned_answer answer;
static bool without_scores;

static int setup(void **state) {
    (void)state;
    fleet_builder_open(&fleet);
    arena_init(&arena, 1 << 20);
    sweep = (struct score_sweep){.again = false};
    owned = (struct owned){.progress = OWNED_IDLE};
    without_scores = false;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    owned_write_done(&answer.write);
    owned_done(&owned);
    score_sweep_done(&sweep);
    arena_done(&arena);
    fleet_builder_close(&fleet);
    return 0;
}

static void object(const char *cluster, const char *resource, const char *version,
                   const char *items) {
    char text[500];
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'%s','namespace':'%s','resourceVersion':'%s'},'status':{"
                   "'scores':[%s]}}",
                   resource, cluster, version, items);
    fleet_give(&fleet, FLEET_SCORES, text);
}

#define ITEM(name, value) "{'name':'" name "','value':" value "}"

static struct fleet_view *view(void) {
    return (struct fleet_view *)(uintptr_t)fleet_look(&fleet);
}

static void begin(void) {
    uint64_t *keys = malloc(2 * sizeof *keys);
    assert_non_null(keys);
    keys[0] = injected_key_number((struct injected_key){3, 0x0a1b2c3d});
    keys[1] = injected_key_number((struct injected_key){0, 0xffffffff});
    score_sweep_use(&sweep, keys, 2);
    score_sweep_begin(&sweep, view());
}

/* The path of the write that comes next; "". */
static const char *next(void) {
    const struct owned_settings settings = {.shards = 4, .without_scores = without_scores};
    const struct owned_question q = {.view = view(), .settings = &settings};
    struct err err;
    owned_write_done(&answer.write);
    arena_reset(&arena);
    assert_int_equal(score_sweep_look(&sweep, &owned, &q, &arena, &answer, &err), 0);
    if (answer.write.what == OWNED_NOTHING)
        return "";
    strbuf_append_char(&answer.write.path, '\0');
    return answer.write.path.p;
}

static void ended(enum write_end end, int status) {
    struct owned_write taken = answer.write;
    strbuf_done(&taken.path);
    strbuf_done(&taken.body);
    answer.write = (struct owned_write){.what = OWNED_NOTHING};
    owned_taken(&owned, &taken, 0);
    owned_ended(&owned, end, status, 0);
}

#define PATH(cluster)                                                                              \
    "/apis/cluster.open-cluster-management.io/v1alpha1/namespaces/" cluster                        \
    "/addonplacementscores/evenkeel-3/status"

/* One object at a time; what is in use, and what is nobody's key, stays as it is. */
static void only_what_is_dead(void **state) {
    (void)state;
    object("a", "evenkeel-3", "7", ITEM(ALIVE, "100") "," ITEM(DEAD, "100") "," ITEM("x", "-5"));
    object("b", "evenkeel-3", "8", ITEM(ALIVE, "100"));
    object("b", "evenkeel-0", "9", ITEM("s0-ffffffff", "100"));
    object("c", "others", "10", ITEM(DEAD, "100"));
    begin();
    assert_string_equal(next(), PATH("a"));
    assert_int_equal(answer.write.verb, WRITE_MERGE); /* also what others own */
    strbuf_append_char(&answer.write.body, '\0');
    const char *const body = answer.write.body.p;
    assert_non_null(strstr(body, "\"resourceVersion\":\"7\""));
    assert_non_null(strstr(body, "{\"name\":\"" ALIVE "\",\"value\":100}"));
    assert_non_null(strstr(body, "{\"name\":\"x\",\"value\":-5}"));
    assert_null(strstr(body, DEAD));
    ended(WRITE_DONE, 200);
    assert_string_equal(next(), ""); /* it is not seen yet */
    object("a", "evenkeel-3", "11", ITEM(ALIVE, "100") "," ITEM("x", "-5"));
    assert_string_equal(next(), "");
    assert_int_equal(answer.wake_ms, 600000);
}

/* Three times; others do not wait for it for ever. */
static void one_that_cannot_be_written(void **state) {
    (void)state;
    object("a", "evenkeel-3", "7", ITEM(DEAD, "100"));
    object("b", "evenkeel-3", "8", ITEM(DEAD, "100"));
    begin();
    const bool first = strcmp(next(), PATH("a")) == 0;
    for (int i = 0; i < 3; i++) {
        assert_string_equal(next(), first ? PATH("a") : PATH("b"));
        ended(WRITE_REFUSED, 403);
        if (i == 1)
            break; /* the first look has counted, too */
    }
    assert_string_equal(next(), first ? PATH("b") : PATH("a"));
}

/* Nobody's keys at all: everything is dead. */
static void without_keys(void **state) {
    (void)state;
    object("a", "evenkeel-3", "7", ITEM(ALIVE, "100"));
    score_sweep_use(&sweep, NULL, 0);
    score_sweep_begin(&sweep, view());
    assert_string_equal(next(), PATH("a"));
    object("a", "evenkeel-3", "8", "");
    sweep.again = true;
    assert_string_equal(next(), "");
    assert_int_equal(answer.wake_ms, 0);
}

/* Where scores are off there is no right to write them: nothing is tried, and nothing waits. */
static void where_scores_are_off(void **state) {
    (void)state;
    without_scores = true;
    object("a", "evenkeel-3", "7", ITEM(DEAD, "100"));
    begin();
    assert_string_equal(next(), "");
    assert_true(answer.wake_ms == INT64_MAX);
}

/* A Placement that comes while there is still much to sweep keeps what is published for it. */
static void one_that_comes_meanwhile(void **state) {
    (void)state;
    object("a", "evenkeel-3", "7", ITEM(DEAD, "100"));
    begin();
    object("a", "evenkeel-3", "8", ITEM(DEAD, "100") "," ITEM("s3-00000001", "100"));
    uint64_t *keys = malloc(sizeof *keys);
    assert_non_null(keys);
    keys[0] = injected_key_number((struct injected_key){3, 1});
    score_sweep_use(&sweep, keys, 1);
    assert_string_equal(next(), PATH("a"));
    strbuf_append_char(&answer.write.body, '\0');
    assert_non_null(strstr(answer.write.body.p, "s3-00000001"));
    assert_null(strstr(answer.write.body.p, DEAD));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(only_what_is_dead),    TEST(one_that_cannot_be_written), TEST(without_keys),
        TEST(where_scores_are_off), TEST(one_that_comes_meanwhile),
    };
    return cmocka_run_group_tests_name("sweeping scores", tests, NULL, NULL);
}
