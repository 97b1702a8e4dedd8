/*
 * TLS of dialled connections: TLS 1.2 or newer, ALPN h2, and a server certificate from the CA file
 * for the name that was dialled. upstream: karmada pkg/util/grpcconnection config.go (v1.18.1), and
 * grpc-go, which refuses a peer without h2.
 *
 * Threads: any; credentials do not change, and their references are counted.
 */
#pragma once

#include "base/err.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>

/* Files in PEM; NULL: none. */
struct grpc_dial_tls {
    const char *ca_file;
    const char *cert_file, *key_file; /* the client's own; both or neither */
    bool insecure_skip_verify;
};
/* Without a CA file, and with verification on, connections are plaintext. */
static inline bool grpc_dial_tls_is_on(const struct grpc_dial_tls *tls) {
    return tls->ca_file != NULL || tls->insecure_skip_verify;
}

struct grpc_dial_credentials;
/* Reads the files. Returns 0, or -EINVAL or -ENOMEM with a sentence. */
int grpc_dial_credentials_load(const struct grpc_dial_tls *tls, struct grpc_dial_credentials **ret,
                               struct err *err) MUST_CHECK;
struct grpc_dial_credentials *grpc_dial_credentials_ref(struct grpc_dial_credentials *c);
void grpc_dial_credentials_unref(struct grpc_dial_credentials *c); /* NULL is fine */

/* Makes a session over the descriptor with the server of this name, for grpc/stream.h, which owns
 * the session. The credentials must live longer than the session. Returns NULL if there is no
 * memory. */
gnutls_session_t grpc_dial_session(const struct grpc_dial_credentials *c, int fd, const char *host);
/* Checks a successful handshake. Returns 0, or -ENOPROTOOPT: the peers did not agree on h2. */
int grpc_dial_agreed(gnutls_session_t session, struct err *err) MUST_CHECK;
/*
 * Returns why a session has failed, from GnuTLS's code: -EKEYREJECTED, the server's certificate is
 * not accepted; -ENOPROTOOPT, the server does not speak h2; -EACCES, the server does not accept the
 * client's certificate, or wants a certificate; -ECONNRESET, the server closed the connection;
 * -EPROTO, anything else.
 */
int grpc_dial_problem(gnutls_session_t session, int code, const char *host,
                      struct err *err) MUST_CHECK;
