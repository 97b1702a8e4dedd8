/*
 * Asks the estimators of Karmada's clusters for a question about a binding: no thread of the
 * listener waits for the estimators, and a late answer counts as unknown.
 */
#pragma once

#include "handlers/clusters.h"

/* Answers the question after the estimators have answered, on a thread of the listener. All
 * arguments are borrowed. */
typedef void clusters_estimated_fn(const struct clusters *c, const struct clusters_question *q,
                                   enum binding_verb verb, const struct accurate_replicas *known,
                                   const struct http_request *request,
                                   struct http_response *response);

/*
 * Asks the estimators, if the question depends on their answers, and then calls `go_on` once,
 * unless the request has ended meanwhile. If the request is large, the call happens before this
 * function returns, otherwise later. `q` is in the arena of the request. Returns false if no
 * estimator is asked; `go_on` is not called then.
 */
bool clusters_ask_estimators(const struct clusters *c, const struct clusters_question *q,
                             enum binding_verb verb, const struct http_request *request,
                             struct http_response *response, clusters_estimated_fn *go_on);

/* Register and unregister the metrics that count the estimators' answers. */
void clusters_estimators_metrics_start(void);
void clusters_estimators_metrics_stop(void);
