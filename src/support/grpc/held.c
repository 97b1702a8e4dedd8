#include "grpc/held.h"

#include "base/limits.h"

#include <stdatomic.h>

/* Returns the number of these bytes that count against the budget of all sessions. */
static size_t shared(size_t bytes) {
    return bytes > LIMIT_GRPC_SESSION_OWN_BYTES ? bytes - LIMIT_GRPC_SESSION_OWN_BYTES : 0;
}

bool grpc_hold(struct grpc_held *h, size_t n) {
    const size_t more = shared(h->bytes + n) - shared(h->bytes);
    if (h->bytes + n > LIMIT_GRPC_SESSION_BYTES)
        return false;
    if (more > 0 && atomic_fetch_add(&h->budget->used, more) + more > h->budget->max) {
        (void)atomic_fetch_sub(&h->budget->used, more);
        return false;
    }
    h->bytes += n;
    return true;
}

void grpc_let_go(struct grpc_held *h, size_t n) {
    (void)atomic_fetch_sub(&h->budget->used, shared(h->bytes) - shared(h->bytes - n));
    h->bytes -= n;
}
