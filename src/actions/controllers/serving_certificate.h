/*
 * A certificate in a Secret that all replicas share: the webhook's, the extender's, or that of a
 * client of the extender. A watch of that one Secret feeds the controller. The controller hands
 * over the CA bundle at once, and the pair (certificate and key) when clients trust the pair. With
 * self_signed it also writes the Secret: our own authority and leaves (certs/rotation.h), renewed
 * in time.
 *
 * Every replica writes, without a leader. Only one can create a new Secret; a change names the
 * Secret's version from which it was made, so if several replicas write at the same time, one
 * succeeds. Every replica learns the outcome from the watch alone. A Secret with certificates that
 * are not ours is never written. At most one write a minute succeeds, whatever clocks and other
 * writers do.
 *
 * The API server's clock (kube_server_us()) decides if a certificate has expired or is not valid
 * yet, as API servers are the clients: a replica with a wrong clock acts like the others, and no
 * good certificate is replaced.
 *
 * If the last bundle does not have the authority of a new pair, the pair is handed over 5 s after
 * the new bundle: API servers would not trust it earlier. The first pair is handed over at once.
 *
 * kube-scheduler reads the CA of an extender once, at its start, so an authority must not be lost
 * with its Secret. With keep_authority the controller puts the authority that this process knows
 * back into a deleted Secret, or one with a broken ca.crt, or with another ca.crt but the same
 * ca.key; it hands over nothing before that. An empty or changed ca.key still leads to a new
 * authority; a changed pair of both is the new authority.
 *
 * With `signer` the certificate is a client's, signed by the signer's authority. It is written, and
 * handed over to nobody. An authority in a Secret that is not ours signs nothing; the controller
 * reports this once.
 *
 * Metrics: evenkeel_certificate_writes_total{certificate,result}. Events about the Secret:
 * CertificateIssued, CertificateNotOurs, CertificateExpires (14 days before the end, and at the
 * end; only for a certificate that somebody else must renew).
 *
 * Threads: everything on the client's thread, except certificate_controller_free().
 */
#pragma once

#include "kube/client/client.h"
#include "kube/client/io.h"
#include "kube/events/events.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"

struct certificate_controller;

/* The certificate's owner in messages. All are literals. */
struct certificate_names {
    const char *of;     /* "the webhook" */
    const char *label;  /* of metrics: "webhook" */
    const char *advice; /* if somebody else has filled the Secret */
};
extern const struct certificate_names certificate_of_webhook, certificate_of_extender,
    certificate_of_client;

struct certificate_controller_options {
    const struct certificate_names *names;
    struct kube_client *client;    /* borrowed until certificate_controller_free(), as the rest */
    struct writer *writer;         /* the writer of that client */
    struct clock *clock;           /* NULL: the real clock */
    const struct kube_io *io;      /* NULL: the real functions */
    struct event_recorder *events; /* NULL: no Events are written */
    const char *namespace, *name;
    bool self_signed, keep_authority;
    const struct str *hosts; /* the server's names; with self_signed */
    size_t host_count;
    const struct certificate_controller *signer; /* NULL: it is a server's certificate */
    struct str common_name; /* of a client's certificate, and its days of validity */
    int days;
    /* Both run on the client's thread. Texts are PEM, valid during the call. A bundle may be "". */
    void (*on_bundle)(void *ctx, struct str bundle, struct str certificate);
    void (*on_pair)(void *ctx, struct str certificate, struct str key);
    void *ctx; /* for both callbacks; these may be NULL */
};

/* Returns 0 or -ENOMEM. The controller does nothing before the sink's first call. */
int certificate_controller_new(const struct certificate_controller_options *options,
                               struct certificate_controller **ret, struct err *err) MUST_CHECK;
/* For a watch of the one Secret (a field selector). */
struct reflector_sink certificate_controller_sink(struct certificate_controller *k);
/* Checks a client's certificate at once: call when its signer may have another authority. On the
 * client's thread. */
void certificate_controller_look(struct certificate_controller *k);
/* Call after the watch has stopped and before freeing the signer. When this returns, no callback
 * is running or will run. Any thread. NULL is fine. */
void certificate_controller_free(struct certificate_controller *k);
