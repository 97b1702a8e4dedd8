/*
 * Which pods want to be beside or apart from which: what podAffinity and podAntiAffinity are judged
 * by. Pods remember their own terms; equal terms are stored once, and a pod without any takes no
 * memory. The functions are called on a view; what they return is in the arena, or borrowed while
 * the view is open.
 *
 * Terminating pods count, as in kube-scheduler; pods on unknown nodes are visited, too.
 */
#pragma once

#include "cache/cache.h"
#include "model/pod_affinity.h"

/* ---- The terms of a pod that is to be placed: which of the pods here do they mean? ---- */

struct cache_meant {
    const struct pod_term *terms; /* borrowed */
    uint32_t count;
    bool **in;        /* [count][namespaces]: does the term mean pods of it? */
    uint32_t unknown; /* pods that were passed over: their labels are not kept */
};
/* 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int cache_meant_open(const struct cache_view *v, const struct pod_term *terms, uint32_t count,
                     struct arena *arena, struct cache_meant *ret) MUST_CHECK;
/* Visits each pod that at least one term means, and counts those of which that is not known.
 * `means` is [count]. 0, -E2BIG or -ENOMEM. */
typedef void cache_meant_fn(void *ctx, uint32_t slot, const bool *means);
int cache_meant_visit(const struct cache_view *v, struct cache_meant *meant, struct arena *arena,
                      cache_meant_fn *visit, void *ctx) MUST_CHECK;
/* The same of one pod. Returns false if no term means it. */
bool cache_meant_pod(const struct cache_view *v, const struct cache_meant *meant,
                     const struct cache_pod *pod, bool *means);

/* ---- The terms of the pods here: which of them mean the pod that is to be placed? ---- */

struct meaning_term {
    const struct pod_term *term;
    uint32_t mark; /* the caller's; 0 at first */
};
struct cache_meaning {
    struct meaning_term *terms; /* those that mean it, together where pods have them together */
    uint32_t count;
    uint32_t *first; /* by the id of what a pod has: terms[first[id]] to terms[first[id + 1]] */
};
/* Terms of these kinds (1 << enum pod_term_kind). A namespace of which nothing is known has no
 * labels. 0, -E2BIG or -ENOMEM. */
int cache_meaning_open(const struct cache_view *v, const struct meant_pod *pod, uint32_t kinds,
                       struct arena *arena, struct cache_meaning *ret) MUST_CHECK;
/* Visits each pod here with the terms of it that mean the pod. 0 or -E2BIG. */
typedef void cache_meaning_fn(void *ctx, uint32_t slot, const struct meaning_term *terms,
                              uint32_t count);
int cache_meaning_visit(const struct cache_view *v, const struct cache_meaning *meaning,
                        cache_meaning_fn *visit, void *ctx) MUST_CHECK;
/* The same of one pod; count 0 if it has no such terms. */
const struct meaning_term *cache_meaning_of(const struct cache_view *v,
                                            const struct cache_meaning *meaning,
                                            const struct cache_pod *pod, uint32_t *ret_count);

/* Pods whose terms are not known because they are too long: see LIMIT_POD_TERMS_BYTES. */
uint32_t cache_terms_unknown(const struct cache_view *v);
