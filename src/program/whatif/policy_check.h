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
 * A policy's part about Placements is judged beside the clusters and Placements of state files
 * (whatif/policy_clusters.h), if there are any; its effect on them is not computed. Policies with
 * no other part need no nodes.
 */
#pragma once

#include "admission/pods/spread_plan.h"
#include "config/configuration.h"
#include "engine/engine.h"
#include "findings/findings.h"
#include "policy/status.h"

/* The most pods of one workload that are placed. */
enum { POLICY_CHECK_PLACED = 100 };

struct checked_constraint {
    struct str topology_key;
    enum spread_fate fate;
};

struct checked_workload {
    struct str namespace, kind, name;
    uint32_t pods;
    struct str spread_policy, locality_policy, weights_policy; /* "": no policy for that part */
    struct str unchanged;                                      /* why the pod is unchanged; or "" */
    struct str changes; /* for people: "added: zone; left out (NoNodeHasKey): rack" */
    const struct checked_constraint *constraints; /* of the spread policy */
    uint32_t constraint_count;
    const struct str *warnings; /* for the creator of the pod */
    uint32_t warning_count;
    struct str patch;  /* JSON */
    struct str denial; /* why the pod would be denied; or "" */
    uint32_t placed;   /* number of pods placed; 0: the changes cannot keep a pod from running */
    uint32_t pending_without, pending_with;
    struct str reason; /* why the first of pending_with is Pending */
    bool harmed;
};

struct checked_policy {
    struct str name;
    int32_t priority;
    enum policy_mode mode;
    struct policy_verdict verdict;
    bool is_for[POLICY_TARGETS]; /* does it have a part for this target? */
    struct str placement_keys;   /* policy_placement_keys(); "": not for Placements */
    uint32_t constraints;        /* that it asks for, of pods and of Placements */
    uint32_t workloads, pods;    /* workloads and pods to which a part of the policy applies */
    uint32_t matched_placements; /* of the state */
    bool clusters_judged;
    uint32_t injected, softened, skipped, harmed;
};

static inline bool is_for_placements_only(const struct checked_policy *p) {
    return p->is_for[POLICY_FOR_PLACEMENTS] && !p->is_for[POLICY_FOR_PODS];
}

struct policy_check {
    struct checked_policy *policies; /* those of the files, in the order of matching */
    uint32_t policy_count;
    struct checked_workload *workloads; /* those under a checked policy; by name */
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
    uint32_t nodes, clusters;      /* of the state */
    struct str source;             /* the first state file, or the API server, for people; arena */
    struct findings *findings;     /* set by the caller: of the policies; NULL: nobody asks */
    struct filter_unknown unknown; /* resources or terms that filters did not know */
};

/* `ret->findings` is set, and all else of *ret is written.
 *
 * Checks the policies in `paths`, files or folders. Policies of the configuration and of the
 * cluster are in force beside them, unless they have the same name. Everything in *ret is in the
 * arena. Returns 0 or -errno. */
int policy_check_run(const struct configuration *c, const char *const *paths, size_t path_count,
                     struct arena *arena, struct policy_check *ret, struct err *err) MUST_CHECK;
