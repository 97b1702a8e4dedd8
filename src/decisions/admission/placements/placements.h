/*
 * Edits Placements of Open Cluster Management that are created or changed, so that OCM's own
 * controller follows their spread terms.
 *
 * Mode Scores, where a publisher of scores runs (inject_scores), adds:
 *   - a prioritizer AddOn evenkeel-N with the highest weight, listed so often that it outweighs all
 * prioritizers of the user; for hard terms a gate, a CEL expression in every predicate, which only
 *     clusters with the score pass;
 *   - that prioritizer replaces `builtIn: Spread`, for which OCM would empty the decisions;
 *   - the annotation that records these edits (model/injected.h).
 *   A gate without scores selects nothing. So only a new Placement gets a gate, or a Placement that
 * had its gate already. A live Placement without a gate waits for the publisher of its scores.
 * While no leader publishes scores, a new Placement waits, too. Mode Owner, where a controller owns
 * decisions, adds to a new Placement the annotation that makes OCM leave it alone. Live Placements
 * are left to the controller. Other modes: removes exactly the entries that were added before.
 *
 * Placements that OCM leaves alone, or that are being deleted, are not edited. Only a negative
 * numberOfClusters is refused, because OCM's controller would crash. It is accepted if it is stored
 * already. The user's entries and unknown fields stay as they are.
 */
#pragma once

#include "admission/admit.h"
#include "admission/placements/shape.h"
#include "model/ocm.h"
#include "ocm/decide.h"
#include "policy/match.h"

/* Inputs of a review of a Placement. All pointers are borrowed. */
struct placement_options {
    struct admission_options head;
    const struct policy_namespace *namespace; /* the review's namespace */
    enum placement_mode mode; /* the mode of Placements with terms but without a mode annotation */
    bool inject_scores;       /* scores are published for the entries injected here */
    bool is_waiting;          /* ... but there is no leader to publish them now */
    bool owns;                /* a controller owns the decisions of Placements in mode Owner */
    uint32_t shards;          /* number of score objects: 1..INJECTED_SHARDS */
    uint64_t random;          /* a random number for a new key */
    /* The publisher of scores reviews a live Placement: its scores exist, so it gets its gate, with
     * this key, even if OCM leaves the Placement alone. */
    bool is_publisher;
    bool withholds_gate; /* ... but OCM has perhaps not seen those scores yet */
    struct injected_key key;
};

/* A Placement as decoded. */
struct placement_question {
    struct admission_question head;
    bool is_updated;
    bool is_negative; /* numberOfClusters is negative; then no other field is read */
    int64_t number;
    struct placement placement; /* the decoded Placement, with the namespace of the review */
    struct placement_shape shape;
    struct placement_shape old; /* the shape of the stored object; zeroed for a new Placement */
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
