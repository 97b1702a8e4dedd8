/*
 * `evenkeel check estimator`: what would karmada-scheduler see of an estimator: is it reached, does
 * TLS agree, does it answer for this cluster, and how fast?
 */
#pragma once

#include "check/findings.h"
#include "grpc/dial_tls.h"

struct estimator_check {
    const char *address; /* HOST:PORT */
    const char *cluster; /* a Cluster of Karmada */
    struct grpc_dial_tls tls;
    int64_t timeout_ms; /* of the connection, and of the answer; 1 at least */
};

/* Dials, and asks how many replicas without any request fit. A finding is an error if
 * karmada-scheduler would have no answer. Takes twice the timeout at most. */
void estimator_check(const struct estimator_check *which, struct findings *out);
