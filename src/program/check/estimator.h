/*
 * `evenkeel check estimator`: can karmada-scheduler use an estimator? Can it connect, does TLS
 * work, does the estimator answer for this cluster, and how fast?
 */
#pragma once

#include "check/report.h"
#include "grpc/dial_tls.h"

struct estimator_check {
    const char *address; /* HOST:PORT */
    const char *cluster; /* a Cluster of Karmada */
    struct grpc_dial_tls tls;
    int64_t timeout_ms; /* time limit of the connection, and also of the answer; at least 1 */
};

/* Connects to the estimator, and asks how many replicas without resource requests fit. A finding is
 * an error if karmada-scheduler would get no answer. Takes at most twice the timeout. */
void estimator_check(const struct estimator_check *which, struct check_report *out);
