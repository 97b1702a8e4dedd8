/*
 * A listener of gRPC: accepts connections within limits, and serves each on one of its threads,
 * which wait for many at a time. The session (grpc/session.h) bounds the cost of a connection; the
 * listener bounds its beginning: LIMIT_GRPC_BEGIN_MS for the handshake and the first bytes. There
 * are at most LIMIT_GRPC_CONNECTIONS; addresses with most of them make room for newcomers, and
 * clients that have shown a certificate keep theirs (net/slots.h).
 *
 * Handlers run on these threads, so they must not block.
 *
 * Metrics: evenkeel_estimator_connections, and those of its door (net/door.h) as listener
 * "estimator".
 */
#pragma once

#include "grpc/grpc.h"
#include "http/http.h"

struct grpc_listener;

/* All borrowed for the listener's life. */
struct grpc_listener_options {
    const char *address; /* as address_listen() reads it */
    unsigned threads;    /* 1 at least */
    /* 0: LIMIT_GRPC_CONNECTIONS and LIMIT_GRPC_CONNECTIONS_PER_ADDRESS */
    unsigned connections, connections_per_address;
    const struct grpc_service *service;
    const struct http_tls_options *tls; /* without a certificate: plaintext */
};

/* Opens the socket, loads certificates and serves. 0, or -errno with a sentence that says what to
 * do. */
int grpc_listener_start(const struct grpc_listener_options *options, struct clock *clock,
                        struct grpc_listener **ret, struct err *err) MUST_CHECK;
/* Returns the real address, "127.0.0.1:41235". Borrowed for the listener's life. */
const char *grpc_listener_address(const struct grpc_listener *l);
/* Loads the certificate files again if they changed; about once a second, from one thread. New
 * connections show the new one. NULL is fine, here and below. */
void grpc_listener_poll_files(struct grpc_listener *l);
/* Takes no new connections, asks clients to open no streams, and answers the open ones. */
void grpc_listener_drain(struct grpc_listener *l);
/* Waits for so long until connections have ended, then ends them. */
void grpc_listener_stop(struct grpc_listener *l, int64_t limit_ms);
