/*
 * Quantities that wrap around like those of Kubernetes: the same texts as in quantity.h, but values
 * as resource.Quantity computes them. Kubernetes holds a number in one of two forms. A short number
 * is an int64 and a scale; if it is scaled up too far, it wraps around or becomes 0. A long number
 * is a decimal of any length; a value is its lowest 64 bits. upstream: k8s.io/apimachinery
 * pkg/api/resource quantity.go, amount.go, scale_int.go.
 *
 * Exact up to 10^135. Beyond that, long numbers, sums and comparisons saturate, while Kubernetes
 * stays exact; only short numbers stay exact. Thread-safe: values only, no memory.
 */
#pragma once

#include "model/quantity.h"

enum { WRAPPED_LIMBS = 16 };

struct wrapped_quantity {
    struct quantity exact; /* saturated; the wrapped quantity has the same format */
    bool is_short;
    struct quantity_amount amount; /* if it is short */
    bool is_negative;
    uint32_t limbs[WRAPPED_LIMBS]; /* nano without the sign: to the base 10^9, the lowest first */
};

/* As quantity_parse(). */
int wrapped_quantity_parse(struct str text, struct wrapped_quantity *ret,
                           struct err *err) MUST_CHECK;

/* Returns the value in units of 10^scale, rounded up; `scale` is 0 or -3. upstream: ScaledValue().
 */
int64_t wrapped_quantity_value(const struct wrapped_quantity *q, int scale);

/* a + b, or a - b. The format is a's, or b's if a is 0. upstream: Add(), Sub(). */
struct wrapped_quantity wrapped_quantity_add(const struct wrapped_quantity *a,
                                             const struct wrapped_quantity *b, bool subtract);

/* Returns < 0, 0 or > 0. upstream: Cmp(). */
int wrapped_quantity_compare(const struct wrapped_quantity *a, const struct wrapped_quantity *b);

/*
 * Appends the canonical text. Unlike quantity_format(), and like Kubernetes, it drops a power of
 * ten or of two that has no suffix: 1000E is "1".
 */
void wrapped_quantity_format(const struct wrapped_quantity *q, struct strbuf *out);
