/* What a session has to send: bytes of nghttp2, up to LIMIT_GRPC_OUTPUT at a time. */
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
/* Takes what nghttp2 has to send, up to the limit; the rest waits there. Returns false if it
 * cannot, and the session must end. */
bool grpc_output_fill(struct grpc_output *o, nghttp2_session *http2);

/* So many bytes have left. */
void grpc_output_sent(struct grpc_output *o, size_t n);
/* To be called once in a while: how long something has waited, as far as the calls saw. */
int64_t grpc_output_waits_ms(struct grpc_output *o, int64_t now_ms);

/* What has not left yet, "" for nothing. */
static inline struct str grpc_output_rest(const struct grpc_output *o) {
    return o->bytes.n == o->sent ? STR("")
                                 : (struct str){o->bytes.p + o->sent, o->bytes.n - o->sent};
}
/* Is so little waiting that more may be caused? */
static inline bool grpc_output_has_room(const struct grpc_output *o) {
    return o->bytes.n - o->sent < LIMIT_GRPC_OUTPUT;
}
