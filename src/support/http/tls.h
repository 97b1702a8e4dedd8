/*
 * The TLS credentials of one listener: certificate chain and key, the CA that client certificates
 * must come from, and the list of subjects that may call.
 *
 * Reloading never drops a request. A loaded pair (or trust list) never changes: a reload builds a
 * new one and swaps the pointer. Each connection holds a reference to the pair that its handshake
 * used, so an old pair is freed with its last connection.
 *
 * Threads: tls_poll() from one thread at a time; everything else from any.
 */
#pragma once

#include "base/err.h"
#include "base/limits.h"
#include "http/http.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <time.h>

/*
 * TLS 1.2 and 1.3, only key exchanges with forward secrecy on elliptic curves and only AEAD
 * ciphers: no RSA key exchange, no CBC, which is where the timing attacks on GnuTLS were. No
 * session tickets, so every connection shows its certificate anew.
 */
#define TLS_PRIORITIES                                                                             \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"   \
    "+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:"        \
    "+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE:%NO_TICKETS"

/* A certificate chain and its key. Immutable; counted. */
struct tls_pair {
    _Atomic unsigned references;
    gnutls_pcert_st chain[LIMIT_TLS_CHAIN]; /* leaf first; owned */
    unsigned chain_length;
    gnutls_privkey_t key;   /* owned */
    time_t begins, expires; /* the leaf's notBefore and notAfter */
};

/* The CA certificates that clients are checked against. Immutable; counted. */
struct tls_trust {
    _Atomic unsigned references;
    gnutls_x509_trust_list_t list; /* owned */
};

struct tls;

/* Loads all files. The options are borrowed until tls_close(). `listener` is the listener's name in
 * logs and metrics. 0, -ENOMEM, the errno of reading a file, or -EINVAL for its content. */
int tls_open(const struct http_tls_options *options, const char *listener, struct tls **ret,
             struct err *err) MUST_CHECK;
/* Sets the pair, as PEM, if options->handed_over; see http_listener_set_certificate(). Any thread.
 */
int tls_set_pair(struct tls *tls, struct str certificate, struct str key, const char *from,
                 struct err *err) MUST_CHECK;
/* The same for the CA certificates, if options->client_ca_handed_over; see
 * http_listener_set_client_ca(). */
int tls_set_trust(struct tls *tls, struct str bundle, const char *from, struct err *err) MUST_CHECK;
/* Loads files that changed. A file that cannot be used is logged once for each change and counted;
 * the old content stays in use. Also logs, once for each case, if the pair in the files has only a
 * tenth of its time left, has expired, or is not valid yet, by the wall clock. The pair is used all
 * the same, because the wall clock may be wrong. */
void tls_poll(struct tls *tls);
/* Frees `tls`, which no connection may use any more. NULL is fine. */
void tls_close(struct tls *tls);

/* Returns the present pair with a reference for the caller; NULL: none has been handed over yet. */
struct tls_pair *tls_pair_ref(struct tls *tls);
void tls_pair_unref(struct tls_pair *pair); /* NULL is fine */

/* Returns the present CA certificates with a reference for the caller; NULL: client certificates
 * are not asked for, or no CA has been handed over yet. */
struct tls_trust *tls_trust_ref(struct tls *tls);
void tls_trust_unref(struct tls_trust *trust); /* NULL is fine */
bool tls_wants_client(const struct tls *tls);
const struct http_tls_options *tls_options(const struct tls *tls);
