/*
 * Connections to servers of gRPC, many of them on one thread, which waits by epoll. A *peer* is a
 * server that a connection is kept to: it is connected when it is added, and again when it is lost,
 * after a while that grows. Nothing here blocks the caller: a call to a peer that is not connected
 * ends at once.
 *
 * A peer may have several addresses, "host:port" each, which are tried in order. The name that was
 * dialled is the one that the server's certificate must have. Files of certificates are read again
 * for connections later than a second after the last reading.
 *
 * Threads: any function from any thread; a peer is not used any more once it is removed. Replies
 * come on the dialer's thread; they must not block, and may call grpc_peer_call().
 */
#pragma once

#include "base/limits.h"
#include "grpc/client.h"
#include "grpc/dial_tls.h"

struct grpc_dialer;
struct grpc_peer;

enum { GRPC_PEER_ADDRESSES = 2 };

/* The files' names are borrowed for its life. Starts the thread. 0 or -errno. */
int grpc_dialer_start(const struct grpc_dial_tls *tls, struct clock *clock,
                      struct grpc_dialer **ret, struct err *err) MUST_CHECK;
/* Ends all connections and calls, and the thread. NULL is fine. */
void grpc_dialer_stop(struct grpc_dialer *d);

/* Adds a peer, and connects to it. The addresses, 1 to GRPC_PEER_ADDRESSES, are copied. 0, -EINVAL:
 * one has not the form; -ENOMEM. */
int grpc_peer_add(struct grpc_dialer *d, const char *const *addresses, size_t count,
                  struct grpc_peer **ret, struct err *err) MUST_CHECK;
/* Ends its connection and calls, soon. NULL is fine. */
void grpc_peer_remove(struct grpc_peer *p);

enum grpc_peer_stage {
    GRPC_PEER_WAITS, /* until it is dialled again, or for a place to look its name up */
    GRPC_PEER_LOOKS_UP,
    GRPC_PEER_CONNECTS,
    GRPC_PEER_SHAKES_HANDS, /* TLS */
    GRPC_PEER_GREETS,       /* connected; the server's SETTINGS have not come */
    GRPC_PEER_READY,
    GRPC_PEER_STAGES
};
struct grpc_peer_report {
    enum grpc_peer_stage stage;
    enum grpc_peer_stage failed_at; /* of the last failure: where; GRPC_PEER_WAITS: no failure */
    /* Why: -ENXIO, the name has no address; errno of connect(2); as grpc_dial_problem(); -EPROTO at
     * GRPC_PEER_GREETS, it does not speak HTTP/2; -ETIMEDOUT; -EINVAL, our own files. */
    struct err failure;
    unsigned failures;                /* in a row; 0 once it is ready */
    char address[LIMIT_GRPC_ADDRESS]; /* of the present or last try, as it was given */
    int64_t connected_ms;             /* when it became ready, of the dialer's clock */
};
void grpc_peer_report(struct grpc_peer *p, struct grpc_peer_report *ret);
/* The same, when the peer is ready, or all its addresses have failed once, or it is `until_ms` of
 * clock_real(). The only function that blocks: for commands. */
void grpc_peer_await(struct grpc_peer *p, int64_t until_ms, struct grpc_peer_report *ret);

/* Begins a call; what it points to is copied. 0: it is replied to exactly once; or -ENOTCONN, with
 * the reason, and -ENOMEM. */
int grpc_peer_call(struct grpc_peer *p, const struct grpc_call_request *request,
                   grpc_reply_fn *reply, void *ctx, struct err *err) MUST_CHECK;
