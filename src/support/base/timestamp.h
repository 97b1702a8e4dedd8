/* Times as Kubernetes writes them. Thread-safe. */
#pragma once

#include "base/str.h"

/*
 * Reads an RFC 3339 text as milliseconds since 1970: "2026-01-02T03:04:05Z", also with a fraction
 * of a second and an offset such as +02:00. Returns false for any other text. upstream: Go's
 * time.RFC3339.
 */
bool timestamp_parse(struct str text, int64_t *ret_ms);
