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
 * none. -ENOENT: it is not known; -EINVAL: it cannot be read. A Placement that is too large to be
 * kept has an answer with "placement", "spreadSatisfied" and "error" alone. */
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

/* What the estimators of clusters say, by the clusters' names. */
struct accurate_replicas {
    const struct str *clusters; /* each once */
    const int64_t *replicas;    /* or ESTIMATE_UNKNOWN */
    uint32_t count;
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
    const struct accurate_replicas *estimated; /* where `member` is ""; NULL: nobody was asked */
};
/* Appends the answer, from Karmada's clusters (fleet/karmada.h). As above; -EINVAL: the binding's
 * placement cannot be read; -ENOENT: there is no cluster `member`. */
int clusters_ask_binding(struct informer *karmada, const struct binding_asked *asked,
                         struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;

/* Does an answer of this verb depend on what the estimators of clusters say? */
bool clusters_asks_estimators(enum binding_verb verb, const struct karmada_options *options,
                              const struct binding_spec *spec);
/* Whose: the names of clusters that pass the filters, in any order, copied into `names`. What the
 * filters need is in the arena, and takes its steps. 0 or -errno as above. */
int clusters_to_estimate(struct informer *karmada, const struct clusters_question *q,
                         const struct karmada_options *options, struct arena *arena,
                         struct arena *names, const struct str **ret, uint32_t *ret_count,
                         struct err *err) MUST_CHECK;
