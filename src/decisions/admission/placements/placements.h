/*
 * Placements of Open Cluster Management that are created or changed: what their spread terms need,
 * so that OCM's own controller heeds them.
 *
 * Mode Scores, where a publisher of scores runs (inject_scores):
 *   - a prioritizer AddOn evenkeel-N with the highest weight, so often that no sum of the user's
 * own comes up to it; for hard terms a gate, a CEL expression in every predicate, which lets only
 *     clusters pass that have the score;
 *   - `builtIn: Spread`, for which OCM would empty the Placement's decisions, gives its place to
 * that prioritizer;
 *   - the annotation that says so (model/injected.h).
 *   A gate without scores selects nothing. So a Placement gets its gate when it is created, or
 * where it has one already; one that is live and has none waits for whoever publishes its scores,
 *   and so does a new one while nobody leads who would publish them.
 * Mode Owner, where a controller owns decisions: the annotation with which OCM leaves the Placement
 * alone, when it is created. A live one is left to the controller.
 * Otherwise: what was added before goes, exactly.
 *
 * Nothing happens to a Placement that OCM leaves alone, or that is going. A negative
 * numberOfClusters is refused, because OCM's controller would crash, unless it is there already;
 * nothing else is ever refused. User's entries and unknown fields stay as they are.
 */
#pragma once

#include "admission/admit.h"
#include "admission/placements/shape.h"
#include "model/ocm.h"
#include "ocm/decide.h"
#include "policy/match.h"

/* What an answer about a Placement goes by. All of it is borrowed. */
struct placement_options {
    struct admission_options head;
    const struct policy_namespace *namespace; /* the review's */
    enum placement_mode mode; /* of Placements with terms whose annotation names none */
    bool inject_scores;       /* scores are published for what is injected here */
    bool is_waiting;          /* ... but nobody leads who would, for now */
    bool owns;                /* a controller owns the decisions of Placements in mode Owner */
    uint32_t shards;          /* of scores: 1..INJECTED_SHARDS */
    uint64_t random;          /* for a key */
    /* Whoever publishes the scores asks about a live Placement: they are there, so that it gets its
     * gate, under this key; and OCM's leaving it alone is no reason. */
    bool is_publisher;
    bool withholds_gate; /* ... but it has not yet been seen that OCM has those scores, too */
    struct injected_key key;
};

/* What is known of a Placement. */
struct placement_question {
    struct admission_question head;
    bool is_updated;
    bool is_negative; /* its number is; then nothing else is read */
    int64_t number;
    struct placement placement; /* its namespace is the review's */
    struct placement_shape shape;
    struct placement_shape old; /* as it is stored; zeroed if it is new */
    int64_t old_number;
    struct ocm_policy_terms policy;
    struct ocm_terms terms;
};

static inline const struct placement_question *
placement_question(const struct admission_question *question) {
    return (const struct placement_question *)question; /* its first member */
}
static inline const struct placement_options *
placement_options(const struct placement_question *question) {
    return (const struct placement_options *)question->head.options; /* its first member */
}

extern const struct admission_plugin placement_plugin_number, placement_plugin_spread;

extern const struct admitted_kind admitted_placements;
