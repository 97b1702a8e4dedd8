/*
 * Checks the certificate that a client has shown in its handshake.
 *
 * libmicrohttpd asks for a certificate but does not verify it. So we verify it at the first request
 * of a connection, before any body is read. The result is kept for the connection's later requests,
 * until the client CA is loaded again or the certificate expires. A refusal is kept for one second
 * only: the machine's clock may have been wrong, and clients keep their connections.
 */
#pragma once

#include "http/tls.h"

enum { TLS_CLIENT_NAME = 256, TLS_CLIENT_REFUSAL = 512 };

/* The check of one connection's client, zero at first; used by the thread that serves it. */
struct tls_client {
    struct tls_trust *trust; /* the CAs of the check, counted; NULL: not checked yet */
    int status;              /* 0: may call some route; or 401, 403 */
    uint32_t lists; /* bit 0: the client is on the listener's list of subjects; bit 1 + i: on the
                       list of service i. Every client is on a list without names */
    time_t judged, expires;
    time_t reconnects;                /* after this time the client should connect anew: it may have
                                         a renewed certificate then */
    char name[TLS_CLIENT_NAME];       /* the name that matched, or the first in the certificate,
                                         written by client_name_write() */
    char refusal[TLS_CLIENT_REFUSAL]; /* one sentence for 401 and 403 */
};

/*
 * Checks the chain (signatures, dates, purpose TLS client if the certificate limits its purposes)
 * and the subject, which must be on one of the allow-lists. Cheap when nothing changed. Returns
 * client->status. Does not block; a chain check is some hundred microseconds.
 */
int tls_client_check(struct tls *tls, const struct http_service *services, gnutls_session_t session,
                     struct tls_client *client);
void tls_client_done(struct tls_client *client);
