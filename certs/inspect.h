/*
 * Reads and checks a certificate: for `evenkeel certs show` and `check`, for the server before it
 * uses new files, and for metrics of expiry. All checks are those of Go's TLS clients, since those
 * are our clients: the common name of a server does not count, and any certificate in the CA bundle
 * is trusted as a root.
 *
 * Thread-safe. Times are seconds since 1970.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Strings are from the arena, printable ASCII, NUL-terminated. */
struct certificate {
    struct str subject, issuer; /* RFC 2253: "CN=a,O=b"; other characters are written as \XX */
    struct str common_name;     /* empty if the certificate has no common name */
    struct str *names;          /* subject alternative names: DNS, IP, URI, e-mail as text */
    size_t name_count;
    int64_t not_before_s, not_after_s;
    bool is_ca;
    bool for_server, for_client; /* the (extended) key usage allows this */
    struct str sha256;           /* fingerprint of the whole certificate: "AB:CD:..." */
};

/* Reads every certificate of a PEM text, in order; the first is the leaf of a chain. Returns 0,
 * -EINVAL (no certificate, or a malformed one) or -ENOMEM. */
int certificates_read(struct str pem, struct arena *arena, struct certificate **ret,
                      size_t *ret_count, struct err *err) MUST_CHECK;

/* Is `key_pem` the private key of the first certificate? Returns 0 and sets *ret, or -EINVAL if
 * either text is malformed. */
int certificate_has_key(struct str pem, struct str key_pem, bool *ret, struct err *err) MUST_CHECK;

/* May the first certificate be used for this host, which is a DNS name or an IP address? A wildcard
 * stands for one whole label. Returns 0 and sets *ret, or -EINVAL. */
int certificate_covers(struct str pem, struct str host_text, bool *ret, struct err *err) MUST_CHECK;

struct certificate_trust {
    struct str chain_pem; /* the leaf, then intermediates */
    struct str ca_pem;    /* the bundle to trust */
    bool of_client;       /* check for client authentication; otherwise for server authentication */
    bool at_any_time;     /* do not check dates */
    int64_t at_s;         /* otherwise check them at this time */
};

/*
 * Does the chain lead from the leaf to a certificate in the bundle, and may the leaf be used for
 * the purpose? Returns 0, or -EINVAL with the reason. `ret_root_ends_s`, which may be NULL,
 * receives the expiry of the root that was found.
 */
int certificate_verify(const struct certificate_trust *trust, int64_t *ret_root_ends_s,
                       struct err *err) MUST_CHECK;

/* Returns the version of the loaded OpenSSL, a static string. */
const char *certs_library_version(void);
