/*
 * Our own certificate authority, and the leaf certificates it signs: for `make run`, for
 * `evenkeel certs init`, and for clusters without another issuer of certificates.
 *
 * kube-scheduler reads an extender's CA once, at its start. So the authority lives long (ten years)
 * and only leaves are renewed; they never outlive it. All keys are ECDSA P-256, all signatures
 * SHA-256. An authority may be used by one thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    AUTHORITY_DAYS = 3650,
    LEAF_DAYS = 365,
    CERTIFICATE_DAYS_MAX = 36500,
    CERTIFICATE_BACKDATE_S = 300, /* certificates begin this long in the past: clocks differ */
};

struct authority; /* certificate and private key */

struct authority_request {
    struct str common_name; /* at most 64 bytes */
    int days;               /* 1 to CERTIFICATE_DAYS_MAX */
    int64_t now_s;          /* seconds since 1970, here and below */
};

/* Makes a self-signed authority that may sign leaves only. 0, -EINVAL or -EIO; the caller owns it.
 */
int authority_new(const struct authority_request *request, struct authority **ret,
                  struct err *err) MUST_CHECK;
/* Loads a saved authority: the first certificate and the first key of two PEM texts. -EINVAL if
 * either is malformed, they do not belong together, or the certificate may not sign. */
int authority_load(struct str certificate_pem, struct str key_pem, struct authority **ret,
                   struct err *err) MUST_CHECK;
void authority_free(struct authority *a);
/* For CLEANUP(). */
void authority_freep(struct authority **a);

/* Appends certificate and key as PEM. Give the key's buffer to key_done(). */
int authority_save(const struct authority *a, struct strbuf *ret_certificate_pem,
                   struct strbuf *ret_key_pem, struct err *err) MUST_CHECK;
/* Returns the end of the authority's validity, in seconds since 1970. */
int64_t authority_not_after(const struct authority *a);
/* Did the authority sign the first certificate of this PEM text? False, too, if the text has no
 * certificate. */
bool authority_signed(const struct authority *a, struct str certificate_pem);

struct leaf_request {
    struct str common_name;  /* at most 64 bytes; identifies a client, but not a server */
    const struct str *hosts; /* DNS names and IP addresses: subject alternative names */
    size_t host_count;
    bool server, client; /* permitted uses; at least one */
    int days;            /* 1 to CERTIFICATE_DAYS_MAX; shortened to the authority's own end */
    int64_t now_s;
};

/* Makes a key and a certificate and appends both as PEM. 0, -EINVAL (an invalid host, or the
 * authority has ended) or -EIO. */
int authority_issue(const struct authority *a, const struct leaf_request *request,
                    struct strbuf *ret_certificate_pem, struct strbuf *ret_key_pem,
                    struct err *err) MUST_CHECK;

/* Overwrites and frees a buffer that held a private key. */
void key_done(struct strbuf *key_pem);
