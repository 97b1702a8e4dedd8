/*
 * resource.Quantity against the answers of Kubernetes' own code, recorded in data/
 * kube-primitives.txt, section "## Quantity":
 *
 *     "1.5" => Value=2 Milli=1500 canon=1500m
 *     "1K" => ERR
 *     json 1.5 => 1500m Value=2 err=<nil>
 */
#include "base/file.h"
#include "model/quantity.h"

#include "unit/unit.h"

#include <stdio.h>

#define DATA "tests/conformance/data/kube-primitives.txt"

/* Rows where upstream answers garbage and we answer what is true, or the nearest int64 to it. */
static const struct known {
    const char *text;
    int64_t value, milli;
    const char *canonical; /* NULL: as recorded */
    const char *reason;
} known[] = {
#define WRAPS "scaling to int64 wraps around or gives 0 upstream"
    {"1E", 1000000000000000000, INT64_MAX, NULL, WRAPS},
    {"1Ei", 1152921504606846976, INT64_MAX, NULL, WRAPS},
    {"7Ei", 8070450532247928832, INT64_MAX, NULL, WRAPS},
    {"8Ei", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"9Ei", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"-9Ei", -INT64_MAX, INT64_MIN, NULL, WRAPS},
    {"100000000000000000000Ki", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"9223372036854775807", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"9223372036854775808", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"-9223372036854775808", INT64_MIN, INT64_MIN, NULL, WRAPS},
    {"-9223372036854775809", INT64_MIN, INT64_MIN, NULL, WRAPS},
    {"1e18", 1000000000000000000, INT64_MAX, NULL, WRAPS},
    {"1e19", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"1e20", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"9.3E", INT64_MAX, INT64_MAX, NULL, WRAPS},
    {"1e100", INT64_MAX, INT64_MAX, "10e27", "upstream wraps; ours saturates at 10^28"},
    {"1e9223372036854775807", INT64_MAX, INT64_MAX, "10e27",
     "upstream cuts the exponent to 32 bits and reads e-1"},
    {"-0.5n", -1, -1, NULL, "upstream adds one to a negative quotient instead of subtracting it"},
};

struct rows {
    struct strbuf bytes;
    struct str section;
};

static int load(void **state) {
    static struct rows rows = {.bytes = {.max = 1 << 20}};
    struct err err;
    if (file_read(DATA, 1 << 20, &rows.bytes, &err) != 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    strbuf_append_char(&rows.bytes, '\0');
    const char *head = "## Quantity\n";
    const char *from = strstr(rows.bytes.p, head);
    if (from == NULL)
        return -1;
    from += strlen(head);
    const char *end = strstr(from, "\n## ");
    rows.section = (struct str){from, end != NULL ? (size_t)(end + 1 - from) : strlen(from)};
    *state = &rows;
    return 0;
}

static int unload(void **state) {
    struct rows *rows = *state;
    strbuf_done(&rows->bytes);
    return 0;
}

/* The next line without its newline; false at the end. */
static bool next_line(struct str *rest, struct str *ret_line) {
    if (rest->n == 0)
        return false;
    size_t n = str_find(*rest, '\n');
    *ret_line = (struct str){rest->p, n == SIZE_MAX ? rest->n : n};
    size_t step = n == SIZE_MAX ? rest->n : n + 1;
    *rest = (struct str){rest->p + step, rest->n - step};
    return true;
}

/* What stands before " => ", and what after it. */
static void split(struct str line, struct str *ret_left, struct str *ret_right) {
    for (size_t i = 0; i + 4 <= line.n; i++) {
        if (memcmp(line.p + i, " => ", 4) == 0) {
            *ret_left = (struct str){line.p, i};
            *ret_right = (struct str){line.p + i + 4, line.n - i - 4};
            return;
        }
    }
    fail_msg("no ' => ' in '%.*s'", STR_ARG(line));
}

static const struct known *find_known(struct str text) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_eq(text, str_of(known[i].text)))
            return &known[i];
    return NULL;
}

/* What Kubernetes would print. */
static void print(const struct quantity *q, struct str text, struct strbuf *out) {
    if (q->as_typed)
        strbuf_append_str(out, text);
    else
        quantity_format(q, out);
}

static void describe(struct str text, struct strbuf *out) {
    struct quantity q;
    if (quantity_parse(text, &q, NULL) != 0) {
        strbuf_append_str(out, STR("ERR"));
        return;
    }
    strbuf_appendf(out, "Value=%lld Milli=%lld canon=", (long long)quantity_value(&q),
                   (long long)quantity_milli_value(&q));
    print(&q, text, out);
}

/* Replaces the recorded answer by ours, which must differ: a row that agrees needs no excuse. */
static void apply_known(const struct known *k, struct str recorded, struct strbuf *ret_want) {
    const char *canonical = strstr(recorded.p, "canon=") + strlen("canon=");
    size_t n = (size_t)(recorded.p + recorded.n - canonical);
    strbuf_appendf(ret_want, "Value=%lld Milli=%lld canon=", (long long)k->value,
                   (long long)k->milli);
    strbuf_append_str(ret_want,
                      k->canonical != NULL ? str_of(k->canonical) : (struct str){canonical, n});
    if (str_eq(strbuf_str(ret_want), recorded))
        fail_msg("'%s' agrees with upstream: take it off the list", k->text);
}

static void test_text(void **state) {
    const struct rows *rows = *state;
    struct str rest = rows->section, line, left, recorded;
    size_t checked = 0, excused = 0;
    while (next_line(&rest, &line)) {
        if (line.n == 0 || line.p[0] != '"')
            continue;
        split(line, &left, &recorded);
        struct str text = {left.p + 1, left.n - 2};
        struct strbuf got = {.max = 1000}, want = {.max = 1000};
        describe(text, &got);
        const struct known *k = find_known(text);
        if (k != NULL)
            apply_known(k, recorded, &want);
        else
            strbuf_append_str(&want, recorded);
        if (!str_eq(strbuf_str(&got), strbuf_str(&want)))
            fail_msg("\"%.*s\": got %.*s, want %.*s", STR_ARG(text), STR_ARG(strbuf_str(&got)),
                     STR_ARG(strbuf_str(&want)));
        strbuf_done(&got);
        strbuf_done(&want);
        checked++;
        excused += k != NULL;
    }
    assert_int_equal(checked, 82);
    assert_int_equal(excused, sizeof known / sizeof known[0]);
}

static void test_json(void **state) {
    const struct rows *rows = *state;
    struct str rest = rows->section, line, left, recorded;
    size_t checked = 0;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    while (next_line(&rest, &line)) {
        if (!str_has_prefix(line, STR("json ")))
            continue;
        split(line, &left, &recorded);
        struct json_reader r;
        json_reader_init(&r, (struct str){left.p + 5, left.n - 5}, &arena, "quantity");
        struct str text;
        struct quantity q = quantity_decode(&r, &text);
        struct strbuf got = {.max = 1000};
        bool failed = json_finish(&r, NULL) != 0;
        print(&q, text, &got);
        strbuf_appendf(&got, " Value=%lld err=%s", (long long)quantity_value(&q),
                       failed ? "" : "<nil>");
        /* the wording of an error is ours; that there is one is not */
        if (!failed ? !str_eq(recorded, strbuf_str(&got))
                    : !str_has_prefix(recorded, strbuf_str(&got)) ||
                          str_has_suffix(recorded, STR("<nil>")))
            fail_msg("%.*s: got %.*s, want %.*s", STR_ARG(left), STR_ARG(strbuf_str(&got)),
                     STR_ARG(recorded));
        strbuf_done(&got);
        checked++;
    }
    assert_int_equal(checked, 9);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
