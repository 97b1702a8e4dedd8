/*
 * One HTTP/2 connection that receives gRPC calls, as a state machine over bytes: received bytes go
 * in, bytes to send come out. It has no sockets, TLS and threads, so it is tested without them.
 * nghttp2 does HTTP/2 itself.
 *
 * The cost that a client can cause is limited before anything is kept:
 * - streams: LIMIT_GRPC_STREAMS at the same time; more streams are refused (REFUSED_STREAM) until
 *   the client has acknowledged the limit, and end the session after that;
 * - headers: LIMIT_GRPC_HEADERS bytes a call, counted as HTTP/2 does; then the stream is reset.
 *   nghttp2 buffers at most 9 frames of 16 KiB: more than 8 CONTINUATIONs end the session;
 * - messages: LIMIT_GRPC_MESSAGE each (status 8), LIMIT_GRPC_SESSION_BYTES of a session and the
 *   budget of all sessions together (also status 8), but the first LIMIT_GRPC_SESSION_OWN_BYTES of
 *   a session do not use the budget; memory is taken for received bytes, not for an announced
 *   length. A call counts LIMIT_GRPC_CALL_BYTES from its first header; without room for them it is
 *   refused (REFUSED_STREAM);
 * - time: a call whose message is not complete within LIMIT_GRPC_RECEIVE_MS, or its own timeout,
 *   ends with status 4; a call whose answer is not read within LIMIT_GRPC_SEND_MS is reset;
 * - output: while LIMIT_GRPC_OUTPUT bytes wait for a client that does not read, no input is taken;
 *   when some bytes have waited for LIMIT_GRPC_SEND_MS, the session must end;
 * - waiting: with grpc_session_defer(), at most LIMIT_GRPC_WAITING complete calls wait; then no
 *   input is taken until a call has been answered;
 * - resets: nghttp2 ends a session that has more than 1000 resets at once and 33 a second (rapid
 *   reset, CVE-2023-44487), more than 1000 unsent acknowledgements, or more than 32 entries in a
 *   SETTINGS frame.
 *
 * Not thread-safe: a session belongs to one thread. The budget is shared.
 */
#pragma once

#include "base/clock.h"
#include "grpc/grpc.h"

struct grpc_session;

/* The service, the clock and the budget are borrowed for the session's life. Returns 0 or -ENOMEM.
 */
int grpc_session_new(const struct grpc_service *service, struct clock *clock,
                     struct grpc_budget *budget, struct grpc_session **ret,
                     struct err *err) MUST_CHECK;
/* Drops the calls that are open. NULL is fine. */
void grpc_session_free(struct grpc_session *s);

/* After this call only grpc_session_work() runs methods, so that the caller chooses which session
 * has its turn. Otherwise a method runs as soon as its call is complete. */
void grpc_session_defer(struct grpc_session *s);
/* Does a complete call wait? */
bool grpc_session_has_work(const struct grpc_session *s);
/* Runs the method of the call that has waited longest; at least one must wait. */
void grpc_session_work(struct grpc_session *s);

/* Does the session take input now? False while too much output or too many calls wait, and when the
 * session will read no more. */
bool grpc_session_takes_input(const struct grpc_session *s);
/* Takes received bytes, in any pieces; answers complete calls. Returns 0, or -EPROTO (no HTTP/2, or
 * abuse): send the remaining output, which informs the client, then end the connection. */
int grpc_session_receive(struct grpc_session *s, struct str bytes, struct err *err) MUST_CHECK;

/* Returns the bytes to be sent, "" for nothing; valid until the next call of any function. */
struct str grpc_session_output(struct grpc_session *s);
/* Call it when n bytes of the output were sent. */
void grpc_session_sent(struct grpc_session *s, size_t n);

/* Ends calls whose time limit has passed. Call it about once a second. Returns false if the client
 * does not read its output: the connection must end. */
bool grpc_session_tick(struct grpc_session *s) MUST_CHECK;

/*
 * Graceful shutdown: asks the client to open no streams (GOAWAY with the highest number; one round
 * trip later, GOAWAY with the number of the last taken stream), and answers the open streams.
 */
void grpc_session_shutdown(struct grpc_session *s);

/* Returns the number of calls whose answer has not been sent completely. */
size_t grpc_session_calls(const struct grpc_session *s);
/* Is the session over? It reads and writes no more, so the connection may be closed. */
bool grpc_session_is_over(const struct grpc_session *s);
