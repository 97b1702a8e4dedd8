/*
 * Finds the policies of a pod, by its labels, controllers, scheduler, the labels of its namespace
 * and its opt-out, and the policy of a Placement. No other code decides this.
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
    bool known; /* false: `labels` is empty because the labels are not known */
};

/* Returns 0, also for an unknown namespace, or -ENOMEM. `name` is borrowed. */
int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) MUST_CHECK;

/* Finds a namespace of a fleet; strings are borrowed from the view. */
int policy_namespace_of_fleet(const struct fleet_view *view, struct str name, struct arena *arena,
                              struct policy_namespace *ret) MUST_CHECK;

/* Returns a phrase for people if only mode Require applies to a pod with these labels, because the
 * pod or its namespace has the label evenkeel.io/inject: disabled. "": neither has the label. */
struct str policy_opt_out(const struct policy_namespace *namespace, const struct labels *pod);

/* The purpose for which the answer is used: */
enum policy_purpose {
    POLICY_TO_CHANGE,   /* change the pod, or explain its changes */
    POLICY_TO_VALIDATE, /* validate the pod: mode Require binds pods of every scheduler */
    POLICY_TO_FORESEE,  /* predict the effect of both, whoever creates the pod */
    POLICY_TO_SCORE,    /* score nodes for the pod: any scheduler that asks gets an answer */
};

/*
 * Finds the policies of a pod. The pod's owners are its controller and the workload that owns the
 * controller (model/workload.h); a pod without controller is its own owner. Pods of DaemonSets, and
 * mirror pods, whose controller chooses their node, have policies only for validation, which checks
 * if that controller has created them.
 *
 * Policies must be sorted. Returns false, and no policy, if the answer depends on labels of an
 * unknown namespace.
 */
bool policy_of_pod(struct policy_list policies, const struct policy_namespace *namespace,
                   const struct pod *pod, enum policy_purpose purpose, struct policy_choice *ret);

/* Finds the policies of the pods of a group, with POLICY_TO_CHANGE. Also returns false if the pods'
 * controller or labels are not known. */
bool policy_of_group(struct policy_list policies, const struct cache_group *group,
                     struct policy_choice *ret);

/*
 * Finds the policy of a Placement without terms of its own: the placement_terms of
 * ret->enforced[POLICY_PLACEMENTS] spread it (NULL: none), and ret->audited[POLICY_PLACEMENTS]
 * would come before it if its mode were not Audit (NULL: none). Modes Enforce and Require are the
 * same here.
 *
 * Its owner is its controller; a Placement without controller is its own owner, of group
 * cluster.open-cluster-management.io and kind Placement. The label evenkeel.io/inject is for pods
 * only: Placements have their own annotation to opt out.
 *
 * Policies must be sorted. An unknown namespace still has its name as a label. Returns false, and
 * no policy, if the answer depends on its other labels.
 */
bool policy_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                         const struct object_meta *placement, struct policy_choice *ret);

/* Returns the terms of the policy that policy_of_placement() finds, or a warning if that policy is
 * only audited or not known. Returns 0 or -ENOMEM; sentences are in the arena, the terms belong to
 * the policy. */
int policy_terms_of_placement(struct policy_list policies, const struct policy_namespace *namespace,
                              const struct object_meta *placement, struct arena *arena,
                              struct ocm_policy_terms *ret) MUST_CHECK;

/*
 * Does the same for a Placement of a fleet; the view has the namespaces. Returns the terms of the
 * first policy with terms that matches it. If that policy's mode is Audit, returns a warning
 * instead, and ignores later policies.
 */
int policy_terms_in_fleet(const struct fleet_view *view, struct policy_list policies,
                          const struct object_meta *placement, struct arena *arena,
                          struct ocm_policy_terms *ret) MUST_CHECK;

/* Returns the keys of the policy's terms for people, "region, zone", in the arena. */
struct str policy_placement_keys(const struct policy *policy, struct arena *arena);
/* Returns what a policy with mode Audit would do, for people: "policy 'p' (Audit) would spread by
 * region, zone". In the arena. */
struct str policy_placement_audit(const struct policy *policy, struct arena *arena);
