/*
 * Shows the effect of TopologyPolicies on a cluster before they are applied there. For each
 * workload: how the webhook would change a pod, which constraints it would soften or leave out and
 * why, and how many more pods would be Pending. `evenkeel check policy` prints it.
 *
 * It runs the webhook's own code on the first living pod of each workload, as if the pod were
 * created anew. Then kube-scheduler's filters place as many pods as the workload has, with the
 * changes and without them, in the cluster without the workload's pods. Policies with mode Audit
 * are checked as if they were enforced.
 *
 * The part of a policy that is about Placements is checked against the clusters and Placements of
 * state files (whatif/policy_clusters.h), if there are any; the effect on Placements is not
 * computed. Policies with no other part need no nodes.
 */
#pragma once

#include "admission/pods/spread_plan.h"
#include "config/configuration.h"
#include "engine/engine.h"
#include "findings/findings.h"
#include "policy/status.h"

/* The maximal number of pods of one workload that are placed. */
enum { POLICY_CHECK_PLACED = 100 };

struct checked_constraint {
    struct str topology_key;
    enum spread_fate fate;
};

struct checked_workload {
    struct str namespace, kind, name;
    uint32_t pods;
    struct str spread_policy, locality_policy, weights_policy; /* "": no policy decides that part */
    struct str unchanged; /* the reason why the pod is unchanged; "" if it is changed */
    struct str changes;   /* for people: "added: zone; left out (NoNodeHasKey): rack" */
    const struct checked_constraint *constraints; /* the constraints of the spread policy */
    uint32_t constraint_count;
    const struct str *warnings; /* warnings for the creator of the pod */
    uint32_t warning_count;
    struct str patch;  /* the webhook's patch as JSON */
    struct str denial; /* the reason why the pod would be denied; "" if it would not */
    uint32_t placed;   /* number of pods placed; 0: the changes cannot keep a pod from running */
    uint32_t pending_without, pending_with;
    struct str reason; /* the reason why the first Pending pod with the changes is Pending */
    bool harmed;
};

struct checked_policy {
    struct str name;
    int32_t priority;
    enum policy_mode mode;
    struct policy_verdict verdict;
    bool is_for[POLICY_TARGETS]; /* [target]: does the policy have a part for it? */
    struct str placement_keys;   /* policy_placement_keys(); "": not for Placements */
    uint32_t constraints; /* number of constraints that it asks for, of pods and of Placements */
    uint32_t workloads, pods;    /* numbers to which a part of the policy applies */
    uint32_t matched_placements; /* number of Placements of the state that it selects */
    bool clusters_judged;
    uint32_t injected, softened, skipped, harmed;
};

static inline bool is_for_placements_only(const struct checked_policy *p) {
    return p->is_for[POLICY_FOR_PLACEMENTS] && !p->is_for[POLICY_FOR_PODS];
}

struct policy_check {
    struct checked_policy *policies; /* the policies of the files, in the order of matching */
    uint32_t policy_count;
    struct checked_workload *workloads; /* the workloads under a checked policy, sorted by name */
    uint32_t workload_count;
    uint32_t others; /* number of other workloads */
    enum policy_soundness {
        POLICY_SOUND,     /* no workload is harmed, and each policy is for some objects and can have
                             an effect */
        POLICY_NOT_SOUND, /* a workload is harmed, or a condition is bad */
        POLICY_SOUND_UNKNOWN, /* a condition is not known, because a policy is for no object of the
                                 cluster */
        POLICY_SOUNDNESSES
    } soundness;
    uint32_t nodes, clusters;      /* number of nodes and clusters in the state */
    struct str source;             /* the first state file, or the API server, for people; arena */
    struct findings *findings;     /* findings about policies, set by the caller; or NULL */
    struct filter_unknown unknown; /* resources or terms that filters did not know */
};

/* The caller sets ret->findings; all other members of *ret are written. Checks the policies in the
 * files or folders `paths`. Policies of the configuration and of the cluster are in force beside
 * them, unless they have the same name. Everything in *ret is in the arena. Returns 0 or -errno. */
int policy_check_run(const struct configuration *c, const char *const *paths, size_t path_count,
                     struct arena *arena, struct policy_check *ret, struct err *err) MUST_CHECK;
