/*
 * Loading and reloading. A change is seen by file signatures that follow symbolic links, which is
 * how the kubelet swaps mounted Secrets. The signature is taken before the file is read: whatever
 * is written during the reading shows as a change at the next look. Certificate and key are two
 * files, so between two looks they may not belong together: that pair is refused, and the next
 * change is tried again.
 */
#include "http/tls.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct signatures {
    struct file_signature cert, key, client_ca;
};

struct tls {
    const struct http_tls_options *options; /* borrowed */
    const char *listener;                   /* borrowed */
    struct signatures seen;                 /* of tls_poll()'s thread */
    pthread_mutex_t mutex;                  /* guards the two pointers, never what they point to */
    struct tls_pair *pair;
    struct tls_trust *trust; /* NULL: client certificates are not asked for */
    struct metric reloaded, refused, expires;
    char reloaded_labels[96], refused_labels[96], expires_labels[96];
};

static void wipe(struct strbuf *b) {
    if (b->p != NULL)
        explicit_bzero(b->p, b->cap);
    strbuf_done(b);
}

struct certificates {
    gnutls_x509_crt_t *p; /* owned, and so is each */
    unsigned n;
};

/* The array only; what it holds went to somebody else. */
static void certificates_free_array(struct certificates *c) {
    gnutls_free(c->p);
    *c = (struct certificates){0};
}

static void certificates_done(struct certificates *c) {
    for (unsigned i = 0; i < c->n; i++)
        gnutls_x509_crt_deinit(c->p[i]);
    certificates_free_array(c);
}

static int read_certificates(const char *path, struct certificates *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r != 0)
        return r;
    const gnutls_datum_t pem = {(unsigned char *)text.p, (unsigned)text.n};
    r = gnutls_x509_crt_list_import2(&ret->p, &ret->n, &pem, GNUTLS_X509_FMT_PEM, 0);
    if (r < 0) {
        *ret = (struct certificates){0};
        return err_set(err, -EINVAL, "cannot use '%s': no PEM certificates in it (%s)", path,
                       gnutls_strerror(r));
    }
    return 0;
}

static int read_key(const char *path, gnutls_privkey_t key, struct err *err) {
    CLEANUP(wipe) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r != 0)
        return r;
    const gnutls_datum_t pem = {(unsigned char *)text.p, (unsigned)text.n};
    r = gnutls_privkey_import_x509_raw(key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r < 0)
        return err_set(err, -EINVAL, "cannot use '%s': no unencrypted PEM private key in it (%s)",
                       path, gnutls_strerror(r));
    return 0;
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

static int load_chain(const char *path, struct tls_pair *pair, struct err *err) {
    CLEANUP(certificates_done) struct certificates certificates = {0};
    int r = read_certificates(path, &certificates, err);
    if (r != 0)
        return r;
    if (certificates.n > LIMIT_TLS_CHAIN)
        return err_set(err, -EINVAL, "cannot use '%s': more than %d certificates in it", path,
                       LIMIT_TLS_CHAIN);
    pair->expires = gnutls_x509_crt_get_expiration_time(certificates.p[0]);
    unsigned n = certificates.n;
    r = gnutls_pcert_import_x509_list(pair->chain, certificates.p, &n, 0);
    if (r < 0)
        return err_set(err, -EINVAL, "cannot use '%s': %s", path, gnutls_strerror(r));
    pair->chain_length = n;
    return 0;
}

static int load_pair(const struct http_tls_options *options, struct tls_pair **ret,
                     struct err *err) {
    CLEANUP(drop_pair) struct tls_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", options->cert_file);
    pair->references = 1;
    int r = load_chain(options->cert_file, pair, err);
    if (r != 0)
        return r;
    if (gnutls_privkey_init(&pair->key) < 0)
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", options->key_file);
    r = read_key(options->key_file, pair->key, err);
    if (r != 0)
        return r;
    if (!key_fits(pair))
        return err_set(err, -EINVAL,
                       "cannot use certificate '%s' with key '%s': they do not belong together",
                       options->cert_file, options->key_file);
    *ret = pair;
    pair = NULL; /* the caller's now */
    return 0;
}

void tls_trust_unref(struct tls_trust *trust) {
    if (trust == NULL || atomic_fetch_sub(&trust->references, 1) != 1)
        return;
    gnutls_x509_trust_list_deinit(trust->list, 1);
    free(trust);
}

static int load_trust(const char *path, struct tls_trust **ret, struct err *err) {
    CLEANUP(certificates_done) struct certificates certificates = {0};
    int r = read_certificates(path, &certificates, err);
    if (r != 0)
        return r;
    struct tls_trust *trust = calloc(1, sizeof *trust);
    if (trust == NULL || gnutls_x509_trust_list_init(&trust->list, 0) < 0) {
        free(trust);
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", path);
    }
    trust->references = 1;
    int added = gnutls_x509_trust_list_add_cas(trust->list, certificates.p, certificates.n, 0);
    if (added != (int)certificates.n) {
        gnutls_x509_trust_list_deinit(trust->list, 0); /* the certificates are still ours */
        free(trust);
        return err_set(err, -EINVAL, "cannot use '%s': only %d of %u certificates were taken", path,
                       added, certificates.n);
    }
    certificates_free_array(&certificates); /* the list frees what it was given */
    *ret = trust;
    return 0;
}

static struct signatures sign(const struct http_tls_options *options) {
    return (struct signatures){
        .cert = file_sign(options->cert_file),
        .key = file_sign(options->key_file),
        .client_ca = options->client_ca_file != NULL ? file_sign(options->client_ca_file)
                                                     : (struct file_signature){0},
    };
}

static void announce(struct tls *tls, const struct tls_pair *pair) {
    metric_set(&tls->expires, pair->expires);
    if (pair->expires <= time(NULL))
        LOG_W("the serving certificate has expired", LOG_CSTR("listener", tls->listener),
              LOG_CSTR("file", tls->options->cert_file), LOG_INT("not_after", pair->expires));
}

static void put_pair(struct tls *tls, struct tls_pair *pair) {
    (void)pthread_mutex_lock(&tls->mutex); /* cannot fail: never destroyed while in use */
    struct tls_pair *old = tls->pair;
    tls->pair = pair;
    (void)pthread_mutex_unlock(&tls->mutex);
    tls_pair_unref(old);
}

static void put_trust(struct tls *tls, struct tls_trust *trust) {
    (void)pthread_mutex_lock(&tls->mutex); /* cannot fail: never destroyed while in use */
    struct tls_trust *old = tls->trust;
    tls->trust = trust;
    (void)pthread_mutex_unlock(&tls->mutex);
    tls_trust_unref(old);
}

static void register_metrics(struct tls *tls) {
    (void)snprintf(tls->reloaded_labels, sizeof tls->reloaded_labels,
                   "listener=\"%s\",result=\"success\"", tls->listener);
    (void)snprintf(tls->refused_labels, sizeof tls->refused_labels,
                   "listener=\"%s\",result=\"error\"", tls->listener);
    (void)snprintf(tls->expires_labels, sizeof tls->expires_labels, "listener=\"%s\"",
                   tls->listener);
    static const char name[] = "evenkeel_certificate_reload_total";
    static const char help[] = "Changed certificate files that were loaded, or refused.";
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
}

int tls_open(const struct http_tls_options *options, const char *listener, struct tls **ret,
             struct err *err) {
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return err_set(err, -ENOMEM, "cannot load '%s': out of memory", options->cert_file);
    (void)pthread_mutex_init(&tls->mutex, NULL); /* cannot fail with these arguments */
    tls->options = options;
    tls->listener = listener;
    tls->seen = sign(options);
    int r = load_pair(options, &tls->pair, err);
    if (r == 0 && options->client_ca_file != NULL)
        r = load_trust(options->client_ca_file, &tls->trust, err);
    if (r != 0) {
        tls_close(tls);
        return r;
    }
    register_metrics(tls);
    announce(tls, tls->pair);
    *ret = tls;
    return 0;
}

void tls_close(struct tls *tls) {
    if (tls == NULL)
        return;
    metric_unregister(&tls->reloaded);
    metric_unregister(&tls->refused);
    metric_unregister(&tls->expires);
    tls_pair_unref(tls->pair);
    tls_trust_unref(tls->trust);
    (void)pthread_mutex_destroy(&tls->mutex);
    free(tls);
}

/* Counts and logs how a reload went. */
static void report(struct tls *tls, const char *path, int r, const struct err *err) {
    metric_add(r == 0 ? &tls->reloaded : &tls->refused, 1);
    if (r == 0)
        LOG_I("certificate file loaded again", LOG_CSTR("listener", tls->listener),
              LOG_CSTR("file", path));
    else
        LOG_E("changed certificate file refused, the one before stays in use",
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
            announce(tls, pair);
            put_pair(tls, pair);
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
}

struct tls_pair *tls_pair_ref(struct tls *tls) {
    (void)pthread_mutex_lock(&tls->mutex); /* cannot fail: never destroyed while in use */
    struct tls_pair *pair = tls->pair;
    (void)atomic_fetch_add(&pair->references, 1);
    (void)pthread_mutex_unlock(&tls->mutex);
    return pair;
}

struct tls_trust *tls_trust_ref(struct tls *tls) {
    (void)pthread_mutex_lock(&tls->mutex); /* cannot fail: never destroyed while in use */
    struct tls_trust *trust = tls->trust;
    if (trust != NULL)
        (void)atomic_fetch_add(&trust->references, 1);
    (void)pthread_mutex_unlock(&tls->mutex);
    return trust;
}

bool tls_wants_client(const struct tls *tls) {
    return tls->options->client_ca_file != NULL;
}

const struct http_tls_options *tls_options(const struct tls *tls) {
    return tls->options;
}
