#include "certs/ssl.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <time.h>

int ssl_error(struct err *err, int code, const char *fmt, ...) {
    char what[256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args); /* truncation is fine: people read it */
    va_end(args);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return err_set(err, code, "%s%s%s", what, reason != NULL ? ": " : "",
                   reason != NULL ? reason : "");
}

static BIO *reading(struct str pem) {
    /* BIO_new_mem_buf() fails for NULL, even if there are no bytes */
    return pem.n <= INT_MAX ? BIO_new_mem_buf(pem.p != NULL ? pem.p : "", (int)pem.n) : NULL;
}

/* Without this callback PEM_read_bio_... would ask for a passphrase on the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *ctx) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)ctx;
    return -1;
}

/* Did reading stop because the text has no further block of the wanted kind? */
static bool at_end_of_pem(void) {
    unsigned long code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

int ssl_read_certificates(struct str pem, struct stack_st_X509 **ret, struct err *err) {
    CLEANUP(ssl_free_bio) BIO *bio = reading(pem);
    CLEANUP(ssl_free_certificates) struct stack_st_X509 *stack = sk_X509_new_null();
    if (bio == NULL || stack == NULL)
        return ssl_error(err, -ENOMEM, "cannot read certificates");
    X509 *x;
    while ((x = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL) {
        if (sk_X509_push(stack, x) == 0) {
            X509_free(x);
            return ssl_error(err, -ENOMEM, "cannot read certificates");
        }
    }
    if (!at_end_of_pem())
        return ssl_error(err, -EINVAL, "malformed certificate");
    ERR_clear_error();
    if (sk_X509_num(stack) == 0)
        return err_set(err, -EINVAL, "no certificate (-----BEGIN CERTIFICATE-----) in it");
    *ret = stack;
    stack = NULL;
    return 0;
}

int ssl_read_key(struct str pem, EVP_PKEY **ret, struct err *err) {
    CLEANUP(ssl_free_bio) BIO *bio = reading(pem);
    if (bio == NULL)
        return ssl_error(err, -ENOMEM, "cannot read a private key");
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    if (key == NULL)
        return ssl_error(err, -EINVAL, "no private key without a passphrase in it");
    ERR_clear_error();
    *ret = key;
    return 0;
}

int64_t ssl_time(const ASN1_TIME *time) {
    struct tm tm = {0};
    (void)ASN1_TIME_to_tm(time, &tm); /* fails only for a malformed time: then the year 1900 */
    return timegm(&tm);
}

void ssl_forget_errors(void) {
    ERR_clear_error();
}

void ssl_append_bio(BIO *bio, struct strbuf *out) {
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    if (n > 0)
        strbuf_append(out, bytes, (size_t)n);
}
