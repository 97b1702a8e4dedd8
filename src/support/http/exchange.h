/*
 * One request and its answer: the steps between libmicrohttpd and a handler, as a flat list.
 *
 *     exchange_begin    the request line is there
 *     exchange_headers  the headers are there: framing, caller, route, method, type, length
 *     exchange_body     a piece of the body
 *     exchange_finish   everything is there: the handler runs, the answer is queued
 *     exchange_end      the answer has left, or the connection is lost
 *
 * All run on the connection's thread. libmicrohttpd takes an answer at two moments only: with the
 * headers, after which it closes the connection, or when the whole body has arrived. A client that
 * is still sending often does not see an early answer. So a short body of a refused request is read
 * and dropped before the answer; a request with a long body is answered at once.
 */
#pragma once

#include "http/body.h"
#include "http/http.h"
#include "http/slow.h"

#include <microhttpd.h>

struct connection;
struct stats_verb;

enum exchange_phase {
    EXCHANGE_NONE,     /* between requests */
    EXCHANGE_HEADERS,  /* receiving headers */
    EXCHANGE_BODY,     /* receiving a body that will be handled */
    EXCHANGE_DEFERRED, /* the handler will answer later */
    EXCHANGE_REFUSED,  /* receiving the rest of the request, and dropping it */
    EXCHANGE_ANSWERED,
};

/* One for each connection; every request of the connection uses it again. */
struct exchange {
    enum exchange_phase phase;
    struct http_request request;
    struct http_response response;
    struct arena arena;
    struct body body;
    const struct http_route *route; /* NULL: none found */
    void *ctx;                      /* passed to the route's handler */
    struct http_continuation next;  /* a deferred request's continuation to call; go_on NULL:
                                       none */
    struct stats_verb *verb;        /* NULL: the headers never ended */
    size_t length;                  /* announced length of the body, or BODY_LENGTH_UNKNOWN */
    size_t dropped;                 /* bytes of a refused body so far */
    struct str target;              /* the target in the request line; it is decoded in place */
    bool target_is_clean;           /* the target was clean before it was decoded */
    bool last;                      /* the connection ends with this request */
    bool expects_continue;          /* the client sent "Expect: 100-continue" and waits */
    struct stopwatch stopwatch;     /* from the end of the headers */
    size_t piece, piece_at; /* index of the next piece to send, and its bytes already sent */
    size_t charged;         /* bytes of the answer that are charged to the listener's budget */
};

void exchange_begin(struct connection *c, const char *uri);
/* These three return MHD_NO to close the connection without an answer. */
enum MHD_Result exchange_headers(struct connection *c, const char *path, const char *method,
                                 const char *version);
enum MHD_Result exchange_body(struct connection *c, const char *bytes, size_t n);
enum MHD_Result exchange_finish(struct connection *c);
void exchange_end(struct connection *c);

/* Calls a handler of the request: running.h counts it, and its log lines have the request's trace
 * header. */
void exchange_call(struct exchange *x, http_handler_fn *handle, void *ctx,
                   struct http_response *response);

/* Makes room for n more bytes of a connection that would then hold `wanted`; if necessary it closes
 * the connections that hold most. */
bool exchange_make_room(struct connection *c, size_t n, size_t wanted);

/* In answer.c: queues c->exchange.response; libmicrohttpd then owns its text. */
enum MHD_Result answer_send(struct connection *c);
