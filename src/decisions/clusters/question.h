/*
 * Questions about a fleet: the body of POST /clusters/v1/VERB.
 *
 *   {"placement": {...},          one of Open Cluster Management's
 *    "clusterNames": ["c1"],      only these clusters take part
 *    "state": {"items": [...]},   a List of objects to use instead of all known objects
 *    "now": "2026-01-02T03:04:05Z", "rounds": true, "limit": 10}
 *
 * or "binding", a binding of Karmada, instead of "placement". A body with a "step" is a question
 * for the room lines. Unknown members are ignored.
 */
#pragma once

#include "model/binding.h"
#include "model/ocm.h"

struct clusters_question {
    bool has_placement;
    struct placement placement;
    bool has_binding;
    struct binding binding;
    struct str state; /* as written in the body; .p is NULL without a state */
    bool has_names;
    const struct str *names; /* in any order */
    uint32_t name_count;
    bool has_now;
    int64_t now_ms;   /* since 1970 */
    bool with_rounds; /* report each round */
    uint32_t limit;   /* of lists and maps in the answer; 0: no limit */
};

/* Strings live in the body or the arena. Returns 0, -EINVAL with path and byte, -E2BIG (the arena's
 * steps are spent) or -ENOMEM. */
int clusters_question_decode(struct str body, struct arena *arena, struct clusters_question *ret,
                             struct err *err) MUST_CHECK;

/* Reads a Placement's file (see below) as JSON text in the arena. Accepts a Placement with a
 * negative number of clusters, even if it has other mistakes. */
int clusters_placement_text(const char *path, struct arena *arena, struct str *ret,
                            struct err *err) MUST_CHECK;

/* Reads a Placement from a file with one YAML or JSON document. Returns 0 or -errno; the sentence
 * names the file and, if known, the line. *ret_json is the object, in the arena. */
int clusters_placement_read(const char *path, struct arena *arena, struct placement *ret,
                            struct str *ret_json, struct err *err) MUST_CHECK;
