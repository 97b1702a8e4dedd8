#include "model/quantity.h"

#include <errno.h>
#include <math.h>

typedef unsigned __int128 wide;

enum { NANO_EXPONENT = -9, FAST_DECIMAL_DIGITS = 18, FAST_BINARY_DIGITS = 14 };

/* The parts of a text. */
struct parts {
    bool negative;
    struct str whole, fraction; /* digits; `whole` without leading zeros */
    bool any_digit;
    enum quantity_format format;
    int exponent; /* exponent of 10; for binary suffixes, exponent of 2 */
};

/* ---- reading ---- */

static size_t count_digits(struct str s) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* Cuts the first n bytes off s and returns them. */
static struct str take(struct str *s, size_t n) {
    struct str head = {s->p, n};
    s->p += n;
    s->n -= n;
    return head;
}

static bool suffix_from_table(struct str s, struct parts *parts) {
    static const struct {
        char text[3];
        short exponent;
        enum quantity_format format;
    } table[] = {
        {"", 0, QUANTITY_DECIMAL_SI},   {"m", -3, QUANTITY_DECIMAL_SI},
        {"Ki", 10, QUANTITY_BINARY_SI}, {"Mi", 20, QUANTITY_BINARY_SI},
        {"Gi", 30, QUANTITY_BINARY_SI}, {"Ti", 40, QUANTITY_BINARY_SI},
        {"Pi", 50, QUANTITY_BINARY_SI}, {"Ei", 60, QUANTITY_BINARY_SI},
        {"n", -9, QUANTITY_DECIMAL_SI}, {"u", -6, QUANTITY_DECIMAL_SI},
        {"k", 3, QUANTITY_DECIMAL_SI},  {"M", 6, QUANTITY_DECIMAL_SI},
        {"G", 9, QUANTITY_DECIMAL_SI},  {"T", 12, QUANTITY_DECIMAL_SI},
        {"P", 15, QUANTITY_DECIMAL_SI}, {"E", 18, QUANTITY_DECIMAL_SI},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (str_eq(s, str_of(table[i].text))) {
            parts->format = table[i].format;
            parts->exponent = table[i].exponent;
            return true;
        }
    }
    return false;
}

/* Reads "e" or "E" and a signed whole number. Numbers beyond +-1e9 become +-1e9: all such numbers
 * are far too large or too small. */
static bool exponent_suffix(struct str s, struct parts *parts) {
    int64_t exponent;
    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E') ||
        !str_to_i64((struct str){s.p + 1, s.n - 1}, &exponent))
        return false;
    const int64_t limit = 1000000000;
    parts->format = QUANTITY_DECIMAL_EXPONENT;
    parts->exponent = (int)(exponent > limit ? limit : exponent < -limit ? -limit : exponent);
    return true;
}

static bool split(struct str text, struct parts *parts) {
    *parts = (struct parts){.negative = text.p[0] == '-'};
    if (text.p[0] == '-' || text.p[0] == '+')
        (void)take(&text, 1); /* the sign is stored already */
    size_t digits = count_digits(text);
    parts->whole = take(&text, digits);
    if (text.n > 0 && text.p[0] == '.') {
        (void)take(&text, 1); /* the point */
        parts->fraction = take(&text, count_digits(text));
    }
    parts->any_digit = digits > 0 || parts->fraction.n > 0;
    while (parts->whole.n > 0 && parts->whole.p[0] == '0')
        (void)take(&parts->whole, 1); /* a leading zero */
    return suffix_from_table(text, parts) || exponent_suffix(text, parts);
}

/* ---- the value ---- */

static wide power_of_ten(int exponent) {
    wide power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/*
 * A sum of decimal digits, in nano. `place` is the power of ten (in nano) of the next digit; digits
 * below place 0 only round the sum up.
 */
struct decimal_sum {
    wide nano;
    bool too_large, rest;
};

static void add_digits(struct decimal_sum *sum, struct str digits, int64_t *place) {
    for (size_t i = 0; i < digits.n; i++, (*place)--) {
        int digit = digits.p[i] - '0';
        if (*place < 0)
            sum->rest |= digit != 0;
        else if (sum->nano > (wide)QUANTITY_MAX_NANO / 10)
            sum->too_large = true;
        else
            sum->nano = sum->nano * 10 + (unsigned)digit;
    }
}

static wide decimal_nano(const struct parts *parts) {
    int64_t place = (int64_t)parts->whole.n + parts->exponent - NANO_EXPONENT - 1;
    struct decimal_sum sum = {0};
    add_digits(&sum, parts->whole, &place);
    add_digits(&sum, parts->fraction, &place);
    for (; place >= 0 && sum.nano > 0 && !sum.too_large; place--) {
        sum.too_large = sum.nano > (wide)QUANTITY_MAX_NANO / 10;
        sum.nano *= 10;
    }
    if (sum.too_large || sum.nano + sum.rest > (wide)QUANTITY_MAX_NANO)
        return (wide)QUANTITY_MAX_NANO;
    return sum.nano + sum.rest;
}

/* Returns `count` digits of s as a number, from digit `from` on; digits past the end are 0. */
static wide digits_as_number(struct str s, size_t from, size_t count) {
    wide number = 0;
    for (size_t i = from; i < from + count; i++)
        number = number * 10 + (i < s.n ? (unsigned)(s.p[i] - '0') : 0);
    return number;
}

/*
 * Returns fraction * 2^k in nano, rounded up, for k <= 60. The first nine digits are whole nanos.
 * The next 20 and 18 digits are multiplied separately, so that nothing exceeds 128 bits. Later
 * digits can only round the result up.
 */
static wide binary_fraction_nano(struct str fraction, int k) {
    const wide unit = (wide)1 << k, ten18 = power_of_ten(18), ten20 = power_of_ten(20);
    wide low = digits_as_number(fraction, 29, 18) * unit;
    wide middle = digits_as_number(fraction, 9, 20) * unit + low / ten18;
    bool rest = middle % ten20 != 0 || low % ten18 != 0;
    for (size_t i = 47; i < fraction.n && !rest; i++)
        rest = fraction.p[i] != '0';
    return digits_as_number(fraction, 0, 9) * unit + middle / ten20 + rest;
}

static wide binary_nano(const struct parts *parts) {
    const wide max = (wide)INT64_MAX * 1000000000;
    if (parts->whole.n > 19)
        return max;
    wide whole = digits_as_number(parts->whole, 0, parts->whole.n);
    if (whole > (wide)INT64_MAX >> parts->exponent)
        return max;
    wide nano = (whole << parts->exponent) * 1000000000 +
                binary_fraction_nano(parts->fraction, parts->exponent);
    return nano > max ? max : nano;
}

/* ---- how upstream parses the text ---- */

static size_t digits_of(const struct parts *parts) {
    return (parts->whole.n > 0 ? parts->whole.n : 1) + parts->fraction.n;
}

/*
 * Upstream's ParseQuantity has a short cut for numbers that fit an int64 with a scale. It matters
 * for two reasons: only the short cut accepts texts without any digit ("+", "Gi") as 0, and only
 * the short cut keeps the text.
 */
static bool takes_short_cut(const struct parts *parts) {
    if (parts->format == QUANTITY_BINARY_SI)
        return parts->fraction.n == 0 &&
               digits_of(parts) + (size_t)(parts->exponent * 3 / 10) <= FAST_BINARY_DIGITS;
    return digits_of(parts) <= FAST_DECIMAL_DIGITS &&
           parts->exponent - (int)parts->fraction.n >= NANO_EXPONENT;
}

static struct quantity_amount short_cut_amount(const struct parts *parts) {
    const bool binary = parts->format == QUANTITY_BINARY_SI;
    wide digits = digits_as_number(parts->whole, 0, parts->whole.n);
    for (size_t i = 0; i < parts->fraction.n; i++)
        digits = digits * 10 + (unsigned)(parts->fraction.p[i] - '0');
    if (binary)
        digits <<= parts->exponent;
    return (struct quantity_amount){
        .digits = parts->negative ? -(int64_t)digits : (int64_t)digits,
        .scale = binary ? 0 : parts->exponent - (int)parts->fraction.n,
    };
}

bool quantity_short_amount(struct str text, struct quantity_amount *ret) {
    struct parts parts;
    if (text.n == 0 || !split(text, &parts) || !takes_short_cut(&parts))
        return false;
    *ret = short_cut_amount(&parts);
    return true;
}

/* Does upstream print a short-cut text as it was typed? Yes, if the text looks canonical. */
static bool printed_as_typed(const struct parts *parts) {
    struct str whole = parts->whole, fraction = parts->fraction;
    if (parts->format == QUANTITY_BINARY_SI)
        return digits_as_number(whole, 0, whole.n) % 8 != 0;
    if ((parts->exponent - (int)fraction.n) % 3 != 0 || whole.n == 0)
        return false;
    if (fraction.n >= 3)
        return !str_has_suffix(fraction, STR("000"));
    static const char zeros[] = "000";
    return !(str_eq(fraction, (struct str){zeros, fraction.n}) &&
             str_has_suffix(whole, (struct str){zeros, 3 - fraction.n}));
}

int quantity_parse(struct str text, struct quantity *ret, struct err *err) {
    if (text.n == 0)
        return err_set(err, -EINVAL, "cannot parse quantity '': it is empty");
    struct parts parts;
    if (!split(text, &parts))
        return err_set(err, -EINVAL, "cannot parse quantity '%.*s': unknown suffix", STR_ARG(text));
    bool short_cut = takes_short_cut(&parts);
    if (!parts.any_digit && !short_cut)
        return err_set(err, -EINVAL, "cannot parse quantity '%.*s': no digits", STR_ARG(text));
    bool binary = parts.format == QUANTITY_BINARY_SI;
    __int128 nano = (__int128)(binary ? binary_nano(&parts) : decimal_nano(&parts));
    /* a value below 1 has no binary suffix */
    if (binary && nano > 0 && nano < 1000000000)
        parts.format = QUANTITY_DECIMAL_SI;
    *ret = (struct quantity){
        .nano = parts.negative ? -nano : nano,
        .format = parts.format,
        .as_typed = short_cut && printed_as_typed(&parts),
    };
    return 0;
}

static struct str text_decode(struct json_reader *r) {
    return json_peek(r) == JSON_NUMBER ? json_number_text(r) : str_trim(json_string(r));
}

static struct quantity parse_for(struct json_reader *r, struct str text) {
    struct quantity q = {0};
    struct err err;
    if (!json_failed(r) && !arena_failed(r->arena) && quantity_parse(text, &q, &err) != 0)
        json_fail(r, "%s", err.text);
    return q;
}

/* Reads a short whole number with a usual suffix, as most quantities are, without the parser.
 * Returns false for any other text. */
static bool plain_quantity(struct str text, __int128 *ret_nano) {
    enum { MAX_DIGITS = 9 };
    int64_t number = 0, unit = 1000000000;
    size_t n = 0;
    if (text.n == 0)
        return false;
    for (; n < text.n && n <= MAX_DIGITS && text.p[n] >= '0' && text.p[n] <= '9'; n++)
        number = number * 10 + (text.p[n] - '0');
    const struct str suffix = {text.p + n, text.n - n};
    int shift = 0;
    if (str_eq(suffix, STR("m")))
        unit = 1000000;
    else if (str_eq(suffix, STR("Mi")))
        shift = 20;
    else if (str_eq(suffix, STR("Gi")))
        shift = 30;
    else if (str_eq(suffix, STR("Ki")))
        shift = 10;
    else if (suffix.n > 0)
        return false;
    *ret_nano = ((__int128)number << shift) * unit;
    return n > 0 && n <= MAX_DIGITS;
}

__int128 quantity_decode_nano(struct json_reader *r) {
    __int128 nano;
    if (json_null(r))
        return 0;
    struct str text = text_decode(r);
    return plain_quantity(text, &nano) ? nano : parse_for(r, text).nano;
}

struct quantity quantity_decode(struct json_reader *r, struct str *ret_text) {
    struct quantity q = {0};
    struct str text = {0};
    if (!json_null(r)) {
        text = text_decode(r);
        q = parse_for(r, text);
    }
    if (ret_text != NULL)
        *ret_text = text;
    return q;
}

/* ---- doubles ---- */

/* As Go's math.Pow10: multiplies values of two tables, so some powers are not the nearest double.
 */
static double power_as_double(int exponent) {
    static const double units[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                   1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
    static const double high[] = {1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
    static const double low[] = {1e0,    1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                 1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
    if (exponent >= 0)
        return exponent > 308 ? (double)INFINITY : high[exponent / 32] * units[exponent % 32];
    return exponent < -323 ? 0 : low[-exponent / 32] / units[-exponent % 32];
}

/* Upstream keeps a short-cut text as digits and a scale, any other text in nano; it limits binary
 * values to the largest int64. */
static double parts_as_double(const struct parts *parts, const struct quantity *q) {
    const bool binary = parts->format == QUANTITY_BINARY_SI;
    const __int128 nano = q->nano, largest = (__int128)INT64_MAX * 1000000000;
    const double sign = parts->negative ? -1 : 1;
    if (binary && (nano >= largest || nano <= -largest))
        return sign * (double)INT64_MAX;
    if (!takes_short_cut(parts))
        return (double)nano * power_as_double(NANO_EXPONENT);
    const struct quantity_amount a = short_cut_amount(parts);
    const double digits = (double)a.digits;
    return a.scale == 0 ? digits : digits * power_as_double(a.scale);
}

double quantity_decode_double(struct json_reader *r) {
    struct parts parts;
    if (json_null(r))
        return 0;
    struct str text = text_decode(r);
    const struct quantity q = parse_for(r, text);
    return !json_failed(r) && !arena_failed(r->arena) && split(text, &parts)
               ? parts_as_double(&parts, &q)
               : 0;
}

/* ---- rounded values ---- */

/* Returns units of `unit_nano` nano, rounded away from zero. */
static int64_t scaled(const struct quantity *q, int64_t unit_nano) {
    if (q->nano >= 0 && q->nano <= INT64_MAX) { /* nearly all amounts are so small, and then
                                                   division is quicker */
        int64_t nano = (int64_t)q->nano;
        return nano / unit_nano + (nano % unit_nano > 0);
    }
    __int128 units = q->nano / unit_nano, rest = q->nano % unit_nano;
    units += (rest > 0) - (rest < 0);
    return units > INT64_MAX ? INT64_MAX : units < INT64_MIN ? INT64_MIN : (int64_t)units;
}

int64_t quantity_bytes(struct str text) {
    struct quantity q;
    if (str_has_suffix(text, STR("B")))
        text.n--;
    if (text.n == 0 || quantity_parse(text, &q, NULL) != 0 || q.nano < 0)
        return -1;
    return quantity_value(&q);
}

int64_t quantity_value(const struct quantity *q) {
    return scaled(q, 1000000000);
}

int64_t quantity_milli_value(const struct quantity *q) {
    return scaled(q, 1000000);
}

void quantity_append_digits(__int128 value, struct strbuf *out) {
    char digits[40];
    size_t n = sizeof digits;
    wide left = value < 0 ? -(wide)value : (wide)value;
    do {
        digits[--n] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left > 0);
    if (value < 0)
        strbuf_append_char(out, '-');
    strbuf_append(out, digits + n, sizeof digits - n);
}

/* Is the quantity printed with a binary suffix? Not if it is below 1Ki or has a fraction. */
static bool prints_binary(const struct quantity *q) {
    const __int128 kibi = (__int128)1024 * 1000000000;
    return q->format == QUANTITY_BINARY_SI && (q->nano >= kibi || q->nano <= -kibi) &&
           q->nano % 1000000000 == 0;
}

static void format_binary(__int128 units, struct strbuf *out) {
    static const char suffixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t power = 0;
    while (units % 1024 == 0 && power + 1 < sizeof suffixes / sizeof suffixes[0]) {
        units /= 1024;
        power++;
    }
    quantity_append_digits(units, out);
    strbuf_append_str(out, str_of(suffixes[power]));
}

void quantity_format(const struct quantity *q, struct strbuf *out) {
    if (q->nano == 0) {
        strbuf_append_char(out, '0');
        return;
    }
    if (prints_binary(q)) {
        format_binary(q->nano / 1000000000, out);
        return;
    }
    __int128 mantissa = q->nano;
    int exponent = NANO_EXPONENT;
    while (mantissa % 1000 == 0) {
        mantissa /= 1000;
        exponent += 3;
    }
    quantity_append_digits(mantissa, out);
    static const char suffixes[][2] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    size_t power = (size_t)(exponent - NANO_EXPONENT) / 3;
    if (q->format != QUANTITY_DECIMAL_EXPONENT && power < sizeof suffixes / sizeof suffixes[0])
        strbuf_append_str(out, str_of(suffixes[power]));
    else if (exponent != 0)
        strbuf_appendf(out, "e%d", exponent);
}
