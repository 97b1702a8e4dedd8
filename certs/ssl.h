/*
 * OpenSSL helpers for the files of this folder only: errors, clean-up and PEM. Other headers show
 * no OpenSSL type.
 *
 * Every function here leaves OpenSSL's thread-local error queue empty. Thread-safe as long as each
 * thread has its own objects.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* For CLEANUP(): each takes a pointer to the owning variable, which may be NULL. */
static inline void ssl_free_certificate(X509 **x) {
    X509_free(*x);
}
static inline void ssl_free_certificates(struct stack_st_X509 **stack) {
    sk_X509_pop_free(*stack, X509_free);
}
static inline void ssl_free_key(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
}
static inline void ssl_free_bio(BIO **bio) {
    (void)BIO_free(*bio); /* fails only for NULL */
}

/* As err_set(), but appends OpenSSL's reason if it gives one. */
int ssl_error(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Reads all certificates of a PEM text, in order; skips other blocks. The caller owns *ret. Returns
 * 0, -EINVAL (no certificate, or a malformed one) or -ENOMEM. */
int ssl_read_certificates(struct str pem, struct stack_st_X509 **ret, struct err *err) MUST_CHECK;
/* Reads the first private key. Refuses encrypted keys. */
int ssl_read_key(struct str pem, EVP_PKEY **ret, struct err *err) MUST_CHECK;

/* Returns seconds since 1970. */
int64_t ssl_time(const ASN1_TIME *time);

/* Call it after an OpenSSL call if nobody needs the reason of its failure. */
void ssl_forget_errors(void);

/* Appends everything written to a memory BIO. */
void ssl_append_bio(BIO *bio, struct strbuf *out);
