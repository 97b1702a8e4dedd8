/*
 * Asks a fleet: a view of it, the policies in force, and explain/placement_answer.h.
 */
#pragma once

#include "clusters/question.h"
#include "explain/placement_answer.h"
#include "karmada/options.h"
#include "policy/policies.h"

/* What is known; both are borrowed. */
struct clusters_known {
    struct fleet *fleet;
    struct policy_source *policies; /* NULL: there are none */
};

/*
 * Appends the verb's answer to a question that has a Placement. `now_ms` counts where the question
 * says no time. The arena's steps bound the work. 0, -E2BIG (they are spent) or -ENOMEM, with a
 * sentence; then `out` is as it was.
 */
int clusters_ask(const struct clusters_known *known, const struct clusters_question *q,
                 enum placement_verb verb, int64_t now_ms, struct arena *arena, struct strbuf *out,
                 struct err *err) MUST_CHECK;

/* The same of PLACEMENT_SELECT, of a Placement that is known, by its name; `limit` of the lists: 0:
 * none. -ENOENT: it is not known; -EINVAL: it cannot be read. */
int clusters_ask_by_name(const struct clusters_known *known, struct str namespace, struct str name,
                         uint32_t limit, int64_t now_ms, struct arena *arena, struct strbuf *out,
                         struct err *err) MUST_CHECK;

/* ---- Karmada's bindings ---- */

enum binding_verb {
    BINDING_FILTER,
    BINDING_PRIORITIZE,
    BINDING_SELECT,
    BINDING_ASSIGN,
    BINDING_ESTIMATE,
};

/* A question that has a binding; all borrowed. */
struct binding_asked {
    const struct clusters_question *question;
    enum binding_verb verb;
    bool with_plan; /* BINDING_SELECT: the replicas and what would be written, too */
    int64_t now_ms;
    const struct karmada_options *options;
    struct str member; /* the cluster whose nodes were asked, for `accurate` replicas; "": none */
    int64_t accurate;
};
/* Appends the answer, from Karmada's clusters (fleet/karmada.h). As above; -EINVAL: the binding's
 * placement cannot be read; -ENOENT: there is no cluster `member`. */
int clusters_ask_binding(struct informer *karmada, const struct binding_asked *asked,
                         struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
