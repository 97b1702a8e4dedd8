/*
 * What TopologyPolicies would do in a cluster, before they are applied there: for each workload
 * what the webhook would change in a pod of it, which constraints it would soften or leave out and
 * why, and how many of its pods would be Pending that would run without. `evenkeel check policy`
 * prints it.
 *
 * The webhook's own code is run on the first living pod of each workload, as if it were created
 * anew; then kube-scheduler's filters place as many pods as the workload has, with the changes and
 * without, in the cluster less the workload's pods. Policies with mode Audit are taken for
 * enforced ones.
 *
 * Of what a policy asks for Placements it is found out whether it can work at all, and not what
 * clusters make of it. Policies that ask for nothing else need no nodes.
 */
#pragma once

#include "admission/pods/spread_plan.h"
#include "config/configuration.h"
#include "engine/engine.h"
#include "policy/status.h"

/* Pods that are placed of one workload at most. */
enum { POLICY_CHECK_PLACED = 100 };

struct checked_constraint {
    struct str topology_key;
    enum spread_fate fate;
};

struct checked_workload {
    struct str namespace, kind, name;
    uint32_t pods;
    struct str spread_policy, locality_policy, weights_policy; /* "": none of its parts */
    struct str unchanged;                                      /* why it is left alone; "" */
    struct str changes; /* for people: "added: zone; left out (NoNodeHasKey): rack" */
    const struct checked_constraint *constraints; /* that the spread policy asks for */
    uint32_t constraint_count;
    const struct str *warnings; /* that whoever creates the pod would get */
    uint32_t warning_count;
    struct str patch;  /* JSON */
    struct str denial; /* why the pod would not be created; "" */
    uint32_t placed;   /* pods that were placed; 0: the changes can keep none from running */
    uint32_t pending_without, pending_with;
    struct str reason; /* why the first of those is Pending */
    bool harmed;
};

struct checked_policy {
    struct str name;
    int32_t priority;
    enum policy_mode mode;
    struct policy_verdict verdict;
    bool is_for[POLICY_TARGETS]; /* does it have a part for them? */
    struct str placement_keys;   /* policy_placement_keys(); "": it is not for Placements */
    uint32_t workloads, pods;    /* that have a part of it */
    uint32_t injected, softened, skipped, harmed;
};

static inline bool is_for_placements_only(const struct checked_policy *p) {
    return p->is_for[POLICY_FOR_PLACEMENTS] && !p->is_for[POLICY_FOR_PODS];
}

struct policy_check {
    struct checked_policy *policies; /* those of the files, in the order of matching */
    uint32_t policy_count;
    struct checked_workload *workloads; /* those that have a part of one of them; by name */
    uint32_t workload_count;
    uint32_t others;               /* workloads that do not */
    bool sound;                    /* nobody is harmed, and each policy can do what it asks for */
    struct filter_unknown unknown; /* by what pods were not placed */
};

/* `paths`: files or folders of policies. Policies that the configuration names, and those of the
 * cluster's objects, are there beside them unless they have the same name. Everything in *ret is
 * in the arena. 0 or -errno. */
int policy_check_run(const struct configuration *c, const char *const *paths, size_t path_count,
                     struct arena *arena, struct policy_check *ret, struct err *err) MUST_CHECK;
