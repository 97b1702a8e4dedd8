/*
 * The accurate estimators of Karmada's member clusters, one connection each. All are asked at once,
 * with one deadline. A cluster is unknown if its estimator is not connected, fails or is late; the
 * other clusters' answers count. (upstream drops all answers if one cluster fails: karmada
 * pkg/estimator/client accurate.go, v1.18.1.)
 *
 * Threads: any function from any thread. Nothing blocks.
 */
#pragma once

#include "estimator/estimator.h"
#include "grpc/dial.h"

struct estimators;

/* Borrows the dialer, which must be stopped before estimators_free(). Returns 0 or -ENOMEM. */
int estimators_new(struct grpc_dialer *dialer, struct clock *clock, struct estimators **ret,
                   struct err *err) MUST_CHECK;
/* NULL is fine. */
void estimators_free(struct estimators *e);

/* Connects to the estimator of a cluster, at addresses that are tried in order (grpc/dial.h). Does
 * nothing if the cluster has an estimator. Returns 0, -EINVAL or -ENOMEM. */
int estimators_add(struct estimators *e, struct str cluster, const char *const *addresses,
                   size_t count, struct err *err) MUST_CHECK;
/* Disconnects the cluster's estimator, if it has one. */
void estimators_remove(struct estimators *e, struct str cluster);

/* Reports the connection to a cluster's estimator. Returns false for an unknown cluster. */
bool estimators_report(struct estimators *e, struct str cluster, struct grpc_peer_report *ret);

struct estimators_question {
    struct str requirements; /* as wire_requirements_encode() makes them */
    struct str object;       /* "kind=Deployment, name=ns/name", for the estimator's log; or "" */
    const struct str *clusters; /* [count] */
    uint32_t count;
    int64_t deadline_ms; /* in milliseconds of the clock */
};
/* `answers` are in the order of the question's clusters: numbers of replicas, or ESTIMATE_UNKNOWN.
 * They are borrowed during the call. */
typedef void estimators_done_fn(void *ctx, const int64_t *answers, uint32_t count);
/* Asks the estimators of all these clusters. Calls `done` exactly once, at the deadline at the
 * latest: on the dialer's thread, or before estimators_ask() returns. Copies the question. Returns
 * 0, or -ENOMEM: then `done` is not called. */
int estimators_ask(struct estimators *e, const struct estimators_question *q,
                   estimators_done_fn *done, void *ctx, struct err *err) MUST_CHECK;
