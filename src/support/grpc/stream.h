/*
 * The bytes of one connection: a socket, or TLS 1.3 over it. TLS peers must agree on h2 (ALPN) and,
 * if a client CA is configured, show a certificate of that CA whose subject may call. Nothing
 * blocks.
 *
 * For connections that we dial, see grpc/dial_tls.h.
 *
 * Not thread-safe: a stream belongs to one thread. The credentials are shared.
 */
#pragma once

#include "grpc/dial_tls.h"
#include "http/tls.h"

#include <sys/types.h>

/* The TLS credentials of a listener's connections. Without TLS, pass NULL instead. */
struct grpc_credentials;
/* `tls` is borrowed for the life of the credentials. Returns 0 or -ENOMEM. */
int grpc_credentials_new(struct tls *tls, struct grpc_credentials **ret,
                         struct err *err) MUST_CHECK;
void grpc_credentials_free(struct grpc_credentials *c); /* NULL is fine */

struct grpc_stream;
/* Opens a stream on a non-blocking descriptor, which the stream owns after success. Returns 0 or
 * -ENOMEM. */
int grpc_stream_open(int fd, struct grpc_credentials *credentials, struct grpc_stream **ret,
                     struct err *err) MUST_CHECK;
/* The same as grpc_stream_open() for a connection that we dialled; if `credentials` is NULL, there
 * is no TLS. `host` is the name that the server's certificate must have. */
int grpc_stream_dial(int fd, struct grpc_dial_credentials *credentials, const char *host,
                     struct grpc_stream **ret, struct err *err) MUST_CHECK;
/* Closes the connection. NULL is fine. */
void grpc_stream_close(struct grpc_stream *s);

/* Continues the handshake. Returns 0 when it is over (at once without TLS), -EAGAIN, or -EPROTO or
 * -EACCES with a sentence: the client has made an error, and was sent an alert. For a dialled
 * connection: the errors of grpc_dial_problem(). */
int grpc_stream_handshake(struct grpc_stream *s, struct err *err) MUST_CHECK;
/* Does an unfinished handshake wait to send? */
bool grpc_stream_waits_to_send(const struct grpc_stream *s);

/* The same as read(2) and write(2), but they return a negative errno. A read returns 0 at the end
 * of the stream, -EAGAIN if no bytes have come. */
ssize_t grpc_stream_read(struct grpc_stream *s, void *into, size_t size);
ssize_t grpc_stream_write(struct grpc_stream *s, const void *from, size_t size);
/* Are there more bytes to read, even if the descriptor reports no event? */
bool grpc_stream_has_more(const struct grpc_stream *s);
/* Returns why a read or write of a dialled connection has failed; `code` is its result (0: the
 * stream has ended). Returns the result of grpc_dial_problem(), or the code. */
int grpc_stream_problem(const struct grpc_stream *s, int code, struct err *err) MUST_CHECK;
