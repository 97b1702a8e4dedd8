/*
 * Asks a daemon's replicas about a Placement (GET /explain/placements/NAMESPACE/NAME). All replicas
 * decide it alike, but only the leader knows what its planner has done with it. So the leader's
 * answer is taken, or else the first.
 */
#pragma once

#include "cli/replicas.h"
#include "explain/subject.h"

/* Is the subject a Placement of Open Cluster Management? */
bool explained_is_placement(const struct subject *subject);

struct explained_placement {
    struct str object;  /* "": no replica answered with one */
    const char *why;    /* why there is no object */
    const char *server; /* the server that gave the object */
    bool leads;
};

/* Asks these servers. All of *ret is in the arena. Returns 0 or -errno. */
int explained_placement_ask(const char *const *servers, uint32_t count, const char *token_file,
                            const struct subject *subject, struct arena *arena,
                            struct explained_placement *ret, struct err *err) MUST_CHECK;
/* Takes the object of `document`, which may come from explained_placement_merge(), if it is the
 * first or a leader's. All is borrowed. Returns 0, -EINVAL (no JSON object) or -ENOMEM. */
int explained_placement_consider(struct explained_placement *best, const char *server,
                                 struct str document, struct err *err) MUST_CHECK;
/* Appends one document: the members of the object, "answeredBy" (the server), and the members of
 * `decisions` (cli/merged.h). Without an object: those of `decisions`, and "placementNotAnswered"
 * (why). Errors as above. */
int explained_placement_merge(const struct explained_placement *p, struct str decisions,
                              struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
