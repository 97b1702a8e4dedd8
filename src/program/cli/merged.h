/*
 * The answers of all replicas about one object, and how the object is judged now, as one document:
 *
 *     "cause", "state"  of a pod that the API server has (explain/now.h)
 *     "podFrom"         the API server that was asked for the pod
 *     "podNotRead"      why there is no state
 *     "replica"         the first that answered
 *     "replicas"        `server`, `answered`, and `name`, `version`, `commit`, `made` and `kept`,
 * or `error` "decisions"       of all, by time; each with its `replica` (the server), if there are
 * several "now"             the answer of a what-if: `decisions`, `notJudged`
 */
#pragma once

#include "cli/replicas.h"

struct merging {
    const struct replicas *replicas;
    struct str now;           /* the answer to a what-if; "": there is none */
    const char *pod_from;     /* NULL: no API server was asked */
    const char *pod_not_read; /* NULL: it was, or the object is no pod */
    bool newest_first;
};

/* Appends the document, of which *ret_decisions are recorded ones. 0, -EINVAL if an answer is not
 * such an answer, or -ENOMEM. */
int merged_print(const struct merging *m, struct arena *arena, struct strbuf *out,
                 uint32_t *ret_decisions, struct err *err) MUST_CHECK;
