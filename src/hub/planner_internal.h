/* What a planner keeps; only files of this folder include it. */
#pragma once

#include "base/hashmap.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "hub/planner.h"

/* How a Placement counts. */
struct planner_counts {
    bool ours, own_terms, skewed;
    uint32_t waiting;
};

struct planner_metrics {
    struct metric placements[2]; /* by whether terms are the Placement's own */
    struct metric plans[3];      /* decided, kept, failed */
    struct metric duration;
    struct metric moves[MOVED_REASONS];
    struct metric waiting, skewed;
    char labels[2 + 3 + MOVED_REASONS][48];
};
void planner_metrics_start(struct planner_metrics *m);
void planner_metrics_stop(struct planner_metrics *m);
void planner_metrics_replace(struct planner_metrics *m, const struct planner_counts *before,
                             const struct planner_counts *now);
void planner_metrics_look(struct planner_metrics *m, const struct owned_answer *a,
                          int64_t duration_ns);
