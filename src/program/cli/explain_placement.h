/*
 * Asks a daemon's replicas about a Placement (GET /explain/placements/NAMESPACE/NAME). All replicas
 * make the same decision, but only the leader has the history of its planner. So the leader's
 * answer is used or, without a leader, the first answer.
 */
#pragma once

#include "cli/replicas.h"
#include "explain/subject.h"

/* Is the subject a Placement of Open Cluster Management? */
bool explained_is_placement(const struct subject *subject);

struct explained_placement {
    struct str object;  /* the object of the best answer; "": no replica sent an object */
    const char *why;    /* the reason why there is no object */
    const char *server; /* the server that gave the object */
    bool leads;
};

/* Asks these servers about the Placement. All of *ret is in the arena. Returns 0 or -errno. */
int explained_placement_ask(const char *const *servers, uint32_t count, const char *token_file,
                            const struct subject *subject, struct arena *arena,
                            struct explained_placement *ret, struct err *err) MUST_CHECK;
/* Stores the object of `document` in *best if it is the first object or comes from a leader. The
 * document may come from explained_placement_merge(). All texts are borrowed. Returns 0, -EINVAL
 * (no JSON object) or -ENOMEM. */
int explained_placement_consider(struct explained_placement *best, const char *server,
                                 struct str document, struct err *err) MUST_CHECK;
/* Appends one document: the members of the object, "answeredBy" (the server), and the members of
 * `decisions` (cli/merged.h). Without an object: the members of `decisions`, and
 * "placementNotAnswered" with the reason. Returns 0, -EINVAL or -ENOMEM. */
int explained_placement_merge(const struct explained_placement *p, struct str decisions,
                              struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
