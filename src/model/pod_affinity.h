/*
 * Beside or apart from which pods a pod must be: the required terms of spec.affinity.podAffinity
 * and podAntiAffinity. upstream: core/v1 PodAffinityTerm.
 */
#pragma once

#include "model/selector.h"

struct pod_affinity_term {
    struct str topology_key;
    struct label_selector pods;   /* not present: none are meant */
    const struct str *namespaces; /* as written; see pod_affinity_means() */
    uint32_t namespace_count;
    struct label_selector by_labels; /* of namespaces; not present: none by their labels */
    const struct str *mismatch_keys; /* mismatchLabelKeys */
    uint32_t mismatch_key_count;
};

struct pod_affinity {
    const struct pod_affinity_term *terms; /* all of them must hold */
    uint32_t term_count;
};

/* Reads a podAffinity or podAntiAffinity. What a selector says is checked when it is compiled. */
struct pod_affinity pod_affinity_decode(struct json_reader *r);

/* A pod, for the question whether a term means it. */
struct meant_pod {
    struct str namespace;
    struct labels namespace_labels; /* empty where they are not known */
    struct labels labels;
};
/*
 * Does the term of a pod mean pods like itself, those of its own group? matchLabelKeys never rule
 * it out, and mismatchLabelKeys always do where the pod has the label. upstream:
 * kube-scheduler framework AffinityTerm.Matches(). 0 or -ENOMEM; a selector that does not parse
 * means none.
 */
int pod_affinity_means(const struct pod_affinity_term *term, const struct meant_pod *pod,
                       struct arena *arena, bool *ret) MUST_CHECK;
