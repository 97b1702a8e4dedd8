/*
 * Which policies are a pod's: by its labels, its controllers, its scheduler, the labels of its
 * namespace, and whether it opted out; and which one is a Placement's. All that asks this asks
 * here.
 *
 * Thread-safe as far as the cache is; nothing outlives the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cache/cache.h"
#include "fleet/fleet.h"
#include "model/object.h"
#include "model/policy.h"

struct policy_namespace {
    struct str name;
    struct labels labels;
    bool known; /* false: labels say nothing */
};

/* 0, also for a namespace that is not known, or -ENOMEM. `name` is borrowed. */
int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) MUST_CHECK;

/* The same of a fleet's namespaces; strings are borrowed from the view. */
int policy_namespace_of_fleet(const struct fleet_view *view, struct str name, struct arena *arena,
                              struct policy_namespace *ret) MUST_CHECK;

/* Why no policy but one with mode Require is for a pod with these labels, as a phrase for people,
 * or "": it or its namespace has the label evenkeel.io/inject: disabled. */
struct str policy_opt_out(const struct policy_namespace *namespace, const struct labels *pod);

/* What the answer is for. */
enum policy_purpose {
    POLICY_TO_CHANGE,   /* the pod; and whatever speaks of what was changed */
    POLICY_TO_VALIDATE, /* it: a policy with mode Require binds pods of every scheduler */
    POLICY_TO_FORESEE,  /* what both would do, whoever creates it */
    POLICY_TO_SCORE,    /* nodes for it: the scheduler that asks gets an answer, listed or not */
};

/*
 * The pod's owners are its controller and the workload above that (model/workload.h); a pod without
 * controller is its own. Pods whose controller chooses their node (of DaemonSets, and mirror pods)
 * have no policies, but to be validated: whether it was that controller is asked then.
 *
 * Policies are sorted. False, and none, where it depends on the labels of a namespace that is not
 * known.
 */
bool policy_of_pod(struct policy_list policies, const struct policy_namespace *namespace,
                   const struct pod *pod, enum policy_purpose purpose, struct policy_choice *ret);

/* The same, to change them, of the pods of a group. False also where their controller or their
 * labels are not known. */
bool policy_of_group(struct policy_list policies, const struct cache_group *group,
                     struct policy_choice *ret);

/*
 * The policy of a Placement that has no term of its own: ret->enforced[POLICY_PLACEMENTS], by whose
 * placement_terms it is spread (NULL: by none), and ret->audited[POLICY_PLACEMENTS], which would
 * come before that one if its mode were not Audit (NULL: none). Modes Enforce and Require are the
 * same here.
 *
 * Its owner is its controller; a Placement without one is its own, of group
 * cluster.open-cluster-management.io and kind Placement. The label evenkeel.io/inject is for pods:
 * Placements, which have an annotation of their own to be left alone with, do not opt out by it.
 *
 * Policies are sorted. Of a namespace that is not known the name counts. False, and none, where the
 * answer depends on its other labels.
 */
bool policy_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                         const struct object_meta *placement, struct policy_choice *ret);

/* The terms of that policy; of one that is only audited, or where it is not known, a warning. 0 or
 * -ENOMEM; sentences are in the arena, the rest is the policy's. */
int policy_terms_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                              const struct object_meta *placement, struct arena *arena,
                              struct ocm_policy_terms *ret) MUST_CHECK;

/*
 * The same for a Placement of a fleet, whose namespaces the view has: the terms of the first policy
 * that matches it and has any. If the mode of that policy is Audit there is a warning instead, and
 * later policies do not count.
 */
int policy_terms_in_fleet(const struct fleet_view *view, struct policy_list policies,
                          const struct object_meta *placement, struct arena *arena,
                          struct ocm_policy_terms *ret) MUST_CHECK;

/* Keys of the policy's terms for people: "region, zone". In the arena. */
struct str policy_placement_keys(const struct policy *policy, struct arena *arena);
/* What a policy with mode Audit would do, for whoever looks at the Placement: "policy 'p' (Audit)
 * would spread by region, zone". In the arena. */
struct str policy_placement_audit(const struct policy *policy, struct arena *arena);
