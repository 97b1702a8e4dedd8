/*
 * Random documents, whole and damaged: the reader agrees with a validator written independently of
 * it, skipping agrees with reading, and large documents take linear time.
 */
#include "unit/base/json_walk.h"
#include "unit/unit.h"

static void random_blanks(struct strbuf *out, uint64_t *random) {
    while (unit_below(random, 4) == 0)
        strbuf_append_char(out, " \t\r\n"[unit_below(random, 4)]);
}

static void random_string(struct strbuf *out, uint64_t *random) {
    static const char *const parts[] = {
        "a",
        "zone",
        "0123456789abcdef",
        "\xc3\xa4",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u00e4",
        "\\u20AC",
        "\\ud83d\\ude00",
        "\x7f",
        "/",
        "\\/",
        "{}[],:",
        "kubernetes.io/hostname",
    };
    strbuf_append_char(out, '"');
    while (unit_below(random, 3) != 0)
        strbuf_append_str(out, str_of(parts[unit_below(random, sizeof parts / sizeof parts[0])]));
    strbuf_append_char(out, '"');
}

static void random_value(struct strbuf *out, uint64_t *random, int depth) {
    static const char *const scalars[] = {"null", "true", "false", "0",     "-0",
                                          "17",   "-2.5", "1e9",   "1E-07", "9223372036854775807"};
    random_blanks(out, random);
    uint32_t pick = unit_below(random, depth > 0 ? 10 : 5);
    if (pick < 3) {
        strbuf_append_str(out,
                          str_of(scalars[unit_below(random, sizeof scalars / sizeof scalars[0])]));
    } else if (pick < 5) {
        random_string(out, random);
    } else {
        bool object = pick < 8;
        strbuf_append_char(out, object ? '{' : '[');
        for (uint32_t i = 0, n = unit_below(random, 5); i < n; i++) {
            if (i > 0)
                strbuf_append_char(out, ',');
            random_blanks(out, random);
            if (object) {
                random_string(out, random);
                random_blanks(out, random);
                strbuf_append_char(out, ':');
            }
            random_value(out, random, depth - 1);
        }
        random_blanks(out, random);
        strbuf_append_char(out, object ? '}' : ']');
    }
    random_blanks(out, random);
}

/* Replaces, removes, inserts or swaps a few bytes. */
static void damage(struct strbuf *text, uint64_t *random) {
    static const char interesting[] =
        "{}[]\":,\\u0019aeEn-+. \n\t/bdfr\x00\x1f\x7f\x80\xbf\xc0\xc3\xe2\xed\xf0\xf4\xff";
    for (uint32_t times = 1 + unit_below(random, 2); times > 0 && text->n > 0; times--) {
        uint32_t at = unit_below(random, (uint32_t)text->n);
        uint32_t other = unit_below(random, (uint32_t)text->n);
        char byte = interesting[unit_below(random, sizeof interesting - 1)], old = text->p[at];
        switch (unit_below(random, 4)) {
        case 0:
            text->p[at] = byte;
            break;
        case 1:
            memmove(text->p + at, text->p + at + 1, text->n - at - 1);
            text->n--;
            break;
        case 2:
            strbuf_append_char(text, 0);
            memmove(text->p + at + 1, text->p + at, text->n - at - 1);
            text->p[at] = byte;
            break;
        default:
            text->p[at] = text->p[other];
            text->p[other] = old;
        }
    }
}

/* All three agree. Returns whether they accept it. */
static bool agree(struct str text) {
    struct err skip = {0}, walk = {0};
    bool reference = json_walk_reference(text);
    bool skipped = json_walk_skip(text, &skip) == 0, walked = json_walk_typed(text, &walk) == 0;
    if (skipped == reference && walked == reference)
        return reference;
    fail_msg("reference %d, skip %d (%s), walk %d (%s): %.*s", reference, skipped, skip.text,
             walked, walk.text, (int)text.n, text.p);
    return false;
}

static void test_random_documents(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 5000; i++) {
        struct strbuf text = {0};
        random_value(&text, &random, 5);
        assert_true(agree(strbuf_str(&text)));
        strbuf_done(&text);
    }
}

static void test_damaged_documents(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    unsigned accepted = 0, refused = 0;
    for (int i = 0; i < 40000; i++) {
        struct strbuf text = {0};
        random_value(&text, &random, 3);
        damage(&text, &random);
        char *exact = malloc(text.n + 1); /* so that sanitizers see a byte read behind the text */
        assert_non_null(exact);
        memcpy(exact, text.p, text.n);
        *(agree((struct str){exact, text.n}) ? &accepted : &refused) += 1;
        free(exact);
        strbuf_done(&text);
    }
    /* both happen often, or this test proves little */
    assert_true(accepted > 1000 && refused > 10000);
}

/* Skipping a member hands out the very bytes a walk over it covers. */
static void test_skip_covers_what_a_walk_covers(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 5000; i++) {
        struct strbuf text = {0};
        strbuf_append_str(&text, STR("{\"a\":"));
        random_value(&text, &random, 4);
        strbuf_append_str(&text, STR(",\"b\":7}"));
        struct arena arena;
        struct json_reader skip, walk;
        struct str key;
        arena_init(&arena, 1 << 20);
        json_reader_init(&skip, strbuf_str(&text), &arena, "Doc");
        json_reader_init(&walk, strbuf_str(&text), &arena, "Doc");
        assert_true(json_object(&skip) && json_member(&skip, &key));
        assert_true(json_object(&walk) && json_member(&walk, &key));
        struct str bytes = json_skip(&skip);
        (void)json_peek(&walk); /* moves over blanks, where the value starts */
        assert_ptr_equal(bytes.p, walk.p);
        json_walk_value(&walk);
        assert_ptr_equal(bytes.p + bytes.n, walk.p);
        assert_int_equal(json_offset(&skip), json_offset(&walk));
        assert_true(json_member(&skip, &key));
        assert_str(key, "b");
        assert_int_equal(json_integer(&skip, 0, 9), 7);
        assert_false(json_member(&skip, &key));
        assert_int_equal(json_finish(&skip, NULL), 0);
        arena_done(&arena);
        strbuf_done(&text);
    }
}

/* Megabytes of one kind. Anything worse than linear would not end within the runner's limit. */
static void test_large_documents(void **state) {
    (void)state;
    static const struct {
        const char *open, *piece, *close;
    } shapes[] = {
        {"\"", "a", "\""},
        {"\"", "\\n", "\""},
        {"\"", "\\ud83d\\ude00", "\""},
        {"\"", "\xc3\xa4", "\""},
        {"", " ", "0"},
        {"[0", ",0", "]"},
        {"[[]", ",[]", "]"},
        {"[{}", ",{\"\\n\":[]}", "]"},
        {"{\"a\":1", ",\"a\":{\"b\":\"c\"}", "}"},
        {"0.", "1", ""},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct strbuf text = {0};
        strbuf_append_str(&text, str_of(shapes[i].open));
        while (text.n < 4u << 20)
            strbuf_append_str(&text, str_of(shapes[i].piece));
        strbuf_append_str(&text, str_of(shapes[i].close));
        struct err err = {0};
        if (json_walk_skip(strbuf_str(&text), &err) != 0 ||
            json_walk_typed(strbuf_str(&text), &err) != 0)
            fail_msg("%s%s...: %s", shapes[i].open, shapes[i].piece, err.text);
        strbuf_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_documents),
        cmocka_unit_test(test_damaged_documents),
        cmocka_unit_test(test_skip_covers_what_a_walk_covers),
        cmocka_unit_test(test_large_documents),
    };
    return cmocka_run_group_tests_name("json_reader_random", tests, NULL, NULL);
}
