/*
 * Finds the estimators of Karmada's clusters: those with configured addresses, and one for each
 * known Cluster, by its Service in Karmada's API server or by its name in DNS
 * (estimators/discovery.h). It follows added and removed Clusters, and reads Services again every
 * five minutes, because an ExternalName may change.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "estimators/estimators.h"
#include "informer/informer.h"
#include "kube/client/client.h"

struct known_estimators;

struct known_estimators_options {
    const struct configuration *configuration;
    struct kube_client *client; /* of Karmada's API server, borrowed until known_estimators_stop();
                                   NULL: only DNS is used */
    struct informer *karmada;   /* the Clusters: fleet/karmada.h; borrowed likewise */
    struct clock *clock;        /* for reading Services; borrowed; NULL: the machine's */
};

/* Starts to connect. *ret is NULL if the configuration uses no estimators; otherwise *ret is set,
 * also after a failure. The other functions accept NULL. */
int known_estimators_start(const struct known_estimators_options *options,
                           struct known_estimators **ret, struct err *err) MUST_CHECK;
/* Call about once a second. */
void known_estimators_poll(struct known_estimators *k);
/* Borrowed until known_estimators_free(); NULL: no estimators are asked. */
struct estimators *known_estimators_asked(const struct known_estimators *k);
/* Ends all connections and questions. */
void known_estimators_stop(struct known_estimators *k);
void known_estimators_free(struct known_estimators *k);
