/*
 * A certificate in a Secret that all replicas share: the webhook's or the extender's, or that of a
 * client of the extender. Fed by a watch of that one Secret,
 * it hands over what is in it: the CA bundle at once, the pair when clients trust it. With
 * self_signed it also writes it: an authority and leaves of our own (certs/rotation.h), renewed in
 * time.
 *
 * Who writes: every replica, without a leader. A new Secret is created, which succeeds once; a
 * change names the version that it was decided on, so of several replicas that decide at the same
 * time one succeeds, and the others see its outcome through the watch, which is all they ever go
 * by. A Secret with certificates that are not ours is never written. At most one write a minute
 * succeeds, whatever clocks and other writers do.
 *
 * What has expired, or is not valid yet, is decided by the API server's clock (kube_server_us()),
 * which is how its clients judge: a replica whose own clock is wrong does as the others do, and
 * nothing that is good is replaced.
 *
 * A pair of an authority that the bundle before did not have is handed over 5 s after the bundle:
 * until then API servers would not trust it. The first one is handed over at once.
 *
 * kube-scheduler reads the CA of an extender once, at its start, so an authority must not be lost
 * with its Secret: with keep_authority a Secret that was deleted, or whose ca.crt is broken, or is
 * another while ca.key is not, gets the authority back that this process knows, and nothing is
 * handed over before that. An emptied or another ca.key makes a new one all the same; another pair
 * is the new one.
 *
 * With `signer` the certificate is a client's, signed by the signer's authority. It is written, and
 * handed over to nobody. An authority in a Secret that is not ours signs nothing: that is said
 * once.
 *
 * Metrics: evenkeel_certificate_writes_total{certificate,result}. Events about the Secret:
 * CertificateIssued, CertificateNotOurs, CertificateExpires (14 days before, and when it has; where
 * somebody else is to renew it).
 *
 * Threads: everything on the client's thread, but certificate_controller_free().
 */
#pragma once

#include "kube/client/client.h"
#include "kube/client/io.h"
#include "kube/events/events.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"

struct certificate_controller;

/* Whose certificate it is, in words. Literals. */
struct certificate_names {
    const char *of;     /* "the webhook" */
    const char *label;  /* of metrics: "webhook" */
    const char *advice; /* where others have filled the Secret */
};
extern const struct certificate_names certificate_of_webhook, certificate_of_extender,
    certificate_of_client;

struct certificate_controller_options {
    const struct certificate_names *names;
    struct kube_client *client; /* borrowed until certificate_controller_free(), as what follows */
    struct writer *writer;      /* the client's */
    struct clock *clock;        /* NULL: the real one */
    const struct kube_io *io;   /* NULL: the client's */
    struct event_recorder *events; /* NULL: none are written */
    const char *namespace, *name;
    bool self_signed, keep_authority;
    const struct str *hosts; /* what the server is called by; with self_signed */
    size_t host_count;
    const struct certificate_controller *signer; /* NULL: it is a server's certificate */
    struct str common_name;                      /* of a client's, and how many days it is valid */
    int days;
    /* Both on the client's thread; texts are PEM and valid during the call. The bundle may be "".
     */
    void (*on_bundle)(void *ctx, struct str bundle, struct str certificate);
    void (*on_pair)(void *ctx, struct str certificate, struct str key);
    void *ctx; /* of both, which may be NULL */
};

/* 0 or -ENOMEM. Nothing happens before the sink is told something. */
int certificate_controller_new(const struct certificate_controller_options *options,
                               struct certificate_controller **ret, struct err *err) MUST_CHECK;
/* For a watch of the one Secret (a field selector). */
struct reflector_sink certificate_controller_sink(struct certificate_controller *k);
/* For that of a client, when its signer may have another authority: looks at once. On the client's
 * thread. */
void certificate_controller_look(struct certificate_controller *k);
/* After its watch, and before its signer. When this returns, no callback is running and none comes
 * any more. Any thread. NULL is fine. */
void certificate_controller_free(struct certificate_controller *k);
