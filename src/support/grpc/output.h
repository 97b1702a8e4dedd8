/* The output of a session: bytes of nghttp2, up to LIMIT_GRPC_OUTPUT at a time. */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <nghttp2/nghttp2.h>

struct grpc_output {
    struct strbuf bytes; /* the output; its first `sent` bytes have left */
    size_t sent;
    int64_t marked_ms; /* when `marked` was set */
    size_t marked; /* bytes that were unsent at that time and have not left since; 0: no bytes */
};

void grpc_output_init(struct grpc_output *o);
void grpc_output_done(struct grpc_output *o);
/* Takes nghttp2's output, up to the limit; further output waits in nghttp2. Returns false after an
 * error: the session must end. */
bool grpc_output_fill(struct grpc_output *o, nghttp2_session *http2);

/* Call it when n bytes have left. */
void grpc_output_sent(struct grpc_output *o, size_t n);
/* Returns how long the oldest unsent output has waited, in ms. It can only compare the output at
 * its calls, so call it regularly. */
int64_t grpc_output_waits_ms(struct grpc_output *o, int64_t now_ms);

/* Returns the bytes that have not been sent yet, "" if all bytes were sent. */
static inline struct str grpc_output_rest(const struct grpc_output *o) {
    return o->bytes.n == o->sent ? STR("")
                                 : (struct str){o->bytes.p + o->sent, o->bytes.n - o->sent};
}
/* Is the unsent output small enough to add more? */
static inline bool grpc_output_has_room(const struct grpc_output *o) {
    return o->bytes.n - o->sent < LIMIT_GRPC_OUTPUT;
}
