/*
 * Kubernetes' resource.Quantity: "1500m", "1.5Gi", "12e6". A quantity is held exactly, in units of
 * 10^-9 (nano), the finest that Kubernetes keeps; finer parts are rounded away from zero, so that a
 * request above zero stays above zero.
 *
 * If a value is too large, Kubernetes wraps around to a wrong number (decimal values of 2^63 and
 * more, MilliValue() above 9.2e15, exponents of more than 32 bits); we saturate. Thread-safe:
 * values only, no memory.
 */
#pragma once

#include "base/err.h"
#include "base/json_reader.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The family of the text's suffix; text that is made from the value has the same family. */
enum quantity_format {
    QUANTITY_DECIMAL_SI,       /* n u m k M G T P E, or no suffix */
    QUANTITY_DECIMAL_EXPONENT, /* e3, E-6 */
    QUANTITY_BINARY_SI,        /* Ki Mi Gi Ti Pi Ei; never beyond +-(2^63 - 1) */
};

/* All zero is the quantity 0. */
struct quantity {
    __int128 nano; /* within +-QUANTITY_MAX_NANO */
    enum quantity_format format;
    bool as_typed; /* Kubernetes prints this quantity as it was typed ("+1", "00012"), not its
                      canonical text */
};

/* digits x 10^scale, with scale >= -9. Kubernetes holds a quantity like this if it fits. */
struct quantity_amount {
    int64_t digits;
    int scale;
};

/* 10^28 units: larger quantities saturate here. That is far beyond any resource, and leaves room
 * for sums. */
#define QUANTITY_MAX_NANO ((__int128)10000000000000000000u * 1000000000000000000)

/* Parses a whole text; blanks around it are an error. 0 or -EINVAL. */
int quantity_parse(struct str text, struct quantity *ret, struct err *err) MUST_CHECK;

/*
 * Reads a text that quantity_parse() accepts as Kubernetes holds it. Returns false if the text does
 * not fit an int64 with a scale: Kubernetes then holds a decimal of any length.
 */
bool quantity_short_amount(struct str text, struct quantity_amount *ret);

/*
 * Reads the next JSON value as Kubernetes does: a string (blanks around its content are allowed) or
 * a number; null is 0. Errors stay in r. `ret_text`, which may be NULL, receives what was parsed
 * (empty for null), valid as long as r's text and arena.
 */
struct quantity quantity_decode(struct json_reader *r, struct str *ret_text);

/* Reads like quantity_decode(), but returns only the value: quicker for usual texts. */
__int128 quantity_decode_nano(struct json_reader *r);

/*
 * Reads like quantity_decode(), but returns the double that upstream's AsApproximateFloat64()
 * returns: the digits times a power of ten, with two roundings. So "0.3" is 3 x 0.1, which is not
 * the double 0.3. Values beyond QUANTITY_MAX_NANO with more than 18 digits saturate; upstream's do
 * not.
 */
double quantity_decode_double(struct json_reader *r);

/* Parses a number of bytes as tools print it, "1.50GiB", "512MB", "2GiB"; -1 for any other text. */
int64_t quantity_bytes(struct str text);

/* Returns whole units, rounded away from zero; saturates at the limits of int64. */
int64_t quantity_value(const struct quantity *q);
/* The same as quantity_value(), but in thousandths. */
int64_t quantity_milli_value(const struct quantity *q);

/*
 * Appends the canonical text: no fraction, the largest suffix of its format that keeps the value
 * whole. Binary quantities below 1Ki or with a fraction print as decimal ones. Kubernetes prints
 * this text unless as_typed; only the caller has the typed text.
 */
void quantity_format(const struct quantity *q, struct strbuf *out);

/* Appends a whole number in decimal. */
void quantity_append_digits(__int128 value, struct strbuf *out);
