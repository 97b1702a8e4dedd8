/*
 * Keeps the Services by which karmada-scheduler and karmada-descheduler find this estimator: for
 * each Cluster one Service `<prefix>-<cluster>` of type ExternalName in Karmada's API server. All
 * lead to one address. The leader writes them, if there is one.
 *
 * It creates a missing Service; corrects our Service with other content, on top of the version that
 * was seen; and deletes our Service if its Cluster is gone. Our Services have the label
 * app.kubernetes.io/managed-by: evenkeel. It never changes a Service of somebody else, nor a
 * Service with another prefix. If somebody else has a name that we need, or if the name for a
 * Cluster would not be valid, the Cluster gets no Service; both are logged once.
 *
 * A watch of all Services of the namespace feeds it, not only of ours: so it knows that a name is
 * taken before it tries to create a Service. It writes nothing until Services and Clusters are
 * listed: it would delete the Service of a Cluster that is not known yet.
 *
 * RBAC, in that namespace: list, watch, create, patch and delete on services.
 *
 * Threads: everything happens on the client's thread, except functions marked "Any thread".
 */
#pragma once

#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/watch/reflector.h"
#include "kube/write/writer.h"
#include "members/karmada.h"

struct estimator_services_controller;

struct estimator_services_options {
    /* List and find Clusters like karmada_members_each() and karmada_members_find(). */
    bool (*each)(void *ctx, void (*use)(void *ctx, struct str name), void *use_ctx);
    enum karmada_member (*find)(void *ctx, struct str name);
    void *ctx;
    struct str namespace, prefix,
        host; /* namespace and name prefix of Services, and their target; borrowed, as the rest */
    uint16_t port, target_port; /* the port karmada-scheduler looks for, and the one it must dial */
    struct kube_client *client;
    struct writer *writer;         /* the writer of that client */
    const struct elector *elector; /* the leader writes; NULL: every replica */
    struct clock *clock;           /* NULL: the real clock */
    const struct kube_io *io;      /* NULL: the real functions */
};

/* Starts at once. Returns 0 or -ENOMEM. Any thread. */
int estimator_services_start(const struct estimator_services_options *options,
                             struct estimator_services_controller **ret,
                             struct err *err) MUST_CHECK;
/* For a watch of the Services of the namespace. */
struct reflector_sink estimator_services_sink(struct estimator_services_controller *s);
/* Call after the watch has stopped. When this returns, no write is under way; Services stay. Any
 * thread. NULL is fine. */
void estimator_services_free(struct estimator_services_controller *s);

/* upstream: karmada-scheduler-estimator's --server-port, and --scheduler-estimator-port. */
enum { ESTIMATOR_PORT = 10352 };
/* Parses HOST or HOST:PORT; the default port is ESTIMATOR_PORT. Returns false if the host is no
 * DNS-1123 subdomain (an IPv4 address is one) or the port is not valid. `ret_host` borrows from
 * `text`. upstream: kubernetes pkg/apis/core/validation, spec.externalName */
bool estimator_address_parse(struct str text, struct str *ret_host, uint16_t *ret_port);
