/*
 * One document from the answers of all replicas about one object, and from a what-if of it:
 *
 *     "cause", "state"  of a pod that the API server has (explain/now.h)
 *     "podFrom"         the API server that was asked for the pod
 *     "podNotRead"      the reason why there is no state
 *     "noAdmission"     why no admission of the pod is shown, although its siblings have some
 *     "replica"         the first replica that answered
 *     "replicas"        `server`, `answered`, `name`, `version`, `commit`, `made` and `kept`; or
 *                       `message` if it knows no decision; or `error`
 *     "decisions"       of all replicas, by time; with several replicas each decision has its
 * server as `replica` "now"             the answer of the what-if: `replica`, `decisions`,
 * `notJudged`
 */
#pragma once

#include "cli/own_admission.h"
#include "cli/replicas.h"

struct merging {
    const struct replicas *replicas;
    struct str now;                /* the answer to a what-if; "": no answer */
    const char *pod_from;          /* server asked for the pod; NULL: no API server was asked */
    const char *pod_not_read;      /* NULL: the pod was read, or the object is no pod */
    const struct created_pod *pod; /* the pod; admissions of other pods are not shown */
    bool newest_first;
};

/* Appends the document, and sets *ret_decisions to the number of recorded decisions. Returns 0,
 * -EINVAL if the text of an answer is not valid, or -ENOMEM. */
int merged_print(const struct merging *m, struct arena *arena, struct strbuf *out,
                 uint32_t *ret_decisions, struct err *err) MUST_CHECK;
