/* The output of a session: bytes of nghttp2, up to LIMIT_GRPC_OUTPUT at a time. */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <nghttp2/nghttp2.h>

struct grpc_output {
    struct strbuf bytes; /* of which `sent` have left */
    size_t sent;
    int64_t marked_ms; /* when all that waited was marked; it still waits, in part, */
    size_t marked;     /* as long as so many bytes have not left; 0: nothing waited */
};

void grpc_output_init(struct grpc_output *o);
void grpc_output_done(struct grpc_output *o);
/* Takes nghttp2's output, up to the limit; the rest waits there. False: that failed, and the
 * session must end. */
bool grpc_output_fill(struct grpc_output *o, nghttp2_session *http2);

/* So many bytes have left. */
void grpc_output_sent(struct grpc_output *o, size_t n);
/* Returns the time since the first call that saw output which still waits. Call it regularly. */
int64_t grpc_output_waits_ms(struct grpc_output *o, int64_t now_ms);

/* Returns the bytes that have not been sent yet, "" for none. */
static inline struct str grpc_output_rest(const struct grpc_output *o) {
    return o->bytes.n == o->sent ? STR("")
                                 : (struct str){o->bytes.p + o->sent, o->bytes.n - o->sent};
}
/* Does so little output wait that we may cause more? */
static inline bool grpc_output_has_room(const struct grpc_output *o) {
    return o->bytes.n - o->sent < LIMIT_GRPC_OUTPUT;
}
