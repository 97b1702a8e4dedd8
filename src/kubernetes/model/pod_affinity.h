/*
 * The terms of spec.affinity.podAffinity and podAntiAffinity: the pods that a pod requires or
 * prefers to be beside or apart from. upstream: core/v1 PodAffinityTerm.
 */
#pragma once

#include "model/selector.h"

struct pod_affinity_term {
    int64_t weight; /* of a preference */
    struct str topology_key;
    struct label_selector pods;   /* not present: matches no pods */
    const struct str *namespaces; /* as written; see pod_affinity_means() */
    uint32_t namespace_count;
    struct label_selector by_labels; /* selects namespaces; not present: selects none */
    const struct str *match_keys, *mismatch_keys; /* matchLabelKeys, mismatchLabelKeys */
    uint32_t match_key_count, mismatch_key_count;
};

struct pod_affinity {
    const struct pod_affinity_term *terms; /* required terms: all of them must hold */
    uint32_t term_count;
    const struct pod_affinity_term *preferred;
    uint32_t preferred_count;
};

/* Reads a podAffinity or podAntiAffinity, the preferred terms only if `preferences` is true.
 * Selectors are checked when they are compiled. */
struct pod_affinity pod_affinity_decode(struct json_reader *r, bool preferences);

/*
 * Changes the terms as an API server does when it creates a pod: it adds the labels named by
 * matchLabelKeys and mismatchLabelKeys to the selector, and kube-scheduler reads only the selector.
 * Stored pods have been changed already. upstream: registry/core/pod/strategy.go
 * applyMatchLabelKeysAndMismatchLabelKeys(). 0 or -ENOMEM.
 */
int pod_affinity_merge_keys(struct pod_affinity *affinity, const struct labels *labels,
                            struct arena *arena) MUST_CHECK;

/* A pod that pod_affinity_means() compares with a term. */
struct meant_pod {
    struct str namespace;
    struct labels namespace_labels; /* empty if the labels are not known */
    struct labels labels;
};
/*
 * Does a pod's term match pods of its own group, which have the same labels? matchLabelKeys never
 * exclude them; mismatchLabelKeys always do if the pod has the label. upstream: kube-scheduler
 * framework AffinityTerm.Matches(). 0 or -ENOMEM; a selector that does not parse matches no pod.
 */
int pod_affinity_means(const struct pod_affinity_term *term, const struct meant_pod *pod,
                       struct arena *arena, bool *ret) MUST_CHECK;

/* ---- Terms as kube-scheduler evaluates them ---- */

enum pod_term_kind { POD_BESIDE, POD_APART, POD_RATHER_BESIDE, POD_RATHER_APART };

struct pod_term {
    enum pod_term_kind kind;
    int64_t weight; /* of a preference */
    struct str topology_key;
    const struct str *namespaces; /* sorted; the pod's namespace if the term selects no
                                     namespaces */
    uint32_t namespace_count;
    struct selector by_labels; /* selects namespaces */
    struct selector pods;
    uint64_t steps; /* steps to match one pod and its namespace */
};

struct pod_terms {
    struct pod_term *items; /* arena */
    uint32_t count, cap;
};

/*
 * Compiles and appends terms of one kind, for a pod in `namespace`; `from` is its podAffinity or
 * podAntiAffinity. upstream: kube-scheduler framework GetAffinityTerms(). 0; -EINVAL (a selector
 * does not parse: no term is appended) or -ENOMEM. Strings are borrowed, arrays are in the arena.
 */
int pod_terms_add(struct pod_terms *terms, enum pod_term_kind kind, const struct pod_affinity *from,
                  struct str namespace, struct arena *arena, struct err *err) MUST_CHECK;
/* Does the term name this namespace, whatever its labels are? O(log names) */
bool pod_term_names(const struct pod_term *term, struct str namespace);

/* Appends bytes that are equal exactly for equal terms. */
void pod_terms_key(const struct pod_terms *terms, struct strbuf *out);
/* Copies the terms and their strings into the arena. 0 or -ENOMEM. */
int pod_terms_copy(const struct pod_terms *from, struct arena *arena,
                   struct pod_terms *ret) MUST_CHECK;
