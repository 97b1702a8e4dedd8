/*
 * What a review needs of Fluid's objects and watches have not brought yet, as when a claim and the
 * pod that mounts it are created in one breath, is read from the API server, and the answer put off
 * until then. A chain of claim, dataset and runtime is read one after the other.
 *
 * What was read is this review's only: it may be gone the next moment, and only watches would tell.
 */
#pragma once

#include "admission/review.h"
#include "base/metrics.h"
#include "handlers/webhook_admission.h"

/* A review that is to be answered. */
struct webhook_asked {
    const struct webhook *webhook;
    const struct review *review;
    const struct moment *began; /* when it came */
    struct arena *arena;
};

/*
 * Answers a review, and records the decision. With inputs->missing, and if something of Fluid's was
 * looked up in vain, it does neither but says what: false.
 */
bool webhook_answer(const struct webhook_asked *asked, const struct webhook_inputs *inputs,
                    struct http_response *response);

/* Takes the request over, and answers it within webhook->read_ms. False: the caller is to answer,
 * for there is nothing that could be read, too much is being read already, or there is no memory.
 */
bool webhook_lookup(const struct webhook *webhook, const struct http_request *request,
                    const struct moment *began, const struct fluid_missing *missing) MUST_CHECK;

/* Does this with each metric of look-ups. */
void webhook_lookup_metrics(void (*what)(struct metric *));
