/*
 * Keeps the caBundle right in one Mutating- or ValidatingWebhookConfiguration: for every webhook
 * that calls a name in our certificate. A watch of that one object feeds the controller.
 *
 * It avoids a fight of writers: it writes a bundle only on top of the version that it saw to be
 * wrong, so there is at most one write for each foreign write, however many replicas watch; they
 * need no leader. It mends a wrong bundle after a random delay of up to half a second, which
 * spreads replicas. A writer that rewrites the bundle within 8 s of the repair is answered ever
 * more slowly: after 1 s, 2 s and so on up to 5 minutes, until it leaves the bundle alone longer.
 *
 * Two replicas that have not seen the same Secret yet may want different bundles for a moment. Each
 * writes its bundle once, and they agree when both have seen the Secret.
 *
 * The controller does not create a missing or deleted object: the installation does. It reports the
 * absence, and mends the object when it comes back.
 *
 * Metrics, with configuration="<name>", or "validating/<name>":
 * evenkeel_webhook_configuration_right (1: it is there and API servers trust our certificate),
 * evenkeel_ca_bundle_foreign_writes_total, evenkeel_ca_bundle_writes_total{result}. Events about
 * the object: CABundleRewritten, which names the writer, WebhookConfigurationMissing.
 *
 * Threads: everything on the client's thread, except ca_bundle_controller_free().
 */
#pragma once

#include "base/clock.h"
#include "kube/events/events.h"
#include "kube/objects/webhook_configuration.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"

struct ca_bundle_controller_options {
    struct writer *writer; /* borrowed until ca_bundle_controller_free(), as the members below */
    struct clock *clock;   /* NULL: the real clock */
    struct event_recorder *events; /* NULL: no Events are written */
    enum webhook_kind kind;        /* of the object */
    const char *name;              /* of the object */
    uint64_t seed;                 /* seed of the jitter */
};

struct ca_bundle_controller;

/* Returns 0 or -ENOMEM. The controller does nothing before the sink's first call. */
int ca_bundle_controller_new(const struct ca_bundle_controller_options *options,
                             struct ca_bundle_controller **ret, struct err *err) MUST_CHECK;
/* For a watch of the one object (a field selector). */
struct reflector_sink ca_bundle_controller_sink(struct ca_bundle_controller *k);
/* Sets the bundle that API servers must trust, and the certificate that has our names. Both are PEM
 * and copied. An empty bundle is never written. */
void ca_bundle_controller_trust(struct ca_bundle_controller *k, struct str bundle,
                                struct str certificate);
/* Call after the watch and all callers of ca_bundle_controller_trust() have stopped. When this
 * returns, no write is under way. Any thread. NULL is fine. */
void ca_bundle_controller_free(struct ca_bundle_controller *k);
