/*
 * Finds the pods that podAffinity and podAntiAffinity terms match ("mean"), in both directions.
 * Equal terms of pods are stored once, and a pod without terms takes no memory. Call the functions
 * on a view; their results are in the arena, or borrowed while the view is open.
 *
 * Terminating pods count, as in kube-scheduler; pods on unknown nodes are visited, too.
 */
#pragma once

#include "cache/cache.h"
#include "model/pod_affinity.h"

/* ---- Existing pods that the terms of the pod to place match ---- */

struct cache_meant {
    const struct pod_term *terms; /* borrowed */
    uint32_t count;
    bool **in;        /* [count][namespaces]: does the term match pods of the namespace? */
    uint32_t unknown; /* number of skipped pods: their labels are not kept */
};
/* Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int cache_meant_open(const struct cache_view *v, const struct pod_term *terms, uint32_t count,
                     struct arena *arena, struct cache_meant *ret) MUST_CHECK;
/* Visits each pod that at least one term matches, and counts in meant->unknown the pods for
 * which this is not known. `means` is [count]: the terms that match the pod. Returns 0, -E2BIG
 * or -ENOMEM. */
typedef void cache_meant_fn(void *ctx, uint32_t slot, const bool *means);
int cache_meant_visit(const struct cache_view *v, struct cache_meant *meant, struct arena *arena,
                      cache_meant_fn *visit, void *ctx) MUST_CHECK;
/* Matches the terms with one pod. Returns false if no term matches it. */
bool cache_meant_pod(const struct cache_view *v, const struct cache_meant *meant,
                     const struct cache_pod *pod, bool *means);

/* ---- Terms of existing pods that match the pod to place ---- */

struct meaning_term {
    const struct pod_term *term;
    uint32_t mark; /* for the caller's use; 0 at first */
};
struct cache_meaning {
    struct meaning_term *terms; /* matching terms; the terms of one pod stand together */
    uint32_t count;
    uint32_t
        *first; /* by id of a pod's record of terms: terms[first[id]] to terms[first[id + 1]] */
};
/* Finds matching terms of these kinds (1 << enum pod_term_kind). An unknown namespace has no
 * labels. Returns 0, -E2BIG or -ENOMEM. */
int cache_meaning_open(const struct cache_view *v, const struct meant_pod *pod, uint32_t kinds,
                       struct arena *arena, struct cache_meaning *ret) MUST_CHECK;
/* Visits each existing pod that has matching terms, with these terms. Returns 0 or -E2BIG. */
typedef void cache_meaning_fn(void *ctx, uint32_t slot, const struct meaning_term *terms,
                              uint32_t count);
int cache_meaning_visit(const struct cache_view *v, const struct cache_meaning *meaning,
                        cache_meaning_fn *visit, void *ctx) MUST_CHECK;
/* Returns the matching terms of one pod. *ret_count is 0 if the pod has no matching term. */
const struct meaning_term *cache_meaning_of(const struct cache_view *v,
                                            const struct cache_meaning *meaning,
                                            const struct cache_pod *pod, uint32_t *ret_count);

/* Returns the number of pods whose terms are not kept: see LIMIT_POD_TERMS_BYTES. */
uint32_t cache_terms_unknown(const struct cache_view *v);
