/*
 * The certificate of a listener and the CA that it trusts, if they do not come from files. Keeps
 * the latest of both, and hands them to the listener at once or as soon as there is a listener.
 *
 * Threads: any thread may call.
 */
#pragma once

#include "base/mutex.h"
#include "base/str.h"

#include <stdatomic.h>

struct http_listener;

struct listener_certificate {
    const char *name; /* the listener's name in logs */
    const char *from; /* the Secret's name in logs; both texts are borrowed */
    bool asks_clients;

    struct mutex lock; /* guards the members below, also during a handover */
    struct http_listener *listener;
    struct strbuf certificate, key, client_ca; /* the latest, as PEM */
    bool told;                                 /* client_ca was set, maybe to an empty text */
    bool shows, trusts;                        /* the listener has accepted a certificate; a CA */
    _Atomic bool ready;                        /* the listener has all that it needs */
};

void listener_certificate_init(struct listener_certificate *c, const char *name, const char *from,
                               bool asks_clients);
void listener_certificate_set_pair(struct listener_certificate *c, struct str certificate,
                                   struct str key);
/* Sets the CA of clients. Only for a listener that asks clients for certificates. */
void listener_certificate_set_client_ca(struct listener_certificate *c, struct str bundle);
/* Gives the listener the latest pair and CA, and all later ones. Call with NULL before the listener
 * stops: it gets nothing after that. */
void listener_certificate_serve(struct listener_certificate *c, struct http_listener *listener);
/* Overwrites the key and frees everything. */
void listener_certificate_done(struct listener_certificate *c);
