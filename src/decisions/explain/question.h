/*
 * The body of POST /explain, which asks how Evenkeel would decide about a pod now. It is a Pod, or
 * an object with
 *
 *     pod         a Pod
 *     nodeNames   the nodes to filter and score; without it all nodes are filtered, and the nodes
 *                 that pass are scored
 *     addedAffinity   a NodeAffinity, as kube-scheduler's configuration adds it to every pod's
 *     ignoredResources, ignoredResourceGroups   lists of names of resources that NodeResourcesFit
 * does not check, as in kube-scheduler's configuration notRead     names the parts of that
 * configuration that the caller did not read; the answer's notJudged repeats it policies
 * TopologyPolicies to use instead of those in force; each must be valid workload    the user's
 * object that the pod was made from; paths of findings lead into it podSpecPath the place of the
 * pod's spec in the workload, such as spec.template.spec
 *
 * All decoded strings are in the body or the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "engine/engine.h"
#include "model/policy.h"

struct explain_question {
    struct str text; /* the pod as JSON */
    struct pod pod;  /* decoded with POD_SCORED; its namespace is not empty */
    struct candidates nodes;
    bool has_nodes;
    struct policy_list policies; /* sorted */
    bool has_policies;
    struct node_affinity added;
    bool has_added;
    struct str workload;  /* the workload as JSON; if the question has none, the text of the pod */
    struct str spec_path; /* path of the pod's spec in `workload`; "spec" in a pod */
    struct ignored_resources ignored;
    struct str not_read; /* at most LIMIT_NOT_READ bytes */
};

/* Returns 0; -EINVAL, with the error and its place in err; or -ENOMEM. */
int explain_question_decode(struct str body, struct arena *arena, struct explain_question *ret,
                            struct err *err) MUST_CHECK;
/* Decodes one Pod, for instance after a patch. A Pod without a uid is not stored yet: it is changed
 * to how the API server would store it (pod_as_stored()). Returns 0, -EINVAL or -ENOMEM. */
int explain_pod_decode(struct str text, struct arena *arena, struct pod *ret,
                       struct err *err) MUST_CHECK;
