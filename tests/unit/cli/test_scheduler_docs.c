/*
 * What the guides say of kube-scheduler's configuration, against the program: nothing
 * that they show is complained of, and every field that names a verb is explained.
 */
#include "base/file.h"
#include "base/limits.h"
#include "check/scheduler.h"

#include "unit/unit.h"

#include <dirent.h>
#include <stdio.h>

static const char guides[] = "docs/guides";
static const char guide[] = "docs/guides/kube-scheduler.md";

static struct strbuf read_whole(const char *path) {
    struct err err;
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    if (file_read(path, LIMIT_CONFIG_BYTES, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    text.n--;
    return text;
}

/* ---- what is shown ---- */

/* A block may be the rest of the one above it. */
static bool is_configuration(struct str yaml) {
    return str_has_prefix(yaml, STR("apiVersion: kubescheduler.config.k8s.io/"));
}

static bool continues_configuration(struct str yaml) {
    return str_has_prefix(yaml, STR("profiles:"));
}

/* With `extender.bind: true`, as the guide says of those who let Evenkeel bind. */
static void must_be_good(const char *path, struct str yaml) {
    struct arena arena;
    struct check_report f;
    const struct configuration evenkeel = {.extender.bind = true};
    const struct scheduler_check which = {.index = -1, .evenkeel = &evenkeel};
    arena_init(&arena, 8 << 20);
    check_report_init(&f, &arena);
    scheduler_check(yaml, &which, &f);
    for (uint32_t i = 0; i < f.count; i++)
        if (f.items[i].severity != SEVERITY_INFO)
            fail_msg("%s: %.*s: %.*s, in\n%.*s", path, STR_ARG(f.items[i].path),
                     STR_ARG(f.items[i].problem), STR_ARG(yaml));
    arena_done(&arena);
}

/* As the guide has it for those who take the comment away. */
static void must_be_good_with_bind(const char *path, struct str yaml) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    strbuf_append_str(&text, yaml);
    strbuf_append_char(&text, '\0');
    char *bind = strstr(text.p, "# bindVerb: bind"), *limit = strstr(text.p, "httpTimeout: 1s");
    if (bind == NULL)
        return;
    assert_non_null(limit);
    memcpy(bind, "bindVerb: bind  ", strlen("# bindVerb: bind"));
    limit[strlen("httpTimeout: ")] = '5';
    must_be_good(path, (struct str){text.p, text.n - 1});
}

/* The number of configurations in the document, counting each that a later block adds to. */
static int check_document(const char *path) {
    static const char begin[] = "```yaml\n", end[] = "```\n";
    struct strbuf text = read_whole(path);
    struct str whole = {0};
    int count = 0;
    for (const char *at = text.p; (at = strstr(at, begin)) != NULL;) {
        CLEANUP(strbuf_done) struct strbuf yaml = {.max = LIMIT_CONFIG_BYTES};
        at += strlen(begin);
        const char *close = strstr(at, end);
        assert_non_null(close);
        struct str block = {at, (size_t)(close - at)};
        at = close;
        if (is_configuration(block))
            whole = block;
        else if (whole.n > 0 && continues_configuration(block))
            strbuf_append_str(&yaml, whole);
        else
            continue;
        strbuf_append_str(&yaml, block);
        must_be_good(path, strbuf_str(&yaml));
        must_be_good_with_bind(path, strbuf_str(&yaml));
        count++;
    }
    strbuf_done(&text);
    return count;
}

static void test_shown_configurations_are_good(void **state) {
    (void)state;
    int count = 0, documents = 0;
    DIR *dir = opendir(guides);
    if (dir == NULL)
        fail_msg("no folder %s (run it from the top of the repository)", guides);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[400];
        if (!str_has_suffix(str_of(entry->d_name), STR(".md")))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", guides, entry->d_name); /* fits */
        count += check_document(path);
        documents++;
    }
    assert_int_equal(closedir(dir), 0);
    assert_true(documents >= 4 && count >= 3);
}

/* ---- what is explained ---- */

static void test_every_verb_is_explained(void **state) {
    (void)state;
    struct strbuf text = read_whole(guide);
    for (size_t i = 0; i < EXTENDER_VERBS; i++) {
        char row[100];
        (void)snprintf(row, sizeof row, "\n| `%s`", extender_verbs[i].field); /* fits */
        assert_contains(text.p, row);
    }
    strbuf_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown_configurations_are_good),
        cmocka_unit_test(test_every_verb_is_explained),
    };
    return cmocka_run_group_tests_name("scheduler_docs", tests, NULL, NULL);
}
