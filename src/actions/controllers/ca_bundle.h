/*
 * Keeps the caBundle of one Mutating- or ValidatingWebhookConfiguration right: that of every
 * webhook in it which calls a name that our certificate is for. Fed by a watch of that one object.
 *
 * Without a fight: a bundle is written when a version of the object was seen to be wrong, and only
 * on top of that version, so there is at most one write for each foreign one, however many replicas
 * look; they need no leader. A wrong bundle is mended within half a second, which spreads replicas.
 * Who rewrites it again within 8 s of that is not obeyed, but is answered ever more slowly: after
 * 1 s, 2 s and so on up to 5 minutes, until it leaves the bundle alone for longer.
 *
 * Two replicas that have not seen the same Secret yet may want different bundles for a moment; what
 * each writes, it writes once, and it ends when both have seen it.
 *
 * An object that is not there, or was deleted, is not made: that is for whoever installs it. It is
 * said, and mended when it comes back.
 *
 * Metrics, with configuration="<name>", or "validating/<name>":
 * evenkeel_webhook_configuration_right (1: it is there and API servers trust our certificate),
 * evenkeel_ca_bundle_foreign_writes_total, evenkeel_ca_bundle_writes_total{result}. Events about
 * the object: CABundleRewritten, which says by whom, WebhookConfigurationMissing.
 *
 * Threads: everything on the client's thread, but ca_bundle_controller_free().
 */
#pragma once

#include "base/clock.h"
#include "kube/events/events.h"
#include "kube/objects/webhook_configuration.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"

struct ca_bundle_controller_options {
    struct writer *writer;         /* borrowed until ca_bundle_controller_free(), as what follows */
    struct clock *clock;           /* NULL: the real one */
    struct event_recorder *events; /* NULL: none are written */
    enum webhook_kind kind;        /* of the object */
    const char *name;              /* of it */
    uint64_t seed;                 /* of the jitter */
};

struct ca_bundle_controller;

/* 0 or -ENOMEM. Nothing happens before the sink is told something. */
int ca_bundle_controller_new(const struct ca_bundle_controller_options *options,
                             struct ca_bundle_controller **ret, struct err *err) MUST_CHECK;
/* For a watch of the one object (a field selector). */
struct reflector_sink ca_bundle_controller_sink(struct ca_bundle_controller *k);
/* What API servers are to trust, and the certificate that says which names are ours. PEM; copied.
 * An empty bundle is written nowhere. */
void ca_bundle_controller_trust(struct ca_bundle_controller *k, struct str bundle,
                                struct str certificate);
/* After its watch, and after whoever calls ca_bundle_controller_trust(). When this returns, nothing
 * is being written any more. Any thread. NULL is fine. */
void ca_bundle_controller_free(struct ca_bundle_controller *k);
