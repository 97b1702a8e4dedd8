/*
 * HTTP(S) listeners: what handlers see of a request, what they answer, and how a listener is
 * started. Only the files of this folder know libmicrohttpd and GnuTLS.
 *
 * Threads: a handler runs on one of the listener's threads, must not block, and may run many times
 * at once. A request, its arena and its body live until the last byte of the answer has left.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct http_request {
    struct str method, path; /* path percent-decoded, without the query */
    struct str query;        /* what stands behind '?', as sent */
    struct str body;         /* borrowed for the life of the request */
    struct arena *arena;     /* for everything the handler builds */
    struct str client;       /* subject of a verified client certificate, "" without one */
    struct str peer;         /* "10.0.0.7:51342": who is connected */
    bool peer_is_loopback;
    void *transport; /* of this folder; NULL in tests of handlers */
};

/* The first header of this name (any case), "" when there is none. Borrowed for the life of the
 * request. */
struct str http_request_header(const struct http_request *request, const char *name);

/*
 * An answer is the text a handler has written; or a list of pieces sent one after the other, bytes
 * from the request's body or arena, or static, of which nothing is copied but what is on its way.
 */
struct http_response {
    int status;
    const char *content_type; /* literal; NULL: none */
    const char *allow;        /* for 405: the methods, literal or arena; else NULL */
    int retry_after_s;        /* 0: no Retry-After */
    int64_t data_age_ms;      /* > 0: how old what was answered from is, as Evenkeel-Data-Age */
    struct strbuf text;       /* owned by the response; sent when pieces is NULL */
    struct str *pieces;       /* arena of the request, or NULL */
    size_t piece_count;
};

typedef void http_handler_fn(void *ctx, const struct http_request *request,
                             struct http_response *response);

/*
 * For a handler that has to wait for somebody else: it calls http_defer(), returns without an
 * answer, and its thread serves other requests. The answer is given exactly once, from any thread,
 * and until then at most for the request's time limit. The request, its body and its arena are not
 * to be touched after the handler has returned. NULL: no memory, or the listener stops.
 */
struct http_deferral;
struct http_deferral *http_defer(const struct http_request *request) MUST_CHECK;
/* Takes response->text over; pieces are not possible. Too late is fine: then nothing happens. */
void http_deferral_answer(struct http_deferral *d, struct http_response *response);

/*
 * Routes are tried in order; a path that ends in "/" "*" takes everything below it. HEAD is
 * answered where GET is. Routes that share a name share their metrics.
 */
struct http_route {
    const char *method, *path; /* "POST", "/extender/v1/filter" */
    const char *name;          /* the metrics' verb label: "filter" */
    http_handler_fn *handle;
    bool json; /* the body must be application/json: otherwise 415 */
};

/* The routes of handlers that share a `ctx`: a const table beside the handlers. */
struct http_routes {
    const struct http_route *rows;
    size_t count;
};
#define HTTP_ROUTES(array)                                                                         \
    { (array), sizeof(array) / sizeof(array)[0] }

/* Routes, and the ctx that their handlers get here. */
struct http_service {
    const struct http_routes *routes;
    void *ctx;
};
enum { HTTP_SERVICES = 4 }; /* of a listener, with the empty one that ends them */

struct http_limits {
    size_t body_bytes;       /* a body must be smaller: otherwise 413 */
    size_t bodies_in_flight; /* all bodies of the listener together: otherwise 503 + Retry-After */
    unsigned connections, connections_per_address;
    unsigned header_ms, request_ms, idle_ms; /* absolute deadlines, kept by a watchdog */
};

struct http_tls_options {
    const char *cert_file, *key_file; /* PEM; re-read on change; both NULL: plain HTTP */
    const char *client_ca_file;       /* PEM; NULL: no client certificate asked for */
    const char *const *
        allowed_subjects; /* CN or SAN (DNS, e-mail, URI) that may call; none: every verified one */
    size_t allowed_subject_count;
    bool handed_over; /* no files: the pair comes through http_listener_set_certificate(), and until
                         the first one no handshake succeeds */
};

/* Everything it points to is borrowed for the listener's life. */
struct http_listener_options {
    const char *name;    /* "extender", "ops": in logs and metrics */
    const char *address; /* "127.0.0.1:8443", "[::1]:0", ":8443" for all; port 0: any free one */
    unsigned threads;
    struct http_limits limits;
    struct http_tls_options tls;
    struct http_service services[HTTP_SERVICES]; /* tried in order; one without routes ends them */
};

struct http_listener;

/*
 * Tells the allocator, for the whole process, to keep some memory that requests give back instead
 * of returning it to the kernel each time: halves the CPU time of requests of a few hundred KiB,
 * which otherwise goes into page faults. Once at start-up, before threads.
 */
void http_tune_memory(void);

/* How many threads a listener is to have: `wanted`, or for 0 one per CPU. */
unsigned http_threads(unsigned wanted);

/* Opens the socket, loads certificates and serves. Its threads inherit the signal mask: block
 * before what the main thread waits for. 0, or -errno with a sentence that says what to do. */
int http_listener_start(const struct http_listener_options *options, struct clock *clock,
                        struct http_listener **ret, struct err *err) MUST_CHECK;
/* "127.0.0.1:41235": where it really listens. Borrowed for the listener's life. */
const char *http_listener_address(const struct http_listener *l);
/* Looks at the certificate files and loads them again if they changed; a bad pair is logged once
 * and the old one stays. Call about once a second from one thread. */
void http_listener_poll_files(struct http_listener *l);
/*
 * For options.tls.handed_over: new connections are shown this certificate chain (PEM, leaf first)
 * from now on. `from` names where it comes from, for the log. -EINVAL with the reason: the one
 * before stays in use. Any thread.
 */
int http_listener_set_certificate(struct http_listener *l, struct str certificate, struct str key,
                                  const char *from, struct err *err) MUST_CHECK;
/* From now on every answer says "Connection: close". First step of a shutdown. NULL is fine. */
void http_listener_drain(struct http_listener *l);
/* Refuses new connections at once, lets requests under way finish for at most drain_ms, then closes
 * and frees everything. NULL is fine. */
void http_listener_stop(struct http_listener *l, unsigned drain_ms);

/* Ready-made answers. `text` answers are one line for people; a JSON body is whatever the handler
 * wrote to response->text. */
void http_answer_text(struct http_response *response, int status, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void http_answer_json(struct http_response *response,
                      int status); /* response->text holds the JSON */

/* The versions of libmicrohttpd and GnuTLS that are loaded. Static strings. */
const char *http_server_version(void);
const char *http_tls_version(void);
