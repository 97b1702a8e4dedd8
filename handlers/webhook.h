/*
 * The endpoints that API servers call while objects are admitted: one for each kind of
 * admission/objects/objects.h, all by one handler.
 *
 * What they answer when something is wrong: a request that is no review gets status 400 and a
 * sentence that names what and where. Everything else is allowed, with a warning to the user: no
 * object is held up because we are unwell.
 */
#pragma once

#include "admission/objects/objects.h"
#include "admission/placements/decision.h"
#include "admission/pods/decision.h"
#include "http/http.h"
#include "kube/client/client.h"

struct ring;

/* What reviews of pods are answered by. Borrowed. */
struct pod_reviewer {
    struct pod_knowledge known;
    struct kube_client *client; /* asked for what watches have not brought yet; NULL: nobody is */
    int64_t read_ms;            /* how long that may take in all; 0: it is not asked */
    bool read_for_anyone;       /* otherwise only for callers of lookup_is_for() */
};

/* What reviews of Placements are answered by. Borrowed. */
struct placement_reviewer {
    struct placement_knowledge known;
    uint64_t seed; /* of keys: each process has another */
};

struct webhook {
    struct ring *decisions; /* NULL: they are not recorded */
    struct pod_reviewer pods;
    struct placement_reviewer placements;
};

/* `ctx` is a struct webhook. The kind is the one whose path the request has. */
void webhook_review(void *ctx, const struct http_request *request, struct http_response *response);

/* Registers, or takes out, the metrics of the endpoints and of what they look up. */
void webhook_metrics_start(void);
void webhook_metrics_stop(void);
