/* Reviews of Placements of Open Cluster Management. */
#include "base/random.h"
#include "handlers/webhook_family.h"

#include <stdatomic.h>

/* Returns a new random number for each review. The number makes a key unique, and need not be
 * secret. */
static uint64_t draw(uint64_t seed) {
    static _Atomic uint64_t drawn;
    uint64_t state = seed + atomic_fetch_add_explicit(&drawn, 1, memory_order_relaxed);
    (void)random_next(&state); /* after this, two seeds that differ by 1 give unrelated numbers */
    return random_next(&state);
}

static void review(const struct webhook_endpoint *endpoint, const struct moment *began,
                   const struct http_request *request, struct http_response *response) {
    const struct placement_reviewer *reviewer = &endpoint->webhook->placements;
    struct placement_admission d;
    struct review review;
    if (!webhook_read(endpoint, request, &review, response))
        return;
    const struct webhook_question question = {
        .endpoint = endpoint, .review = &review, .began = began, .arena = request->arena};
    placement_decide(&reviewer->known, &review, draw(reviewer->seed), request->arena, &d);
    (void)webhook_answer(&question, &d.answer, d.result, NULL, response); /* there is no more */
    placement_admission_done(&d);
}

const struct webhook_family webhook_placements = {.review = review};
