/*
 * The client's side of one HTTP/2 connection: unary calls of gRPC, as a state machine over bytes
 * like grpc/session.h. It knows neither sockets nor TLS nor threads.
 *
 * Each call is replied to exactly once, with a message or with a status that is not GRPC_OK and a
 * sentence. What a server can make it cost is bounded before it is kept:
 * - headers and trailers: LIMIT_GRPC_HEADERS bytes a call, as HTTP/2 counts them;
 * - messages: LIMIT_GRPC_MESSAGE each, LIMIT_GRPC_SESSION_BYTES of a session and the budget of all
 *   sessions together (status 8), of which a session needs nothing for its first
 *   LIMIT_GRPC_SESSION_OWN_BYTES; memory is taken as bytes arrive, not as a length announces them;
 * - time: a call ends at its deadline with status 4, whatever the server sends;
 * - output: while LIMIT_GRPC_OUTPUT bytes wait, no input is taken;
 * - frames: a server may push nothing, and floods of PING, SETTINGS and CONTINUATION end the
 *   session, as nghttp2 has it.
 * A server that leaves (GOAWAY) answers the calls that it has taken; others end with status 14, and
 * there can be no more.
 *
 * Texts of statuses are decoded, cut to LIMIT_GRPC_TEXT bytes, and have spaces for control
 * characters: they may go to logs and terminals.
 *
 * Not thread-safe: a session belongs to one thread. The budget is shared. upstream: grpc-go
 * internal/transport http2_client.go, where gRPC's specification leaves something open.
 */
#pragma once

#include "base/clock.h"
#include "grpc/grpc.h"

struct grpc_client;

struct grpc_client_options {
    const char *authority; /* "host:port", for :authority; copied */
    bool secure;           /* :scheme is https */
    struct clock *clock;   /* borrowed for its life, as the next */
    struct grpc_budget *budget;
};
/* 0 or -ENOMEM. */
int grpc_client_new(const struct grpc_client_options *options, struct grpc_client **ret,
                    struct err *err) MUST_CHECK;
/* Ends the calls that are open with status 14. NULL is fine. */
void grpc_client_free(struct grpc_client *c);

/* A call's end. The message and the text are borrowed for the time of the function. */
struct grpc_reply {
    int status;         /* GRPC_OK, or another number of the server or of enum grpc_status */
    bool from_server;   /* the status is the server's own */
    struct str message; /* of GRPC_OK */
    struct str text;    /* of other statuses; may be "" */
};
/* It must not call functions of the session. */
typedef void grpc_reply_fn(void *ctx, const struct grpc_reply *reply);

struct grpc_call_request {
    struct str path;     /* "/package.Service/Method" */
    struct str object;   /* metadata `object`; "" for none */
    struct str message;  /* copied, as the two above */
    int64_t deadline_ms; /* of the clock */
};
/* Begins a call. Returns 0, -EBUSY (LIMIT_GRPC_STREAMS are open), -ENOTCONN (the session takes no
 * calls any more) or -ENOMEM. After an error it does not call reply(). */
int grpc_client_call(struct grpc_client *c, const struct grpc_call_request *request,
                     grpc_reply_fn *reply, void *ctx, struct err *err) MUST_CHECK;

/* Does it take calls? False from the server's GOAWAY on. */
bool grpc_client_takes_calls(const struct grpc_client *c);
/* Has the server sent its SETTINGS: does it speak HTTP/2? */
bool grpc_client_is_greeted(const struct grpc_client *c);
/* Calls that are not replied to. */
size_t grpc_client_calls(const struct grpc_client *c);

/* As the functions of the same names of grpc/session.h. */
bool grpc_client_takes_input(const struct grpc_client *c);
int grpc_client_receive(struct grpc_client *c, struct str bytes, struct err *err) MUST_CHECK;
struct str grpc_client_output(struct grpc_client *c);
void grpc_client_sent(struct grpc_client *c, size_t n);
bool grpc_client_is_over(const struct grpc_client *c);
/* Why one that is over is: -EPROTO (no HTTP/2, or not by its rules) or -ECONNRESET. */
int grpc_client_problem(const struct grpc_client *c, struct err *err);

/* Ends calls whose deadline is over. Returns when to be called next, INT64_MAX without calls. */
int64_t grpc_client_tick(struct grpc_client *c);
