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
#include "state/documents.h"

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
    int64_t now_ms;   /* milliseconds since 1970 */
    bool with_rounds; /* report each round */
    uint32_t limit;   /* largest length of lists and maps in the answer; 0: no limit */
};

/* Reads a question from a body. Strings are in the body or in the arena. Returns 0, -EINVAL with
 * path and byte, -E2BIG (the arena's steps are spent) or -ENOMEM. */
int clusters_question_decode(struct str body, struct arena *arena, struct clusters_question *ret,
                             struct err *err) MUST_CHECK;

extern const struct document_kind placement_documents;

/* Reads a Placement. Returns 0 or -errno; the sentence names the file and, if known, the line. */
int clusters_placement_read(const struct document *d, struct arena *arena, struct placement *ret,
                            struct err *err) MUST_CHECK;
/* Checks a file as clusters_placement_read() does, but accepts a Placement with a negative number
 * of clusters, even if it has other mistakes. */
int clusters_placement_check(const struct document *d, struct arena *arena,
                             struct err *err) MUST_CHECK;
