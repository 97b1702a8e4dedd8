/*
 * The endpoints that API servers call while objects are admitted: one for each kind of
 * admission/objects/objects.h. One handler serves all.
 *
 * Answers to errors: a request that is no review gets status 400 and a sentence that names the
 * problem and its place. Everything else is allowed, with a warning to the user: no object waits
 * because we have a problem.
 */
#pragma once

#include "admission/objects/objects.h"
#include "admission/placements/decision.h"
#include "admission/pods/decision.h"
#include "http/http.h"
#include "kube/client/client.h"

struct ring;

/* The knowledge for reviews of pods. Borrowed. */
struct pod_reviewer {
    struct pod_knowledge known;
    struct kube_client *client; /* reads objects that watches do not have yet; NULL: no reads */
    int64_t read_ms;            /* time limit of all reads together; 0: no reads */
    /* Reads for every caller; otherwise only for callers that lookup_is_for() accepts. */
    bool read_for_anyone;
};

/* The knowledge for reviews of Placements. Borrowed. */
struct placement_reviewer {
    struct placement_knowledge known;
    uint64_t seed; /* seed for random keys; each process has its own seed */
};

struct webhook {
    struct ring *decisions; /* NULL: decisions are not recorded */
    struct pod_reviewer pods;
    struct placement_reviewer placements;
};

/* Answers a review. `ctx` is a struct webhook. The path of the request selects the kind of
 * object. */
void webhook_review(void *ctx, const struct http_request *request, struct http_response *response);

/* Register and unregister the metrics of the endpoints and of their look-ups. */
void webhook_metrics_start(void);
void webhook_metrics_stop(void);
