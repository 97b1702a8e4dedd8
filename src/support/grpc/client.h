/*
 * The client's side of one HTTP/2 connection, for unary calls of gRPC: a state machine over bytes,
 * like grpc/session.h, without sockets, TLS and threads.
 *
 * Each call gets exactly one reply: a message, or a status other than GRPC_OK with a sentence. The
 * cost that a server can cause is limited before anything is kept:
 * - headers and trailers: LIMIT_GRPC_HEADERS bytes a call, counted as HTTP/2 does;
 * - messages: LIMIT_GRPC_MESSAGE each, LIMIT_GRPC_SESSION_BYTES of a session and the budget of all
 *   sessions together (status 8), but the first LIMIT_GRPC_SESSION_OWN_BYTES of a session do not
 *   use the budget; memory is taken for received bytes, not for an announced length;
 * - time: a call ends at its deadline with status 4, whatever the server sends;
 * - output: while LIMIT_GRPC_OUTPUT bytes wait, no input is taken;
 * - frames: a server may push nothing, and floods of PING, SETTINGS and CONTINUATION end the
 *   session, by the limits of nghttp2. A server that sends GOAWAY still answers the calls that it
 *   has taken. Other calls end with status 14, and the session takes no new calls.
 *
 * Texts of statuses are decoded, cut to LIMIT_GRPC_TEXT bytes, and have spaces for control
 * characters: they may go to logs and terminals.
 *
 * Not thread-safe: a session belongs to one thread. The budget is shared. upstream: grpc-go
 * internal/transport http2_client.go, where gRPC's specification leaves a choice.
 */
#pragma once

#include "base/clock.h"
#include "grpc/grpc.h"

struct grpc_client;

struct grpc_client_options {
    const char *authority; /* "host:port", for :authority; copied */
    bool secure;           /* :scheme is https */
    struct clock *clock;   /* borrowed for the session's life, like `budget` */
    struct grpc_budget *budget;
};
/* Returns 0 or -ENOMEM. */
int grpc_client_new(const struct grpc_client_options *options, struct grpc_client **ret,
                    struct err *err) MUST_CHECK;
/* Ends open calls with status 14. NULL is fine. */
void grpc_client_free(struct grpc_client *c);

/* The end of a call. The message and the text are borrowed only during grpc_reply_fn(). */
struct grpc_reply {
    int status;         /* GRPC_OK, another code of enum grpc_status, or any number from the
                           server */
    bool from_server;   /* the server has sent the status */
    struct str message; /* if the status is GRPC_OK */
    struct str text;    /* for other statuses; may be "" */
};
/* This function must not call functions of the session. */
typedef void grpc_reply_fn(void *ctx, const struct grpc_reply *reply);

struct grpc_call_request {
    struct str path;     /* "/package.Service/Method" */
    struct str object;   /* metadata `object`; "" for none */
    struct str message;  /* copied, like path and object */
    int64_t deadline_ms; /* a time of the session's clock */
};
/* Begins a call. Returns 0, -EBUSY (LIMIT_GRPC_STREAMS are open), -ENOTCONN (the session takes no
 * calls any more) or -ENOMEM. After an error it does not call reply(). */
int grpc_client_call(struct grpc_client *c, const struct grpc_call_request *request,
                     grpc_reply_fn *reply, void *ctx, struct err *err) MUST_CHECK;

/* Does the session take calls? False after the server's GOAWAY. */
bool grpc_client_takes_calls(const struct grpc_client *c);
/* Has the server sent its SETTINGS? Then it speaks HTTP/2. */
bool grpc_client_is_greeted(const struct grpc_client *c);
/* Returns the number of calls without a reply yet. */
size_t grpc_client_calls(const struct grpc_client *c);

/* The same as the functions with these names in grpc/session.h. */
bool grpc_client_takes_input(const struct grpc_client *c);
int grpc_client_receive(struct grpc_client *c, struct str bytes, struct err *err) MUST_CHECK;
struct str grpc_client_output(struct grpc_client *c);
void grpc_client_sent(struct grpc_client *c, size_t n);
bool grpc_client_is_over(const struct grpc_client *c);
/* Returns why a session is over: -EPROTO (the server does not speak HTTP/2, or breaks its rules) or
 * -ECONNRESET. */
int grpc_client_problem(const struct grpc_client *c, struct err *err);

/* Ends calls whose deadline has passed. Returns the time when this function must be called next;
 * INT64_MAX if there are no calls. */
int64_t grpc_client_tick(struct grpc_client *c);
