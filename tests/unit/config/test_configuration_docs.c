/*
 * docs/configuration.md and docs/examples/evenkeel.yaml against the table of settings and that of
 * the extender's verbs. With UPDATE_DOCS=1 in front of it, this program writes the document's
 * tables anew.
 */
#include "base/file.h"
#include "base/limits.h"
#include "config/configuration.h"
#include "config/tasks.h"
#include "extender/verbs.h"

#include "unit/unit.h"

#include <ctype.h>
#include <stdio.h>

static const char document_path[] = "docs/configuration.md";
static const char example_path[] = "docs/examples/evenkeel.yaml";
static const char begin_mark[] = "<!-- table: ", end_mark[] = "<!-- end -->\n";

static struct strbuf read_whole(const char *path) {
    struct err err;
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    if (file_read(path, LIMIT_CONFIG_BYTES, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    text.n--;
    return text;
}

static struct str section_of(const struct configuration_option *option) {
    return (struct str){option->path, strcspn(option->path, ".")};
}

/* Is `word` one of the blank-separated `words`? */
static bool is_word_of(struct str words, struct str word) {
    while (words.n > 0) {
        size_t n = str_find(words, ' ');
        n = n == SIZE_MAX ? words.n : n;
        if (str_eq((struct str){words.p, n}, word))
            return true;
        words = str_trim((struct str){words.p + n, words.n - n});
    }
    return false;
}

static void write_row(const struct configuration_option *o, struct strbuf *out) {
    strbuf_appendf(out, "| `%s` | %s%s%s | ", o->path, o->type, o->range[0] != '\0' ? ", " : "",
                   o->range);
    if (o->required)
        strbuf_appendf(out, "required");
    else if (o->default_text[0] != '\0')
        strbuf_appendf(out, "`%s`", o->default_text);
    strbuf_appendf(out, " | ");
    if (o->flag != NULL)
        strbuf_appendf(out, "`--%s`%s", o->flag, o->is_list ? ", repeatable" : "");
    strbuf_appendf(out, " | %s |\n", o->help);
}

static void write_verbs(struct strbuf *out) {
    strbuf_appendf(out, "| what is served | field of the extender's entry | what kube-scheduler "
                        "asks |\n|---|---|---|\n");
    for (size_t i = 0; i < EXTENDER_VERBS; i++)
        strbuf_appendf(out, "| `POST %s` | `%s` | %s |\n", extender_verbs[i].path,
                       extender_verbs[i].field, extender_verbs[i].about);
}

/* The anchor of a heading is its text in small letters. */
static void write_link(const char *section, struct strbuf *out) {
    strbuf_appendf(out, "[%s](#", section);
    for (const char *p = section; *p != '\0'; p++)
        strbuf_append_char(out, (char)tolower((unsigned char)*p));
    strbuf_append_char(out, ')');
}

static void write_tasks(struct strbuf *out) {
    const struct configuration_task *task;
    strbuf_appendf(out, "| what you want to do | sections of the file |\n|---|---|\n");
    for (size_t i = 0; (task = configuration_task_at(i)) != NULL; i++) {
        strbuf_appendf(out, "| %s | ", task->name);
        for (size_t k = 0; task->sections[k] != NULL; k++) {
            strbuf_append_str(out, str_of(k > 0 ? ", " : ""));
            write_link(task->sections[k], out);
        }
        strbuf_appendf(out, " |\n");
    }
}

static void write_removed(struct strbuf *out) {
    const struct configuration_removed *row;
    strbuf_appendf(out, "| key | | flag | what holds now |\n|---|---|---|---|\n");
    for (size_t i = 0; (row = configuration_removed_at(i)) != NULL; i++)
        strbuf_appendf(out, "| `%s` | removed | %s%s%s | %s |\n", row->path,
                       row->flag != NULL ? "`--" : "", row->flag != NULL ? row->flag : "",
                       row->flag != NULL ? "`" : "", row->instead);
}

static void write_table(struct str sections, struct strbuf *out) {
    struct configuration_option option;
    if (str_eq(sections, STR("verbs"))) {
        write_verbs(out);
        return;
    }
    if (str_eq(sections, STR("tasks"))) {
        write_tasks(out);
        return;
    }
    if (str_eq(sections, STR("removed"))) {
        write_removed(out);
        return;
    }
    strbuf_appendf(out, "| key | type | default | flag | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; configuration_option_at(i, &option); i++)
        if (is_word_of(sections, section_of(&option)))
            write_row(&option, out);
}

/* The document with its tables as they should be. */
static struct strbuf rewrite(const char *text) {
    struct strbuf out = {.max = LIMIT_CONFIG_BYTES};
    for (const char *begin; (begin = strstr(text, begin_mark)) != NULL;) {
        const char *words = begin + strlen(begin_mark), *close = strstr(words, " -->\n");
        assert_non_null(close);
        const char *end = strstr(close, end_mark);
        assert_non_null(end);
        strbuf_append(&out, text, (size_t)(close + strlen(" -->\n") - text));
        write_table((struct str){words, (size_t)(close - words)}, &out);
        text = end;
    }
    strbuf_append_str(&out, str_of(text));
    assert_false(strbuf_failed(&out));
    return out;
}

static void test_tables_are_current(void **state) {
    (void)state;
    struct strbuf is = read_whole(document_path), should = rewrite(is.p);
    bool same = str_eq(strbuf_str(&is), strbuf_str(&should));
    struct err err;
    if (!same && getenv("UPDATE_DOCS") != NULL) {
        assert_int_equal(file_write_atomic(document_path, strbuf_str(&should), 0644, &err), 0);
        same = true;
    }
    strbuf_done(&is);
    strbuf_done(&should);
    if (!same)
        fail_msg("%s is out of date; run UPDATE_DOCS=1 make unit", document_path);
}

static void test_every_setting_is_in_the_document(void **state) {
    (void)state;
    struct strbuf text = read_whole(document_path);
    struct configuration_option option;
    size_t count = 0;
    for (; configuration_option_at(count, &option); count++) {
        char row[100];
        (void)snprintf(row, sizeof row, "| `%s` |", option.path); /* fits */
        assert_contains(text.p, row);
    }
    assert_true(count > 40);
    strbuf_done(&text);
}

/* A section that no task has would be missing in the help. */
static void test_every_setting_is_for_a_task(void **state) {
    (void)state;
    struct configuration_option option;
    for (size_t i = 0; configuration_option_at(i, &option); i++)
        if (strchr(option.path, '.') != NULL && configuration_task_of(option.path) == NULL)
            fail_msg("%s is for no task", option.path);
    assert_null(configuration_task_of("kind"));
    assert_null(configuration_task_of("log-level"));
    assert_string_equal(configuration_task_of("log")->name, "See and log what it does");
}

static void test_every_setting_is_in_the_example(void **state) {
    (void)state;
    struct strbuf text = read_whole(example_path);
    struct configuration_option option;
    for (size_t i = 0; configuration_option_at(i, &option); i++) {
        char key[100];
        const char *last = strrchr(option.path, '.');
        (void)snprintf(key, sizeof key, "%s: ", last != NULL ? last + 1 : option.path); /* fits */
        if (strstr(text.p, key) != NULL)
            continue;
        key[strlen(key) - 1] = '\n'; /* or its value stands below */
        if (strstr(text.p, key) == NULL) {
            key[strlen(key) - 1] = ' '; /* or a comment does */
            assert_contains(text.p, key);
        }
    }
    strbuf_done(&text);
}

static void test_the_example_is_good(void **state) {
    (void)state;
    struct configuration c, defaults;
    struct err err = {0};
    configuration_init(&c);
    configuration_init(&defaults);
    if (configuration_read(&c, example_path, &err) != 0 || configuration_check(&c, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(c.engine.default_constraint_count, 2);
    assert_int_equal(c.engine.ordered_rule_count, 1);
    assert_int_equal(c.engine.ordered_rules[0].term_count, 3);
    /* it says that it shows the defaults */
    assert_memory_equal(&c.extender.limits, &defaults.extender.limits, sizeof c.extender.limits);
    assert_memory_equal(&c.webhook.limits, &defaults.webhook.limits, sizeof c.webhook.limits);
    assert_string_equal(c.webhook.listen, defaults.webhook.listen);
    assert_int_equal(c.webhook.fluid.compat, defaults.webhook.fluid.compat);
    assert_int_equal(c.webhook.fluid.scale_in, defaults.webhook.fluid.scale_in);
    assert_memory_equal(&c.cache, &defaults.cache, sizeof c.cache);
    assert_memory_equal(&c.reservations, &defaults.reservations, sizeof c.reservations);
    assert_memory_equal(&c.shutdown, &defaults.shutdown, sizeof c.shutdown);
    assert_memory_equal(&c.log, &defaults.log, sizeof c.log);
    assert_string_equal(c.extender.listen, defaults.extender.listen);
    assert_string_equal(c.ops.listen, defaults.ops.listen);
    assert_int_equal(c.state.poll_ms, defaults.state.poll_ms);
    assert_int_equal(c.engine.spread_weight, defaults.engine.spread_weight);
    assert_int_equal(c.engine.ordered_weight, defaults.engine.ordered_weight);
    assert_int_equal(c.engine.empty_selector_counts_all, defaults.engine.empty_selector_counts_all);
    configuration_done(&c);
    configuration_done(&defaults);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_are_current),
        cmocka_unit_test(test_every_setting_is_in_the_document),
        cmocka_unit_test(test_every_setting_is_for_a_task),
        cmocka_unit_test(test_every_setting_is_in_the_example),
        cmocka_unit_test(test_the_example_is_good),
    };
    return cmocka_run_group_tests_name("configuration_docs", tests, NULL, NULL);
}
