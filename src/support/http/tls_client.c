/*
 * Checks a client certificate. Names are compared byte for byte and type for type: the common name,
 * and the subject alternative names of type DNS, e-mail and URI. Wildcards are not supported, so
 * that the list of allowed callers stays easy to read.
 *
 * The cost that an unknown client can cause is limited before anything is trusted: the handshake's
 * size (LIMIT_TLS_HANDSHAKE_BYTES), the length of the chain, the number and length of names looked
 * at.
 */
#include "http/tls_client.h"

#include "http/client_name.h"

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

/* Parses the chain that the client sent. Returns false if it is refused, with client->status and a
 * sentence. */
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

/* Gets the common name if the subject has exactly one. If there are several, the API server takes
 * the last and other programs the first, so we take none. */
static bool get_common_name(gnutls_x509_crt_t leaf, char name[TLS_CLIENT_NAME],
                            struct client_name *ret) {
    size_t n = TLS_CLIENT_NAME, second = 0;
    int r = gnutls_x509_crt_get_dn_by_oid(leaf, GNUTLS_OID_X520_COMMON_NAME, 1, 0, NULL, &second);
    if (r != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ||
        gnutls_x509_crt_get_dn_by_oid(leaf, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &n) < 0)
        return false;
    *ret = (struct client_name){CLIENT_NAME_CN, {name, n}};
    return n > 0;
}

/* Gets name number i of a certificate: the common name, then the alternative ones. Returns 1: it is
 * in `name`; 0: this name is not compared; -1: no more names. */
static int get_name(gnutls_x509_crt_t leaf, unsigned i, char name[TLS_CLIENT_NAME],
                    struct client_name *ret) {
    size_t n = TLS_CLIENT_NAME;
    if (i == 0)
        return get_common_name(leaf, name, ret);
    if (i > LIMIT_TLS_NAMES)
        return -1;
    switch (gnutls_x509_crt_get_subject_alt_name(leaf, i - 1, name, &n, NULL)) {
    case GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE:
        return -1;
    case GNUTLS_SAN_DNSNAME:
        ret->type = CLIENT_NAME_DNS;
        break;
    case GNUTLS_SAN_RFC822NAME:
        ret->type = CLIENT_NAME_EMAIL;
        break;
    case GNUTLS_SAN_URI:
        ret->type = CLIENT_NAME_URI;
        break;
    default:
        return 0;
    }
    ret->text = (struct str){name, n};
    return n > 0;
}

/* The lists of subjects: the listener's, then those of its services. */
struct lists {
    struct http_subjects items[1 + HTTP_SERVICES];
    uint32_t count;
    uint32_t all; /* bits of the lists that exist */
};

static void lists_init(struct lists *lists, const struct http_tls_options *options,
                       const struct http_service *services) {
    *lists = (struct lists){
        .items[0] = {.items = options->allowed_subjects, .count = options->allowed_subject_count},
        .count = 1,
        .all = 1};
    for (uint32_t i = 0; services[i].routes != NULL; i++) {
        lists->count = 2 + i;
        if (services[i].subjects == NULL)
            continue;
        lists->items[1 + i] = *services[i].subjects;
        lists->all |= 2u << i;
    }
}

static bool is_on(const struct http_subjects *list, const struct client_name *name) {
    for (size_t i = 0; i < list->count; i++) {
        struct client_name allowed = client_name_read(str_of(list->items[i]));
        if (client_name_eq(&allowed, name))
            return true;
    }
    return false;
}

/* Is the same text on a list as a name of another type? Then the list has a mistake. */
static bool is_mistyped(const struct lists *lists, const struct client_name *name) {
    for (uint32_t l = 0; l < lists->count; l++)
        for (size_t i = 0; i < lists->items[l].count; i++)
            if (str_eq(client_name_read(str_of(lists->items[l].items[i])).text, name->text))
                return true;
    return false;
}

/* Returns the bits of the lists without names, which allow every client. */
static uint32_t open_lists(const struct lists *lists) {
    uint32_t bits = 0;
    for (uint32_t l = 0; l < lists->count; l++)
        if ((lists->all & 1u << l) != 0 && lists->items[l].count == 0)
            bits |= 1u << l;
    return bits;
}

static uint32_t lists_with(const struct lists *lists, const struct client_name *name) {
    uint32_t bits = 0;
    for (uint32_t l = 0; l < lists->count; l++)
        bits |= (uint32_t)is_on(&lists->items[l], name) << l;
    return bits;
}

static void keep_name(struct tls_client *client, const struct client_name *name) {
    client_name_write(name, client->name, sizeof client->name);
}

/* Fills client->lists, and client->name (never empty): the first name that is on a list, or the
 * first name. If no name is on a list, `mistyped` is a name that a list has with another type, or
 * "". */
static void match_subject(const struct lists *lists, gnutls_x509_crt_t leaf,
                          struct tls_client *client, char mistyped[TLS_CLIENT_NAME]) {
    char buffer[TLS_CLIENT_NAME];
    struct client_name name;
    uint32_t named = 0;
    mistyped[0] = '\0';
    for (unsigned i = 0;; i++) {
        int r = get_name(leaf, i, buffer, &name);
        if (r < 0)
            break;
        const uint32_t with = r > 0 ? lists_with(lists, &name) : 0;
        if (r > 0 && (client->name[0] == '\0' || (with != 0 && named == 0)))
            keep_name(client, &name);
        named |= with;
        if (r > 0 && is_mistyped(lists, &name))
            client_name_write(&name, mistyped, TLS_CLIENT_NAME);
    }
    client->lists = named | open_lists(lists);
    size_t n = sizeof buffer;
    if (client->name[0] == '\0' && gnutls_x509_crt_get_dn(leaf, buffer, &n) >= 0)
        (void)snprintf(client->name, sizeof client->name, "%.*s", (int)n, buffer); /* may be cut */
    if (client->name[0] == '\0')
        (void)snprintf(client->name, sizeof client->name, "a certificate without a name");
}

/* Refuses a chain that GnuTLS does not accept, in GnuTLS's own words. */
static void refuse_chain(struct tls_client *client, unsigned problems, int r) {
    gnutls_datum_t text = {0};
    if (r < 0) {
        refuse(client, MHD_HTTP_FORBIDDEN, "certificate of client '%s' refused: %s", client->name,
               gnutls_strerror(r));
        return;
    }
    r = gnutls_certificate_verification_status_print(problems, GNUTLS_CRT_X509, &text, 0);
    struct str why = r < 0 ? STR("The certificate cannot be verified.")
                           : str_trim((struct str){(char *)text.data, text.size});
    refuse(client, MHD_HTTP_FORBIDDEN,
           "certificate of client '%s' refused: %.*s It must come from the configured client CA "
           "and be meant for TLS clients.",
           client->name, STR_ARG(why));
    gnutls_free(text.data);
}

/* Returns a time a little before a certificate expires; INT64_MAX (never) for a certificate that
 * lives only minutes. */
static time_t reconnect_at(gnutls_x509_crt_t leaf) {
    time_t begins = gnutls_x509_crt_get_activation_time(leaf);
    time_t ends = gnutls_x509_crt_get_expiration_time(leaf), part = (ends - begins) / 100;
    if (part == 0)
        return INT64_MAX;
    return ends - (part < LIMIT_TLS_RECONNECT_S ? part : LIMIT_TLS_RECONNECT_S);
}

static void judge(struct tls *tls, const struct http_service *services, gnutls_session_t session,
                  struct tls_client *client) {
    CLEANUP(chain_done) struct chain chain = {.n = 0};
    if (client->trust == NULL) {
        refuse(client, MHD_HTTP_FORBIDDEN,
               "no client is accepted yet: the CA of clients is not known here; see the log");
        return;
    }
    if (!get_chain(session, &chain, client))
        return;
    gnutls_x509_crt_t leaf = chain.certificates[0];
    char mistyped[TLS_CLIENT_NAME];
    struct lists lists;
    lists_init(&lists, tls_options(tls), services);
    match_subject(&lists, leaf, client, mistyped);
    const bool allowed = client->lists != 0;
    char purpose_oid[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)purpose_oid};
    unsigned problems = 0;
    client->expires = gnutls_x509_crt_get_expiration_time(leaf);
    client->reconnects = reconnect_at(leaf);
    int r = gnutls_x509_trust_list_verify_crt2(client->trust->list, chain.certificates, chain.n,
                                               &purpose, 1, 0, &problems, NULL);
    if (r < 0 || problems != 0)
        refuse_chain(client, problems, r);
    else if (!allowed && mistyped[0] != '\0')
        refuse(client, MHD_HTTP_FORBIDDEN,
               "client '%s' may not call this listener: a name of its certificate is allowed, but "
               "only as a name of another type; to allow it as it is, write '%s'",
               client->name, mistyped);
    else if (!allowed)
        refuse(client, MHD_HTTP_FORBIDDEN,
               "client '%s' may not call this listener: add one of its certificate's names to the "
               "allowed client subjects",
               client->name);
    else
        client->status = 0;
}

int tls_client_check(struct tls *tls, const struct http_service *services, gnutls_session_t session,
                     struct tls_client *client) {
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
    judge(tls, services, session, client);
    return client->status;
}

void tls_client_done(struct tls_client *client) {
    tls_trust_unref(client->trust);
    *client = (struct tls_client){0};
}
