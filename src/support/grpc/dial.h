/*
 * Connections to many gRPC servers on one thread, which waits by epoll. A *peer* is a server with a
 * permanent connection: the dialer connects when the peer is added, and again when the connection
 * is lost, after a time that grows with each failure. Nothing here blocks the caller: a call to a
 * peer that is not connected fails at once.
 *
 * A peer may have several addresses, "host:port" each, which are tried in order. The server's
 * certificate must have the name that was dialled. For a new connection, certificate files are read
 * again if they were read more than a second ago.
 *
 * Threads: any function from any thread; do not use a peer after its removal. Replies come on the
 * dialer's thread; they must not block, and may call grpc_peer_call().
 */
#pragma once

#include "base/limits.h"
#include "grpc/client.h"
#include "grpc/dial_tls.h"

struct grpc_dialer;
struct grpc_peer;

enum { GRPC_PEER_ADDRESSES = 2 };

/* Starts the thread. The names of the files are borrowed for the dialer's life. Returns 0 or
 * -errno. */
int grpc_dialer_start(const struct grpc_dial_tls *tls, struct clock *clock,
                      struct grpc_dialer **ret, struct err *err) MUST_CHECK;
/* Ends all connections and calls, and the thread. NULL is fine. */
void grpc_dialer_stop(struct grpc_dialer *d);

/* Adds a peer, and connects to it. The addresses, 1 to GRPC_PEER_ADDRESSES, are copied. Returns 0,
 * -EINVAL (an address does not have the form) or -ENOMEM. */
int grpc_peer_add(struct grpc_dialer *d, const char *const *addresses, size_t count,
                  struct grpc_peer **ret, struct err *err) MUST_CHECK;
/* Ends the peer's connection and calls, soon but not before it returns. NULL is fine. */
void grpc_peer_remove(struct grpc_peer *p);

enum grpc_peer_stage {
    GRPC_PEER_WAITS, /* waits for the time of the next try, or for a free look-up */
    GRPC_PEER_LOOKS_UP,
    GRPC_PEER_CONNECTS,
    GRPC_PEER_SHAKES_HANDS, /* TLS */
    GRPC_PEER_GREETS,       /* connected; the server's SETTINGS have not come */
    GRPC_PEER_READY,
    GRPC_PEER_STAGES
};
struct grpc_peer_report {
    enum grpc_peer_stage stage;
    enum grpc_peer_stage failed_at; /* the stage of the last failure; GRPC_PEER_WAITS: no failure */
    /* The last failure: -ENXIO (the name has no address); errno of connect(2); an error of
     * grpc_dial_problem(); -EPROTO at GRPC_PEER_GREETS (the server does not speak HTTP/2);
     * -ETIMEDOUT; -EINVAL (our own files are bad). */
    struct err failure;
    unsigned failures;                /* failures in a row; 0 once the peer is ready */
    char address[LIMIT_GRPC_ADDRESS]; /* the address of the present or last try, as it was given */
    int64_t connected_ms;             /* when the peer became ready, by the dialer's clock */
};
void grpc_peer_report(struct grpc_peer *p, struct grpc_peer_report *ret);
/* The same as grpc_peer_report(), but first waits until the peer is ready, all its addresses have
 * failed once, or `until_ms` of clock_real() has come. Only this function blocks; it is for
 * commands. */
void grpc_peer_await(struct grpc_peer *p, int64_t until_ms, struct grpc_peer_report *ret);

/* Begins a call; the request is copied. Returns 0 if reply() will be called, exactly once;
 * otherwise -ENOTCONN with the reason, or -ENOMEM. */
int grpc_peer_call(struct grpc_peer *p, const struct grpc_call_request *request,
                   grpc_reply_fn *reply, void *ctx, struct err *err) MUST_CHECK;
