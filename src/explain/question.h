/*
 * What POST /explain asks: what would become of this pod? The body is a Pod, or an object with
 *
 *     pod         a Pod
 *     nodeNames   the nodes to filter and score; without it all are filtered, and those scored that
 *                 pass
 *     policies    TopologyPolicies in place of those in force; each must be able to work
 *
 * Everything decoded lives in the body or the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "engine/engine.h"
#include "model/policy.h"

struct explain_question {
    struct str text; /* the pod's, JSON */
    struct pod pod;  /* with POD_WHOLE, and a namespace */
    struct candidates nodes;
    bool has_nodes;
    struct policy_list policies; /* sorted */
    bool has_policies;
};

/* 0; -EINVAL: err says what is wrong and where; -ENOMEM. */
int explain_question_decode(struct str body, struct arena *arena, struct explain_question *ret,
                            struct err *err) MUST_CHECK;
/* A pod alone, as a patch leaves it: 0, -EINVAL or -ENOMEM. */
int explain_pod_decode(struct str text, struct arena *arena, struct pod *ret,
                       struct err *err) MUST_CHECK;
