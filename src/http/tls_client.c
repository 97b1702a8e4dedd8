/*
 * The verdict on a client certificate. Names are compared byte for byte: the common name and the
 * subject alternative names of type DNS, e-mail and URI. There are no wildcards: a list of who may
 * call the scheduler's door should be readable.
 *
 * What a stranger can make us do is bounded before anything is trusted: the handshake's size
 * (LIMIT_TLS_HANDSHAKE_BYTES), the length of the chain, the number and length of names looked at.
 */
#include "http/tls_client.h"

#include "base/str.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

struct chain {
    gnutls_x509_crt_t certificates[LIMIT_TLS_CHAIN];
    unsigned n;
};

static void chain_done(struct chain *chain) {
    for (unsigned i = 0; i < chain->n; i++)
        gnutls_x509_crt_deinit(chain->certificates[i]);
}

static __attribute__((format(printf, 3, 4))) void refuse(struct tls_client *client, int status,
                                                         const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    client->status = status;
    (void)vsnprintf(client->refusal, sizeof client->refusal, fmt,
                    args); /* for people: may be cut */
    va_end(args);
}

/* What the client sent, parsed. False: client->status says why not. */
static bool get_chain(gnutls_session_t session, struct chain *chain, struct tls_client *client) {
    unsigned n = 0;
    const gnutls_datum_t *sent = gnutls_certificate_get_peers(session, &n);
    if (sent == NULL || n == 0) {
        refuse(client, MHD_HTTP_UNAUTHORIZED,
               "a client certificate is needed here: send one that the configured client CA has "
               "signed");
        return false;
    }
    if (n > LIMIT_TLS_CHAIN) {
        refuse(client, MHD_HTTP_FORBIDDEN,
               "client certificate refused: its chain has %u "
               "certificates, at most %d are read",
               n, LIMIT_TLS_CHAIN);
        return false;
    }
    for (; chain->n < n; chain->n++) {
        gnutls_x509_crt_t *at = &chain->certificates[chain->n];
        int r = gnutls_x509_crt_init(at);
        if (r >= 0 && (r = gnutls_x509_crt_import(*at, &sent[chain->n], GNUTLS_X509_FMT_DER)) < 0)
            gnutls_x509_crt_deinit(*at);
        if (r < 0) {
            refuse(client, MHD_HTTP_FORBIDDEN, "client certificate refused: %s",
                   gnutls_strerror(r));
            return false;
        }
    }
    return true;
}

/* Name number i of a certificate: the common name, then the alternative ones. 1: it is in `name`;
 * 0: that one is not for comparing; -1: there are no more. */
static int get_name(gnutls_x509_crt_t leaf, unsigned i, char name[TLS_CLIENT_NAME],
                    struct str *ret) {
    size_t n = TLS_CLIENT_NAME;
    if (i == 0) {
        if (gnutls_x509_crt_get_dn_by_oid(leaf, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &n) < 0)
            return 0;
    } else {
        if (i > LIMIT_TLS_NAMES)
            return -1;
        int type = gnutls_x509_crt_get_subject_alt_name(leaf, i - 1, name, &n, NULL);
        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            return -1;
        if (type != GNUTLS_SAN_DNSNAME && type != GNUTLS_SAN_RFC822NAME && type != GNUTLS_SAN_URI)
            return 0;
    }
    *ret = (struct str){name, n};
    return n > 0;
}

static bool is_allowed(const struct http_tls_options *options, struct str name) {
    for (size_t i = 0; i < options->allowed_subject_count; i++)
        if (str_eq(str_of(options->allowed_subjects[i]), name))
            return true;
    return options->allowed_subject_count == 0;
}

static void keep_name(struct tls_client *client, struct str name) {
    (void)snprintf(client->name, sizeof client->name, "%.*s", STR_ARG(name));
}

/* Fills client->name; false when no name of the certificate is on the list. */
static bool match_subject(const struct http_tls_options *options, gnutls_x509_crt_t leaf,
                          struct tls_client *client) {
    char buffer[TLS_CLIENT_NAME];
    struct str name;
    for (unsigned i = 0;; i++) {
        int r = get_name(leaf, i, buffer, &name);
        if (r < 0)
            break;
        if (r > 0 && (client->name[0] == '\0' || is_allowed(options, name)))
            keep_name(client, name);
        if (r > 0 && is_allowed(options, name))
            return true;
    }
    size_t n = sizeof buffer;
    if (client->name[0] == '\0' && gnutls_x509_crt_get_dn(leaf, buffer, &n) >= 0)
        keep_name(client, (struct str){buffer, n});
    return options->allowed_subject_count == 0;
}

/* Why GnuTLS does not accept a chain, in its own words. */
static void refuse_chain(struct tls_client *client, unsigned problems, int r) {
    gnutls_datum_t text = {0};
    if (r < 0) {
        refuse(client, MHD_HTTP_FORBIDDEN, "certificate of client '%s' refused: %s", client->name,
               gnutls_strerror(r));
        return;
    }
    r = gnutls_certificate_verification_status_print(problems, GNUTLS_CRT_X509, &text, 0);
    struct str why =
        r < 0 ? STR("it cannot be verified") : str_trim((struct str){(char *)text.data, text.size});
    refuse(client, MHD_HTTP_FORBIDDEN,
           "certificate of client '%s' refused: %.*s It must come from the configured client CA "
           "and be meant for TLS clients.",
           client->name, STR_ARG(why));
    gnutls_free(text.data);
}

static void judge(struct tls *tls, gnutls_session_t session, struct tls_client *client) {
    CLEANUP(chain_done) struct chain chain = {.n = 0};
    if (!get_chain(session, &chain, client))
        return;
    gnutls_x509_crt_t leaf = chain.certificates[0];
    bool allowed = match_subject(tls_options(tls), leaf, client);
    char purpose_oid[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)purpose_oid};
    unsigned problems = 0;
    client->expires = gnutls_x509_crt_get_expiration_time(leaf);
    int r = gnutls_x509_trust_list_verify_crt2(client->trust->list, chain.certificates, chain.n,
                                               &purpose, 1, 0, &problems, NULL);
    if (r < 0 || problems != 0)
        refuse_chain(client, problems, r);
    else if (!allowed)
        refuse(client, MHD_HTTP_FORBIDDEN,
               "client '%s' may not call this listener: add one of its certificate's names to the "
               "allowed client subjects",
               client->name);
    else
        client->status = 0;
}

int tls_client_check(struct tls *tls, gnutls_session_t session, struct tls_client *client) {
    struct tls_trust *trust = tls_trust_ref(tls);
    time_t now = time(NULL);
    bool fresh = client->status != 0 ? now == client->judged : now < client->expires;
    if (client->trust == trust && fresh) {
        tls_trust_unref(trust);
        return client->status;
    }
    tls_client_done(client);
    client->trust = trust;
    client->judged = now;
    judge(tls, session, client);
    return client->status;
}

void tls_client_done(struct tls_client *client) {
    tls_trust_unref(client->trust);
    *client = (struct tls_client){0};
}
