#include "grpc/incoming.h"

#include <errno.h>

bool grpc_incoming_prefix(struct grpc_incoming *in, struct str *bytes) {
    const size_t wanted = sizeof in->prefix - in->prefix_length;
    const size_t n = bytes->n < wanted ? bytes->n : wanted;
    if (n == 0)
        return false;
    memcpy(in->prefix + in->prefix_length, bytes->p, n);
    in->prefix_length += n;
    *bytes = (struct str){bytes->p + n, bytes->n - n};
    return in->prefix_length == sizeof in->prefix;
}

uint32_t grpc_incoming_length(const struct grpc_incoming *in) {
    const uint8_t *p = in->prefix;
    return (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
}

int grpc_incoming_add(struct grpc_incoming *in, struct grpc_held *held, struct str bytes) {
    const size_t before = in->message.n;
    if (bytes.n > grpc_incoming_length(in) - before)
        return -EMSGSIZE;
    if (!grpc_hold(held, bytes.n))
        return -EDQUOT;
    strbuf_append_str(&in->message, bytes);
    if (in->message.n != before)
        return 0;
    grpc_let_go(held, bytes.n);
    return -ENOMEM;
}

bool grpc_incoming_complete(const struct grpc_incoming *in) {
    return in->prefix_length == sizeof in->prefix && in->message.n >= grpc_incoming_length(in);
}

void grpc_incoming_drop(struct grpc_incoming *in, struct grpc_held *held) {
    grpc_let_go(held, in->message.n);
    strbuf_done(&in->message);
}
