/*
 * A listener and its connections, for the files of this folder.
 *
 * Threads of a listener: the acceptor, the watchdog, options.threads workers of libmicrohttpd, and
 * options.large_threads for large questions. A connection belongs to one worker for its whole life.
 * Its struct is made when the worker gets the connection and freed when it is closed. Only that
 * worker uses the struct, with two exceptions: the watchdog uses `deadline` under its mutex; and
 * while the connection is suspended, the thread that must answer reads the request.
 */
#pragma once

#include "base/list.h"
#include "base/mutex.h"

#include "http/body.h"
#include "http/exchange.h"
#include "http/http.h"
#include "http/router.h"
#include "http/stats.h"
#include "http/tls_client.h"
#include "net/acceptor.h"
#include "net/address.h"
#include "net/door.h"
#include "net/watchdog.h"

#include <microhttpd.h>
#include <stdarg.h>

struct http_listener {
    struct http_listener_options options; /* everything that the options point to is borrowed */
    struct clock *clock;                  /* borrowed */
    char address[ADDRESS_TEXT_SIZE];
    struct router router;
    struct byte_budget budget;
    struct tls *tls;     /* owned; NULL: plain HTTP */
    struct stats *stats; /* owned */
    struct door door;
    struct watchdog *watchdog;     /* owned */
    struct acceptor *acceptor;     /* owned; NULL once stopping */
    struct large_questions *large; /* owned; NULL: no threads for large requests */
    struct MHD_Daemon *daemon;     /* owned */
    char complaint[256];           /* libmicrohttpd's last message while starting */
    unsigned turn;                 /* connections accepted so far; the acceptor's thread */
    struct list *receiving;        /* owned; one list for each worker, of connections that receive a
                                      request's head */
    _Atomic unsigned workers;      /* workers that have taken one of these lists */

    _Atomic bool draining;           /* answers say "Connection: close" */
    _Atomic bool stopping;           /* http_listener_stop() waits for `idle` */
    _Atomic int in_flight;           /* the number that a shutdown waits for: see
                                        listener_wait_for() */
    struct http_deferral *deferrals; /* answers that are still to come; for deferral.c */
    bool deferrals_over;             /* no request can be deferred any more; for deferral.c */
    struct mutex mutex;              /* only needed for `idle` */
    struct condition idle;           /* signalled when in_flight falls to 0 while stopping */
};

struct connection {
    struct http_listener *listener;
    struct MHD_Connection *mhd;
    gnutls_session_t session; /* borrowed; NULL: plain HTTP */
    struct tls_pair *pair; /* a counted reference to the pair that the handshake used; NULL before
                              the handshake */
    struct tls_client client;
    bool verified;     /* the client's certificate was accepted */
    struct slot *slot; /* borrowed until slots_leave() */
    struct watchdog_entry deadline;
    char peer[ADDRESS_TEXT_SIZE];
    bool peer_is_loopback;
    bool used;                /* it has had a request before */
    struct exchange exchange; /* the request under way, or the next */
    struct list receiving;    /* in listener->receiving while the head of a request comes; for
                                 connection.c */
};

/* libmicrohttpd's callbacks, with the listener as their first argument; all on the connection's
 * worker. */
void connection_on_notify(void *listener, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code);
void *connection_on_request_line(void *listener, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result connection_on_request(void *listener, struct MHD_Connection *mhd, const char *path,
                                      const char *method, const char *version, const char *bytes,
                                      size_t *byte_count, void **context);
void connection_on_completed(void *listener, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode code);
/* Has the client, or the watchdog, ended a suspended connection? Any thread. */
bool connection_is_gone(const struct connection *c);
/* Receives a message of libmicrohttpd, on the thread of the problem. */
void connection_on_complaint(const char *fmt, va_list args);
/* GnuTLS calls it to get the certificate for a handshake. */
int connection_on_certificate(gnutls_session_t session, const gnutls_datum_t *ca_names,
                              int ca_count, const gnutls_pk_algorithm_t *algorithms,
                              int algorithm_count, gnutls_pcert_st **chain, unsigned *chain_length,
                              gnutls_privkey_t *key);

/* Answers the deferred requests with 503, and allows no more deferred requests. Returns the number
 * of requests answered. In deferral.c. */
unsigned deferrals_give_up(struct http_listener *l);

/* Begin and end something that a shutdown waits for: a request, or the time of a new connection
 * until its first request. */
void listener_wait_for(struct http_listener *l);
void listener_waited_for(struct http_listener *l);
