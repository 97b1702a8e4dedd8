#include "certs/inspect.h"

#include "certs/host.h"
#include "certs/ssl.h"

#include <arpa/inet.h>
#include <errno.h>

/* ---- reading ---- */

/* Anybody may have written the text of a certificate: every byte that is not printable ASCII
 * becomes '?'. */
static struct str printable(struct arena *arena, const void *bytes, size_t n) {
    char *copy = arena_cstr(arena, (struct str){bytes, n});
    if (copy == NULL)
        return (struct str){0};
    for (size_t i = 0; i < n; i++)
        if (copy[i] < 0x20 || copy[i] > 0x7e)
            copy[i] = '?';
    return (struct str){copy, n};
}

static struct str name_text(struct arena *arena, const X509_NAME *name) {
    CLEANUP(ssl_free_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL || X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) < 0) {
        ssl_forget_errors();
        return (struct str){0};
    }
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    return printable(arena, bytes, n > 0 ? (size_t)n : 0);
}

static struct str common_name(struct arena *arena, const X509_NAME *name) {
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0)
        return (struct str){0};
    const ASN1_STRING *value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    return printable(arena, ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
}

static struct str address_text(struct arena *arena, const ASN1_STRING *value) {
    char text[INET6_ADDRSTRLEN] = "?";
    int n = ASN1_STRING_length(value), family = n == sizeof(struct in_addr) ? AF_INET : AF_INET6;
    if (n == sizeof(struct in_addr) || n == sizeof(struct in6_addr))
        (void)inet_ntop(family, ASN1_STRING_get0_data(value), text, sizeof text); /* it fits */
    return arena_str(arena, str_of(text));
}

static struct str general_name_text(struct arena *arena, const GENERAL_NAME *name) {
    int type;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
    switch (type) {
    case GEN_DNS:
    case GEN_URI:
    case GEN_EMAIL:
        return printable(arena, ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
    case GEN_IPADD:
        return address_text(arena, value);
    default:
        return STR("(another kind of name)");
    }
}

static void free_names(GENERAL_NAMES **names) {
    GENERAL_NAMES_free(*names);
}

/* Returns false if the certificate has names that cannot be read. */
static bool read_names(const X509 *x, struct arena *arena, struct certificate *ret) {
    int how = 0;
    CLEANUP(free_names)
    GENERAL_NAMES *names = X509_get_ext_d2i(x, NID_subject_alt_name, &how, NULL);
    if (names == NULL)
        return how == -1;
    int count = sk_GENERAL_NAME_num(names);
    ret->names = arena_array(arena, (size_t)count, sizeof *ret->names);
    for (int i = 0; i < count && ret->names != NULL; i++)
        ret->names[ret->name_count++] = general_name_text(arena, sk_GENERAL_NAME_value(names, i));
    return true;
}

static struct str fingerprint(const X509 *x, struct arena *arena) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!X509_digest(x, EVP_sha256(), digest, &n))
        return (struct str){0};
    char *text = arena_alloc(arena, 3 * (size_t)n + 1);
    if (text == NULL)
        return (struct str){0};
    static const char hex[] = "0123456789ABCDEF";
    size_t length = 0;
    for (unsigned i = 0; i < n; i++) {
        text[length++] = hex[digest[i] >> 4];
        text[length++] = hex[digest[i] & 15];
        text[length++] = ':';
    }
    text[length - 1] = '\0';
    return (struct str){text, length - 1};
}

static int describe(X509 *x, struct arena *arena, struct certificate *ret, struct err *err) {
    *ret = (struct certificate){
        .subject = name_text(arena, X509_get_subject_name(x)),
        .issuer = name_text(arena, X509_get_issuer_name(x)),
        .common_name = common_name(arena, X509_get_subject_name(x)),
        .not_before_s = ssl_time(X509_get0_notBefore(x)),
        .not_after_s = ssl_time(X509_get0_notAfter(x)),
        .is_ca = X509_check_ca(x) == 1,
        .for_server = X509_check_purpose(x, X509_PURPOSE_SSL_SERVER, 0) == 1,
        .for_client = X509_check_purpose(x, X509_PURPOSE_SSL_CLIENT, 0) == 1,
        .sha256 = fingerprint(x, arena),
    };
    if (!read_names(x, arena, ret))
        return ssl_error(err, -EINVAL, "malformed subject alternative names");
    ssl_forget_errors();
    return 0;
}

int certificates_read(struct str pem, struct arena *arena, struct certificate **ret,
                      size_t *ret_count, struct err *err) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = NULL;
    int r = ssl_read_certificates(pem, &stack, err);
    if (r != 0)
        return r;
    size_t count = (size_t)sk_X509_num(stack);
    struct certificate *all = arena_array(arena, count, sizeof *all);
    for (size_t i = 0; i < count && all != NULL; i++) {
        r = describe(sk_X509_value(stack, (int)i), arena, &all[i], err);
        if (r != 0)
            return r;
    }
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "too many certificates for %zu bytes of memory", arena->max);
    *ret = all;
    *ret_count = count;
    return 0;
}

/* ---- questions ---- */

int certificate_has_key(struct str pem, struct str key_pem, bool *ret, struct err *err) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = NULL;
    CLEANUP(ssl_free_key) EVP_PKEY *key = NULL;
    int r = ssl_read_certificates(pem, &stack, err);
    if (r == 0)
        r = ssl_read_key(key_pem, &key, err);
    if (r != 0)
        return r;
    *ret = X509_check_private_key(sk_X509_value(stack, 0), key) == 1;
    ssl_forget_errors();
    return 0;
}

int certificate_covers(struct str pem, struct str host_text, bool *ret, struct err *err) {
    struct host host;
    int r = host_parse(host_text, &host, err);
    if (r != 0)
        return r;
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = NULL;
    r = ssl_read_certificates(pem, &stack, err);
    if (r != 0)
        return r;
    X509 *leaf = sk_X509_value(stack, 0);
    const unsigned flags =
        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
    *ret = host.kind == HOST_DNS
               ? X509_check_host(leaf, host.bytes, host.n, flags, NULL) == 1
               : X509_check_ip(leaf, (const unsigned char *)host.bytes, host.n, flags) == 1;
    ssl_forget_errors();
    return 0;
}

static void free_store(X509_STORE **store) {
    X509_STORE_free(*store);
}

static void free_context(X509_STORE_CTX **ctx) {
    X509_STORE_CTX_free(*ctx);
}

static X509_STORE *store_of(struct stack_st_X509 *bundle) {
    X509_STORE *store = X509_STORE_new();
    for (int i = 0; store != NULL && i < sk_X509_num(bundle); i++) {
        if (!X509_STORE_add_cert(store, sk_X509_value(bundle, i))) {
            X509_STORE_free(store);
            return NULL;
        }
    }
    return store;
}

static void set_rules(X509_STORE_CTX *ctx, const struct certificate_trust *trust) {
    X509_VERIFY_PARAM *rules = X509_STORE_CTX_get0_param(ctx);
    int purpose = trust->of_client ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER;
    (void)X509_VERIFY_PARAM_set_purpose(rules, purpose);                 /* a known purpose */
    (void)X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN); /* known flags */
    if (trust->at_any_time)
        (void)X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_NO_CHECK_TIME);
    else
        X509_VERIFY_PARAM_set_time(rules, trust->at_s);
}

int certificate_verify(const struct certificate_trust *trust, int64_t *ret_root_ends_s,
                       struct err *err) {
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *chain = NULL;
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *bundle = NULL;
    int r = ssl_read_certificates(trust->chain_pem, &chain, err);
    if (r != 0)
        return r;
    r = ssl_read_certificates(trust->ca_pem, &bundle, err);
    if (r != 0)
        return err_wrap(err, "CA bundle");
    CLEANUP(free_store) X509_STORE *store = store_of(bundle);
    CLEANUP(free_context) X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    if (store == NULL || ctx == NULL ||
        !X509_STORE_CTX_init(ctx, store, sk_X509_value(chain, 0), chain))
        return ssl_error(err, -ENOMEM, "cannot verify a certificate");
    set_rules(ctx, trust);
    bool good = X509_verify_cert(ctx) == 1;
    ssl_forget_errors(); /* the reason is in the context */
    if (!good)
        return err_set(err, -EINVAL, "%s",
                       X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
    const struct stack_st_X509 *path = X509_STORE_CTX_get0_chain(ctx);
    if (ret_root_ends_s != NULL)
        *ret_root_ends_s = ssl_time(X509_get0_notAfter(sk_X509_value(path, sk_X509_num(path) - 1)));
    return 0;
}

const char *certs_library_version(void) {
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
