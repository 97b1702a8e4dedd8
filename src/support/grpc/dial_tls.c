#include "grpc/dial_tls.h"

#include "base/limits.h"
#include "http/tls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct grpc_dial_credentials {
    _Atomic unsigned references;
    gnutls_certificate_credentials_t certificates;
    gnutls_priority_t priorities;
    bool verifies;
};

/* ---- credentials ---- */

static int load_files(const struct grpc_dial_tls *tls, struct grpc_dial_credentials *c,
                      struct err *err) {
    int r;
    if (tls->ca_file != NULL) {
        r = gnutls_certificate_set_x509_trust_file(c->certificates, tls->ca_file,
                                                   GNUTLS_X509_FMT_PEM);
        if (r <= 0)
            return err_set(err, -EINVAL, "cannot use the CA file '%s': %s", tls->ca_file,
                           r == 0 ? "there is no certificate in it" : gnutls_strerror(r));
    }
    if (tls->cert_file == NULL || tls->key_file == NULL)
        return 0;
    r = gnutls_certificate_set_x509_key_file2(c->certificates, tls->cert_file, tls->key_file,
                                              GNUTLS_X509_FMT_PEM, NULL, 0);
    return r >= 0 ? 0
                  : err_set(err, -EINVAL, "cannot use the certificate '%s' with the key '%s': %s",
                            tls->cert_file, tls->key_file, gnutls_strerror(r));
}

int grpc_dial_credentials_load(const struct grpc_dial_tls *tls, struct grpc_dial_credentials **ret,
                               struct err *err) {
    struct grpc_dial_credentials *c = calloc(1, sizeof *c);
    int r = 0;
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for TLS");
    c->references = 1;
    c->verifies = !tls->insecure_skip_verify;
    if (gnutls_certificate_allocate_credentials(&c->certificates) != GNUTLS_E_SUCCESS ||
        gnutls_priority_init(&c->priorities, TLS_PRIORITIES, NULL) != GNUTLS_E_SUCCESS)
        r = err_set(err, -ENOMEM, "no memory for TLS");
    if (r == 0)
        r = load_files(tls, c, err);
    if (r == 0)
        *ret = c;
    else
        grpc_dial_credentials_unref(c);
    return r;
}

struct grpc_dial_credentials *grpc_dial_credentials_ref(struct grpc_dial_credentials *c) {
    atomic_fetch_add(&c->references, 1);
    return c;
}

void grpc_dial_credentials_unref(struct grpc_dial_credentials *c) {
    if (c == NULL || atomic_fetch_sub(&c->references, 1) != 1)
        return;
    if (c->certificates != NULL)
        gnutls_certificate_free_credentials(c->certificates);
    if (c->priorities != NULL)
        gnutls_priority_deinit(c->priorities);
    free(c);
}

/* ---- sessions ---- */

/* Is the host a name, not a literal address? SNI has no literal addresses (RFC 6066 3). */
static bool is_name(const char *host) {
    return strchr(host, ':') == NULL && strspn(host, "0123456789.") != strlen(host);
}

gnutls_session_t grpc_dial_session(const struct grpc_dial_credentials *c, int fd,
                                   const char *host) {
    const gnutls_datum_t h2 = {(unsigned char *)(uintptr_t) "h2", 2};
    gnutls_session_t session;
    if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) !=
        GNUTLS_E_SUCCESS)
        return NULL;
    gnutls_transport_set_int(session, fd);
    gnutls_handshake_set_max_packet_length(session, LIMIT_TLS_HANDSHAKE_BYTES);
    if (c->verifies)
        gnutls_session_set_verify_cert(session, host, 0);
    if (gnutls_priority_set(session, c->priorities) == GNUTLS_E_SUCCESS &&
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->certificates) ==
            GNUTLS_E_SUCCESS &&
        gnutls_alpn_set_protocols(session, &h2, 1, 0) == GNUTLS_E_SUCCESS &&
        (!is_name(host) ||
         gnutls_server_name_set(session, GNUTLS_NAME_DNS, host, strlen(host)) == GNUTLS_E_SUCCESS))
        return session;
    gnutls_deinit(session);
    return NULL;
}

int grpc_dial_agreed(gnutls_session_t session, struct err *err) {
    gnutls_datum_t protocol;
    if (gnutls_alpn_get_selected_protocol(session, &protocol) == GNUTLS_E_SUCCESS)
        return 0;
    return err_set(err, -ENOPROTOOPT, "the server does not agree on HTTP/2 (ALPN h2)");
}

static int refused_certificate(gnutls_session_t session, const char *host, struct err *err) {
    const unsigned status = gnutls_session_get_verify_cert_status(session);
    const char *why = "it is not valid";
    if ((status & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNER_NOT_CA)) != 0)
        why = "no CA of the CA file has signed it";
    else if ((status & GNUTLS_CERT_EXPIRED) != 0)
        why = "it has expired";
    else if ((status & GNUTLS_CERT_NOT_ACTIVATED) != 0)
        why = "it is not valid yet";
    else if ((status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0)
        why = "it is not for servers";
    else if ((status & GNUTLS_CERT_UNEXPECTED_OWNER) != 0)
        return err_set(err, -EKEYREJECTED,
                       "the server's certificate is not accepted: it is not for '%s'", host);
    return err_set(err, -EKEYREJECTED, "the server's certificate is not accepted: %s", why);
}

/* Reports an alert of the peer that ended the session. */
static int refused_by_peer(gnutls_alert_description_t alert, struct err *err) {
    const char *name = gnutls_alert_get_name(alert);
    switch (alert) {
    case GNUTLS_A_CERTIFICATE_REQUIRED:
        return err_set(err, -EACCES, "the server wants a client certificate");
    case GNUTLS_A_BAD_CERTIFICATE:
    case GNUTLS_A_UNSUPPORTED_CERTIFICATE:
    case GNUTLS_A_CERTIFICATE_REVOKED:
    case GNUTLS_A_CERTIFICATE_EXPIRED:
    case GNUTLS_A_CERTIFICATE_UNKNOWN:
    case GNUTLS_A_UNKNOWN_CA:
    case GNUTLS_A_ACCESS_DENIED:
        return err_set(err, -EACCES, "the server does not accept the client's certificate (%s)",
                       name != NULL ? name : "unknown alert");
    case GNUTLS_A_NO_APPLICATION_PROTOCOL:
        return err_set(err, -ENOPROTOOPT, "the server does not agree on HTTP/2 (ALPN h2)");
    default:
        return err_set(err, -EPROTO, "the server ended TLS (%s)",
                       name != NULL ? name : "unknown alert");
    }
}

int grpc_dial_problem(gnutls_session_t session, int code, const char *host, struct err *err) {
    switch (code) {
    case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
        return refused_certificate(session, host, err);
    case GNUTLS_E_FATAL_ALERT_RECEIVED:
        return refused_by_peer(gnutls_alert_get(session), err);
    case GNUTLS_E_UNEXPECTED_PACKET_LENGTH:
    case GNUTLS_E_UNSUPPORTED_VERSION_PACKET:
        return err_set(err, -EPROTO, "the server does not speak TLS, or only old versions of it");
    case GNUTLS_E_PREMATURE_TERMINATION:
    case GNUTLS_E_PULL_ERROR:
    case GNUTLS_E_PUSH_ERROR:
        return err_set(err, -ECONNRESET, "the server ended the connection");
    default:
        return err_set(err, -EPROTO, "TLS failed: %s", gnutls_strerror(code));
    }
}
