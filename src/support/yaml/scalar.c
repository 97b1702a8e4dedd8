#include "yaml/scalar.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

static const struct word {
    char text[6];
    enum yaml_kind kind;
    const char *json;
} words[] = {
    {"", YAML_NULL, "null"},        {"~", YAML_NULL, "null"},       {"null", YAML_NULL, "null"},
    {"Null", YAML_NULL, "null"},    {"NULL", YAML_NULL, "null"},    {"true", YAML_BOOL, "true"},
    {"True", YAML_BOOL, "true"},    {"TRUE", YAML_BOOL, "true"},    {"yes", YAML_BOOL, "true"},
    {"Yes", YAML_BOOL, "true"},     {"YES", YAML_BOOL, "true"},     {"on", YAML_BOOL, "true"},
    {"On", YAML_BOOL, "true"},      {"ON", YAML_BOOL, "true"},      {"y", YAML_BOOL, "true"},
    {"Y", YAML_BOOL, "true"},       {"false", YAML_BOOL, "false"},  {"False", YAML_BOOL, "false"},
    {"FALSE", YAML_BOOL, "false"},  {"no", YAML_BOOL, "false"},     {"No", YAML_BOOL, "false"},
    {"NO", YAML_BOOL, "false"},     {"off", YAML_BOOL, "false"},    {"Off", YAML_BOOL, "false"},
    {"OFF", YAML_BOOL, "false"},    {"n", YAML_BOOL, "false"},      {"N", YAML_BOOL, "false"},
    {".inf", YAML_NOT_FINITE, ""},  {".Inf", YAML_NOT_FINITE, ""},  {".INF", YAML_NOT_FINITE, ""},
    {"+.inf", YAML_NOT_FINITE, ""}, {"+.Inf", YAML_NOT_FINITE, ""}, {"+.INF", YAML_NOT_FINITE, ""},
    {"-.inf", YAML_NOT_FINITE, ""}, {"-.Inf", YAML_NOT_FINITE, ""}, {"-.INF", YAML_NOT_FINITE, ""},
    {".nan", YAML_NOT_FINITE, ""},  {".NaN", YAML_NOT_FINITE, ""},  {".NAN", YAML_NOT_FINITE, ""},
};

static const struct word *find_word(struct str s) {
    if (s.n >= sizeof words[0].text)
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq(s, str_of(words[i].text)))
            return &words[i];
    return NULL;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- integers ---- */

/* Returns the base that the prefix of an unsigned number names; 10 without a prefix. `ret_digits`
 * are the digits after the prefix. */
static int base_of(struct str s, struct str *ret_digits) {
    *ret_digits = s;
    if (s.n < 2 || s.p[0] != '0')
        return 10;
    char c = s.p[1];
    int base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : c == 'b' || c == 'B' ? 2 : 0;
    size_t prefix = base != 0 ? 2 : 1;
    *ret_digits = (struct str){s.p + prefix, s.n - prefix};
    return base != 0 ? base : 8;
}

static int digit_value(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 16;
}

/* Reads digits. Returns false if they are not digits of this base, or need more than 64 bits. */
static bool parse_unsigned(struct str digits, int base, uint64_t *ret) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        int digit = digit_value(digits.p[i]);
        if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *ret = value;
    return digits.n > 0;
}

/* Reads a signed number of any base that fits 64 bits, as Go's ParseInt or ParseUint does with base
 * 0. */
static bool as_integer(struct str number, struct strbuf *out) {
    bool negative = number.p[0] == '-', sign = negative || number.p[0] == '+';
    struct str digits;
    int base = base_of((struct str){number.p + sign, number.n - sign}, &digits);
    uint64_t value;
    if (!parse_unsigned(digits, base, &value) || (negative && value > (uint64_t)1 << 63) ||
        (number.p[0] == '+' && value > INT64_MAX))
        return false;
    strbuf_clear(out);
    strbuf_appendf(out, "%s%llu", negative && value != 0 ? "-" : "", (unsigned long long)value);
    return true;
}

/* ---- floats, and integers that are too long ---- */

struct decimal {
    bool negative;
    struct str whole, fraction, exponent; /* exponent with its 'e' and sign, or empty */
};

static struct str take_digits(struct str *s) {
    struct str digits = {s->p, 0};
    while (digits.n < s->n && is_digit(s->p[digits.n]))
        digits.n++;
    s->p += digits.n;
    s->n -= digits.n;
    return digits;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool split_decimal(struct str s, struct decimal *d) {
    *d = (struct decimal){.negative = s.p[0] == '-'};
    if (s.p[0] == '-' || s.p[0] == '+')
        s = (struct str){s.p + 1, s.n - 1};
    d->whole = take_digits(&s);
    if (s.n > 0 && s.p[0] == '.') {
        s = (struct str){s.p + 1, s.n - 1};
        d->fraction = take_digits(&s);
    }
    if (d->whole.n + d->fraction.n == 0)
        return false;
    if (s.n == 0)
        return true;
    d->exponent = s;
    size_t skip = s.n > 1 && (s.p[1] == '-' || s.p[1] == '+') ? 2 : 1;
    if ((s.p[0] != 'e' && s.p[0] != 'E') || s.n == skip)
        return false;
    s = (struct str){s.p + skip, s.n - skip};
    (void)take_digits(&s); /* it matters only if text is left */
    return s.n == 0;
}

/* JSON wants a digit before and after the point, and no leading zeros. */
static void append_decimal(const struct decimal *d, struct strbuf *out) {
    struct str whole = d->whole;
    while (whole.n > 1 && whole.p[0] == '0')
        whole = (struct str){whole.p + 1, whole.n - 1};
    strbuf_append_str(out, d->negative ? STR("-") : STR(""));
    strbuf_append_str(out, whole.n > 0 ? whole : STR("0"));
    if (d->fraction.n > 0) {
        strbuf_append_char(out, '.');
        strbuf_append_str(out, d->fraction);
    }
    strbuf_append_str(out, d->exponent);
}

/* Decides if the text is a number, and if its value is whole; leaves its JSON in out. */
static enum yaml_kind as_float(struct str number, struct strbuf *out) {
    struct decimal d;
    if (!split_decimal(number, &d))
        return YAML_STRING;
    strbuf_clear(out);
    append_decimal(&d, out);
    strbuf_append_char(out, '\0');
    if (strbuf_failed(out))
        return YAML_STRING;
    out->n--;
    double value = strtod(out->p, NULL);
    if (!isfinite(value))
        return YAML_STRING;
    if (fabs(value) < 0x1p53 && floor(value) == value) {
        strbuf_clear(out);
        strbuf_appendf(out, "%.0f", value);
    }
    return YAML_FLOAT;
}

/* ---- all together ---- */

/* Returns the text without the underscores that YAML 1.1 allows between digits. Words that start
 * with a point keep their underscores, so they become strings. */
static struct str without_underscores(struct str s, struct strbuf *scratch) {
    if (s.p[0] == '.' || str_find(s, '_') == SIZE_MAX)
        return s;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            strbuf_append_char(scratch, s.p[i]);
    return strbuf_str(scratch);
}

static enum yaml_kind resolve_number(struct str word, struct strbuf *scratch,
                                     struct str *ret_json) {
    CLEANUP(strbuf_done) struct strbuf plain = {.max = word.n};
    struct str number = without_underscores(word, &plain);
    if (strbuf_failed(&plain) || number.p == NULL) {
        scratch->failed = true;
        return YAML_STRING;
    }
    enum yaml_kind kind = as_integer(number, scratch) ? YAML_INTEGER : as_float(number, scratch);
    if (kind != YAML_STRING)
        *ret_json = strbuf_str(scratch);
    return kind;
}

enum yaml_kind yaml_resolve(struct str word, struct strbuf *scratch, struct str *ret_json) {
    strbuf_clear(scratch);
    *ret_json = word;
    const struct word *known = find_word(word);
    if (known != NULL) {
        *ret_json = str_of(known->json);
        return known->kind;
    }
    char first = word.p[0];
    if (is_digit(first) || first == '-' || first == '+' || first == '.')
        return resolve_number(word, scratch, ret_json);
    return YAML_STRING;
}
