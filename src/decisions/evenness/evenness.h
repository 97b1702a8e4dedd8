/*
 * Measures how even the workloads of a cluster are, and how even they could be.
 *
 * A *workload* is the object that a user scales: the topmost controller that the pods themselves
 * show (model/workload.h). Pods without a controller, those of DaemonSets, mirror pods and pods
 * that are bound to one node by name belong to no workload: they cannot be spread. Live pods that
 * are not terminating count.
 *
 * For a topology key, a node is *feasible* for a pod if the pod's nodeSelector, required node
 * affinity and tolerations (also of cordons) allow the pod there, and so do the volumes that its
 * claims are bound to (a disk of one zone). A full node is feasible, too. A domain is feasible for
 * a workload if one of its nodes is feasible for one of its pods.
 *
 *   skew       the most pods in a feasible domain, minus the fewest
 *   best skew  the smallest skew that these pods can have, each in a domain that has a feasible
 *              node for it; a pod without such a domain stays where it is
 *   state      even: the skew is at most 1; unavoidable: the skew is more, and the best skew is not
 *              less; uneven: the cluster could have done better
 *
 * Pods elsewhere (in a domain that is cordoned by now, on a node without the key, or on an unknown
 * node) do not count for either skew: only the name of their domain and their number are reported.
 *
 * A round over all pods is cut into pieces of about a millisecond, each with a view of its own, so
 * that writers of the cache get their turn. (Matching 5,000 nodes with the longest affinity that is
 * measured is one piece, of some milliseconds.) A pod that changes during a round may be counted as
 * it was before or after the change. If a node is deleted during a round, the round begins again.
 *
 * Threads: a round belongs to one thread. A report does not change; it may be read by any thread
 * until it is freed. Memory: 12 bytes a pod while it is made; then for each workload and key 20
 * bytes and 8 for each domain that is named for it (up to LIMIT_EVENNESS_EMPTY_DOMAINS without a
 * pod), and their names; a report of more than 256 MiB is refused.
 */
#pragma once

#include "base/err.h"
#include "cache/placed.h"

#include <stdbool.h>
#include <stdint.h>

enum evenness_state {
    EVENNESS_EVEN,
    EVENNESS_UNAVOIDABLE,
    EVENNESS_UNEVEN,
    EVENNESS_UNKNOWN, /* all pods of the workload are Pending; or the nodes where its pods may run
                         are not known: too much text, or too many kinds of pods */
    EVENNESS_STATES
};
extern const char *const evenness_state_names[EVENNESS_STATES]; /* "even", ... */

/* Topology keys that are reported by default, if a node has them. */
enum { EVENNESS_DEFAULT_KEYS = 3 };
extern const char *const evenness_default_keys[EVENNESS_DEFAULT_KEYS];

struct evenness_domain {
    struct str name;      /* the label's value */
    uint32_t nodes, pods; /* number of known nodes; number of live pods, of any or no workload */
    uint32_t cordoned;    /* number of cordoned nodes */
    uint32_t tainted;     /* number of other nodes with a NoSchedule or NoExecute taint */
};

/* The number of pods of a workload in a domain. */
struct evenness_count {
    uint32_t domain : 31;
    uint32_t feasible : 1; /* the domain counts for the skew */
    uint32_t pods;
};

struct evenness_result {
    uint32_t skew, best;   /* in pods; 0 with EVENNESS_UNKNOWN */
    uint32_t first, count; /* items of evenness_key.counts, by domain: domains with pods; if the key
                              has few domains, also feasible ones without pods */
    enum evenness_state state;
};

struct evenness_workload {
    struct str namespace, group, kind, name;
    uint32_t pods;
    uint32_t lost;    /* number of pods among `pods` on nodes that are not known */
    uint32_t pending; /* number of pods without a node; they are not in `pods` */
    uint32_t tag;     /* result of the function of evenness_round_tag(); UINT32_MAX: no tag */
};

struct evenness_key {
    struct str name;
    struct evenness_domain *domains; /* sorted by name */
    uint32_t domain_count;
    struct evenness_domain without;  /* nodes without the key, and their pods; it has no name */
    struct evenness_result *results; /* [workload_count]: in the order of the report's workloads */
    struct evenness_count *counts;   /* in the arena; or [owned], from pages_resize() */
    uint32_t owned;
    uint32_t *worst;                  /* [workload_count]: numbers of workloads, the worst first */
    uint32_t totals[EVENNESS_STATES]; /* number of workloads in each state */
};

struct evenness_report {
    struct evenness_workload *workloads; /* workloads, sorted by namespace, name, kind and group */
    uint32_t workload_count;
    struct evenness_key *keys; /* keys in the order of the request */
    uint32_t key_count;
    uint32_t pods;    /* number of live pods, also pods of no workload */
    uint32_t lost;    /* number of pods among `pods` on nodes that are not known, so in no domain */
    uint32_t pending; /* number of pods without a node */
    int64_t data_age_ms;         /* age of the data, as a daemon reported it; 0: not known */
    uint32_t not_measured;       /* number of pods of workloads beyond LIMIT_EVENNESS_WORKLOADS */
    struct evenness_note *notes; /* sorted by name; see evenness/latest.h */
    uint32_t note_count;
    struct arena *arena; /* owned; holds the whole report but `counts` that are `owned` */
};
void evenness_report_free(struct evenness_report *r); /* NULL is fine */

struct evenness_round;

/* Makes a round. Borrows the cache. Keys are copied: at most LIMIT_EVENNESS_KEYS, no two of them
 * equal. A key that no node has gets no domains. Returns 0 or -ENOMEM. */
int evenness_round_new(struct cache *cache, const struct str *keys, uint32_t key_count,
                       struct evenness_round **ret, struct err *err) MUST_CHECK;
/* The function is called for each workload, with a group of the workload's pods (cache/placed.h),
 * while the view is open. Its result is the workload's tag. Each call counts as `steps` steps of a
 * piece. */
typedef uint32_t evenness_tag_fn(void *ctx, const struct cache_view *v, uint32_t group);
void evenness_round_tag(struct evenness_round *r, evenness_tag_fn *tag, void *ctx, uint64_t steps);
/* The function is called for pods with claims, while the view is open. It gets the node affinities
 * of the claims' volumes, in the arena, and takes the arena's steps. It returns 0, -E2BIG (the
 * affinities are not known) or -ENOMEM. Without this function, volumes exclude no node. */
typedef int evenness_pins_fn(void *ctx, struct str namespace, const struct cache_may_run *pod,
                             struct arena *arena, const struct node_affinity **ret,
                             uint32_t *ret_count);
void evenness_round_pin(struct evenness_round *r, evenness_pins_fn *pins, void *ctx);
/* Does one piece of a round. Returns 1 if there is more to do; 0 if *ret is the report, owned by
 * the caller; -EAGAIN (nodes keep coming and going) or -ENOMEM if the round has failed. */
int evenness_round_step(struct evenness_round *r, struct evenness_report **ret,
                        struct err *err) MUST_CHECK;
void evenness_round_free(struct evenness_round *r); /* NULL is fine */

/* Does all pieces of a round, which the caller still owns. Returns 0, -EAGAIN or -ENOMEM. */
int evenness_round_run(struct evenness_round *r, struct evenness_report **ret,
                       struct err *err) MUST_CHECK;
/* Makes a report at once, without volumes. Returns 0, -EAGAIN or -ENOMEM. */
int evenness_measure(struct cache *cache, const struct str *keys, uint32_t key_count,
                     struct evenness_report **ret, struct err *err) MUST_CHECK;

/* Gets the default keys that at least one node has; *ret_count may be 0. ret:
 * [EVENNESS_DEFAULT_KEYS]. Returns 0 or -ENOMEM. */
int evenness_keys_of(struct cache *cache, struct str *ret, uint32_t *ret_count) MUST_CHECK;

/* Returns the number of a workload; UINT32_MAX if it is not found. Without a kind (""), the first
 * workload of this name counts. */
uint32_t evenness_find(const struct evenness_report *r, struct str namespace, struct str name,
                       struct str kind);
