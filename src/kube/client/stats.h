/*
 * How many requests an API server was asked, what it answered and how long that took, under the
 * names that client-go gives them: dashboards know these.
 *
 * rest_client_requests_total{code,method,host}, the code "<error>" without an answer, and
 * rest_client_request_duration_seconds{verb,host}, which watches are not part of.
 *
 * Threads: counting from any thread.
 */
#pragma once

#include "base/metrics.h"
#include "kube/client/client.h"

enum { CLIENT_METHODS = 6, CLIENT_CODES = 16 };

struct client_stats {
    char host[300];
    struct metric duration[CLIENT_METHODS], requests[CLIENT_METHODS][CLIENT_CODES];
    char duration_labels[CLIENT_METHODS][360], labels[CLIENT_METHODS][CLIENT_CODES][400];
};

/* Registers the metrics. The server's URL is the operator's. NULL: no memory. */
struct client_stats *client_stats_new(const char *server);
/* Unregisters. NULL is fine. */
void client_stats_free(struct client_stats *s);
/* Counts a request that has ended after so long. */
void client_stats_count(struct client_stats *s, const struct kube_request *request,
                        const struct kube_result *result, int64_t duration_ms);
