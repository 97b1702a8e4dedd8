/* The reader's helpers for decoders: arrays of items and objects of strings. */
#include "base/json_fields.h"

#include "unit/unit.h"

#include <errno.h>

struct port {
    struct str name, protocol;
    int64_t number;
};

static const struct json_field port_fields[] = {
    JSON_TEXT("name", struct port, name),
    JSON_TEXT("protocol", struct port, protocol),
};

static void read_port(struct json_reader *r, void *into) {
    json_fields(r, &JSON_ROWS(port_fields), into);
}

static void read_number(struct json_reader *r, void *into) {
    struct port *port = into;
    assert_int_equal(port->number, 0); /* the place is zeroed */
    port->number = json_integer(r, 0, 1000000);
}

static struct arena arena;
static struct json_reader r;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1u << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct port *ports_of(const char *text, uint32_t limit, uint32_t *ret_count) {
    arena_reset(&arena);
    json_reader_init(&r, str_of(text), &arena, "Pod");
    return json_array_of(&r, sizeof(struct port), limit, read_port, ret_count);
}

static void test_items_and_their_strings(void **state) {
    (void)state;
    uint32_t count = 99;
    struct port *ports = ports_of(
        "[{\"name\":\"http\",\"x\":[{}],\"protocol\":\"TCP\"},{\"protocol\":\"U\\u0044P\"},"
        "{},null,{\"name\":null}]",
        5, &count);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(count, 5);
    assert_str(ports[0].name, "http");
    assert_str(ports[0].protocol, "TCP");
    assert_str(ports[1].name, "");
    assert_str(ports[1].protocol, "UDP");
    assert_str(ports[3].protocol, "");
    assert_str(ports[4].name, "");
}

static void test_no_items(void **state) {
    (void)state;
    uint32_t count = 99;
    assert_null(ports_of("[]", 5, &count));
    assert_int_equal(count, 0);
    assert_int_equal(json_finish(&r, NULL), 0);
    count = 99;
    assert_null(ports_of("null", 5, &count));
    assert_int_equal(count, 0);
    assert_int_equal(json_finish(&r, NULL), 0);
}

static void test_many_items(void **state) {
    (void)state;
    struct strbuf text = {0};
    strbuf_append_char(&text, '[');
    for (int i = 0; i < 5000; i++)
        strbuf_appendf(&text, "%s%d", i == 0 ? "" : ",", i);
    strbuf_append_char(&text, ']');
    arena_reset(&arena);
    json_reader_init(&r, strbuf_str(&text), &arena, "Pod");
    uint32_t count;
    struct port *numbers = json_array_of(&r, sizeof(struct port), 5000, read_number, &count);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(count, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(numbers[i].number, i);
    strbuf_done(&text);
}

static void test_the_limit(void **state) {
    (void)state;
    uint32_t count = 99;
    struct err err = {0};
    assert_non_null(ports_of("[{},{},{}]", 3, &count));
    assert_int_equal(count, 3);
    assert_int_equal(json_finish(&r, &err), 0);
    assert_null(ports_of("[{},{},{},{}]", 3, &count));
    assert_int_equal(count, 0);
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_contains(err.text, "more than 3 items");
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"{}", "Pod: expected an array, found an object"},
        {"[7]", "Pod[0]: expected an object, found a number"},
        {"[{},{\"name\":7}]", "Pod[1].name: expected a string, found a number"},
        {"[{\"name\":\"a\"", "the text ends"},
        {"[{\"x\":01}]", "Pod[0].x: malformed number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t count = 99;
        struct err err = {0};
        (void)ports_of(cases[i].text, 5, &count); /* only the error counts */
        assert_int_equal(json_finish(&r, &err), -EINVAL);
        assert_contains(err.text, cases[i].part);
    }
}

static void test_no_memory(void **state) {
    (void)state;
    struct arena small;
    struct err err = {0};
    uint32_t count = 99;
    arena_init(&small, 200);
    json_reader_init(&r, STR("[{},{\"name\":\"a\"}]"), &small, "Pod");
    assert_null(json_array_of(&r, sizeof(struct port), 9, read_port, &count));
    assert_int_equal(count, 0);
    assert_int_equal(json_finish(&r, &err), -ENOMEM);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_and_their_strings),
        cmocka_unit_test(test_no_items),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_the_limit),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("json_decode", tests, set_up, tear_down);
}
