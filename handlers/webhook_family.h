/*
 * Shared by the handlers of the webhook. A family is a group of rows of
 * admission/objects/objects.h; one file here decides its reviews. Reading a request, counting,
 * sending and recording an answer is the same for all families (handlers/webhook.c).
 */
#pragma once

#include "base/metrics.h"
#include "explain/recording.h"
#include "handlers/webhook.h"

/* The context of the reviews of one kind. */
struct webhook_endpoint {
    const struct webhook *webhook;
    const struct admitted_kind *kind;
};

/* A review that waits for its answer. All members are borrowed. */
struct webhook_question {
    const struct webhook_endpoint *endpoint;
    const struct review *review;
    const struct moment *began; /* the arrival of the request */
    struct arena *arena;
};

struct webhook_family {
    /* Answers the request now, or defers the answer. */
    void (*review)(const struct webhook_endpoint *endpoint, const struct moment *began,
                   const struct http_request *request, struct http_response *response);
    /* Calls `what` for each metric that only this family has. NULL: the family has no metric of its
     * own. */
    void (*each_metric)(void (*what)(struct metric *));
};
extern const struct webhook_family webhook_pods, webhook_placements;

/* Reads the request's body. Returns false if the body is no review; the response is then
 * complete. */
bool webhook_read(const struct webhook_endpoint *endpoint, const struct http_request *request,
                  struct review *ret, struct http_response *response);

/* Answers, counts the answer and records it. `cache`: the cache of the nodes and pods that were
 * used, or NULL. Returns false if memory for the answer runs out; the response is then complete. */
bool webhook_answer(const struct webhook_question *question, const struct review_answer *answer,
                    enum admission result, const struct cache *cache,
                    struct http_response *response);
