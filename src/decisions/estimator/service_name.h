/*
 * The name of the Service of a cluster's estimator: "<prefix>-<cluster>". upstream:
 * karmada pkg/util/names GenerateEstimatorServiceName() (v1.18.1).
 *
 * Pure.
 */
#pragma once

#include "base/str.h"

/* Appends the name. */
void estimator_service_name(struct str prefix, struct str cluster, struct strbuf *out);
/* Returns the cluster in the name of an estimator's Service; "" if the name has another prefix. */
struct str estimator_service_cluster(struct str prefix, struct str name);
