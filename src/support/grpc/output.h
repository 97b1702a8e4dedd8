/* The output of a session: bytes of nghttp2, up to LIMIT_GRPC_OUTPUT at a time. */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <nghttp2/nghttp2.h>

struct grpc_output {
    struct strbuf bytes; /* of which `sent` have left */
    size_t sent;
    int64_t marked_ms; /* when `marked` was set */
    size_t marked;     /* unsent bytes at that time that have not left since; 0: no bytes */
};

void grpc_output_init(struct grpc_output *o);
void grpc_output_done(struct grpc_output *o);
/* Takes nghttp2's output, up to the limit; the rest waits in nghttp2. Returns false after an error:
 * the session must end. */
bool grpc_output_fill(struct grpc_output *o, nghttp2_session *http2);

/* Call it when n bytes have left. */
void grpc_output_sent(struct grpc_output *o, size_t n);
/* Returns how long some of the output has waited, as far as the calls of this function have seen.
 * Call it regularly. */
int64_t grpc_output_waits_ms(struct grpc_output *o, int64_t now_ms);

/* Returns the bytes that have not been sent yet, "" for none. */
static inline struct str grpc_output_rest(const struct grpc_output *o) {
    return o->bytes.n == o->sent ? STR("")
                                 : (struct str){o->bytes.p + o->sent, o->bytes.n - o->sent};
}
/* Does so little output wait that more may be added? */
static inline bool grpc_output_has_room(const struct grpc_output *o) {
    return o->bytes.n - o->sent < LIMIT_GRPC_OUTPUT;
}
