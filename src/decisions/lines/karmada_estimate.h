/*
 * Declarations for the files of the step `estimate`.
 */
#pragma once

#include "estimator/nodes.h"
#include "estimator/quota.h"
#include "estimator/wire.h"
#include "karmada/karmada.h"

/* The question, decoded. */
struct estimate_line {
    bool has_cluster, has_nodes, has_components;
    struct karmada_cluster cluster;
    struct str cluster_name; /* .p NULL: not given */
    struct replica_requirements requirements;
    const struct component *components;
    uint32_t component_count;
    const struct assumed_workload *assumed;
    uint32_t assumed_count;
    struct str namespace;
    struct str wire, components_wire; /* bytes; .p NULL: not given */
    const struct node *nodes;
    uint32_t node_count;
    const struct karmada_pod *pods;
    uint32_t pod_count;
    const struct quota *quotas;
    uint32_t quota_count;
    struct karmada_options options;
};

/* One requested estimate. */
struct asked {
    struct str cluster; /* the cluster in the request; .p NULL: no cluster */
    bool sets;
    const struct replica_requirements *requirements;
    const struct component *components;
    uint32_t component_count;
    struct str namespace;
    const struct assumed_workload *assumed;
    uint32_t assumed_count;
};

/* Makes the estimators' question from a requested estimate. Returns 0, -E2BIG (the arena's steps
 * are spent) or -ENOMEM. */
int estimate_prepare(const struct estimate_line *line, const struct asked *asked,
                     struct arena *arena, struct estimator_question *q) MUST_CHECK;
/* Writes the answer of a line that has nodes. Returns 0 with all members of the answer, or -errno
 * without any member. */
int estimate_answer_nodes(const struct estimate_line *line, struct arena *arena,
                          struct json_writer *w, struct err *err) MUST_CHECK;
