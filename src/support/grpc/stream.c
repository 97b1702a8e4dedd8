#include "grpc/stream.h"

#include "http/tls_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* upstream: estimators take TLS 1.3 and nothing older; grpc-go refuses a peer without h2. */
#define PRIORITIES                                                                                 \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"   \
    "-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE:%NO_TICKETS"

struct grpc_credentials {
    struct tls *tls; /* borrowed */
    gnutls_certificate_credentials_t certificates;
    gnutls_priority_t priorities;
};

struct grpc_stream {
    int fd;
    struct grpc_credentials *credentials; /* NULL: no TLS */
    gnutls_session_t session;
    struct tls_pair *pair; /* the pair of the handshake, counted */
    struct tls_client client;
    struct grpc_dial_credentials *dial; /* only for a dialled connection; counted */
    char *host;                         /* the dialled name; owned */
    int failed;                         /* GnuTLS's code of the error that ended it; 0: no error */
    bool sends;                         /* GnuTLS has kept the bytes of a record that is not sent
                                           completely */
};

/* ---- credentials ---- */

/* Gives GnuTLS the pair. GnuTLS uses the pair as long as the session lives, so the stream holds a
 * reference until then. */
static int give_certificate(gnutls_session_t session, const gnutls_datum_t *ca_names, int ca_count,
                            const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                            gnutls_pcert_st **chain, unsigned *chain_length,
                            gnutls_privkey_t *key) {
    (void)ca_names, (void)ca_count, (void)algorithms,
        (void)algorithm_count; /* there is only one certificate */
    struct grpc_stream *s = gnutls_session_get_ptr(session);
    if (s->pair == NULL)
        s->pair = tls_pair_ref(s->credentials->tls);
    if (s->pair == NULL)
        return -1;
    *chain = s->pair->chain;
    *chain_length = s->pair->chain_length;
    *key = s->pair->key;
    return 0;
}

int grpc_credentials_new(struct tls *tls, struct grpc_credentials **ret, struct err *err) {
    struct grpc_credentials *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for TLS");
    c->tls = tls;
    if (gnutls_certificate_allocate_credentials(&c->certificates) != GNUTLS_E_SUCCESS ||
        gnutls_priority_init(&c->priorities, PRIORITIES, NULL) != GNUTLS_E_SUCCESS) {
        grpc_credentials_free(c);
        return err_set(err, -ENOMEM, "no memory for TLS");
    }
    gnutls_certificate_set_retrieve_function2(c->certificates, give_certificate);
    *ret = c;
    return 0;
}

void grpc_credentials_free(struct grpc_credentials *c) {
    if (c == NULL)
        return;
    if (c->certificates != NULL)
        gnutls_certificate_free_credentials(c->certificates);
    if (c->priorities != NULL)
        gnutls_priority_deinit(c->priorities);
    free(c);
}

/* ---- life ---- */

static bool begin_tls(struct grpc_stream *s) {
    const gnutls_datum_t h2 = {(unsigned char *)(uintptr_t) "h2", 2};
    if (gnutls_init(&s->session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) !=
        GNUTLS_E_SUCCESS)
        return false;
    gnutls_session_set_ptr(s->session, s);
    gnutls_transport_set_int(s->session, s->fd);
    gnutls_handshake_set_max_packet_length(s->session, LIMIT_TLS_HANDSHAKE_BYTES);
    if (tls_wants_client(s->credentials->tls))
        gnutls_certificate_server_set_request(s->session, GNUTLS_CERT_REQUIRE);
    return gnutls_priority_set(s->session, s->credentials->priorities) == GNUTLS_E_SUCCESS &&
           gnutls_credentials_set(s->session, GNUTLS_CRD_CERTIFICATE,
                                  s->credentials->certificates) == GNUTLS_E_SUCCESS &&
           gnutls_alpn_set_protocols(s->session, &h2, 1, GNUTLS_ALPN_MANDATORY) == GNUTLS_E_SUCCESS;
}

/* TCP_NODELAY: otherwise an answer could wait 40 ms until the answer before it is acknowledged.
 * Keep-alive and TCP_USER_TIMEOUT end the connection of a peer that has disappeared. */
static void set_options(int fd) {
    const int on = 1, idle_s = 60, between_s = 10, unsent_ms = LIMIT_GRPC_GONE_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
                     sizeof on); /* fails if the socket is not TCP */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof between_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof unsent_ms);
}

int grpc_stream_open(int fd, struct grpc_credentials *credentials, struct grpc_stream **ret,
                     struct err *err) {
    struct grpc_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for a connection");
    s->fd = fd;
    s->credentials = credentials;
    if (credentials != NULL && !begin_tls(s)) {
        if (s->session != NULL)
            gnutls_deinit(s->session);
        free(s);
        return err_set(err, -ENOMEM, "no memory for a connection");
    }
    set_options(fd);
    *ret = s;
    return 0;
}

int grpc_stream_dial(int fd, struct grpc_dial_credentials *credentials, const char *host,
                     struct grpc_stream **ret, struct err *err) {
    struct grpc_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for a connection");
    s->fd = fd;
    if (credentials != NULL) {
        s->host = strdup(host);
        s->session = s->host != NULL ? grpc_dial_session(credentials, fd, s->host) : NULL;
        if (s->session == NULL) {
            free(s->host);
            free(s);
            return err_set(err, -ENOMEM, "no memory for a connection");
        }
        s->dial = grpc_dial_credentials_ref(credentials);
    }
    set_options(fd);
    *ret = s;
    return 0;
}

void grpc_stream_close(struct grpc_stream *s) {
    if (s == NULL)
        return;
    if (s->session != NULL)
        gnutls_deinit(s->session);
    grpc_dial_credentials_unref(s->dial);
    free(s->host);
    tls_pair_unref(s->pair);
    tls_client_done(&s->client);
    (void)close(s->fd); /* nothing is lost: everything has been sent */
    free(s);
}

/* ---- handshake ---- */

static int refuse(struct grpc_stream *s, gnutls_alert_description_t alert, int code,
                  const char *why, struct err *err) {
    (void)gnutls_alert_send(s->session, GNUTLS_AL_FATAL, alert); /* best effort */
    return err_set(err, code, "%s", why);
}

static int check_peer(struct grpc_stream *s, struct err *err) {
    static const struct http_service none[1];
    gnutls_datum_t protocol;
    if (gnutls_alpn_get_selected_protocol(s->session, &protocol) != GNUTLS_E_SUCCESS)
        return refuse(s, GNUTLS_A_NO_APPLICATION_PROTOCOL, -EPROTO,
                      "the client does not speak HTTP/2 (ALPN h2)", err);
    if (!tls_wants_client(s->credentials->tls))
        return 0;
    if (tls_client_check(s->credentials->tls, none, s->session, &s->client) == 0)
        return 0;
    return refuse(s, s->client.status == 401 ? GNUTLS_A_BAD_CERTIFICATE : GNUTLS_A_ACCESS_DENIED,
                  -EACCES, s->client.refusal, err);
}

int grpc_stream_handshake(struct grpc_stream *s, struct err *err) {
    if (s->session == NULL)
        return 0;
    const int r = gnutls_handshake(s->session);
    if (r == GNUTLS_E_SUCCESS)
        return s->dial != NULL ? grpc_dial_agreed(s->session, err) : check_peer(s, err);
    if (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED || gnutls_error_is_fatal(r) == 0)
        return -EAGAIN;
    (void)gnutls_alert_send_appropriate(s->session, r);
    if (s->dial != NULL)
        return grpc_dial_problem(s->session, r, s->host, err);
    return err_set(err, -EPROTO, "%s", gnutls_strerror(r));
}

bool grpc_stream_waits_to_send(const struct grpc_stream *s) {
    return s->session != NULL && gnutls_record_get_direction(s->session) == 1;
}

/* ---- bytes ---- */

static ssize_t outcome(struct grpc_stream *s, ssize_t r) {
    if (r >= 0)
        return r;
    if (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED || gnutls_error_is_fatal((int)r) == 0)
        return -EAGAIN;
    s->failed = (int)r;
    return r == GNUTLS_E_PREMATURE_TERMINATION ? 0 : -EPROTO;
}

ssize_t grpc_stream_read(struct grpc_stream *s, void *into, size_t size) {
    if (s->session != NULL)
        return outcome(s, gnutls_record_recv(s->session, into, size));
    const ssize_t n = recv(s->fd, into, size, MSG_DONTWAIT);
    return n >= 0 ? n : errno == EINTR ? -EAGAIN : -errno;
}

ssize_t grpc_stream_write(struct grpc_stream *s, const void *from, size_t size) {
    if (s->session != NULL) {
        const ssize_t r =
            outcome(s, gnutls_record_send(s->session, s->sends ? NULL : from, s->sends ? 0 : size));
        s->sends = r == -EAGAIN;
        return r;
    }
    const ssize_t n = send(s->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n >= 0 ? n : errno == EINTR ? -EAGAIN : -errno;
}

bool grpc_stream_has_more(const struct grpc_stream *s) {
    return s->session != NULL && gnutls_record_check_pending(s->session) > 0;
}

int grpc_stream_problem(const struct grpc_stream *s, int code, struct err *err) {
    if (s->dial != NULL && s->failed != 0)
        return grpc_dial_problem(s->session, s->failed, s->host, err);
    if (code == 0)
        return err_set(err, -ECONNRESET, "the server ended the connection");
    return err_set_errno(err, -code, "the connection is lost");
}
