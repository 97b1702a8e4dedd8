/*
 * A simulation: one pod against a state read from files or an API server, by the code that serves.
 * `evenkeel simulate` prints it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "config/configuration.h"
#include "data/source.h"
#include "engine/simulate.h"
#include "extender/policy_overrides.h"
#include "policy/policies.h"
#include "whatif/pod_file.h"

#include <stdbool.h>
#include <stdint.h>

struct simulation_state;

struct simulation_question {
    const struct configuration *configuration; /* its rules */
    const struct simulation_state *state;      /* of its source */
    const char *pod_path;                      /* NULL: none, for simulation_open() */
    const char *candidates;                    /* "a,b,..." or NULL */
    const char *scheduler_path;                /* kube-scheduler's configuration, or NULL */
    uint32_t filters;                          /* FILTER_* */
};

struct informer;

/* The parts of a simulation: the state that the configuration names, as it is now, in a cache that
 * the caller frees; and the one Pod of a JSON or YAML file, or one of the workload that it has, in
 * the arena. `volumes` and `fluid` are filled from state files, too, which are read once for all;
 * both may be NULL. 0 or -errno. */
int simulation_load(const struct configuration *c, struct informer *volumes,
                    struct fluid_source *fluid, struct cache **ret, struct err *err) MUST_CHECK;
int simulation_read_pod(const char *path, struct arena *arena, struct pod_file *ret_file,
                        struct pod *ret, struct err *err) MUST_CHECK;

/* What the configured files say of data and policies. An API server is not asked for either. */
struct simulation_data {
    struct fluid_source *fluid; /* for simulation_load() to fill; NULL: there are no state files */
    struct policy_source *policies;
};
/* Policies that cannot work are in the log. 0, or -errno with a sentence; in any case it is to be
 * released. */
int simulation_load_data(const struct configuration *c, struct simulation_data *ret,
                         struct err *err) MUST_CHECK;
void simulation_data_done(struct simulation_data *d);

/* Everything that the configuration names, read once. */
struct simulation_state {
    struct cache *cache;
    struct informer *volumes; /* NULL: not asked for */
    struct simulation_data data;
};
/* 0, or -errno with a sentence; in any case it is to be released. */
int simulation_read(const struct configuration *c, bool with_volumes, struct simulation_state *ret,
                    struct err *err) MUST_CHECK;
void simulation_state_done(struct simulation_state *s);
/* What is said of a state in which there is not one node: of another cluster, perhaps, or of a user
 * who may not list them. */
extern const char simulation_no_nodes[];

/* What pods are placed by. */
struct simulation_setup {
    struct cache *cache; /* the state's; the pod that is asked about is not in it any more */
    struct pod_scoring scoring;
    struct engine_options options; /* for any pod: pod_scoring_prepare() makes them this one's */
    struct node_affinity added;
    struct pod pod; /* zeroed without a path */
    struct candidates named;
    bool has_named;
};
/* 0 or -errno. The setup must not move, nor outlive the state. */
int simulation_open(const struct simulation_question *q, struct arena *arena,
                    struct simulation_setup *ret, struct err *err) MUST_CHECK;

/* Everything in *ret is in the arena. 0 or -errno. */
int simulation_run(const struct simulation_question *question, struct arena *arena,
                   struct simulation *ret, struct err *err) MUST_CHECK;

/* Of the nodes that passed the first with the highest total, as an index of `scored`; UINT32_MAX:
 * none passed. kube-scheduler takes any of these. */
uint32_t simulation_best(const struct simulation *s);
/* Has a spread constraint or rule been applied to the pod? If nothing was scored, soft ones are not
 * known. */
bool simulation_is_constrained(const struct simulation *s);
/*
 * Which hard spread constraints leave no node to a pod, which domains they allow and why none of
 * their nodes will do: sentences in the arena, "" if no constraint is in the way. A domain whose
 * nodes are all tainted is named with what would leave it out. Of a simulation with
 * options.reports.
 */
struct str simulation_cause(const struct simulation *s, struct arena *arena);
/* Why no node passed: "2 nodes: NodeAffinity: ...", by reason; in the arena. */
struct str simulation_reasons(const struct simulation *s, struct arena *arena);
