#include "grpc/output.h"

void grpc_output_init(struct grpc_output *o) {
    /* room for waiting output, one frame, and half of the sent bytes */
    *o = (struct grpc_output){.bytes.max = 2 * LIMIT_GRPC_OUTPUT};
}

void grpc_output_done(struct grpc_output *o) {
    strbuf_done(&o->bytes);
}

/* Drops the sent bytes, so that the buffer does not grow beyond its maximum. */
static void drop_sent(struct grpc_output *o) {
    if (o->sent < o->bytes.n && o->sent < LIMIT_GRPC_OUTPUT / 2)
        return;
    o->bytes.n -= o->sent;
    if (o->bytes.n > 0)
        memmove(o->bytes.p, o->bytes.p + o->sent, o->bytes.n);
    o->sent = 0;
}

void grpc_output_sent(struct grpc_output *o, size_t n) {
    o->sent += n;
    o->marked -= n < o->marked ? n : o->marked;
}

int64_t grpc_output_waits_ms(struct grpc_output *o, int64_t now_ms) {
    if (o->marked == 0) {
        o->marked = grpc_output_rest(o).n;
        o->marked_ms = now_ms;
    }
    return now_ms - o->marked_ms;
}

bool grpc_output_fill(struct grpc_output *o, nghttp2_session *http2) {
    const uint8_t *bytes;
    drop_sent(o);
    while (grpc_output_has_room(o)) {
        const ssize_t n = nghttp2_session_mem_send(http2, &bytes);
        if (n <= 0)
            return n == 0;
        strbuf_append(&o->bytes, bytes, (size_t)n);
        if (strbuf_failed(&o->bytes))
            return false;
    }
    return true;
}
