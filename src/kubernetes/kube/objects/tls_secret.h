/*
 * The Secret that holds a server's certificate: type kubernetes.io/tls, with ca.crt in addition, as
 * cert-manager writes it, and with ca.key if Evenkeel is the authority. Secrets that Evenkeel made
 * have an annotation; Evenkeel writes only Secrets that are `ours`.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct tls_secret {
    struct str uid, version;                 /* metadata.uid and .resourceVersion */
    bool ours;                               /* annotated, or without any certificate or key */
    struct str ca, ca_key, certificate, key; /* PEM; "": absent */
};

/* Decodes a Secret. Strings, also secret keys, point into the text or the arena, which is not
 * wiped. Returns 0, -EINVAL or -ENOMEM. */
int tls_secret_read(struct str object, struct arena *arena, struct tls_secret *ret,
                    struct err *err) MUST_CHECK;

/* Appends the body of a POST; failures stay in the buffer, here and below. */
void tls_secret_put_new(struct strbuf *out, struct str namespace, struct str name,
                        const struct tls_secret *texts);
/* Appends the body of a merge patch that succeeds only on texts->version, and keeps members that
 * are not ours. */
void tls_secret_put_patch(struct strbuf *out, const struct tls_secret *texts);
