#include "certs/authority.h"

#include "certs/host.h"
#include "certs/ssl.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <stdlib.h>

enum { SECONDS_PER_DAY = 86400, SERIAL_BITS = 128, VERSION_3 = 2 };

struct authority {
    X509 *certificate; /* owned, as the key */
    EVP_PKEY *key;
};

void authority_free(struct authority *a) {
    if (a == NULL)
        return;
    X509_free(a->certificate);
    EVP_PKEY_free(a->key);
    free(a);
}

void authority_freep(struct authority **a) {
    authority_free(*a);
}

void key_done(struct strbuf *key_pem) {
    if (key_pem->p != NULL)
        OPENSSL_cleanse(key_pem->p, key_pem->cap);
    strbuf_done(key_pem);
}

/* ---- the parts of a certificate ---- */

static bool set_serial(X509 *x) {
    BIGNUM *number = BN_new();
    bool ok = number != NULL && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
              BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x)) != NULL;
    BN_free(number);
    return ok;
}

static bool set_name(X509_NAME *name, struct str common_name) {
    return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                      (const unsigned char *)common_name.p, (int)common_name.n, -1,
                                      0) == 1;
}

static bool set_dates(X509 *x, int64_t now_s, int64_t end_s) {
    return ASN1_TIME_set(X509_getm_notBefore(x), now_s - CERTIFICATE_BACKDATE_S) != NULL &&
           ASN1_TIME_set(X509_getm_notAfter(x), end_s) != NULL;
}

struct extension {
    int nid;
    const char *value; /* in OpenSSL's configuration syntax; must not contain input from users */
};

static bool add_extensions(X509 *x, X509 *issuer, const struct extension *extensions,
                           size_t count) {
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, extensions[i].nid, extensions[i].value);
        bool ok = e != NULL && X509_add_ext(x, e, -1);
        X509_EXTENSION_free(e);
        if (!ok)
            return false;
    }
    return true;
}

/* Makes a certificate without extensions and without a signature. Returns NULL after a failure. */
static X509 *draft(EVP_PKEY *key, struct str common_name, X509 *issuer, int64_t now_s,
                   int64_t end_s) {
    X509 *x = X509_new();
    if (x != NULL && X509_set_version(x, VERSION_3) && set_serial(x) &&
        set_name(X509_get_subject_name(x), common_name) &&
        X509_set_issuer_name(x, X509_get_subject_name(issuer != NULL ? issuer : x)) &&
        set_dates(x, now_s, end_s) && X509_set_pubkey(x, key))
        return x;
    X509_free(x);
    return NULL;
}

static int check_request(struct str common_name, int days, struct err *err) {
    if (common_name.n == 0 || common_name.n > 64)
        return err_set(err, -EINVAL, "common name '%.*s' is not between 1 and 64 bytes long",
                       STR_ARG(common_name));
    if (days < 1 || days > CERTIFICATE_DAYS_MAX)
        return err_set(err, -EINVAL, "cannot be valid for %d days: not between 1 and %d", days,
                       CERTIFICATE_DAYS_MAX);
    return 0;
}

/* ---- the authority ---- */

static struct authority *wrap(X509 **certificate, EVP_PKEY **key) {
    struct authority *a = malloc(sizeof *a);
    if (a == NULL)
        return NULL;
    *a = (struct authority){*certificate, *key};
    *certificate = NULL;
    *key = NULL;
    return a;
}

int authority_new(const struct authority_request *request, struct authority **ret,
                  struct err *err) {
    static const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
        {NID_key_usage, "critical,keyCertSign,cRLSign"},
        {NID_subject_key_identifier, "hash"},
    };
    int r = check_request(request->common_name, request->days, err);
    if (r != 0)
        return r;
    CLEANUP(ssl_free_key) EVP_PKEY *key = EVP_EC_gen("P-256");
    if (key == NULL)
        return ssl_error(err, -EIO, "cannot make a key");
    int64_t end_s = request->now_s + (int64_t)request->days * SECONDS_PER_DAY;
    CLEANUP(ssl_free_certificate)
    X509 *x = draft(key, request->common_name, NULL, request->now_s, end_s);
    if (x == NULL || !add_extensions(x, x, extensions, sizeof extensions / sizeof extensions[0]) ||
        X509_sign(x, key, EVP_sha256()) == 0)
        return ssl_error(err, -EIO, "cannot make the certificate authority '%.*s'",
                         STR_ARG(request->common_name));
    struct authority *a = wrap(&x, &key);
    if (a == NULL)
        return err_set(err, -ENOMEM, "no memory for a certificate authority");
    *ret = a;
    return 0;
}

int authority_load(struct str certificate_pem, struct str key_pem, struct authority **ret,
                   struct err *err) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = NULL;
    CLEANUP(ssl_free_key) EVP_PKEY *key = NULL;
    int r = ssl_read_certificates(certificate_pem, &stack, err);
    if (r != 0)
        return err_wrap(err, "cannot read the authority's certificate");
    r = ssl_read_key(key_pem, &key, err);
    if (r != 0)
        return err_wrap(err, "cannot read the authority's key");
    CLEANUP(ssl_free_certificate) X509 *x = sk_X509_shift(stack);
    if (X509_check_ca(x) != 1 || (X509_get_key_usage(x) & KU_KEY_CERT_SIGN) == 0)
        return ssl_error(err, -EINVAL, "the certificate may not sign others: it is no authority");
    if (X509_check_private_key(x, key) != 1)
        return ssl_error(err, -EINVAL, "the authority's key does not belong to its certificate");
    struct authority *a = wrap(&x, &key);
    if (a == NULL)
        return err_set(err, -ENOMEM, "no memory for a certificate authority");
    *ret = a;
    return 0;
}

static int append_certificate(X509 *x, struct strbuf *out, struct err *err) {
    CLEANUP(ssl_free_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL || !PEM_write_bio_X509(bio, x))
        return ssl_error(err, -EIO, "cannot write a certificate as PEM");
    ssl_append_bio(bio, out);
    return strbuf_failed(out) ? err_set(err, -ENOMEM, "no memory for a certificate") : 0;
}

/* The BIO wipes its memory when it is freed. A single append to `out` leaves no copies of the key
 * in memory; several appends could, because `out` moves when it grows. */
static int append_key(EVP_PKEY *key, struct strbuf *out, struct err *err) {
    CLEANUP(ssl_free_bio) BIO *bio = BIO_new(BIO_s_secmem());
    if (bio == NULL || !PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
        return ssl_error(err, -EIO, "cannot write a private key as PEM");
    ssl_append_bio(bio, out);
    return strbuf_failed(out) ? err_set(err, -ENOMEM, "no memory for a private key") : 0;
}

int authority_save(const struct authority *a, struct strbuf *ret_certificate_pem,
                   struct strbuf *ret_key_pem, struct err *err) {
    int r = append_certificate(a->certificate, ret_certificate_pem, err);
    return r != 0 ? r : append_key(a->key, ret_key_pem, err);
}

int64_t authority_not_after(const struct authority *a) {
    return ssl_time(X509_get0_notAfter(a->certificate));
}

bool authority_signed(const struct authority *a, struct str certificate_pem) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = NULL;
    if (ssl_read_certificates(certificate_pem, &stack, NULL) != 0)
        return false;
    bool yes = X509_verify(sk_X509_value(stack, 0), a->key) == 1;
    ssl_forget_errors();
    return yes;
}

/* ---- leaves ---- */

static bool add_host(GENERAL_NAMES *names, const struct host *host) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = host->kind == HOST_DNS ? ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new();
    if (name == NULL || value == NULL || !ASN1_STRING_set(value, host->bytes, (int)host->n) ||
        sk_GENERAL_NAME_push(names, name) == 0) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, host->kind == HOST_DNS ? GEN_DNS : GEN_IPADD, value);
    return true;
}

static void free_names(GENERAL_NAMES **names) {
    GENERAL_NAMES_free(*names);
}

static int add_hosts(X509 *x, const struct leaf_request *request, struct err *err) {
    if (request->host_count == 0)
        return 0;
    CLEANUP(free_names) GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    if (names == NULL)
        return ssl_error(err, -ENOMEM, "no memory for names");
    for (size_t i = 0; i < request->host_count; i++) {
        struct host host;
        int r = host_parse(request->hosts[i], &host, err);
        if (r != 0)
            return r;
        if (!add_host(names, &host))
            return ssl_error(err, -ENOMEM, "no memory for names");
    }
    if (X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1)
        return ssl_error(err, -EIO, "cannot add names to a certificate");
    return 0;
}

static bool add_leaf_extensions(X509 *x, X509 *issuer, const struct leaf_request *request) {
    const char *usage = request->server && request->client ? "serverAuth,clientAuth"
                        : request->server                  ? "serverAuth"
                                                           : "clientAuth";
    const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, usage},
        {NID_subject_key_identifier, "hash"},
        {NID_authority_key_identifier, "keyid:always"},
    };
    return add_extensions(x, issuer, extensions, sizeof extensions / sizeof extensions[0]);
}

/* Sets *ret_end_s to the end of a new leaf, at the latest the end of the authority. */
static int choose_end(const struct authority *a, const struct leaf_request *request,
                      int64_t *ret_end_s, struct err *err) {
    int64_t end_s = request->now_s + (int64_t)request->days * SECONDS_PER_DAY;
    int64_t authority_end_s = authority_not_after(a);
    if (authority_end_s <= request->now_s)
        return err_set(err, -EINVAL, "the certificate authority has expired");
    *ret_end_s = end_s < authority_end_s ? end_s : authority_end_s;
    return 0;
}

int authority_issue(const struct authority *a, const struct leaf_request *request,
                    struct strbuf *ret_certificate_pem, struct strbuf *ret_key_pem,
                    struct err *err) {
    int64_t end_s = 0;
    int r = check_request(request->common_name, request->days, err);
    if (r == 0)
        r = choose_end(a, request, &end_s, err);
    if (r != 0)
        return r;
    CLEANUP(ssl_free_key) EVP_PKEY *key = EVP_EC_gen("P-256");
    if (key == NULL)
        return ssl_error(err, -EIO, "cannot make a key");
    CLEANUP(ssl_free_certificate)
    X509 *x = draft(key, request->common_name, a->certificate, request->now_s, end_s);
    if (x == NULL || !add_leaf_extensions(x, a->certificate, request))
        return ssl_error(err, -EIO, "cannot make a certificate for '%.*s'",
                         STR_ARG(request->common_name));
    r = add_hosts(x, request, err);
    if (r != 0)
        return r;
    if (X509_sign(x, a->key, EVP_sha256()) == 0)
        return ssl_error(err, -EIO, "cannot sign the certificate of '%.*s'",
                         STR_ARG(request->common_name));
    r = append_certificate(x, ret_certificate_pem, err);
    return r != 0 ? r : append_key(key, ret_key_pem, err);
}
