/* Functions that the files of this folder share. */
#pragma once

#include "estimator/nodes.h"

/* Are the cluster's models used for the question? */
static inline bool estimator_has_models(const struct karmada_cluster *cluster,
                                        const struct estimator_question *q) {
    return q->models != MODELS_OFF && cluster->models.modeling_count > 0;
}

/* Estimates replicas of q->demands by models. Sets ESTIMATE_UNKNOWN if the models have no answer,
 * so that the summary decides. Returns 0, -E2BIG or -ENOMEM; always 0 without assumed workloads. */
int estimator_models_replicas(const struct karmada_models *models,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) MUST_CHECK;
/* Estimates sets of q->set by models, at most `bound` sets. Results and errors are those of
 * estimator_models_replicas(). */
int estimator_models_sets(const struct karmada_models *models, const struct estimator_question *q,
                          int64_t bound, struct arena *arena, int64_t *ret) MUST_CHECK;

/* ---- nodes ---- */

/* Flags of topology_feasibility() for a node that a replica may use. */
enum { NODE_USABLE = CANDIDATE_AFFINITY | CANDIDATE_TAINTS };

/* Returns the index of a scalar's name, or UINT32_MAX. */
uint32_t estimator_nodes_name(const struct estimator_nodes *nodes, struct str name);
/* Does the same as estimator_nodes_replicas(), for a question with assumed workloads. */
int estimator_replicas_beside(const struct estimator_nodes *nodes, struct topology_view *view,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) MUST_CHECK;
