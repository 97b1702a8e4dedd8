/*
 * A decision, told as the members of a JSON object: what was asked, by which constraints it was
 * judged, which nodes were dropped and why, how the best were scored, what became of a new pod.
 *
 *     struct decision d;
 *     decision_begin(&d, &out, &about, LIMIT_DECISION_NODES);
 *     decision_put_filter(&d, &candidates, &result);
 *     decision_end(&d);
 *
 * The buffer's maximum (at least DECISION_ROOM) bounds it all: what does not fit is left out, whole
 * items at a time, and "cut": true says so. Not thread-safe.
 */
#pragma once

#include "admission/review.h"
#include "base/json_writer.h"
#include "engine/engine.h"

enum { DECISION_ROOM = 64 }; /* bytes always left to close what is open */

/* What every decision says. Strings are borrowed for the call. */
struct decision_about {
    const char *verb; /* "filter" */
    const struct object_meta *pod;
    struct str generate_name; /* of a pod that has no name yet */
    int64_t at_us, took_us;   /* wall clock, microseconds since 1970; how long it took */
    int64_t data_age_ms;
    const char *result; /* "answered", "no opinion", "bound", ... */
    struct str message; /* why, in a sentence, or "" */
};

struct decision {
    struct json_writer w;
    uint32_t nodes; /* named for each reason, and scores shown */
    bool cut;
};

/* `out` is borrowed until the end; it may hold something already. */
void decision_begin(struct decision *d, struct strbuf *out, const struct decision_about *about,
                    uint32_t nodes);
void decision_end(struct decision *d);

/* "constraints", "candidates", "passed", "dropped": counts by reason, and the first nodes. */
void decision_put_filter(struct decision *d, const struct candidates *candidates,
                         const struct filter_result *result);
/* "constraints", "candidates", "scores": the best nodes, with the scores of every algorithm. */
void decision_put_scores(struct decision *d, const struct candidates *candidates,
                         const struct score_result *result);
/* "candidates", "passed", "dropped": of preemptions, those that make room and those that do not. */
void decision_put_preemptions(struct decision *d, const struct preemption *preemptions,
                              const bool *fits, uint32_t count);
/* "node" of a binding. */
void decision_put_node(struct decision *d, struct str node);
/* "policy", "notes" by plugin, "warnings", "patch": operations with the beginning of their values;
 * and "dryRun", if it was one. */
void decision_put_admission(struct decision *d, const struct review *review,
                            const struct review_answer *answer);
