/*
 * A simulation of one pod against a state from files or an API server, with the daemon's own code.
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
#include "state/documents.h"
#include "whatif/pod_file.h"

#include <stdbool.h>
#include <stdint.h>

struct simulation_state;

struct simulation_question {
    const struct configuration *configuration; /* has the rules */
    const struct simulation_state *state;      /* from simulation_read() */
    const struct document *pod; /* a pod or a workload; NULL: no pod, for simulation_open() only */
    const char *candidates;     /* "a,b,..." or NULL */
    const char *scheduler_path; /* kube-scheduler's configuration, or NULL */
    uint32_t filters;           /* FILTER_* */
    struct findings *findings;  /* findings about the file and the state; NULL: none are wanted */
};

struct informer;
struct workload_key;

/* Objects that are pods, or have a pod template. */
extern const struct document_kind pod_documents;

/* Read the parts of a simulation: the configuration's present state, into a cache that the caller
 * frees, without the pods of `left_out` (NULL: with all pods); and a pod, or a pod of a workload,
 * in the arena. State files are read once and fill `volumes` and `fluid`, too; both may be NULL.
 * Return 0 or -errno. */
int simulation_load(const struct configuration *c, const struct workload_key *left_out,
                    struct informer *volumes, struct fluid_source *fluid, struct cache **ret,
                    struct err *err) MUST_CHECK;
int simulation_read_pod(const struct document *d, struct arena *arena, struct pod_file *ret_file,
                        struct pod *ret, struct err *err) MUST_CHECK;
/* Reads a file with one pod or workload, like simulation_read_pod(). */
int simulation_read_only_pod(const char *path, struct arena *arena, struct pod_file *ret_file,
                             struct pod *ret, struct err *err) MUST_CHECK;

/* Data and policies from the configured files. No API server is asked for them. */
struct simulation_data {
    struct fluid_source *fluid; /* simulation_load() fills it; NULL: there are no state files */
    struct policy_source *policies;
};
/* Loads data and policies, and logs policies that cannot work. Returns 0 or -errno; always call
 * simulation_data_done(). */
int simulation_load_data(const struct configuration *c, struct simulation_data *ret,
                         struct err *err) MUST_CHECK;
void simulation_data_done(struct simulation_data *d);

/* All state that the configuration names, read once. */
struct simulation_state {
    struct cache *cache;
    struct informer *volumes;
    struct simulation_data data;
};
/* Reads the state without the pods of `left_out`, which is borrowed for the life of the state;
 * NULL: with all pods. Returns 0 or -errno; always call simulation_state_done(). */
int simulation_read(const struct configuration *c, const struct workload_key *left_out,
                    struct simulation_state *ret, struct err *err) MUST_CHECK;
void simulation_state_done(struct simulation_state *s);
/* The message for a state without any node: it may be the state of another cluster, or the user may
 * not list nodes. */
extern const char simulation_no_nodes[];

/* The state and options for placing pods. */
struct simulation_setup {
    struct cache *cache; /* the state's cache, without the pod in question */
    struct pod_scoring scoring;
    struct informer *volumes;
    struct engine_options options; /* options for any pod; simulation_prepare() adapts them to one
                                      pod */
    struct node_affinity added;
    struct str not_read; /* parts of kube-scheduler's configuration, as filter_unknown names them */
    struct pod pod;      /* the pod in question; zeroed without a pod */
    const char *spec;    /* the path of the pod's spec in the file */
    struct candidates named;
    bool has_named;
};
/* Opens the setup. Returns 0 or -errno. The setup must not move, and must not outlive the state. */
int simulation_open(const struct simulation_question *q, struct arena *arena,
                    struct simulation_setup *ret, struct err *err) MUST_CHECK;

/* Adapts the setup's options to one pod: its policy, data and claims. Returns 0 or -errno. */
int simulation_prepare(const struct simulation_setup *setup, struct pod *pod, struct arena *arena,
                       struct engine_options *ret, struct err *err) MUST_CHECK;

/* Finds mistakes in the pod or workload of a file. Compares it with the configuration's state, if
 * there is one. Returns 0 or -errno, with a sentence. */
int simulation_find(const struct configuration *c, const struct document *pod, struct arena *arena,
                    struct findings *findings, struct err *err) MUST_CHECK;
/* Runs the simulation. Everything in *ret is in the arena. Returns 0 or -errno. */
int simulation_run(const struct simulation_question *question, struct arena *arena,
                   struct simulation *ret, struct err *err) MUST_CHECK;

/* Returns the index in `scored` of the first node with the highest total; UINT32_MAX if no node
 * passed. kube-scheduler may choose any node with this total. */
uint32_t simulation_best(const struct simulation *s);
/* Has a spread constraint or rule been applied to the pod? If nothing was scored, soft constraints
 * are not known. */
bool simulation_is_constrained(const struct simulation *s);
/*
 * Returns sentences about the hard spread constraints that leave the pod no node: the domains that
 * they allow, and why no node in these domains passes. The text is in the arena; "" if no
 * constraint is in the way. For a domain with only tainted nodes it names the setting that leaves
 * it out. Needs options.reports. If no node has a label that the pod asks for, returns that finding
 * and nothing else; `findings` may be NULL.
 */
struct str simulation_cause(const struct simulation *s, const struct findings *findings,
                            struct arena *arena);
/* Returns the reasons why no node passed: "2 nodes: NodeAffinity: ..."; in the arena. */
struct str simulation_reasons(const struct simulation *s, struct arena *arena);
