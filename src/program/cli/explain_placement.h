/*
 * What a daemon's replicas answer about a Placement (GET /explain/placements/NAMESPACE/NAME): all
 * would decide it alike, but only the one that leads knows what the planner has done with it. So
 * the leader's answer is taken, or else the first.
 */
#pragma once

#include "cli/replicas.h"
#include "explain/subject.h"

/* A Placement of Open Cluster Management? */
bool explained_is_placement(const struct subject *subject);

struct explained_placement {
    struct str object;  /* "": there is none ... */
    const char *why;    /* ... because of this */
    const char *server; /* that gave it */
    bool leads;
};

/* Asks these servers; all in the arena. 0 or -errno. */
int explained_placement_ask(const char *const *servers, uint32_t count, const char *token_file,
                            const struct subject *subject, struct arena *arena,
                            struct explained_placement *ret, struct err *err) MUST_CHECK;
/* Takes the one in `document`, which explained_placement_merge() made elsewhere, if it is better.
 * All are borrowed. 0, -EINVAL if it is none of JSON, or -ENOMEM. */
int explained_placement_consider(struct explained_placement *best, const char *server,
                                 struct str document, struct err *err) MUST_CHECK;
/* Appends one document: the members of the object, "answeredBy", the server that gave it, and those
 * of `decisions` (cli/merged.h); without an object these and "placementNotAnswered", why. Errors as
 * above. */
int explained_placement_merge(const struct explained_placement *p, struct str decisions,
                              struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
