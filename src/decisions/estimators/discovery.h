/*
 * Finds the addresses of a cluster's estimator. upstream: karmada pkg/estimator/client service.go
 * (v1.18.1).
 *
 * Pure: a Service of Karmada's API server in, addresses out.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "grpc/dial.h"

/* The names of the estimators' Services, and their port. */
struct estimator_services {
    struct str prefix, namespace; /* as in karmada-scheduler-estimator, karmada-system */
    uint16_t port;                /* usually 10352 */
};

struct estimator_addresses {
    char texts[GRPC_PEER_ADDRESSES][LIMIT_GRPC_ADDRESS];
    size_t count; /* number of addresses; they are tried in order */
};

/* A configured address of an estimator, written "NAME=HOST:PORT". Parsing returns false for another
 * form. */
struct estimator_location {
    struct str cluster;
    char address[LIMIT_GRPC_ADDRESS];
};
bool estimator_location_parse(struct str text, struct estimator_location *ret);

/*
 * Gets the addresses of a cluster's estimator. `service` is the cluster's Service
 * (estimator/service_name.h) as JSON; without it (.p NULL), a Service of the cluster in which
 * Karmada runs is used. A given Service must be an ExternalName, with a numeric targetPort. Returns
 * 0, -EINVAL with a sentence, or -ENOMEM.
 */
int estimator_service_addresses(const struct estimator_services *s, struct str cluster,
                                struct str service, struct arena *arena,
                                struct estimator_addresses *ret, struct err *err) MUST_CHECK;
