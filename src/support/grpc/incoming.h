/* The single message of a stream while its bytes come in; a prefix of flag and length comes before
 * it. */
#pragma once

#include "base/err.h"
#include "base/limits.h"
#include "grpc/held.h"

struct grpc_incoming {
    uint8_t prefix[5]; /* flag, length */
    size_t prefix_length;
    struct strbuf message; /* its bytes count in a struct grpc_held; the owner sets .max */
};

/* Moves the bytes of the prefix from the front of `bytes`. Returns true if this call has completed
 * the prefix. */
bool grpc_incoming_prefix(struct grpc_incoming *in, struct str *bytes);
/* Returns the length that the prefix announces. */
uint32_t grpc_incoming_length(const struct grpc_incoming *in);
/* Adds bytes of the message. Returns 0, -EMSGSIZE (more than announced), -EDQUOT (`held` has no
 * room for them) or -ENOMEM. */
int grpc_incoming_add(struct grpc_incoming *in, struct grpc_held *held,
                      struct str bytes) MUST_CHECK;
/* Have all bytes come? */
bool grpc_incoming_complete(const struct grpc_incoming *in);
/* Frees the message. */
void grpc_incoming_drop(struct grpc_incoming *in, struct grpc_held *held);
