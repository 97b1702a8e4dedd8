/*
 * Counts requests to an API server, with their status codes and durations, under client-go's names,
 * which dashboards know.
 *
 * rest_client_requests_total{code,method,host,server}, with the code "<error>" for a request
 * without an answer, and rest_client_request_duration_seconds{verb,host,server}, without watches. A
 * client without a role has no label `server`.
 *
 * For each server and role only one client may count: two clients would have the same series.
 *
 * Threads: client_stats_count() from any thread.
 */
#pragma once

#include "kube/client/client.h"

struct client_stats;

/* Registers the metrics. `server` is the server's URL, which the operator has chosen. `role`
 * becomes the label `server`, so that two clients with different roles may use the same host; NULL:
 * no such label. Returns NULL without memory. */
struct client_stats *client_stats_new(const char *server, const char *role);
/* Unregisters the metrics. NULL is fine. */
void client_stats_free(struct client_stats *s);
/* Counts a request that has ended after `duration_ms`. */
void client_stats_count(struct client_stats *s, const struct kube_request *request,
                        const struct kube_result *result, int64_t duration_ms);
