/*
 * The quick answers beside those that are written value by value: the same bytes. Of another
 * body no name is a slice, and wire.c takes the slow way.
 */
#include "extender/name_lists.h"

#include "unit/unit.h"

#include <stdio.h>

enum { NAMES_MAX = 200, REASONS = 4 };

struct question {
    struct arena arena;
    struct strbuf body;
    char
        *alone; /* the body in memory of its own: sanitizers and valgrind see what is read behind */
    struct extender_args args;
};

static void put_request(struct strbuf *out, uint32_t count, uint32_t longest, uint64_t *random) {
    strbuf_append_str(out, STR("{\"Pod\":{},\"NodeNames\":["));
    for (uint32_t i = 0; i < count; i++) {
        strbuf_append_str(out, i > 0 ? STR(",\"") : STR("\""));
        for (uint32_t n = unit_below(random, longest); n > 0; n--)
            strbuf_append_char(out, (char)('a' + unit_below(random, 26)));
        strbuf_append_char(out, '"');
    }
    strbuf_append_str(out, STR("]}"));
}

static void ask(struct question *q, struct str body) {
    struct err err = {0};
    *q = (struct question){.alone = malloc(body.n)};
    assert_non_null(q->alone);
    memcpy(q->alone, body.p, body.n);
    arena_init(&q->arena, 1 << 20);
    if (extender_args_decode((struct str){q->alone, body.n}, &q->arena, &q->args, &err) != 0)
        fail_msg("%s", err.text);
}

static void ask_random(struct question *q, uint64_t *random) {
    struct strbuf body = {0};
    put_request(&body, unit_below(random, NAMES_MAX), 1 + unit_below(random, 140), random);
    ask(q, strbuf_str(&body));
    strbuf_done(&body);
}

static void done(struct question *q) {
    arena_done(&q->arena);
    free(q->alone);
}

static struct extender_args slow(const struct extender_args *args) {
    struct extender_args without = *args;
    without.body = STR("-");
    return without;
}

static void same(struct http_response *quick, struct http_response *by_value) {
    assert_int_equal(quick->text.n, by_value->text.n);
    assert_memory_equal(quick->text.p, by_value->text.p, quick->text.n);
    strbuf_done(&quick->text);
    strbuf_done(&by_value->text);
}

static void compare_filter(struct question *q, const struct filter_result *result) {
    struct http_response quick = {.text.max = 1 << 20}, by_value = {.text.max = 1 << 20};
    struct extender_args without = slow(&q->args);
    struct strbuf text = {0};
    assert_true(name_list_filter(&q->args, result, &q->arena, &text));
    if (q->args.candidates.count > 0)
        assert_false(name_list_filter(&without, result, &q->arena, &by_value.text));
    extender_filter_encode(&q->args, result, &q->arena, &quick);
    extender_filter_encode(&without, result, &q->arena, &by_value);
    assert_true(str_eq(strbuf_str(&text), strbuf_str(&quick.text)));
    strbuf_done(&text);
    same(&quick, &by_value);
}

/* Of long reasons, and ones that need escapes. */
static struct filter_result judge(struct question *q, uint64_t *random) {
    static const struct str reasons[REASONS] = {
        {"", 0},
        {"over maxSkew on zone", 20},
        {"no label \"a\\b\n\" to spread over", 30},
        {"waiting for pods in flight on "
         "a-topology-key-of-some-length.that-does-not-fit.into-one-block/zone",
         97},
    };
    uint32_t count = q->args.candidates.count, odds = unit_below(random, 4);
    struct filter_result result = {.verdicts = arena_array(&q->arena, count, 1),
                                   .reasons = arena_array(&q->arena, count, 1),
                                   .reason_texts = reasons,
                                   .reason_count = REASONS};
    for (uint32_t i = 0; i < count; i++)
        if (odds == 3 || unit_below(random, 3) < odds) {
            result.verdicts[i] =
                unit_below(random, 3) == 0 ? VERDICT_UNRESOLVABLE : VERDICT_UNSCHEDULABLE;
            result.reasons[i] = (uint8_t)(1 + unit_below(random, REASONS - 1));
        }
    return result;
}

static void test_random_filters(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 3000; i++) {
        struct question q;
        ask_random(&q, &random);
        struct filter_result result = judge(&q, &random);
        compare_filter(&q, &result);
        compare_filter(&q, NULL);
        done(&q);
    }
}

static void test_random_scores(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 3000; i++) {
        struct question q;
        ask_random(&q, &random);
        uint32_t count = q.args.candidates.count, most = unit_below(&random, 102);
        struct score_result result = {.column_count = 1,
                                      .priorities = arena_array(&q.arena, count, sizeof(int32_t))};
        for (uint32_t n = 0; n < count; n++)
            result.priorities[n] = (int32_t)unit_below(&random, most + 1);
        struct http_response quick = {.text.max = 1 << 20}, by_value = {.text.max = 1 << 20};
        struct extender_args without = slow(&q.args);
        extender_prioritize_encode(&q.args, &result, &quick);
        extender_prioritize_encode(&without, &result, &by_value);
        same(&quick, &by_value);
        done(&q);
    }
}

static void test_scores_that_no_piece_is_for(void **state) {
    (void)state;
    static const int32_t odd[] = {-1, 101, INT32_MAX};
    struct question q;
    ask(&q, STR("{\"Pod\":{},\"NodeNames\":[\"a\",\"b\"]}"));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        int32_t scores[] = {5, odd[i]};
        const struct score_result result = {.column_count = 1, .priorities = scores};
        struct http_response response = {.text.max = 1 << 20};
        char want[100];
        extender_prioritize_encode(&q.args, &result, &response);
        (void)snprintf(want, sizeof want,
                       "[{\"Host\":\"a\",\"Score\":5},{\"Host\":\"b\",\"Score\":%d}]", odd[i]);
        assert_str(strbuf_str(&response.text), want);
        strbuf_done(&response.text);
    }
    done(&q);
}

/* The least and the most that there is a piece for, and whole answers without a byte to spare. */
static void test_quick_scores_and_their_room(void **state) {
    struct question q;
    int32_t scores[] = {0, 100};
    const struct score_result result = {.column_count = 1, .priorities = scores};
    bool once = false;
    (void)state;
    ask(&q, STR("{\"Pod\":{},\"NodeNames\":[\"a\",\"b\"]}"));
    for (size_t max = 1; max < 400; max++) {
        struct strbuf text = {.max = max};
        bool whole = name_list_scores(&q.args, &result, &text);
        assert_true(whole || !once); /* more room is no less */
        once = whole;
        if (whole)
            assert_str(strbuf_str(&text),
                       "[{\"Host\":\"a\",\"Score\":0},{\"Host\":\"b\",\"Score\":100}]");
        assert_true(text.cap <= max && !strbuf_failed(&text));
        strbuf_done(&text);
    }
    assert_true(once);
    done(&q);
}

static void test_names_with_escapes(void **state) {
    (void)state;
    struct question q;
    struct http_response response = {.text.max = 1 << 20};
    struct strbuf text = {0};
    ask(&q, STR("{\"Pod\":{},\"NodeNames\":[\"a\",\"\\u0062\\\"\",\"c\"]}"));
    assert_false(name_list_filter(&q.args, NULL, &q.arena, &text));
    assert_int_equal(text.n, 0);
    extender_filter_encode(&q.args, NULL, &q.arena, &response);
    assert_str(strbuf_str(&response.text),
               "{\"Nodes\":null,\"NodeNames\":[\"a\",\"b\\\"\",\"c\"],\"FailedNodes\":{},"
               "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    strbuf_done(&response.text);
    done(&q);
}

/* Whatever the maximum, the answer is whole or refused as the slow way refuses it. */
static void test_every_maximum(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    struct question q;
    ask(&q, STR("{\"Pod\":{},\"NodeNames\":[\"a\",\"bb\",\"ccc\",\"dddd\"]}"));
    struct filter_result result = judge(&q, &random);
    for (size_t max = 1; max < 400; max++) {
        struct http_response quick = {.text.max = max}, by_value = {.text.max = max};
        struct extender_args without = slow(&q.args);
        extender_filter_encode(&q.args, &result, &q.arena, &quick);
        extender_filter_encode(&without, &result, &q.arena, &by_value);
        assert_int_equal(strbuf_failed(&quick.text), strbuf_failed(&by_value.text));
        if (strbuf_failed(&quick.text))
            quick.text.n = by_value.text.n = 0;
        same(&quick, &by_value);
    }
    done(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_filters),
        cmocka_unit_test(test_random_scores),
        cmocka_unit_test(test_scores_that_no_piece_is_for),
        cmocka_unit_test(test_quick_scores_and_their_room),
        cmocka_unit_test(test_names_with_escapes),
        cmocka_unit_test(test_every_maximum),
    };
    return cmocka_run_group_tests_name("name_lists", tests, NULL, NULL);
}
