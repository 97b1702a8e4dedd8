/*
 * The estimators of Karmada's clusters, as a process finds them: those that are configured by their
 * addresses, and one for each Cluster that is known, found by the Service of Karmada's API server,
 * or by its name in DNS (estimators/discovery.h). Clusters that come and go are followed; Services
 * are read again every five minutes, because an ExternalName may change.
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
                                   NULL: DNS is asked alone */
    struct informer *karmada;   /* the Clusters: fleet/karmada.h; borrowed likewise */
    struct clock *clock;        /* of when Services are read; borrowed; NULL: the machine's */
};

/* Begins to connect. *ret is NULL if the configuration asks none; otherwise it is set, also after a
 * failure. NULL is fine in all other calls. */
int known_estimators_start(const struct known_estimators_options *options,
                           struct known_estimators **ret, struct err *err) MUST_CHECK;
/* About once a second. */
void known_estimators_poll(struct known_estimators *k);
/* Borrowed until known_estimators_free(); NULL: none are asked. */
struct estimators *known_estimators_asked(const struct known_estimators *k);
/* Ends all connections and questions. */
void known_estimators_stop(struct known_estimators *k);
void known_estimators_free(struct known_estimators *k);
