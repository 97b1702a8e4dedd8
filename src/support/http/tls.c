/*
 * Loading and reloading. File signatures show changes; they follow symbolic links, which the
 * kubelet replaces when it updates a mounted Secret. The signature is taken before the file is
 * read: a write during the reading shows as a change at the next look. Certificate and key are two
 * files, so they may not belong together for a moment: then the pair is refused, and the next
 * change is tried again.
 */
#include "http/tls.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct signatures {
    struct file_signature cert, key, client_ca;
};

enum dates { GOOD, ENDS_SOON, ENDED, EARLY };

struct tls {
    const struct http_tls_options *options; /* borrowed */
    const char *listener;                   /* borrowed */
    struct signatures seen;                 /* of tls_poll()'s thread, as the next */
    enum dates dates;                       /* the state of the pair's dates as last logged */
    struct mutex mutex;                     /* guards only the two pointers, not the structs */
    struct tls_pair *pair;
    struct tls_trust *trust; /* NULL: no client certificates, or no CA handed over yet */
    struct metric reloaded, refused, expires, read, unread;
    char reloaded_labels[96], refused_labels[96], expires_labels[96];
};

static void wipe(struct strbuf *b) {
    if (b->p != NULL)
        explicit_bzero(b->p, b->cap);
    strbuf_done(b);
}

struct certificates {
    gnutls_x509_crt_t *p; /* the array and each certificate are owned */
    unsigned n;
};

/* Frees the array only; its certificates have another owner. */
static void certificates_free_array(struct certificates *c) {
    gnutls_free(c->p);
    *c = (struct certificates){0};
}

static void certificates_done(struct certificates *c) {
    for (unsigned i = 0; i < c->n; i++)
        gnutls_x509_crt_deinit(c->p[i]);
    certificates_free_array(c);
}

/* A text in PEM, and its name in errors. */
struct pem {
    struct strbuf text; /* max is LIMIT_CONFIG_BYTES + 1 */
    const char *name;
};

static void pem_done(struct pem *pem) {
    wipe(&pem->text);
}

static int pem_read(struct pem *pem, struct err *err) {
    pem->text.max = LIMIT_CONFIG_BYTES + 1;
    return file_read(pem->name, LIMIT_CONFIG_BYTES, &pem->text, err);
}

/* GnuTLS only reads it. */
static gnutls_datum_t datum(const struct pem *pem) {
    return (gnutls_datum_t){(unsigned char *)pem->text.p, (unsigned)pem->text.n};
}

static int import_certificates(const struct pem *pem, struct certificates *ret, struct err *err) {
    const gnutls_datum_t bytes = datum(pem);
    int r = gnutls_x509_crt_list_import2(&ret->p, &ret->n, &bytes, GNUTLS_X509_FMT_PEM, 0);
    if (r >= 0)
        return 0;
    *ret = (struct certificates){0};
    return err_set(err, -EINVAL, "cannot use '%s': no PEM certificates in it (%s)", pem->name,
                   gnutls_strerror(r));
}

static int import_key(const struct pem *pem, gnutls_privkey_t key, struct err *err) {
    const gnutls_datum_t bytes = datum(pem);
    int r = gnutls_privkey_import_x509_raw(key, &bytes, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r >= 0)
        return 0;
    return err_set(err, -EINVAL, "cannot use '%s': no unencrypted PEM private key in it (%s)",
                   pem->name, gnutls_strerror(r));
}

static bool key_fits(const struct tls_pair *pair) {
    gnutls_pubkey_t public;
    unsigned char ours[64], theirs[64];
    size_t our_size = sizeof ours, their_size = sizeof theirs;
    if (gnutls_pubkey_init(&public) < 0)
        return false;
    bool fits = gnutls_pubkey_import_privkey(public, pair->key, 0, 0) >= 0 &&
                gnutls_pubkey_get_key_id(public, 0, ours, &our_size) >= 0 &&
                gnutls_pubkey_get_key_id(pair->chain[0].pubkey, 0, theirs, &their_size) >= 0 &&
                our_size == their_size && memcmp(ours, theirs, our_size) == 0;
    gnutls_pubkey_deinit(public);
    return fits;
}

void tls_pair_unref(struct tls_pair *pair) {
    if (pair == NULL || atomic_fetch_sub(&pair->references, 1) != 1)
        return;
    for (unsigned i = 0; i < pair->chain_length; i++)
        gnutls_pcert_deinit(&pair->chain[i]);
    if (pair->key != NULL)
        gnutls_privkey_deinit(pair->key);
    free(pair);
}

static void drop_pair(struct tls_pair **pair) {
    tls_pair_unref(*pair);
}

static int make_chain(const struct pem *pem, struct tls_pair *pair, struct err *err) {
    CLEANUP(certificates_done) struct certificates certificates = {0};
    int r = import_certificates(pem, &certificates, err);
    if (r != 0)
        return r;
    if (certificates.n > LIMIT_TLS_CHAIN)
        return err_set(err, -EINVAL, "cannot use '%s': more than %d certificates in it", pem->name,
                       LIMIT_TLS_CHAIN);
    pair->begins = gnutls_x509_crt_get_activation_time(certificates.p[0]);
    pair->expires = gnutls_x509_crt_get_expiration_time(certificates.p[0]);
    unsigned n = certificates.n;
    r = gnutls_pcert_import_x509_list(pair->chain, certificates.p, &n, 0);
    if (r < 0)
        return err_set(err, -EINVAL, "cannot use '%s': %s", pem->name, gnutls_strerror(r));
    pair->chain_length = n;
    return 0;
}

static int make_pair(const struct pem *certificate, const struct pem *key, struct tls_pair **ret,
                     struct err *err) {
    CLEANUP(drop_pair) struct tls_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", certificate->name);
    pair->references = 1;
    int r = make_chain(certificate, pair, err);
    if (r != 0)
        return r;
    if (gnutls_privkey_init(&pair->key) < 0)
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", key->name);
    r = import_key(key, pair->key, err);
    if (r != 0)
        return r;
    if (!key_fits(pair))
        return err_set(err, -EINVAL,
                       "cannot use certificate '%s' with key '%s': they do not belong together",
                       certificate->name, key->name);
    *ret = pair;
    pair = NULL; /* the caller's now */
    return 0;
}

static int load_pair(const struct http_tls_options *options, struct tls_pair **ret,
                     struct err *err) {
    CLEANUP(pem_done) struct pem certificate = {.name = options->cert_file};
    CLEANUP(pem_done) struct pem key = {.name = options->key_file};
    int r = pem_read(&certificate, err);
    if (r == 0)
        r = pem_read(&key, err);
    return r != 0 ? r : make_pair(&certificate, &key, ret, err);
}

void tls_trust_unref(struct tls_trust *trust) {
    if (trust == NULL || atomic_fetch_sub(&trust->references, 1) != 1)
        return;
    gnutls_x509_trust_list_deinit(trust->list, 1);
    free(trust);
}

static int make_trust(const struct pem *pem, struct tls_trust **ret, struct err *err) {
    CLEANUP(certificates_done) struct certificates certificates = {0};
    int r = import_certificates(pem, &certificates, err);
    if (r != 0)
        return r;
    struct tls_trust *trust = calloc(1, sizeof *trust);
    if (trust == NULL || gnutls_x509_trust_list_init(&trust->list, 0) < 0) {
        free(trust);
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", pem->name);
    }
    trust->references = 1;
    int added = gnutls_x509_trust_list_add_cas(trust->list, certificates.p, certificates.n, 0);
    if (added != (int)certificates.n) {
        gnutls_x509_trust_list_deinit(trust->list, 0); /* the certificates are still ours */
        free(trust);
        return err_set(err, -EINVAL, "cannot use '%s': only %d of %u certificates were taken",
                       pem->name, added, certificates.n);
    }
    certificates_free_array(&certificates); /* the list frees what it was given */
    *ret = trust;
    return 0;
}

static int load_trust(const char *path, struct tls_trust **ret, struct err *err) {
    CLEANUP(pem_done) struct pem pem = {.name = path};
    int r = pem_read(&pem, err);
    return r != 0 ? r : make_trust(&pem, ret, err);
}

/* Returns a file's signature; without a configured file it never changes. */
static struct file_signature sign_file(const char *path) {
    return path != NULL ? file_sign(path) : (struct file_signature){0};
}

static struct signatures sign(const struct http_tls_options *options) {
    return (struct signatures){
        .cert = sign_file(options->cert_file),
        .key = sign_file(options->key_file),
        .client_ca = sign_file(options->client_ca_file),
    };
}

static enum dates judge_dates(const struct tls_pair *pair) {
    time_t now = time(NULL);
    return now < pair->begins                                          ? EARLY
           : now >= pair->expires                                      ? ENDED
           : pair->expires - now < (pair->expires - pair->begins) / 10 ? ENDS_SOON
                                                                       : GOOD;
}

/* Logs the state of the pair's dates if it has changed since the last log line. */
static void look_at_dates(struct tls *tls) {
    static const char *const sentences[] = {
        [GOOD] = "the serving certificate is valid again",
        [ENDS_SOON] = "the serving certificate expires soon: put a renewed pair into its files",
        [ENDED] = "the serving certificate has expired, and clients refuse it: put a renewed pair "
                  "into its files, or set this machine's clock right",
        [EARLY] =
            "the serving certificate is not valid yet: set this machine's clock right, or put "
            "another pair into its files",
    };
    if (tls->options->handed_over) /* the caller checks the dates, by another clock */
        return;
    const struct tls_pair *pair = tls->pair; /* no other thread replaces one that is from files */
    enum dates dates = judge_dates(pair);
    if (dates == tls->dates)
        return;
    tls->dates = dates;
    LOG_AT(dates == GOOD ? LOG_INFO : LOG_WARN, sentences[dates],
           LOG_CSTR("listener", tls->listener), LOG_CSTR("file", tls->options->cert_file),
           LOG_INT("not_before", pair->begins), LOG_INT("not_after", pair->expires));
}

static void put_pair(struct tls *tls, struct tls_pair *pair) {
    mutex_lock(&tls->mutex);
    struct tls_pair *old = tls->pair;
    tls->pair = pair;
    mutex_unlock(&tls->mutex);
    tls_pair_unref(old);
}

static void put_trust(struct tls *tls, struct tls_trust *trust) {
    mutex_lock(&tls->mutex);
    struct tls_trust *old = tls->trust;
    tls->trust = trust;
    mutex_unlock(&tls->mutex);
    tls_trust_unref(old);
}

static double read_both(void *ctx) {
    const struct tls *tls = ctx;
    return (double)atomic_load_explicit(&tls->reloaded.value, memory_order_relaxed) +
           (double)atomic_load_explicit(&tls->refused.value, memory_order_relaxed);
}

/* Uses controller-runtime's names, which dashboards know. */
static void register_familiar(struct tls *tls) {
    tls->read = (struct metric){.name = "certwatcher_read_certificate_total",
                                .help = "Changed certificates that were read.",
                                .labels = tls->expires_labels,
                                .read = read_both,
                                .ctx = tls};
    tls->unread = (struct metric){.name = "certwatcher_read_certificate_errors_total",
                                  .help = "Changed certificates that were read and refused.",
                                  .labels = tls->expires_labels,
                                  .same_as = &tls->refused};
    metric_register(&tls->read);
    metric_register(&tls->unread);
}

static void register_metrics(struct tls *tls) {
    (void)snprintf(tls->reloaded_labels, sizeof tls->reloaded_labels,
                   "listener=\"%s\",result=\"success\"", tls->listener);
    (void)snprintf(tls->refused_labels, sizeof tls->refused_labels,
                   "listener=\"%s\",result=\"error\"", tls->listener);
    (void)snprintf(tls->expires_labels, sizeof tls->expires_labels, "listener=\"%s\"",
                   tls->listener);
    static const char name[] = "evenkeel_certificate_reload_total";
    static const char help[] = "Changed certificates that were taken into use, or refused.";
    tls->reloaded = (struct metric){.name = name, .help = help, .labels = tls->reloaded_labels};
    tls->refused = (struct metric){.name = name, .help = help, .labels = tls->refused_labels};
    tls->expires =
        (struct metric){.name = "evenkeel_certificate_expiration_timestamp_seconds",
                        .help = "When the serving certificate in use expires, in Unix time.",
                        .labels = tls->expires_labels,
                        .kind = METRIC_GAUGE};
    metric_register(&tls->reloaded);
    metric_register(&tls->refused);
    metric_register(&tls->expires);
    register_familiar(tls);
}

int tls_open(const struct http_tls_options *options, const char *listener, struct tls **ret,
             struct err *err) {
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return err_set(err, -ENOMEM, "no memory for TLS");
    mutex_init(&tls->mutex);
    tls->options = options;
    tls->listener = listener;
    tls->seen = sign(options);
    int r = options->handed_over ? 0 : load_pair(options, &tls->pair, err);
    if (r == 0 && options->client_ca_file != NULL)
        r = load_trust(options->client_ca_file, &tls->trust, err);
    if (r != 0) {
        tls_close(tls);
        return r;
    }
    register_metrics(tls);
    if (tls->pair != NULL)
        metric_set(&tls->expires, tls->pair->expires);
    look_at_dates(tls);
    *ret = tls;
    return 0;
}

void tls_close(struct tls *tls) {
    if (tls == NULL)
        return;
    metric_unregister(&tls->reloaded);
    metric_unregister(&tls->refused);
    metric_unregister(&tls->read);
    metric_unregister(&tls->unread);
    metric_unregister(&tls->expires);
    tls_pair_unref(tls->pair);
    tls_trust_unref(tls->trust);
    mutex_done(&tls->mutex);
    free(tls);
}

/* Counts and logs how a reload went. */
static void report(struct tls *tls, const char *path, int r, const struct err *err) {
    metric_add(r == 0 ? &tls->reloaded : &tls->refused, 1);
    if (r == 0)
        LOG_I("certificate file loaded again", LOG_CSTR("listener", tls->listener),
              LOG_CSTR("file", path));
    else
        LOG_E("changed certificate file refused, its old content stays in use",
              LOG_CSTR("listener", tls->listener), LOG_CSTR("file", path), LOG_ERRTEXT(err));
}

void tls_poll(struct tls *tls) {
    struct signatures now = sign(tls->options);
    bool pair_changed = !file_signature_eq(&now.cert, &tls->seen.cert) ||
                        !file_signature_eq(&now.key, &tls->seen.key);
    bool trust_changed = !file_signature_eq(&now.client_ca, &tls->seen.client_ca);
    tls->seen = now;
    struct err err = {0};
    if (pair_changed) {
        struct tls_pair *pair = NULL;
        int r = load_pair(tls->options, &pair, &err);
        if (r == 0) {
            metric_set(&tls->expires, pair->expires);
            put_pair(tls, pair);
            tls->dates = GOOD; /* no log line yet about this pair */
        }
        report(tls, tls->options->cert_file, r, &err);
    }
    if (trust_changed) {
        struct tls_trust *trust = NULL;
        int r = load_trust(tls->options->client_ca_file, &trust, &err);
        if (r == 0)
            put_trust(tls, trust);
        report(tls, tls->options->client_ca_file, r, &err);
    }
    look_at_dates(tls);
}

int tls_set_pair(struct tls *tls, struct str certificate, struct str key, const char *from,
                 struct err *err) {
    CLEANUP(pem_done) struct pem chain_pem = {.name = from, .text.max = LIMIT_CONFIG_BYTES + 1};
    CLEANUP(pem_done) struct pem key_pem = {.name = from, .text.max = LIMIT_CONFIG_BYTES + 1};
    struct tls_pair *pair = NULL;
    strbuf_append_str(&chain_pem.text, certificate);
    strbuf_append_str(&key_pem.text, key);
    int r = strbuf_failed(&chain_pem.text) || strbuf_failed(&key_pem.text)
                ? err_set(err, -ENOMEM, "cannot load '%s': too large", from)
                : make_pair(&chain_pem, &key_pem, &pair, err);
    metric_add(r == 0 ? &tls->reloaded : &tls->refused, 1);
    if (r != 0)
        return r;
    metric_set(&tls->expires, pair->expires);
    put_pair(tls, pair);
    return 0;
}

int tls_set_trust(struct tls *tls, struct str bundle, const char *from, struct err *err) {
    CLEANUP(pem_done) struct pem pem = {.name = from, .text.max = LIMIT_CONFIG_BYTES + 1};
    struct tls_trust *trust = NULL;
    strbuf_append_str(&pem.text, bundle);
    int r = strbuf_failed(&pem.text) ? err_set(err, -ENOMEM, "cannot load '%s': too large", from)
                                     : make_trust(&pem, &trust, err);
    metric_add(r == 0 ? &tls->reloaded : &tls->refused, 1);
    if (r == 0)
        put_trust(tls, trust);
    return r;
}

struct tls_pair *tls_pair_ref(struct tls *tls) {
    mutex_lock(&tls->mutex);
    struct tls_pair *pair = tls->pair;
    if (pair != NULL)
        (void)atomic_fetch_add(&pair->references, 1);
    mutex_unlock(&tls->mutex);
    return pair;
}

struct tls_trust *tls_trust_ref(struct tls *tls) {
    mutex_lock(&tls->mutex);
    struct tls_trust *trust = tls->trust;
    if (trust != NULL)
        (void)atomic_fetch_add(&trust->references, 1);
    mutex_unlock(&tls->mutex);
    return trust;
}

bool tls_wants_client(const struct tls *tls) {
    return tls->options->client_ca_file != NULL || tls->options->client_ca_handed_over;
}

const struct http_tls_options *tls_options(const struct tls *tls) {
    return tls->options;
}
