/*
 * Accepts connections on one thread of its own and hands them on.
 *
 * libmicrohttpd can accept by itself, but does it with two faults. Its threads race for new
 * connections, and the winner takes up to ten at once, so the few long-lived connections of a
 * scheduler easily end on one thread. And taking its listening socket away (MHD_quiesce_daemon)
 * aborts the program if a thread is at its connection limit at that moment. This thread hands
 * connections over one by one, so they spread evenly, and refuses new ones by closing its socket.
 */
#pragma once

#include "base/err.h"

#include <sys/socket.h>

struct acceptor;

/* Called on the acceptor's thread. The callee owns the descriptor from then on. */
typedef void acceptor_fn(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_length);

/* Starts the thread. listen_fd must be non-blocking; the acceptor owns it if this succeeds. */
int acceptor_start(int listen_fd, acceptor_fn *accepted, void *ctx, struct acceptor **ret,
                   struct err *err) MUST_CHECK;
/* Stops the thread and closes the listening socket: new connections are refused, and connections
 * that waited in the backlog are reset. NULL is fine. */
void acceptor_stop(struct acceptor *acceptor);
