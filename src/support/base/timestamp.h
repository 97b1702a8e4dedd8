/* Points in time as Kubernetes writes them. Thread-safe. */
#pragma once

#include "base/str.h"

/*
 * Milliseconds since 1970 of an RFC 3339 text: "2026-01-02T03:04:05Z", with a fraction of a second
 * and an offset such as +02:00 if need be. False: anything else. upstream: Go's time.RFC3339.
 */
bool timestamp_parse(struct str text, int64_t *ret_ms);
