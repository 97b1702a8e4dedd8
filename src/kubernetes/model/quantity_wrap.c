#include "model/quantity_wrap.h"

#include <string.h>

enum { BASE = 1000000000, BASE_DIGITS = 9, NANO_DIGITS = 9 };

/* ---- limbs ---- */

/* Computes limbs x `times` + `more`, in place. If the result does not fit, sets the largest number
 * and returns false. */
static bool limbs_grow(uint32_t *limbs, uint32_t times, uint32_t more) {
    uint64_t carry = more;
    for (size_t i = 0; i < WRAPPED_LIMBS; i++) {
        carry += (uint64_t)limbs[i] * times;
        limbs[i] = (uint32_t)(carry % BASE);
        carry /= BASE;
    }
    for (size_t i = 0; carry > 0 && i < WRAPPED_LIMBS; i++)
        limbs[i] = BASE - 1;
    return carry == 0;
}

static void limbs_add(uint32_t *to, const uint32_t *limbs) {
    uint32_t carry = 0;
    for (size_t i = 0; i < WRAPPED_LIMBS; i++) {
        const uint32_t sum = to[i] + limbs[i] + carry;
        carry = sum >= BASE;
        to[i] = sum % BASE;
    }
    for (size_t i = 0; carry > 0 && i < WRAPPED_LIMBS; i++)
        to[i] = BASE - 1;
}

/* Subtracts `limbs` from `from`; `from` must not be smaller. */
static void limbs_subtract(uint32_t *from, const uint32_t *limbs) {
    uint32_t borrow = 0;
    for (size_t i = 0; i < WRAPPED_LIMBS; i++) {
        const uint32_t less = limbs[i] + borrow;
        borrow = from[i] < less;
        from[i] += (borrow ? BASE : 0) - less;
    }
}

static int limbs_compare(const uint32_t *a, const uint32_t *b) {
    for (size_t i = WRAPPED_LIMBS; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Divides in place, and returns the remainder. */
static uint32_t limbs_divide(uint32_t *limbs, uint32_t by) {
    uint64_t rest = 0;
    for (size_t i = WRAPPED_LIMBS; i-- > 0;) {
        rest = rest * BASE + limbs[i];
        limbs[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    return (uint32_t)rest;
}

static bool is_zero(const struct wrapped_quantity *q) {
    static const uint32_t zero[WRAPPED_LIMBS];
    return limbs_compare(q->limbs, zero) == 0;
}

/* ---- reading ---- */

static void take_nano(struct wrapped_quantity *q, __int128 nano) {
    unsigned __int128 left = nano < 0 ? -(unsigned __int128)nano : (unsigned __int128)nano;
    for (size_t i = 0; left > 0; i++, left /= BASE)
        q->limbs[i] = (uint32_t)(left % BASE);
}

/* Returns the power of ten that the suffix of a decimal number means. */
static int64_t suffix_exponent(struct str suffix) {
    const int64_t limit = BASE;
    int64_t exponent = 0;
    struct quantity_amount one = {.scale = 0};
    if (suffix.n > 1 && str_to_i64((struct str){suffix.p + 1, suffix.n - 1}, &exponent))
        return exponent > limit ? limit : exponent < -limit ? -limit : exponent;
    const char text[] = {'1', suffix.n > 0 ? suffix.p[0] : '\0'};
    (void)quantity_short_amount((struct str){text, suffix.n > 0 ? 2 : 1}, &one); /* this text is
                                                                                    short */
    return one.scale;
}

static size_t count_digits(struct str s) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* Reads a decimal number that is known to be valid. Digits below a nano round it up. */
static void take_text(struct wrapped_quantity *q, struct str text) {
    size_t at = text.p[0] == '-' || text.p[0] == '+';
    const size_t whole = count_digits((struct str){text.p + at, text.n - at});
    size_t end = at + whole;
    if (end < text.n && text.p[end] == '.')
        end += 1 + count_digits((struct str){text.p + end + 1, text.n - end - 1});
    int64_t places =
        (int64_t)whole + NANO_DIGITS + suffix_exponent((struct str){text.p + end, text.n - end});
    bool rest = false, fits = true;
    for (; fits && at < end; at++) {
        if (text.p[at] == '.')
            continue;
        if (places > 0)
            fits = limbs_grow(q->limbs, 10, (uint32_t)(text.p[at] - '0'));
        else
            rest |= text.p[at] != '0';
        places--;
    }
    for (; fits && places > 0; places--)
        fits = limbs_grow(q->limbs, 10, 0);
    (void)limbs_grow(q->limbs, 1, fits && rest); /* the largest number, if it does not fit */
}

int wrapped_quantity_parse(struct str text, struct wrapped_quantity *ret, struct err *err) {
    struct wrapped_quantity q = {.is_short = false};
    int r = quantity_parse(text, &q.exact, err);
    if (r != 0)
        return r;
    const __int128 nano = q.exact.nano;
    q.is_short = quantity_short_amount(text, &q.amount);
    q.is_negative = nano < 0;
    if (nano < QUANTITY_MAX_NANO && nano > -QUANTITY_MAX_NANO)
        take_nano(&q, nano);
    else
        take_text(&q, text); /* a decimal text: binary numbers are far smaller */
    *ret = q;
    return 0;
}

/* ---- values ---- */

/* Returns the lowest 64 bits, as a signed number. */
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
 * Returns digits x 10^exponent. If the result does not fit, upstream returns its lowest 64 bits for
 * the exponents that it computes in one step, and 0 for the others. upstream: positiveScaleInt64().
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

/* Divides by 10^exponent, and rounds away from zero. */
static int64_t scaled_down(int64_t digits, int exponent) {
    const int64_t unit = power_of_ten(exponent);
    return digits / unit + (digits % unit > 0) - (digits % unit < 0);
}

/* Is the quantity at the limit of binary quantities? Upstream limits binary quantities to INT64_MAX
 * before it counts in nano. */
static bool is_largest_binary(const struct quantity *q) {
    const __int128 largest = (__int128)INT64_MAX * BASE;
    return q->format == QUANTITY_BINARY_SI && (q->nano >= largest || q->nano <= -largest);
}

/* Returns the number of units of `unit` nano, of which only the lowest 64 bits. `unit` is a power
 * of ten up to BASE. */
static uint64_t low_units(const uint32_t *limbs, uint32_t unit) {
    uint64_t units = 0;
    for (size_t i = WRAPPED_LIMBS; i-- > 1;)
        units = units * BASE + limbs[i];
    return units * (BASE / unit) + limbs[0] / unit;
}

/* upstream: scaledValue(). Only numbers of 2^63 - 1 and more are divided before they are cut to 64
 * bits; negative numbers are cut without a division. */
static int64_t long_value(const struct wrapped_quantity *q, int scale) {
    if (is_largest_binary(&q->exact))
        return scaled_up(q->is_negative ? -INT64_MAX : INT64_MAX, -scale);
    const uint32_t unit = (uint32_t)power_of_ten(scale + NANO_DIGITS);
    if (!q->is_negative)
        return (int64_t)(low_units(q->limbs, unit) + (q->limbs[0] % unit != 0));
    const int64_t low = (int64_t)-low_units(q->limbs, 1);
    return low / unit + (low % unit != 0);
}

int64_t wrapped_quantity_value(const struct wrapped_quantity *q, int scale) {
    if (!q->is_short)
        return long_value(q, scale);
    const int up = q->amount.scale - scale;
    return up < 0 ? scaled_down(q->amount.digits, -up) : scaled_up(q->amount.digits, up);
}

/* ---- sums ---- */

static struct wrapped_quantity negated(const struct wrapped_quantity *q) {
    struct wrapped_quantity n = *q;
    n.exact.nano = -n.exact.nano;
    n.amount.digits = -n.amount.digits;
    n.is_negative = !n.is_negative;
    return n;
}

/* Adds `q` to `to`; neither number may be 0. */
static void add_limbs(struct wrapped_quantity *to, const struct wrapped_quantity *q) {
    if (to->is_negative == q->is_negative) {
        limbs_add(to->limbs, q->limbs);
    } else if (limbs_compare(to->limbs, q->limbs) >= 0) {
        limbs_subtract(to->limbs, q->limbs);
    } else {
        struct wrapped_quantity larger = *q;
        limbs_subtract(larger.limbs, to->limbs);
        memcpy(to->limbs, larger.limbs, sizeof to->limbs);
        to->is_negative = q->is_negative;
    }
    to->exact.nano += q->exact.nano;
    to->is_short = false;
}

struct wrapped_quantity wrapped_quantity_add(const struct wrapped_quantity *a,
                                             const struct wrapped_quantity *b, bool subtract) {
    const struct wrapped_quantity other = subtract ? negated(b) : *b;
    struct wrapped_quantity sum = *a;
    if (is_zero(a))
        sum = other;
    else if (!is_zero(b))
        add_limbs(&sum, &other);
    sum.exact.as_typed = false;
    return sum;
}

int wrapped_quantity_compare(const struct wrapped_quantity *a, const struct wrapped_quantity *b) {
    if (a->is_negative != b->is_negative)
        return a->is_negative ? -1 : 1;
    const int compared = limbs_compare(a->limbs, b->limbs);
    return a->is_negative ? -compared : compared;
}

/* ---- text ---- */

static void append_limbs(const uint32_t *limbs, struct strbuf *out) {
    size_t i = WRAPPED_LIMBS - 1;
    while (i > 0 && limbs[i] == 0)
        i--;
    strbuf_appendf(out, "%u", limbs[i]);
    while (i-- > 0)
        strbuf_appendf(out, "%0*u", BASE_DIGITS, limbs[i]);
}

/* Appends digits x 10^exponent; at least one digit is not 0. */
static void format_decimal(struct str digits, int exponent, bool with_exponent,
                           struct strbuf *out) {
    static const char suffixes[][2] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    for (; digits.n > 0 && digits.p[digits.n - 1] == '0'; digits.n--)
        exponent++;
    strbuf_append_str(out, digits);
    for (; exponent % 3 != 0; exponent--)
        strbuf_append_char(out, '0');
    const int power = exponent / 3 + 3;
    if (with_exponent && exponent != 0)
        strbuf_appendf(out, "e%d", exponent);
    else if (!with_exponent && power >= 0 && power < (int)(sizeof suffixes / sizeof suffixes[0]))
        strbuf_append_str(out, str_of(suffixes[power]));
}

static void format_binary(const uint32_t *limbs, struct strbuf *out) {
    static const char suffixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    uint32_t units[WRAPPED_LIMBS], divided[WRAPPED_LIMBS];
    size_t power = 0;
    memcpy(divided, limbs, sizeof divided);
    (void)limbs_divide(divided, BASE); /* they are whole units, so the remainder is 0 */
    memcpy(units, divided, sizeof units);
    for (; limbs_divide(divided, 1024) == 0; power++)
        memcpy(units, divided, sizeof units);
    append_limbs(units, out);
    if (power < sizeof suffixes / sizeof suffixes[0])
        strbuf_append_str(out, str_of(suffixes[power]));
}

/* Is the number printed with a binary suffix? Not if it is below 1Ki or has a fraction. */
static bool prints_binary(const struct wrapped_quantity *q) {
    static const uint32_t kibi[WRAPPED_LIMBS] = {0, 1024};
    return q->exact.format == QUANTITY_BINARY_SI && q->limbs[0] == 0 &&
           limbs_compare(q->limbs, kibi) >= 0;
}

void wrapped_quantity_format(const struct wrapped_quantity *q, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf digits = {0};
    if (is_zero(q)) {
        strbuf_append_char(out, '0');
        return;
    }
    if (q->is_short && !prints_binary(q)) {
        quantity_append_digits(q->amount.digits, &digits);
    } else {
        if (q->is_negative)
            strbuf_append_char(out, '-');
        append_limbs(q->limbs, &digits);
    }
    if (prints_binary(q))
        format_binary(q->limbs, out);
    else
        format_decimal(strbuf_str(&digits), q->is_short ? q->amount.scale : -NANO_DIGITS,
                       q->exact.format == QUANTITY_DECIMAL_EXPONENT, out);
}
