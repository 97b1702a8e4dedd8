/*
 * The webhook's certificate, if it is in a Secret. Evenkeel watches it, renews it if Evenkeel made
 * it, gives it to the listener, and makes API servers trust it. The decisions are in
 * controllers/serving_certificate.h and controllers/ca_bundle.h; this file connects them with
 * watches, the listener and the configuration.
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

/* Starts at once. `writer` is the client's. *ret is NULL if the certificate is in files or the
 * webhook is off. The arguments are borrowed until webhook_certificates_free(). */
int webhook_certificates_start(const struct configuration *configuration,
                               const struct kube_access *access, struct kube_client *client,
                               struct writer *writer, struct webhook_certificates **ret,
                               struct err *err) MUST_CHECK;
/* Gives the listener the present certificate, if there is one, and each later certificate. Call it
 * with `listener` NULL before the listener stops: the listener gets no certificate after that. */
void webhook_certificates_serve(struct webhook_certificates *c, struct http_listener *listener);
/* Returns a borrowed flag: does the listener have a certificate? Returns NULL for NULL. */
_Atomic bool *webhook_certificates_ready(struct webhook_certificates *c);
/* Writes the last Events and frees everything. NULL is fine. */
void webhook_certificates_free(struct webhook_certificates *c);
