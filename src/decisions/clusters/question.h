/*
 * Questions about a fleet: the body of POST /clusters/v1/VERB.
 *
 *   {"placement": {...},          one of Open Cluster Management's
 *    "clusterNames": ["c1"],      only these clusters take part
 *    "state": {"items": [...]},   a List of objects, in the place of all that is known
 *    "now": "2026-01-02T03:04:05Z", "rounds": true, "limit": 10}
 *
 * or "binding", one of Karmada's, in the place of "placement". A body with a "step" is a question
 * of src/decisions/lines instead. Members that are not known are passed over.
 */
#pragma once

#include "model/binding.h"
#include "model/ocm.h"

struct clusters_question {
    bool has_placement;
    struct placement placement;
    bool has_binding;
    struct binding binding;
    struct str state; /* as it stands in the body; .p is NULL without one */
    bool has_names;
    const struct str *names; /* in any order */
    uint32_t name_count;
    bool has_now;
    int64_t now_ms;   /* since 1970 */
    bool with_rounds; /* what happened in each round is wanted */
    uint32_t limit;   /* of lists and maps in the answer; 0: none */
};

/* Strings live in the body or the arena. 0, -EINVAL with path and byte, -E2BIG (the arena's steps)
 * or -ENOMEM. */
int clusters_question_decode(struct str body, struct arena *arena, struct clusters_question *ret,
                             struct err *err) MUST_CHECK;

/* A Placement as text, JSON in the arena, from such a file; a negative number of clusters is not
 * refused, and may have any other mistake beside. */
int clusters_placement_text(const char *path, struct arena *arena, struct str *ret,
                            struct err *err) MUST_CHECK;

/* A Placement as it stands in a file: YAML or JSON, one document. 0 or -errno; the sentence names
 * the file, and the line where that is known. */
int clusters_placement_read(const char *path, struct arena *arena, struct placement *ret,
                            struct err *err) MUST_CHECK;
