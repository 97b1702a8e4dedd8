/*
 * The workloads of a cluster: its living pods, by the controller that made them. A pod without
 * controller is a workload by itself.
 */
#pragma once

#include "base/hashmap.h"
#include "whatif/cluster_objects.h"

struct workload_pods {
    struct str namespace, kind, name; /* the workload's (model/workload.h) */
    struct str controller; /* key of the workload: group, kind and name of the controller */
    struct str *pods;      /* the pods as JSON, in the order of the objects; borrowed */
    uint32_t count, cap;
};

struct controlled_pods {
    struct arena *arena; /* borrowed */
    struct workload_pods *items;
    uint32_t count, cap;
    struct hashmap map; /* finds an item by namespace and controller */
};

/* Finds the workloads' pods among the objects and borrows their texts. Returns 0 or -errno; always
 * call controlled_pods_done(). */
int controlled_pods_find(const struct cluster_objects *objects, struct arena *arena,
                         struct controlled_pods *ret, struct err *err) MUST_CHECK;
void controlled_pods_done(struct controlled_pods *w);
