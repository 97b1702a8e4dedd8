/*
 * Finds the estimators of Karmada's clusters: those with configured addresses, and one for each
 * known Cluster, by its Service in Karmada's API server or by its name in DNS
 * (estimators/discovery.h). It follows added and removed Clusters, and reads Services again every
 * five minutes, because an ExternalName may change.
 *
 * Threads: one thread.
 */
#pragma once

#include "estimators/discovery.h"
#include "estimators/estimators.h"
#include "grpc/dial.h"
#include "informer/informer.h"
#include "kube/client/client.h"

struct tracked_estimators;

struct tracked_estimators_options {
    struct estimator_services services; /* names and port of the Services to find */
    const char *const *addresses;       /* configured addresses, "NAME=HOST:PORT" */
    size_t address_count;
    bool without_pull; /* skip clusters in Pull mode that have no configured address */
    struct grpc_dial_tls tls;
    struct kube_client *client; /* client of Karmada's API server, borrowed until
                                   tracked_estimators_stop(); NULL: only DNS is used */
    struct informer *karmada;   /* the Clusters (fleet/karmada.h); borrowed as long as the client */
    struct clock *clock; /* clock for reading Services; borrowed; NULL: the machine's clock */
};

/* Starts to connect. The texts of the options are borrowed until tracked_estimators_free(). *ret is
 * set, also after a failure, if there is memory. The other functions accept NULL. */
int tracked_estimators_start(const struct tracked_estimators_options *options,
                             struct tracked_estimators **ret, struct err *err) MUST_CHECK;
/* Call about once a second. */
void tracked_estimators_poll(struct tracked_estimators *k);
/* Borrowed until tracked_estimators_free(); NULL: no estimators are asked. */
struct estimators *tracked_estimators_asked(const struct tracked_estimators *k);
/* Ends all connections and questions. */
void tracked_estimators_stop(struct tracked_estimators *k);
void tracked_estimators_free(struct tracked_estimators *k);
