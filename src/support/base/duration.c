#include "base/duration.h"

#include <errno.h>

static const struct unit {
    struct str name;
    int64_t ns;
} units[] = {
    /* two-letter units first: "ms" is not "m" */
    {{"ns", 2}, 1},
    {{"us", 2}, 1000},
    {{"\xc2\xb5s", 3}, 1000}, /* U+00B5 micro sign */
    {{"\xce\xbcs", 3}, 1000}, /* U+03BC Greek mu */
    {{"ms", 2}, 1000ll * 1000},
    {{"s", 1}, 1000ll * 1000 * 1000},
    {{"m", 1}, 60ll * 1000 * 1000 * 1000},
    {{"h", 1}, 3600ll * 1000 * 1000 * 1000},
};

static const struct unit *take_unit(struct str *s) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (str_has_prefix(*s, units[i].name)) {
            s->p += units[i].name.n;
            s->n -= units[i].name.n;
            return &units[i];
        }
    return NULL;
}

static bool next_is_digit(struct str s) {
    return s.n > 0 && s.p[0] >= '0' && s.p[0] <= '9';
}

static int take_digit(struct str *s) {
    int digit = s->p[0] - '0';
    s->p++;
    s->n--;
    return digit;
}

/* Reads one number with its unit, and adds it to *sum. */
static int take_term(struct str *s, int64_t *sum, struct err *err) {
    static const char too_large[] = "it is too large";
    int64_t whole = 0, fraction = 0, scale = 1, ns;
    bool digits = false;
    for (; next_is_digit(*s); digits = true)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, take_digit(s), &whole))
            return err_set(err, -EINVAL, too_large);
    if (s->n > 0 && s->p[0] == '.') {
        *s = (struct str){s->p + 1, s->n - 1};
        for (; next_is_digit(*s); digits = true) {
            int digit = take_digit(s);
            if (scale < 1000 * 1000 * 1000) {
                fraction = fraction * 10 + digit;
                scale *= 10;
            }
        }
    }
    if (!digits)
        return err_set(err, -EINVAL, "expected a number with a unit");
    const struct unit *unit = take_unit(s);
    if (unit == NULL)
        return err_set(err, -EINVAL, "a number needs a unit: ms, s, m or h");
    if (__builtin_mul_overflow(whole, unit->ns, &ns) ||
        __builtin_add_overflow(
            ns, fraction * (unit->ns / scale) + fraction * (unit->ns % scale) / scale, &ns) ||
        __builtin_add_overflow(*sum, ns, sum))
        return err_set(err, -EINVAL, too_large);
    return 0;
}

int duration_parse(struct str text, int64_t *ret_ns, struct err *err) {
    struct str s = text;
    int64_t sum = 0;
    bool negative = s.n > 0 && s.p[0] == '-';
    if (negative || (s.n > 0 && s.p[0] == '+'))
        s = (struct str){s.p + 1, s.n - 1};
    if (s.n == 0)
        return err_set(err, -EINVAL, "it is empty");
    if (!str_eq(s, STR("0")))
        while (s.n > 0) {
            int r = take_term(&s, &sum, err);
            if (r != 0)
                return r;
        }
    *ret_ns = negative ? -sum : sum;
    return 0;
}

void duration_format_ms(int64_t ms, struct strbuf *out) {
    static const struct {
        int64_t ms;
        const char *name;
    } names[] = {{3600 * 1000, "h"}, {60 * 1000, "m"}, {1000, "s"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ms != 0 && ms % names[i].ms == 0) {
            strbuf_appendf(out, "%lld%s", (long long)(ms / names[i].ms), names[i].name);
            return;
        }
    strbuf_appendf(out, "%lld%s", (long long)ms, ms == 0 ? "s" : "ms");
}
