/*
 * By which karmada-scheduler and karmada-descheduler find this estimator: a Service
 * `<prefix>-<cluster>` of type ExternalName in Karmada's API server for each Cluster that is there,
 * all of which lead to one address. By the leader, if there is one.
 *
 * One that is missing is made; one of ours that says something else is put right, on top of the
 * version that was seen; one of ours whose Cluster is gone is deleted. Ours are those with the
 * label app.kubernetes.io/managed-by: evenkeel. Another one of such a name is not touched, which is
 * said once, nor is one of another prefix. A Cluster whose Service would have no valid name gets
 * none, which is said once, too.
 *
 * Fed by a watch of all Services of the namespace, not only of ours, so that a name that is taken
 * is known before it is tried. Nothing is written until both are listed: a Service would go for a
 * Cluster that is not known yet.
 *
 * RBAC, in that namespace: list, watch, create, patch and delete on services.
 *
 * Threads: everything happens on the client's, but the functions that say so.
 */
#pragma once

#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"
#include "members/karmada.h"

struct estimator_services_controller;

struct estimator_services_options {
    /* The Clusters, as karmada_members_each() and karmada_members_find() tell them. */
    bool (*each)(void *ctx, void (*use)(void *ctx, struct str name), void *use_ctx);
    enum karmada_member (*find)(void *ctx, struct str name);
    void *ctx;
    struct str namespace, prefix,
        host;                   /* of Services, and where they lead; borrowed, as the rest */
    uint16_t port, target_port; /* that karmada-scheduler looks for, and that it is to dial */
    struct kube_client *client;
    struct writer *writer;         /* the client's */
    const struct elector *elector; /* who writes; NULL: every replica */
    struct clock *clock;           /* NULL: the real one */
    const struct kube_io *io;      /* NULL: the client's */
};

/* Begins at once. 0 or -ENOMEM. Any thread. */
int estimator_services_start(const struct estimator_services_options *options,
                             struct estimator_services_controller **ret,
                             struct err *err) MUST_CHECK;
/* For a watch of the Services of the namespace. */
struct reflector_sink estimator_services_sink(struct estimator_services_controller *s);
/* After its watch. When this returns, nothing is being written any more; Services stay. Any thread.
 * NULL is fine. */
void estimator_services_free(struct estimator_services_controller *s);

/* upstream: karmada-scheduler-estimator's --server-port, and --scheduler-estimator-port. */
enum { ESTIMATOR_PORT = 10352 };
/* HOST or HOST:PORT, of which the port is that if it is not there. False: the host is no DNS-1123
 * subdomain, which an IPv4 address is, or the port is none. Texts are borrowed. upstream:
 * kubernetes pkg/apis/core/validation, spec.externalName */
bool estimator_address_parse(struct str text, struct str *ret_host, uint16_t *ret_port);
