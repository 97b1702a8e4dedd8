/*
 * HTTP(S) listeners: the requests and answers of handlers, and starting a listener. Only the files
 * of this folder know libmicrohttpd and GnuTLS.
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
    struct str query;        /* the text behind '?', as sent */
    struct str body;         /* borrowed for the life of the request */
    struct arena *arena;     /* for the handler's own data */
    struct str client; /* a name on the verified client certificate, with its type in front unless
                          it is a common name; "" without a verified certificate */
    struct str peer;   /* the client's address: "10.0.0.7:51342" */
    bool peer_is_loopback;
    /* A program on this machine sent the request. False for Istio's proxy, which connects from
     * 127.0.0.6 (other proxies look like local programs), and for a browser that shows a page whose
     * name resolves to this machine. */
    bool is_local;
    bool is_large;   /* a thread for large requests handles it: the handler may wait, and must not
                        defer */
    void *transport; /* for this folder's use; NULL in tests of handlers */
};

/* Returns the first header of this name (in any letter case), or "". Borrowed for the life of the
 * request. */
struct str http_request_header(const struct http_request *request, const char *name);

/*
 * An answer is a text that the handler writes, or a list of pieces that are sent one after the
 * other. Pieces are static, or bytes of the request's body or arena; only bytes that are being sent
 * are copied.
 */
struct http_response {
    int status;
    const char *content_type; /* literal; NULL: none */
    const char *allow;        /* for 405: the methods, literal or arena; else NULL */
    int retry_after_s;        /* 0: no Retry-After */
    const char *etag;         /* with its quotes; arena; NULL: none */
    int64_t data_age_ms;      /* > 0: age of the data, sent as Evenkeel-Data-Age */
    struct strbuf text;       /* owned by the response; sent when pieces is NULL */
    struct str *pieces;       /* arena of the request, or NULL */
    size_t piece_count;
};

typedef void http_handler_fn(void *ctx, const struct http_request *request,
                             struct http_response *response);

/*
 * A handler that must wait, for example for an API server, calls http_defer() and returns without
 * an answer, so that its thread serves other requests. Any thread then gives the answer, or resumes
 * the request, exactly once, before the request's time limit. The request, its body and its arena
 * must not be used between the handler's return and the resumption. Returns NULL if there is no
 * memory or the listener stops.
 */
struct http_deferral;
struct http_deferral *http_defer(const struct http_request *request) MUST_CHECK;
/* Gives the answer, and owns response->text from then on; pieces are not possible. Does nothing if
 * the time limit has passed. */
void http_deferral_answer(struct http_deferral *d, struct http_response *response);

/*
 * Replaces an answer: `go_on` is a handler that goes on with the unchanged request, on the thread
 * of its connection. It answers, or defers again. If the request is over by then, `drop` is called
 * instead, on any thread. Exactly one of the two is called, once, perhaps before
 * http_deferral_resume() returns. So the listener's threads make the answer, and not the thread for
 * which the handler had to wait.
 */
struct http_continuation {
    http_handler_fn *go_on;
    void (*drop)(void *ctx);
    void *ctx;
};
void http_deferral_resume(struct http_deferral *d, const struct http_continuation *next);

enum http_body {
    HTTP_ANY,
    HTTP_JSON,       /* must be application/json: otherwise 415 */
    HTTP_LARGE_JSON, /* the same as HTTP_JSON, and a large body is handled on a thread for large
                        requests; its handler does not defer */
};

/*
 * Routes are tried in order; a path that ends in "/" "*" takes everything below it. HEAD is
 * answered where GET is. Routes that share a name share their metrics.
 */
struct http_route {
    const char *method, *path; /* "POST", "/extender/v1/filter" */
    const char *name;          /* the metrics' verb label: "filter" */
    http_handler_fn *handle;
    enum http_body takes;
};

/* The routes of handlers that share a `ctx`: a const table beside the handlers. */
struct http_routes {
    const struct http_route *rows;
    size_t count;
    const char *off; /* NULL: the routes are served. Otherwise the setting that would enable them;
                        literal */
};
#define HTTP_ROUTES(array)                                                                         \
    { .rows = (array), .count = sizeof(array) / sizeof(array)[0] }
#define HTTP_ROUTES_OFF(array, what_to_set)                                                        \
    { .rows = (array), .count = sizeof(array) / sizeof(array)[0], .off = (what_to_set) }

/* Names of clients, as http/client_name.h reads them. Without any name, every verified client may
 * call. */
struct http_subjects {
    const char *const *items;
    size_t count;
    const char *setting; /* the setting that allows more: "extender.fleetSubjects"; literal */
};

/* Routes, and the ctx for their handlers on this listener. */
struct http_service {
    const struct http_routes *routes;
    void *ctx;
    const struct http_subjects *subjects; /* may call these routes; NULL: all clients that may call
                                             the listener */
};
enum { HTTP_SERVICES = 5 }; /* services of a listener, with the empty service at their end */

struct http_limits {
    size_t body_bytes;       /* a body must be smaller: otherwise 413 */
    size_t bodies_in_flight; /* bytes of all bodies and answers of the listener together; beyond it
                                503 with Retry-After */
    unsigned connections, connections_per_address;
    unsigned header_ms, request_ms, idle_ms; /* absolute deadlines, kept by a watchdog */
};

struct http_tls_options {
    const char *cert_file, *key_file;    /* PEM; re-read on change; both NULL: plain HTTP */
    const char *client_ca_file;          /* PEM; NULL: no client certificate asked for */
    const char *const *allowed_subjects; /* names of clients that may call, as http/client_name.h
                                            reads them; none: every verified client */
    size_t allowed_subject_count;
    const char *setting; /* the name of that list's setting, as in http_subjects; NULL: messages
                            name no setting */
    bool handed_over; /* no files: http_listener_set_certificate() sets the pair; before its first
                         call every handshake fails */
    bool client_ca_handed_over; /* client certificates are asked for, and
                                   http_listener_set_client_ca() sets the CA; before its first call
                                   every client is refused */
};

/* All pointers are borrowed for the listener's life. */
struct http_listener_options {
    const char *name;    /* "extender", "ops": in logs and metrics */
    const char *address; /* "127.0.0.1:8443", "[::1]:0", ":8443" for all; port 0: any free one */
    unsigned threads;
    unsigned large_threads; /* for requests with more than LIMIT_HTTP_LARGE_BODY, so that small
                               requests do not wait for them; 0: no such threads */
    struct http_limits limits;
    struct http_tls_options tls;
    struct http_service services[HTTP_SERVICES]; /* tried in order; a service without routes ends
                                                    the list */
};

struct http_listener;

/*
 * Makes the allocator of the whole process keep some memory that requests free, instead of
 * returning it to the kernel each time. This halves the CPU time of requests of a few hundred KiB,
 * which otherwise goes into page faults. Call it once at start-up, before there are threads.
 */
void http_tune_memory(void);

/* Returns how many threads a listener has: one for each CPU, and at most 64. */
unsigned http_threads(void);

/* Opens the socket, loads certificates and serves. The new threads inherit the signal mask, so the
 * caller must first block the signals that the main thread waits for. Returns 0, or -errno with a
 * sentence of advice. */
int http_listener_start(const struct http_listener_options *options, struct clock *clock,
                        struct http_listener **ret, struct err *err) MUST_CHECK;
/* Returns the real address, "127.0.0.1:41235". Borrowed for the listener's life. */
const char *http_listener_address(const struct http_listener *l);
/* Loads the certificate files again if they changed. A bad pair is logged once, and the old pair
 * stays in use. Call it about once a second from one thread. */
void http_listener_poll_files(struct http_listener *l);
/*
 * For options.tls.handed_over: new connections get this certificate chain (PEM, leaf first) from
 * now on. `from` names its source, for the log. -EINVAL with the reason: the former pair stays in
 * use. Any thread.
 */
int http_listener_set_certificate(struct http_listener *l, struct str certificate, struct str key,
                                  const char *from, struct err *err) MUST_CHECK;
/*
 * For options.tls.client_ca_handed_over: from now on clients must have a certificate of one of
 * these CAs (PEM), also those of open connections. -EINVAL with the reason: the former CAs stay in
 * use. Any thread.
 */
int http_listener_set_client_ca(struct http_listener *l, struct str bundle, const char *from,
                                struct err *err) MUST_CHECK;
/* Adds "Connection: close" to every answer from now on: the first step of a shutdown. NULL is fine.
 */
void http_listener_drain(struct http_listener *l);
/* Refuses new connections at once, waits at most drain_ms for the requests under way, then closes
 * and frees everything, once every handler has returned. NULL is fine. */
void http_listener_stop(struct http_listener *l, unsigned drain_ms);

/* Finds the handler of any listener that has run longest, and sets its verb (static) and its
 * running time. Returns false if no handler runs. A deferred request has no running handler. Any
 * thread. */
bool http_oldest_handler(const char **ret_verb, int64_t *ret_ms);

/* Fill in an answer: with one line of text for people, or with the JSON that the handler wrote to
 * response->text. */
void http_answer_text(struct http_response *response, int status, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void http_answer_json(struct http_response *response,
                      int status); /* response->text holds the JSON */

/* The versions of libmicrohttpd and GnuTLS that are loaded. Static strings. */
const char *http_server_version(void);
const char *http_tls_version(void);
