/*
 * What a listener shows and trusts, if it does not come from files: the latest pair and the latest
 * CA of clients, handed to the listener at once, or when there is one.
 *
 * Threads: any.
 */
#pragma once

#include "base/mutex.h"
#include "base/str.h"

#include <stdatomic.h>

struct http_listener;

struct listener_certificate {
    const char *name; /* of the listener, in logs */
    const char *from; /* of the Secret, likewise; both borrowed */
    bool asks_clients;

    struct mutex lock; /* guards what follows, also while something is handed over */
    struct http_listener *listener;
    struct strbuf certificate, key, client_ca; /* the latest, as PEM */
    bool told;                                 /* of a CA, be it none */
    bool shows, trusts;                        /* the listener has taken a pair, and a CA */
    _Atomic bool ready;                        /* it has all that it needs */
};

void listener_certificate_init(struct listener_certificate *c, const char *name, const char *from,
                               bool asks_clients);
void listener_certificate_set_pair(struct listener_certificate *c, struct str certificate,
                                   struct str key);
/* Only for one that asks its clients. */
void listener_certificate_set_client_ca(struct listener_certificate *c, struct str bundle);
/* Gives the listener what there is, and everything that comes. Call it with NULL before the
 * listener stops: it gets nothing after that. */
void listener_certificate_serve(struct listener_certificate *c, struct http_listener *listener);
/* Overwrites the key. */
void listener_certificate_done(struct listener_certificate *c);
