/* Base64, by the examples of RFC 4648 and by what it says of padding. */
#include "base/base64.h"

#include "unit/unit.h"

static const struct {
    const char *bytes, *text;
} examples[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/"},
    {"\xff", "/w=="},
    {"\xff\xff", "//8="},
};

static void both_ways(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct arena arena;
        struct strbuf text = {0};
        struct str bytes;
        arena_init(&arena, 1 << 16);
        base64_append(&text, str_of(examples[i].bytes));
        assert_str(strbuf_str(&text), examples[i].text);
        assert_true(base64_decode(str_of(examples[i].text), &arena, &bytes));
        assert_str(bytes, examples[i].bytes);
        strbuf_done(&text);
        arena_done(&arena);
    }
}

static void every_byte(void **state) {
    char all[256];
    struct arena arena;
    struct strbuf text = {0};
    struct str bytes;
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    arena_init(&arena, 1 << 16);
    base64_append(&text, (struct str){all, sizeof all});
    assert_int_equal(text.n, 344);
    assert_true(base64_decode(strbuf_str(&text), &arena, &bytes));
    assert_int_equal(bytes.n, sizeof all);
    assert_memory_equal(bytes.p, all, sizeof all);
    strbuf_done(&text);
    arena_done(&arena);
}

/* Lines may be broken anywhere, as `base64` and people do. */
static void lines(void **state) {
    static const char *const texts[] = {"Zm9v\nYmFy", "Zm9v\r\nYmFy\r\n", "Z\nm9vYmF\ny",
                                        "\nZm9vYmFy", "Zm9vYmFy\n"};
    struct arena arena;
    struct str bytes;
    (void)state;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(base64_decode(str_of(texts[i]), &arena, &bytes));
        assert_str(bytes, "foobar");
    }
    assert_true(base64_decode(STR("Zg=\n="), &arena, &bytes));
    assert_str(bytes, "f");
    arena_done(&arena);
}

static void what_is_none(void **state) {
    static const char *const texts[] = {"Z",    "Zg",   "Zg=",      "Zm9vY",    "=",       "====",
                                        "Z===", "Zg=a", "Zg==Zg==", "Zg===",    "Zm9v=",   "Zm 9v",
                                        "Zm9_", "Zm9-", "Zm9\x80",  "Zg==Zm9v", "Zm9v===="};
    struct arena arena;
    struct str bytes = STR("untouched");
    (void)state;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (base64_decode(str_of(texts[i]), &arena, &bytes))
            fail_msg("%s", texts[i]);
    assert_str(bytes, "untouched");
    arena_done(&arena);
    arena_init(&arena, 8); /* no memory */
    assert_false(base64_decode(STR("Zm9v"), &arena, &bytes));
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(lines),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
