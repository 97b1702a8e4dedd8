/*
 * Durations as Go and Kubernetes write them: "1.5s", "500ms", "2m", "1h30m".
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/*
 * Reads a signed sum of numbers with units (ns, us, ms, s, m, h); only "0" needs no unit. Digits of
 * a fraction after the ninth are ignored. Returns 0, or -EINVAL with a sentence that has only the
 * reason: "a number needs a unit". upstream: Go's time.ParseDuration.
 */
int duration_parse(struct str text, int64_t *ret_ns, struct err *err) MUST_CHECK;

/* Appends milliseconds in the largest unit that needs no fraction: "1500ms", "90s", "2m". */
void duration_format_ms(int64_t ms, struct strbuf *out);
