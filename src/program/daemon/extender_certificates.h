/*
 * The extender's certificate, if it is in a Secret. Evenkeel watches it, renews its own, and gives
 * it to the listener, together with the CA of callers in the same Secret. If Evenkeel is that CA,
 * it keeps a certificate for kube-scheduler in a second Secret. The decisions are in
 * controllers/serving_certificate.h; this file connects them with watches, the listener and the
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

struct extender_certificates;
struct http_listener;
struct writer;

/* Starts at once. `writer` is the client's. *ret is NULL if the certificate is in files or the
 * extender is off. The arguments are borrowed until extender_certificates_free(). */
int extender_certificates_start(const struct configuration *configuration,
                                const struct kube_access *access, struct kube_client *client,
                                struct writer *writer, struct extender_certificates **ret,
                                struct err *err) MUST_CHECK;
/* Gives the listener the present and all later certificates and CAs. Call it with NULL as the
 * listener before the listener stops. `c` may be NULL. */
void extender_certificates_serve(struct extender_certificates *c, struct http_listener *listener);
/* Returns a borrowed flag: does the listener have a certificate and the CA of its clients? Returns
 * NULL for NULL. */
_Atomic bool *extender_certificates_ready(struct extender_certificates *c);
/* Writes the last Events and frees everything. NULL is fine. */
void extender_certificates_free(struct extender_certificates *c);
