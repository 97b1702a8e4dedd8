/*
 * What a request needs of Fluid's objects and watches have not brought yet, as when a claim and the
 * pod that mounts it are created in one breath, is read from the API server, and the answer put off
 * until then. A chain of claim, dataset and runtime is read one after the other. What is read at
 * the same time is bounded, for each review and for all together: base/limits.h.
 *
 * What was read is this request's only: it may be gone the next moment, and only watches would
 * tell.
 */
#pragma once

#include "base/metrics.h"
#include "data/fluid/resolve.h"
#include "http/http.h"
#include "kube/client/client.h"

/* One attempt to answer. */
struct lookup_attempt {
    const struct http_request *request;
    struct fluid_store *found; /* what has been read */
    struct fluid_missing
        *missing;        /* filled with what is looked up in vain; NULL: the last attempt */
    struct arena *arena; /* instead of the request's; emptied before */
    struct http_response *response;
};

struct lookup_question {
    struct kube_client *client;
    struct str namespace; /* of the object under review: it has a share of the look-ups */
    int64_t read_ms;      /* how long reading may take in all */
    /* Answers. False, which the last attempt never is: something is missing, and there is no answer
     * yet. Called where handlers are: on the thread of the request's connection. */
    bool (*attempt)(const void *ctx, const struct lookup_attempt *attempt);
    const void *ctx; /* copied */
    size_t ctx_size;
};

/* May objects be read for the caller of this request? Reading is done with our credentials, and an
 * answer tells what was found. So the caller must have shown a certificate that was verified: an
 * address is no proof, not even this machine's, where proxies and forwarded ports speak for others.
 */
bool lookup_is_for(const struct http_request *request);
/* Counts what was not read because lookup_is_for() said no. */
void lookup_count_refused(const struct fluid_missing *missing);

enum lookup_start {
    LOOKUP_BEGAN,   /* the request has been taken over, and is answered within read_ms */
    LOOKUP_BUSY,    /* too much is read for the namespace or for all; counted as skipped */
    LOOKUP_NOTHING, /* nothing that is missing can be read, the review is too large to wait, or
                       there is no memory */
};
/* Unless it has begun, the caller is to answer. */
enum lookup_start lookup_begin(const struct lookup_question *question,
                               const struct http_request *request,
                               const struct fluid_missing *missing) MUST_CHECK;

/* Does this with each metric of look-ups. */
void lookup_metrics(void (*what)(struct metric *));
