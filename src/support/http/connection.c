/*
 * The life of a connection: libmicrohttpd's callbacks find their connection and call exchange.c.
 *
 * The handshake asks for a client certificate, but does not demand it, and sends no list of CA
 * names: so a client always shows its certificate, even after the CA was changed, and a refusal can
 * be a readable answer instead of a TLS alert.
 */
#include "http/listener.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct connection *connection_of(struct MHD_Connection *mhd) {
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static int descriptor_of(struct MHD_Connection *mhd) {
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

bool connection_is_gone(const struct connection *c) {
    struct pollfd at = {.fd = descriptor_of(c->mhd), .events = POLLRDHUP};
    return poll(&at, 1, 0) > 0;
}

static void open_connection(struct http_listener *l, struct MHD_Connection *mhd, void **context) {
    struct connection *c = calloc(1, sizeof *c);
    struct slot *slot = slots_start(l->door.slots, descriptor_of(mhd));
    *context = c;
    if (c == NULL)
        return; /* its first request is closed without an answer */
    const union MHD_ConnectionInfo *session =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const struct sockaddr *peer =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    c->listener = l;
    c->mhd = mhd;
    list_init(&c->receiving);
    c->slot = slot;
    c->session = session != NULL ? session->tls_session : NULL;
    c->peer_is_loopback = address_is_loopback(peer);
    address_text(peer, c->peer);
    if (c->session != NULL)
        gnutls_handshake_set_max_packet_length(c->session, LIMIT_TLS_HANDSHAKE_BYTES);
    if (c->session != NULL && tls_wants_client(l->tls))
        gnutls_certificate_server_set_request(c->session, GNUTLS_CERT_REQUEST);
    watchdog_watch(l->watchdog, &c->deadline, descriptor_of(mhd), l->options.limits.header_ms);
    (void)door_count(&l->door, 1); /* every counted connection has its deadline */
}

static void close_connection(struct http_listener *l, struct connection *c) {
    if (c == NULL || !c->used)
        listener_waited_for(l); /* the shutdown need not wait for its first request any more */
    if (c == NULL)
        return;
    watchdog_forget(l->watchdog, &c->deadline);
    list_remove(&c->receiving);
    (void)door_count(&l->door, -1);
    tls_pair_unref(c->pair);
    tls_client_done(&c->client);
    free(c);
}

void connection_on_notify(void *listener, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct http_listener *l = listener;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(l, mhd, context);
        return;
    }
    slots_leave(l->door.slots, descriptor_of(mhd)); /* the descriptor is still open here */
    close_connection(l, *context);
}

/* Gives GnuTLS the pair, which GnuTLS uses for the session's life; so the connection holds a
 * reference as long. */
int connection_on_certificate(gnutls_session_t session, const gnutls_datum_t *ca_names,
                              int ca_count, const gnutls_pk_algorithm_t *algorithms,
                              int algorithm_count, gnutls_pcert_st **chain, unsigned *chain_length,
                              gnutls_privkey_t *key) {
    (void)ca_names, (void)ca_count, (void)algorithms,
        (void)algorithm_count; /* there is only one certificate */
    struct connection *c = connection_of(gnutls_session_get_ptr(session));
    if (c == NULL)
        return -1;
    if (c->pair == NULL)
        c->pair = tls_pair_ref(c->listener->tls);
    if (c->pair == NULL)
        return -1; /* no pair has been handed over yet */
    *chain = c->pair->chain;
    *chain_length = c->pair->chain_length;
    *key = c->pair->key;
    return 0;
}

/* This worker's connections whose request has no complete head yet. The listener owns the list,
 * because some connections end later than their worker. */
static _Thread_local struct list *receiving;

/* Writes the refusal directly to the socket, not through libmicrohttpd, which then finds the
 * connection ended. */
static void refuse_head(struct connection *c, unsigned status) {
    char answer[256];
    int n = snprintf(answer, sizeof answer,
                     "HTTP/1.1 %u %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status,
                     MHD_get_reason_phrase_for(status));
    const int fd = descriptor_of(c->mhd);
    if (c->session != NULL) { /* best effort: the client is at fault */
        (void)gnutls_record_send(c->session, answer, (size_t)n);
        (void)gnutls_bye(c->session, GNUTLS_SHUT_WR);
    } else {
        (void)send(fd, answer, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    (void)shutdown(fd, SHUT_WR);
}

/*
 * libmicrohttpd (0.9.75) refuses some complete heads itself: an invalid Content-Length, cookies
 * that do not fit. It then writes the head of its answer twice, so that the second one looks like
 * another answer or a body. But it complains before: "Error processing request (HTTP response code
 * is %u ...". The message does not name the connection; it is the only one in `receiving` whose
 * head has a size.
 */
void connection_on_complaint(const char *fmt, va_list args) {
    static const char error[] = "Error processing request (HTTP response code is %u";
    if (receiving == NULL || strncmp(fmt, error, sizeof error - 1) != 0)
        return;
    va_list copy;
    va_copy(copy, args);
    const unsigned status = va_arg(copy, unsigned);
    va_end(copy);
    for (struct list *at = receiving->next; at != receiving; at = at->next) {
        struct connection *c = LIST_ITEM(struct connection, receiving, at);
        if (MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE) == NULL)
            continue; /* the head of its request is not complete */
        refuse_head(c, status);
        list_remove(&c->receiving); /* the next refused connection is another one */
        return;
    }
}

void *connection_on_request_line(void *listener, const char *uri, struct MHD_Connection *mhd) {
    struct http_listener *l = listener;
    struct connection *c = connection_of(mhd);
    if (c == NULL)
        return NULL;
    exchange_begin(c, uri);
    if (receiving == NULL)
        receiving = &l->receiving[atomic_fetch_add(&l->workers, 1)];
    list_append(receiving, &c->receiving);
    return c;
}

enum MHD_Result connection_on_request(void *listener, struct MHD_Connection *mhd, const char *path,
                                      const char *method, const char *version, const char *bytes,
                                      size_t *byte_count, void **context) {
    (void)listener, (void)mhd; /* the connection has all that is needed */
    struct connection *c = *context;
    if (c == NULL)
        return MHD_NO;
    list_remove(&c->receiving);
    if (c->exchange.phase == EXCHANGE_HEADERS)
        return exchange_headers(c, path, method, version);
    if (*byte_count == 0)
        return exchange_finish(c);
    enum MHD_Result result = exchange_body(c, bytes, *byte_count);
    *byte_count = 0; /* all bytes were taken */
    return result;
}

void connection_on_completed(void *listener, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode code) {
    (void)listener, (void)mhd, (void)code; /* lost or answered: the same data is freed */
    struct connection *c = *context;
    *context = NULL;
    if (c == NULL)
        return;
    list_remove(&c->receiving);
    exchange_end(c);
}
