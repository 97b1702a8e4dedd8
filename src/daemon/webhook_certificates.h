/*
 * The webhook's certificate where it is in a Secret: watched, renewed if it is ours, handed to the
 * listener, and trusted by API servers. What decides is in controllers/serving_certificate.h and
 * controllers/ca_bundle.h; this brings them together with watches, the listener and the
 * configuration.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "config/configuration.h"
#include "kube/auth/access.h"
#include "kube/client/client.h"

#include <stdatomic.h>

struct http_listener;
struct webhook_certificates;
struct writer;

/* Begins at once; `writer` is the client's. *ret is NULL where the certificate is in files or the
 * webhook is off. Everything is borrowed until webhook_certificates_free(). */
int webhook_certificates_start(const struct configuration *configuration,
                               const struct kube_access *access, struct kube_client *client,
                               struct writer *writer, struct webhook_certificates **ret,
                               struct err *err) MUST_CHECK;
/* The listener gets the certificate, now if it is there already, and whatever follows it. NULL
 * before the listener stops: when this has returned, nobody gives it any. */
void webhook_certificates_serve(struct webhook_certificates *c, struct http_listener *listener);
/* Whether the listener has had one. Borrowed; NULL for NULL. */
_Atomic bool *webhook_certificates_ready(struct webhook_certificates *c);
/* Writes the last events. NULL is fine. */
void webhook_certificates_free(struct webhook_certificates *c);
