/*
 * Accepts connections on one thread of its own and hands them on.
 *
 * Why not libmicrohttpd's own accepting: its threads race for new connections and the winner takes
 * up to ten at once, so the few long-lived connections of a scheduler easily end on one thread; and
 * taking its listening socket away (MHD_quiesce_daemon) aborts the program if a thread is just then
 * at its connection limit. Handed over one by one, connections are dealt out evenly, and refusing
 * new ones is a matter of closing our own socket.
 */
#pragma once

#include "base/err.h"

#include <sys/socket.h>

struct acceptor;

/* Called on the acceptor's thread; the descriptor is the callee's from then on. */
typedef void acceptor_fn(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_length);

/* Starts the thread. listen_fd is non-blocking and owned by the acceptor if this succeeds. */
int acceptor_start(int listen_fd, acceptor_fn *accepted, void *ctx, struct acceptor **ret,
                   struct err *err) MUST_CHECK;
/* Stops the thread and closes the listening socket: who connects now is refused, and who waited in
 * the backlog is reset. NULL is fine. */
void acceptor_stop(struct acceptor *acceptor);
