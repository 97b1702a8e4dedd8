/*
 * Arrays of strings read in blocks, beside the reader's own loop, which takes one string after the
 * other: the same strings, the same errors, wherever in a block something odd stands.
 */
#include "base/plain_strings.h"

#include "base/json_reader.h"
#include "unit/unit.h"

enum { LIMIT = 300 };

struct outcome {
    struct arena arena;
    struct json_reader r;
    struct str *items;
    uint32_t count;
    struct err err;
};

static void one_by_one(struct json_reader *r, struct outcome *o) {
    o->items = arena_array(&o->arena, LIMIT, sizeof *o->items);
    if (!json_array(r))
        return;
    while (json_element(r)) {
        if (o->count == LIMIT) {
            json_fail(r, "more than %u items", (unsigned)LIMIT);
            return;
        }
        o->items[o->count++] = json_string(r);
    }
}

static void read_array(struct str text, bool whole, struct outcome *ret) {
    *ret = (struct outcome){.count = 0};
    arena_init(&ret->arena, 1 << 20);
    json_reader_init(&ret->r, text, &ret->arena, "Doc");
    if (whole)
        ret->items = json_string_array(&ret->r, LIMIT, &ret->count);
    else
        one_by_one(&ret->r, ret);
    int finished = json_finish(&ret->r, &ret->err);
    assert_int_equal(finished, ret->err.code);
}

static void agree(struct str text) {
    struct outcome quick, slow;
    read_array(text, true, &quick);
    read_array(text, false, &slow);
    assert_string_equal(quick.err.text, slow.err.text);
    assert_int_equal(json_offset(&quick.r), json_offset(&slow.r));
    if (slow.err.code == 0) {
        assert_int_equal(quick.count, slow.count);
        for (uint32_t i = 0; i < slow.count; i++) {
            assert_int_equal(quick.items[i].n, slow.items[i].n);
            assert_memory_equal(quick.items[i].p, slow.items[i].p, slow.items[i].n);
        }
    }
    arena_done(&quick.arena);
    arena_done(&slow.arena);
}

/* In memory of its own, so that sanitizers and valgrind see a byte that is read behind the text. */
static void agree_alone(const struct strbuf *text) {
    char *exact = malloc(text->n + 1);
    assert_non_null(exact);
    memcpy(exact, text->p, text->n);
    agree((struct str){exact, text->n});
    free(exact);
}

static void put_random_array(struct strbuf *out, uint64_t *random) {
    uint32_t count = unit_below(random, 20), longest = 1 + unit_below(random, 140);
    strbuf_append_char(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_append_char(out, ',');
        strbuf_append_char(out, '"');
        for (uint32_t n = unit_below(random, longest); n > 0; n--)
            strbuf_append_char(out, (char)('a' + n % 26));
        strbuf_append_char(out, '"');
    }
    strbuf_append_char(out, ']');
}

static void test_random_arrays(void **state) {
    (void)state;
    static const char odd[] = "\"\\,[]{} \n\t\x1f\x7f\x80\xc3\xff\x00n0";
    uint64_t random = unit_seed();
    for (int i = 0; i < 20000; i++) {
        struct strbuf text = {0};
        put_random_array(&text, &random);
        for (uint32_t n = unit_below(&random, 3); n > 0; n--)
            text.p[unit_below(&random, (uint32_t)text.n)] =
                odd[unit_below(&random, sizeof odd - 1)];
        if (unit_below(&random, 4) == 0) /* the text goes on, as a request may */
            for (uint32_t n = unit_below(&random, 200); n > 0; n--)
                strbuf_append_char(&text, ' ');
        agree_alone(&text);
        strbuf_done(&text);
    }
}

/* One odd byte, at every place of an array that spans some blocks. */
static void test_an_odd_byte_anywhere(void **state) {
    (void)state;
    static const char odd[] = {'"', '\\', '\x1f', '\x7f', '\x80', ',', ']', ' '};
    struct strbuf text = {0};
    strbuf_append_str(&text, STR("[\"\""));
    for (uint32_t i = 0; i < 12; i++)
        strbuf_appendf(&text, ",\"%.*s\"", (int)(5 * i % 31), "node-0123456789-abcdefghijklmnop");
    strbuf_append_str(&text, STR("]"));
    for (size_t at = 0; at < text.n; at++)
        for (size_t i = 0; i < sizeof odd; i++) {
            char was = text.p[at];
            text.p[at] = odd[i];
            agree_alone(&text);
            text.p[at] = was;
        }
    strbuf_done(&text);
}

static void test_more_than_the_limit(void **state) {
    (void)state;
    for (uint32_t count = LIMIT - 2; count <= LIMIT + 2; count++) {
        struct strbuf text = {0};
        for (uint32_t i = 0; i < count; i++)
            strbuf_appendf(&text, "%c\"n%u\"", i == 0 ? '[' : ',', i);
        strbuf_append_str(&text, STR("]"));
        agree_alone(&text);
        strbuf_done(&text);
    }
}

/* Where there are blocks, else this file compares the reader's loop with itself. */
static void test_blocks_read_nearly_all(void **state) {
    (void)state;
    struct strbuf text = {0};
    struct str items[1000];
    const char *after;
    for (uint32_t i = 0; i < 1000; i++)
        strbuf_appendf(&text, "\"node-%u.example\",", i);
    uint32_t count = plain_strings(text.p, text.p + text.n, items, 1000, &after);
#ifndef __SSE2__
    assert_int_equal(count, 0);
    assert_ptr_equal(after, text.p);
    strbuf_done(&text);
    return;
#endif
    assert_in_range(count, 995, 999);
    assert_str(items[0], "node-0.example");
    assert_str(items[994], "node-994.example");
    assert_ptr_equal(after, items[count - 1].p + items[count - 1].n + 1);
    assert_int_equal(plain_strings(text.p, text.p + text.n, items, 17, &after), 17);
    assert_str(items[16], "node-16.example");
    strbuf_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_arrays),
        cmocka_unit_test(test_an_odd_byte_anywhere),
        cmocka_unit_test(test_more_than_the_limit),
        cmocka_unit_test(test_blocks_read_nearly_all),
    };
    return cmocka_run_group_tests_name("plain_strings", tests, NULL, NULL);
}
