/* gRPC's header values: timeouts, texts of statuses, content types. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a grpc-timeout, one to eight digits and a unit of H, M, S, m, u, n, as milliseconds,
 * rounded up. Returns false for any other text. */
bool grpc_timeout_parse(struct str text, int64_t *ret_ms);

/* Appends a grpc-timeout of `ms` milliseconds, clamped to the range 1 to 99999999 (a day). */
void grpc_timeout_write(int64_t ms, struct strbuf *out);

/* Is the content type application/grpc, alone or followed by "+..." or ";..."? */
bool grpc_content_type(struct str type);

/* Appends a grpc-message: '%' and bytes that are not printable ASCII are written as %XX. */
void grpc_message_encode(struct str text, struct strbuf *out);
/* Appends the decoded text of a grpc-message. A '%' without two hex digits stays; control
 * characters become spaces. */
void grpc_message_decode(struct str message, struct strbuf *out);
