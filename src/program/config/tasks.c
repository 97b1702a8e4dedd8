#include "config/tasks.h"

#include "base/str.h"

static const struct configuration_task tasks[] = {
    {"Read the cluster", {"kubernetes", "state"}},
    {"Change pods as they are created, by policies", {"policies", "webhook", "data"}},
    {"Answer kube-scheduler", {"extender", "reservations"}},
    {"Judge nodes for a pod", {"spread", "orderedSpread", "locality", "cache"}},
    {"Decide Placements of a fleet (Open Cluster Management)", {"ocm", "fleet", "hub"}},
    {"Say where bindings of Karmada go", {"karmada"}},
    {"Estimate how many replicas fit member clusters (Karmada)", {"estimator"}},
    {"Run several replicas, and stop one", {"leaderElection", "shutdown"}},
    {"See and log what it does", {"ops", "explain", "metrics", "events", "log"}},
};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

const struct configuration_task *configuration_task_at(size_t index) {
    return index < TASKS ? &tasks[index] : NULL;
}

const struct configuration_task *configuration_task_of(const char *path) {
    struct str section = {path, strcspn(path, ".")};
    for (size_t i = 0; i < TASKS; i++)
        for (size_t k = 0; tasks[i].sections[k] != NULL; k++)
            if (str_eq(section, str_of(tasks[i].sections[k])))
                return &tasks[i];
    return NULL;
}
