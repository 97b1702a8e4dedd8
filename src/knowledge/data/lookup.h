/*
 * Reads objects of Fluid that a request needs and the watches do not have yet, for example when a
 * claim and its pod are created at the same time. The answer waits for the objects. The objects of
 * a chain of claim, dataset and runtime are read one after the other. The number of reads at the
 * same time is limited, for each review and for all reviews together: base/limits.h.
 *
 * The objects are used for this request only: they may be deleted at any time, and only watches
 * would notice.
 */
#pragma once

#include "base/metrics.h"
#include "data/fluid/resolve.h"
#include "http/http.h"
#include "kube/client/client.h"

/* One attempt to answer. */
struct lookup_attempt {
    const struct http_request *request;
    struct fluid_store *found; /* the objects that have been read */
    /* filled with the objects that were not found; NULL: the last attempt */
    struct fluid_missing *missing;
    struct arena *arena; /* use it instead of the request's arena; it is empty */
    struct http_response *response;
};

struct lookup_question {
    struct kube_client *client;
    struct str namespace; /* namespace of the reviewed object: each namespace has a share of the
                             look-ups */
    int64_t read_ms;      /* the time for all reads, in milliseconds */
    /* Tries to answer. Returns false if objects are missing and there is no answer yet; the last
     * attempt always answers. Called on the thread of the request's connection, like handlers. */
    bool (*attempt)(const void *ctx, const struct lookup_attempt *attempt);
    const void *ctx; /* copied */
    size_t ctx_size;
};

/* May objects be read for the caller of this request? We read them with our credentials, and the
 * answer reveals them. So the caller needs a verified certificate: an address is no proof, not even
 * the address of this machine, since proxies and forwarded ports act for other callers. */
bool lookup_is_for(const struct http_request *request);
/* Counts the objects that were not read because lookup_is_for() returned false. */
void lookup_count_refused(const struct fluid_missing *missing);

enum lookup_start {
    LOOKUP_BEGAN,   /* the look-up owns the request, and answers it within read_ms */
    LOOKUP_BUSY,    /* too many look-ups for the namespace or in all; counted as skipped */
    LOOKUP_NOTHING, /* Evenkeel may read none of the missing objects, the review is too large to
                       wait, or there is no memory */
};
/* Begins a look-up. Unless it returns LOOKUP_BEGAN, the caller must answer. */
enum lookup_start lookup_begin(const struct lookup_question *question,
                               const struct http_request *request,
                               const struct fluid_missing *missing) MUST_CHECK;

/* Calls `what` with each metric of look-ups. */
void lookup_metrics(void (*what)(struct metric *));
