/*
 * The Secret that holds a server's certificate: type kubernetes.io/tls with ca.crt beside, as
 * cert-manager writes it, and ca.key where we are the authority. One that we made says so in an
 * annotation; others are never written.
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

/* Decodes a Secret. Strings are the text's or the arena's, keys too: that is not wiped. -EINVAL or
 * -ENOMEM. */
int tls_secret_read(struct str object, struct arena *arena, struct tls_secret *ret,
                    struct err *err) MUST_CHECK;

/* The body of a POST; the failure is the buffer's, here and below. */
void tls_secret_put_new(struct strbuf *out, struct str namespace, struct str name,
                        const struct tls_secret *texts);
/* The body of a merge patch that succeeds only on texts->version, and leaves alone what is none of
 * our business. */
void tls_secret_put_patch(struct strbuf *out, const struct tls_secret *texts);
