/*
 * A listener of gRPC: accepts connections within limits. Each connection has one of the listener's
 * threads; a thread serves many connections. The session (grpc/session.h) limits the cost of a
 * connection; the listener limits its beginning: LIMIT_GRPC_BEGIN_MS for the handshake and the
 * first bytes. At most LIMIT_GRPC_CONNECTIONS are open. To make room for a new connection, a
 * connection of the address with most connections is closed, but never a connection whose client
 * has shown a certificate (net/slots.h).
 *
 * Handlers run on these threads, so they must not block.
 *
 * Metrics: evenkeel_estimator_connections, and the metrics of net/door.h with the listener name
 * "estimator".
 */
#pragma once

#include "grpc/grpc.h"
#include "http/http.h"

struct grpc_listener;

/* All pointers are borrowed for the listener's life. */
struct grpc_listener_options {
    const char *address; /* in the form that address_listen() reads */
    unsigned threads;    /* 1 at least */
    /* 0: LIMIT_GRPC_CONNECTIONS and LIMIT_GRPC_CONNECTIONS_PER_ADDRESS */
    unsigned connections, connections_per_address;
    const struct grpc_service *service;
    const struct http_tls_options *tls; /* without a certificate: plaintext */
};

/* Opens the socket, loads certificates and serves. Returns 0, or -errno with a sentence of advice.
 */
int grpc_listener_start(const struct grpc_listener_options *options, struct clock *clock,
                        struct grpc_listener **ret, struct err *err) MUST_CHECK;
/* Returns the real address, "127.0.0.1:41235". Borrowed for the listener's life. */
const char *grpc_listener_address(const struct grpc_listener *l);
/* Loads the certificate files again if they changed. Call it about once a second, from one thread.
 * New connections use the new certificate. `l` may be NULL, here and in the functions below. */
void grpc_listener_poll_files(struct grpc_listener *l);
/* Takes no new connections, asks clients to open no more streams, and answers the open streams. */
void grpc_listener_drain(struct grpc_listener *l);
/* Waits at most limit_ms until all connections have ended, then ends the remaining connections. */
void grpc_listener_stop(struct grpc_listener *l, int64_t limit_ms);
