/*
 * Answers questions about a fleet from a view of it and the policies (explain/placement_answer.h).
 */
#pragma once

#include "clusters/question.h"
#include "explain/placement_answer.h"
#include "karmada/assumed.h"
#include "karmada/options.h"
#include "policy/policies.h"

/* The known objects. They are borrowed. */
struct clusters_known {
    struct fleet *fleet;
    struct policy_source *policies; /* NULL: no policies */
};

/*
 * Appends the verb's answer to a question that has a Placement. `now_ms` is used if the question
 * has no time. The arena's steps bound the work. Returns 0, or -E2BIG (the steps are spent) or
 * -ENOMEM with a sentence; after an error `out` is unchanged.
 */
int clusters_ask(const struct clusters_known *known, const struct clusters_question *q,
                 enum placement_verb verb, int64_t now_ms, struct arena *arena, struct strbuf *out,
                 struct err *err) MUST_CHECK;

/* Does the same for PLACEMENT_SELECT and the known Placement of this name. `limit` bounds lists; 0:
 * no limit. Also returns -ENOENT (no such Placement) or -EINVAL (the Placement cannot be read). For
 * a Placement that is too large to keep, the answer has only "placement", "spreadSatisfied" and
 * "error". */
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

/* The replies of the estimators of clusters. */
struct accurate_replicas {
    const struct str *clusters; /* names, each once */
    const int64_t *replicas;    /* number of replicas, or ESTIMATE_UNKNOWN */
    uint32_t count;
};

/* A question that has a binding; all members are borrowed. */
struct binding_asked {
    const struct clusters_question *question;
    enum binding_verb verb;
    bool with_plan; /* for BINDING_SELECT: answer also the replicas and the patches */
    int64_t now_ms;
    const struct karmada_options *options;
    struct str member; /* the cluster with room for `accurate` replicas; "": no cluster */
    int64_t accurate;
    const struct accurate_replicas *estimated; /* used if `member` is ""; NULL: no replies */
    struct karmada_assumed *assumed; /* replicas of earlier bindings; the answer adds its own; NULL:
                                        no other bindings */
};
/* Appends the answer, from Karmada's clusters (fleet/karmada.h). Errors are those of
 * clusters_ask(), or -EINVAL (the binding's placement cannot be read) or -ENOENT (there is no
 * cluster `member`). */
int clusters_ask_binding(struct informer *karmada, const struct binding_asked *asked,
                         struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;

/* Does an answer of this verb depend on the replies of clusters' estimators? */
bool clusters_asks_estimators(enum binding_verb verb, const struct karmada_options *options,
                              const struct binding_spec *spec);
/* Gets the names of the clusters whose estimators must be asked: clusters that pass the filters, in
 * any order. The names are copied into `names`. Filters use the arena's memory and steps. Errors
 * are those of clusters_ask_binding(). */
int clusters_to_estimate(struct informer *karmada, const struct clusters_question *q,
                         const struct karmada_options *options, struct arena *arena,
                         struct arena *names, const struct str **ret, uint32_t *ret_count,
                         struct err *err) MUST_CHECK;
