/*
 * The accurate estimators of Karmada's member clusters, one connection each: they are asked all at
 * once, under one deadline. What comes in time counts; a cluster whose estimator is not connected,
 * fails, or is late is unknown, and the others' answers stand. (upstream drops all answers if one
 * cluster fails: karmada pkg/estimator/client accurate.go, v1.18.1.)
 *
 * Threads: any function from any thread. Nothing blocks.
 */
#pragma once

#include "estimator/estimator.h"
#include "grpc/dial.h"

struct estimators;

/* The dialer is borrowed, and must be stopped before this is freed. 0 or -ENOMEM. */
int estimators_new(struct grpc_dialer *dialer, struct clock *clock, struct estimators **ret,
                   struct err *err) MUST_CHECK;
/* NULL is fine. */
void estimators_free(struct estimators *e);

/* Connects to the estimator of a cluster, at addresses that are tried in order (grpc/dial.h). One
 * that is there already, by its cluster's name, stays as it is. 0, -EINVAL or -ENOMEM. */
int estimators_add(struct estimators *e, struct str cluster, const char *const *addresses,
                   size_t count, struct err *err) MUST_CHECK;
/* Disconnects it; nothing happens if there is none. */
void estimators_remove(struct estimators *e, struct str cluster);

/* How the connection to a cluster's estimator is. False: there is none of that name. */
bool estimators_report(struct estimators *e, struct str cluster, struct grpc_peer_report *ret);

struct estimators_question {
    struct str requirements; /* as wire_requirements_encode() makes them */
    struct str object;       /* "kind=Deployment, name=ns/name", for the estimator's log; or "" */
    const struct str *clusters; /* [count] */
    uint32_t count;
    int64_t deadline_ms; /* of the clock */
};
/* By the question's order: replicas, or ESTIMATE_UNKNOWN. Borrowed for the time of the function. */
typedef void estimators_done_fn(void *ctx, const int64_t *answers, uint32_t count);
/* Asks all of them. `done` is called exactly once, at the deadline at the latest: on the dialer's
 * thread, or before this returns. Everything of the question is copied. 0, or -ENOMEM: then `done`
 * is not called. */
int estimators_ask(struct estimators *e, const struct estimators_question *q,
                   estimators_done_fn *done, void *ctx, struct err *err) MUST_CHECK;
