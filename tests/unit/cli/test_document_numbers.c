/*
 * Numbers in docs/ that the program decides: each sentence, with the number put in
 * from the limit that it tells of, must stand in its document. (Settings and their defaults are
 * held by test_configuration_docs.c; names of environment variables and of files by
 * tests/integration/test_documents.sh.)
 */
#include "base/file.h"
#include "base/limits.h"

#include "unit/unit.h"

#include <stdio.h>

static struct strbuf read_whole(const char *path) {
    struct err err;
    struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    if (file_read(path, LIMIT_CONFIG_BYTES, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    text.n--;
    return text;
}

/* Documents are broken into lines anywhere: every run of blanks and line ends becomes one blank. */
static void join_lines(struct strbuf *text) {
    size_t n = 0;
    for (size_t i = 0; i < text->n; i++) {
        char c = text->p[i] == '\n' ? ' ' : text->p[i];
        if (c != ' ' || n == 0 || text->p[n - 1] != ' ')
            text->p[n++] = c;
    }
    text->p[n] = '\0';
    text->n = n;
}

/* 1,500: as the documents write it. */
static void put_number(unsigned long long number, struct strbuf *out) {
    if (number >= 1000) {
        put_number(number / 1000, out);
        strbuf_appendf(out, ",%03llu", number % 1000);
    } else {
        strbuf_appendf(out, "%llu", number);
    }
}

/* `sentence` with the numbers in place of its '#', or '@' where a message of the program is quoted,
 * which has no commas. */
static void fill_in(const char *sentence, const unsigned long long *numbers, struct strbuf *out) {
    for (const char *p = sentence; *p != '\0'; p++) {
        if (*p == '#')
            put_number(*numbers++, out);
        else if (*p == '@')
            strbuf_appendf(out, "%llu", *numbers++);
        else
            strbuf_append_char(out, *p);
    }
    strbuf_append_char(out, '\0');
}

enum { KIB = 1 << 10, MIB = 1 << 20, SECOND = 1000 };

static void test_limits_are_told_as_they_are(void **state) {
    (void)state;
    static const struct {
        const char *document, *sentence;
        unsigned long long numbers[2];
    } rows[] = {
        {"docs/architecture.md", "Any label key can be one; # are kept", {LIMIT_COLUMNS}},
        {"docs/architecture.md", "a buffer of # bytes on the stack", {LIMIT_DECISION_BYTES}},
        {"docs/architecture.md", "one pass over # hashes", {LIMIT_DECISIONS}},
        {"docs/security.md",
         "for at most # s, and at most # MiB of its output is read",
         {LIMIT_KUBE_EXEC_MS / SECOND, LIMIT_KUBE_EXEC_BYTES / MIB}},
        {"docs/security.md",
         "# MiB an event, # MiB a page",
         {LIMIT_KUBE_EVENT / MIB, LIMIT_KUBE_PAGE / MIB}},
        {"docs/security.md", "more than # objects (# nodes", {LIMIT_LISTED, LIMIT_LISTED_FEW}},
        {"docs/security.md", "more than # MiB would be kept", {LIMIT_LISTED_BYTES / MIB}},
        {"docs/security.md", "or # MiB more than after the list", {LIMIT_LISTED_BYTES / MIB}},
        {"docs/security.md",
         "read # pages and # GiB of a kind",
         {LIMIT_LISTED / LIMIT_KUBE_PAGE_OBJECTS, LIMIT_STATE_BYTES >> 30}},
        {"docs/security.md", "`nested deeper than @ levels`", {LIMIT_JSON_DEPTH}},
        {"docs/security.md", "body of # MiB or more", {LIMIT_HTTP_BODY / MIB}},
        {"docs/security.md", "closed # s after it opened", {LIMIT_HTTP_HEADER_MS / SECOND}},
        {"docs/security.md", "closed # s after the headers", {LIMIT_HTTP_REQUEST_MS / SECOND}},
        {"docs/security.md",
         "# are kept in all and # per address",
         {LIMIT_HTTP_CONNECTIONS, LIMIT_HTTP_CONNECTIONS_PER_ADDRESS}},
        {"docs/security.md",
         "Those without a request go after # s, those between two after # s",
         {LIMIT_HTTP_HEADER_MS / SECOND, LIMIT_HTTP_IDLE_MS / SECOND}},
        {"docs/security.md", "header block over # KiB", {LIMIT_HTTP_HEADER_BYTES / KIB}},
        {"docs/metrics.md",
         "behind other bodies of more than # KiB",
         {LIMIT_HTTP_LARGE_BODY / KIB}},
        {"docs/guides/explain.md", "keeps its last # decisions", {LIMIT_DECISIONS}},
        {"docs/guides/explain.md", "the # bytes that are kept", {LIMIT_DECISION_BYTES}},
        {"docs/guides/explain.md", "What-if names # nodes", {LIMIT_WHAT_IF_NODES}},
        {"docs/guides/explain.md",
         "# MB of memory once # decisions",
         {LIMIT_DECISIONS * LIMIT_DECISION_BYTES / 1000000, LIMIT_DECISIONS}},
        {"docs/guides/data-locality.md", "# MiB at most in all", {LIMIT_FLUID_BYTES / MIB}},
        {"docs/guides/data-locality.md", "# labels on a node", {LIMIT_LEAVING_LABELS}},
        {"docs/security.md", "on nodes that run such pods, # on a node", {LIMIT_LEAVING_LABELS}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf text = read_whole(rows[i].document);
        CLEANUP(strbuf_done) struct strbuf sentence = {.max = 1 << 10};
        join_lines(&text);
        fill_in(rows[i].sentence, rows[i].numbers, &sentence);
        if (strstr(text.p, sentence.p) == NULL)
            fail_msg("%s does not say '%s'", rows[i].document, sentence.p);
        strbuf_done(&text);
    }
}

/* Names as a large cloud gives them, and a pod as small as they come. */
static size_t request_bytes(uint32_t nodes) {
    static const char *const regions[] = {"eu-west-1", "eu-central-1", "us-east-1", "us-west-2"};
    struct strbuf out = {0};
    strbuf_appendf(&out, "{\"Pod\":{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\"}},"
                         "\"Nodes\":null,\"NodeNames\":[");
    for (uint32_t i = 0; i < nodes; i++)
        strbuf_appendf(&out, "%s\"ip-10-%u-%u-%u.%s.compute.internal\"", i > 0 ? "," : "", i % 12,
                       i / 12 / 250, i / 12 % 250, regions[i % 12 / 3]);
    strbuf_appendf(&out, "]}");
    size_t n = out.n;
    assert_false(strbuf_failed(&out));
    strbuf_done(&out);
    return n;
}

/* What a question of 5,000 names weighs; docs/performance.md has that of whole nodes. */
static void test_the_size_of_a_question(void **state) {
    (void)state;
    struct strbuf guide = read_whole("docs/guides/kube-scheduler.md"),
                  performance = read_whole("docs/performance.md");
    static const char before[] = "5,000 nodes are ", between[] = " KB instead of ";
    char together[40], *end;
    join_lines(&guide);
    join_lines(&performance);
    const char *at = strstr(guide.p, before);
    assert_non_null(at);
    unsigned long kilobytes = strtoul(at + strlen(before), &end, 10);
    assert_true(str_has_prefix(str_of(end), str_of(between)));
    unsigned long megabytes = strtoul(end + strlen(between), &end, 10);
    assert_true(str_has_prefix(str_of(end), STR(" MB")));
    double ratio = (double)request_bytes(5000) / 1000 / (double)kilobytes;
    if (ratio < 0.97 || ratio > 1.03)
        fail_msg("5,000 names are %zu bytes, not %lu KB", request_bytes(5000), kilobytes);
    (void)snprintf(together, sizeof together, "%lu MB together", megabytes); /* fits */
    assert_contains(performance.p, together);
    strbuf_done(&guide);
    strbuf_done(&performance);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_are_told_as_they_are),
        cmocka_unit_test(test_the_size_of_a_question),
    };
    return cmocka_run_group_tests_name("document_numbers", tests, NULL, NULL);
}
