/*
 * The typed tables by themselves, with a table that has what no table of the program has.
 */
#include "config/fields.h"

#include "unit/unit.h"

#include <stdio.h>

struct item {
    struct str name;
    int64_t number;
};

struct thing {
    uint32_t depth;
    struct item one;
    const struct item *items;
    uint32_t item_count;
    unsigned finished; /* how often finish was called */
};

static void finish(struct field_source *s, const char *path, struct str json, void *object) {
    struct thing *t = object;
    (void)s, (void)path, (void)json; /* nothing to complain of */
    t->finished++;
}

static const struct field item_fields[] = {
    {.path = "name", .type = FIELD_STR, FIELD_MEMBER(struct item, name), .required = true},
    {.path = "number",
     .type = FIELD_NUMBER,
     FIELD_MEMBER(struct item, number),
     .min = INT64_MIN,
     .max = INT64_MAX,
     .initial = 5},
};
static const struct field_table item_table = FIELD_TABLE(item_fields, struct item, NULL);

static const struct field thing_fields[] = {
    {.path = "a.b.depth",
     .type = FIELD_NUMBER,
     FIELD_MEMBER(struct thing, depth),
     .max = 10,
     .required = true},
    {.path = "one", .type = FIELD_OBJECT, FIELD_MEMBER(struct thing, one), .table = &item_table},
    {.path = "items",
     .type = FIELD_OBJECTS,
     FIELD_MEMBER(struct thing, items),
     FIELD_COUNT(struct thing, item_count),
     .table = &item_table,
     .max = 3},
};
static const struct field_table thing_table = FIELD_TABLE(thing_fields, struct thing, finish);

struct told {
    char text[600];
};

static void on_problem(void *ctx, const struct field_problem *p) {
    static const char *const kinds[] = {"unknown", "repeated", ""};
    struct told *told = ctx;
    size_t n = strlen(told->text);
    (void)snprintf(told->text + n, sizeof told->text - n, "%u %s: %s%s\n", p->line, p->path,
                   kinds[p->kind], p->kind == FIELD_BAD_VALUE ? p->text : ""); /* fits */
}

/* What is told of `yaml`, which fills `ret`. */
static struct told read_thing(const char *yaml, struct arena *arena, struct thing *ret) {
    struct told told = {.text = ""};
    struct yaml_json doc;
    struct err err;
    if (yaml_to_json(str_of(yaml), true, arena, &doc, &err) != 0)
        fail_msg("%s", err.text);
    struct field_source s = {.arena = arena, .doc = &doc, .problem = on_problem, .ctx = &told};
    *ret = (struct thing){0};
    fields_set_defaults(&thing_table, arena, ret);
    fields_read(&s, &thing_table, "", doc.documents[0], ret);
    return told;
}

static void test_objects_in_objects(void **state) {
    (void)state;
    struct arena arena;
    struct thing t;
    arena_init(&arena, 1 << 20);
    struct told told = read_thing("a: {b: {depth: 7}}\n"
                                  "one: {name: x}\n"
                                  "items: [{name: w, number: -9223372036854775808}, {name: z}]\n",
                                  &arena, &t);
    assert_string_equal(told.text, "");
    assert_int_equal(t.depth, 7);
    assert_str(t.one.name, "x");
    assert_int_equal(t.one.number, 5);
    assert_int_equal(t.item_count, 2);
    assert_str(t.items[0].name, "w");
    assert_true(t.items[0].number == INT64_MIN);
    assert_str(t.items[1].name, "z");
    assert_int_equal(t.items[1].number, 5);
    assert_int_equal(t.finished, 1);
    arena_done(&arena);
}

static void test_problems(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *told;
    } rows[] = {
        {"{}", "1 a.b.depth: it is required\n"},
        {"a: {}", "1 a.b.depth: it is required\n"},
        {"a:\n  b: {}\n", "1 a.b.depth: it is required\n"},
        {"a:\n  c: {}\n  b:\n    depth: 11\n",
         "2 a.c: unknown\n4 a.b.depth: 11 is not between 0 and 10\n"},
        {"a: {b: {depth: 1}}\none: {}\n", "2 one.name: it is required\n"},
        {"a: {b: {depth: 1}}\none: 7\n", "2 one: expected an object, found a number\n"},
        {"a: {b: {depth: 1}}\nitems:\n- {name: a}\n- {number: 1}\n- 7\n",
         "4 items[1].name: it is required\n5 items[2]: expected an object with keys of its own\n"},
        {"a: {b: {depth: 1}}\nitems:\n- {name: a}\n- {name: a}\n- {name: a}\n- {name: a}\n",
         "6 items: more than 3 items\n"},
        {"a: {b: {depth: 1}}\na.b: {depth: 2}\n", "2 a.b: unknown\n"},
        {"{\"a\": {\"b\": {\"depth\": 1}},\n\"a\": {\"b\": {\"depth\": 2}}}", "2 a: repeated\n"},
        {"{\"a\": {\"b\": {\"depth\": 1},\n\"b\": {\"depth\": 2}}}", "2 a.b: repeated\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct thing t;
        arena_init(&arena, 1 << 20);
        struct told told = read_thing(rows[i].yaml, &arena, &t);
        assert_string_equal(told.text, rows[i].told);
        assert_int_equal(t.finished, 0); /* only what is right is looked at as a whole */
        arena_done(&arena);
    }
}

/* Rows far apart are told apart, up to the longest table. */
static void test_a_long_table(void **state) {
    (void)state;
    static char names[FIELD_TABLE_MAX][8];
    static struct field rows[FIELD_TABLE_MAX];
    const struct field_table table = {rows, FIELD_TABLE_MAX, FIELD_TABLE_MAX * sizeof(bool), NULL};
    bool values[FIELD_TABLE_MAX];
    struct told told = {.text = ""};
    struct strbuf yaml = {0};
    struct yaml_json doc;
    struct arena arena;
    for (size_t i = 0; i < FIELD_TABLE_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "k%zu", i); /* fits */
        rows[i] = (struct field){.path = names[i],
                                 .type = FIELD_BOOL,
                                 .offset = i * sizeof(bool),
                                 .size = sizeof(bool),
                                 .required = true};
        if (i != FIELD_TABLE_MAX - 1)
            strbuf_appendf(&yaml, "k%zu: %s\n", i, i % 3 == 0 ? "true" : "false");
    }
    arena_init(&arena, 4 << 20);
    assert_int_equal(yaml_to_json(strbuf_str(&yaml), true, &arena, &doc, NULL), 0);
    struct field_source s = {.arena = &arena, .doc = &doc, .problem = on_problem, .ctx = &told};
    fields_set_defaults(&table, &arena, values);
    fields_read(&s, &table, "", doc.documents[0], values);
    for (size_t i = 0; i < FIELD_TABLE_MAX - 1; i++)
        assert_int_equal(values[i], i % 3 == 0);
    assert_contains(told.text, names[FIELD_TABLE_MAX - 1]);
    assert_null(strstr(told.text, "repeated"));
    strbuf_done(&yaml);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_in_objects),
        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_a_long_table),
    };
    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
