/*
 * Messages of Karmada's estimator against the bytes that Karmada's own code wrote: v1.17.0, v1.18.0
 * and the commit f8fdd02, data/karmada/wire_golden.txt. A line is
 *
 *     KIND VERSION HEX
 *     KIND HEX            the same of every version
 *
 * Each message is written again as it was, and as the other versions wrote it.
 */
#include "base/arena.h"
#include "base/file.h"
#include "estimator/wire.h"

#include "unit/estimator/wire_bytes.h"

#include <stdio.h>

#define DATA "tests/conformance/data/karmada/wire_golden.txt"

enum { MOST_LINES = 64 };

static const struct kind {
    const char *word, *message;
} kinds[] = {
    {"request", "MaxAvailableReplicasRequest"},
    {"request-empty", "MaxAvailableReplicasRequest"},
    {"claim", "NodeClaim"},
    {"uns", "UnschedulableReplicasRequest"},
    {"toleration", "Toleration"},
    {"selector", "NodeSelector"},
    {"sets", "MaxAvailableComponentSetsRequest"},
};

struct golden {
    const struct kind *kind;
    bool every; /* epoch */
    enum wire_epoch epoch;
    char hex[512];
};
static struct golden lines[MOST_LINES];
static size_t count;

static const struct kind *kind_of(const char *word) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return &kinds[i];
    return NULL; /* a comment, or the responses, which test_wire.c of the unit tests has */
}

static void read_line(const char *line) {
    char word[32], version[32], rest[512];
    struct golden *g = &lines[count];
    if (sscanf(line, "%31s", word) != 1 || (g->kind = kind_of(word)) == NULL)
        return;
    const char *hex = strrchr(line, ' ');
    assert_true(hex != NULL && sscanf(hex, "%511s", g->hex) == 1);
    assert_int_equal(sscanf(line, "%*s %31s %511s", version, rest) >= 1, 1);
    g->every = version[0] != 'v' && strcmp(version, "f8fdd02") != 0;
    g->epoch = strcmp(version, "v1.17.0") == 0   ? WIRE_MESSAGES
               : strcmp(version, "v1.18.0") == 0 ? WIRE_BOTH
                                                 : WIRE_BYTES;
    count++;
    assert_true(count < MOST_LINES);
}

static int load(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 20};
    struct err err;
    (void)state;
    if (file_read(DATA, 1 << 20, &text, &err) != 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    strbuf_append_char(&text, '\0');
    char *next = NULL;
    for (char *line = strtok_r(text.p, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next))
        read_line(line);
    return 0;
}

static void assert_rewritten(const struct golden *from, enum wire_epoch epoch, const char *want) {
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(strbuf_done) struct strbuf bytes = {0}, json = {0}, out = {0};
    const char *near;
    struct err err;
    arena_init(&arena, 1 << 20);
    hex_append(from->hex, &bytes);
    const struct wire_kind *kind = wire_kind_find(str_of(from->kind->message), &near);
    assert_non_null(kind);
    if (wire_rewrite(kind, strbuf_str(&bytes), epoch, &arena, &json, &out, &err) != 0)
        fail_msg("%s", err.text);
    assert_hex(strbuf_str(&out), want);
}

static void every_message_is_written_as_it_was(void **state) {
    (void)state;
    assert_int_equal(count, 13);
    for (size_t i = 0; i < count; i++)
        for (int epoch = WIRE_MESSAGES; epoch <= WIRE_BYTES; epoch++)
            if (lines[i].every || lines[i].epoch == (enum wire_epoch)epoch)
                assert_rewritten(&lines[i], (enum wire_epoch)epoch, lines[i].hex);
}

/* The versions recorded the same requests and claims; of component sets, v1.17 knows no assumed
 * workloads. */
static void every_epoch_becomes_every_other(void **state) {
    size_t pairs = 0;
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            if (lines[i].kind != lines[k].kind || i == k || lines[i].every)
                continue;
            const bool sets = strcmp(lines[i].kind->word, "sets") == 0;
            if (sets && lines[i].epoch == WIRE_MESSAGES)
                continue;
            assert_rewritten(&lines[i], lines[k].epoch, lines[k].hex);
            pairs++;
        }
    assert_int_equal(pairs, 6 + 6 + 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_is_written_as_it_was),
        cmocka_unit_test(every_epoch_becomes_every_other),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
