#include "model/quantity_wrap.h"

static const int64_t NANO = 1000000000;

int wrapped_quantity_parse(struct str text, struct wrapped_quantity *ret, struct err *err) {
    struct wrapped_quantity q = {.is_short = false};
    int r = quantity_parse(text, &q.exact, err);
    if (r == 0) {
        q.is_short = quantity_short_amount(text, &q.amount);
        *ret = q;
    }
    return r;
}

/* ---- values ---- */

/* The lowest 64 bits, as a signed number. */
static int64_t low_bits(__int128 value) {
    return (int64_t)(uint64_t)(unsigned __int128)value;
}

static int64_t power_of_ten(int exponent) {
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/*
 * digits x 10^exponent. Where it does not fit, upstream returns what is left in 64 bits for the
 * exponents that it computes in one step, and 0 for the others. upstream: positiveScaleInt64().
 */
static int64_t scaled_up(int64_t digits, int exponent) {
    if (exponent <= 3 || exponent == 6 || exponent == 9)
        return low_bits((__int128)digits * power_of_ten(exponent));
    __int128 value = digits;
    for (int i = 0; i < exponent && value != 0; i++) {
        value *= 10;
        if (value > INT64_MAX || value < INT64_MIN)
            return 0;
    }
    return (int64_t)value;
}

/* Away from zero. */
static int64_t scaled_down(int64_t digits, int exponent) {
    const int64_t unit = power_of_ten(exponent);
    return digits / unit + (digits % unit > 0) - (digits % unit < 0);
}

/* Upstream cuts binary quantities down to this before it counts in nano. */
static bool is_largest_binary(const struct quantity *q) {
    const __int128 largest = (__int128)INT64_MAX * NANO;
    return q->format == QUANTITY_BINARY_SI && (q->nano >= largest || q->nano <= -largest);
}

/* upstream: scaledValue(). Only what is not below 2^63 - 1 is divided before it is cut to 64 bits;
 * negative numbers always are below. */
static int64_t long_value(const struct quantity *q, int scale) {
    if (is_largest_binary(q))
        return scaled_up(q->nano > 0 ? INT64_MAX : -INT64_MAX, -scale);
    const int64_t unit = power_of_ten(scale + 9);
    if (q->nano < INT64_MAX) {
        const int64_t low = low_bits(q->nano);
        return low / unit + (low % unit != 0);
    }
    return low_bits(q->nano / unit + (q->nano % unit != 0));
}

int64_t wrapped_quantity_value(const struct wrapped_quantity *q, int scale) {
    if (!q->is_short)
        return long_value(&q->exact, scale);
    const int up = q->amount.scale - scale;
    return up < 0 ? scaled_down(q->amount.digits, -up) : scaled_up(q->amount.digits, up);
}

/* ---- sums ---- */

static struct wrapped_quantity negated(const struct wrapped_quantity *q) {
    struct wrapped_quantity n = *q;
    n.exact.nano = -n.exact.nano;
    n.amount.digits = -n.amount.digits;
    return n;
}

struct wrapped_quantity wrapped_quantity_add(const struct wrapped_quantity *a,
                                             const struct wrapped_quantity *b, bool subtract) {
    const struct wrapped_quantity other = subtract ? negated(b) : *b;
    struct wrapped_quantity sum = *a;
    if (a->exact.nano == 0)
        sum = other;
    else if (b->exact.nano != 0)
        sum = (struct wrapped_quantity){
            .exact = {.nano = a->exact.nano + other.exact.nano, .format = a->exact.format}};
    sum.exact.as_typed = false;
    return sum;
}

/* ---- text ---- */

static void format_decimal(__int128 mantissa, int exponent, bool with_exponent,
                           struct strbuf *out) {
    static const char suffixes[][2] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    while (mantissa % 10 == 0) {
        mantissa /= 10;
        exponent++;
    }
    for (; exponent % 3 != 0; exponent--)
        mantissa *= 10;
    quantity_append_digits(mantissa, out);
    const int power = exponent / 3 + 3;
    if (with_exponent && exponent != 0)
        strbuf_appendf(out, "e%d", exponent);
    else if (!with_exponent && power >= 0 && power < (int)(sizeof suffixes / sizeof suffixes[0]))
        strbuf_append_str(out, str_of(suffixes[power]));
}

static void format_binary(__int128 units, struct strbuf *out) {
    static const char suffixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t power = 0;
    for (; units % 1024 == 0; power++)
        units /= 1024;
    quantity_append_digits(units, out);
    if (power < sizeof suffixes / sizeof suffixes[0])
        strbuf_append_str(out, str_of(suffixes[power]));
}

void wrapped_quantity_format(const struct wrapped_quantity *q, struct strbuf *out) {
    const struct quantity *exact = &q->exact;
    const __int128 kibi = (__int128)1024 * NANO;
    const bool binary = exact->format == QUANTITY_BINARY_SI && exact->nano % NANO == 0 &&
                        (exact->nano >= kibi || exact->nano <= -kibi);
    if (exact->nano == 0)
        strbuf_append_char(out, '0');
    else if (binary)
        format_binary(exact->nano / NANO, out);
    else
        format_decimal(q->is_short ? q->amount.digits : exact->nano,
                       q->is_short ? q->amount.scale : -9,
                       exact->format == QUANTITY_DECIMAL_EXPONENT, out);
}
