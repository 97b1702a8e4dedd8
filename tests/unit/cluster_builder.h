/*
 * Small clusters for tests, written down the way scenario tables write them. All names are one
 * word; an unknown form fails the test.
 *
 * Nodes: "a b x,-zone y,+foo=bar,!"
 *     Every node has the labels node=<name>, kubernetes.io/hostname=<name> and zone: zone1 for
 *     names from a to n, zone3 for o and p, zone2 for q to z. ",+key=value" sets a label (",+key":
 *     with the empty value), ",-key" takes one away, ",!" taints the node with gone:NoSchedule,
 *     ",!out" as Kubernetes does when it is not reached.
 *
 * Pods: "a:2 b:bar x:foo+bar=1 ns1/y:1 a:~1"
 *     The node, then how many pods with the label foo, or the labels of a single pod. "~":
 *     terminating. "ns1/" in front: in that namespace instead of "default".
 *
 * Constraints: "1/zone/foo
 * 2/node/foo+bar=1,soft,minDomains=4,affinity=Ignore,taints=Honor,keys=k+l" maxSkew, topology key
 * ("host" is kubernetes.io/hostname), selector: labels that must be there and pairs that must be
 * equal; "nil" and "{}" are those selectors. Hard unless ",soft".
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "cache/cache.h"
#include "engine/engine.h"

#include "unit/unit.h"

enum { CLUSTER_NODES = 128, CLUSTER_PODS = 128, CLUSTER_WORKLOADS = 16 };

struct cluster_pod_kept {
    struct str token; /* "ns1/y:foo": the token from which the pod was made */
    struct object object;
    bool gone;
};

struct cluster {
    struct arena arena; /* holds all decoded objects until cluster_close() */
    struct clock_fake clock;
    struct cache *cache;
    struct engine_options options; /* no default constraints; {} counts every pod */
    struct object nodes[CLUSTER_NODES];
    uint32_t node_count;
    struct cluster_pod_kept pods[CLUSTER_PODS];
    uint32_t pod_count;
    struct object workloads[CLUSTER_WORKLOADS];
    uint32_t workload_count;
};

/* Opens an empty cluster. Reservations last 1000 ms of c->clock; the cache has the limits of
 * cluster_limits(). */
void cluster_open(struct cluster *c);
/* The same as cluster_open() with other limits of the cache; the clock in `options` is replaced by
 * the cluster's clock. */
void cluster_open_with(struct cluster *c, struct cache_options options);
void cluster_close(struct cluster *c);

/* Returns the cache's limits for the present run of cluster_run_tests(); outside of it, the usual
 * limits. */
struct cache_options cluster_limits(void);
/* Runs a group of tests with the usual limits of the cache, and then with 2, 3 and 8 columns,
 * counters and feasibilities: no limit may change an answer. Returns the number of failures. */
int cluster_run_tests(const char *name, const struct CMUnitTest *tests, size_t count);
#define CLUSTER_RUN_TESTS(name, tests)                                                             \
    cluster_run_tests((name), (tests), sizeof(tests) / sizeof *(tests))

/* Adds nodes, or replaces nodes that exist. */
void cluster_nodes(struct cluster *c, const char *text);
void cluster_pods(struct cluster *c, const char *text);
/* Removes one pod for each token ("a:1", "b:bar"). */
void cluster_unpods(struct cluster *c, const char *text);
/* Adds a workload (Service, ReplicaSet ...) from its JSON. */
void cluster_workload(struct cluster *c, enum object_kind kind, const char *json);
/* Opens `to` as a new cluster with the nodes and workloads of `from` and, if `with_pods`, also with
 * its present pods. */
void cluster_copy(const struct cluster *from, bool with_pods, struct cluster *to);

/* Returns the pod that must be scheduled. `spec` has more members of its spec, each followed by a
 * comma; it may be "". */
struct pod cluster_pod(struct cluster *c, const char *labels, const char *constraints,
                       const char *spec);
/* Returns only constraints, in the form of options.default_constraints. */
const struct spread_constraint *cluster_constraints(struct cluster *c, const char *text,
                                                    uint32_t *ret_count);

/* Returns one object from its JSON. */
struct object cluster_object(struct cluster *c, enum object_kind kind, const char *json);
/* Returns the compiled selector of a JSON LabelSelector. */
struct selector cluster_selector(struct cluster *c, const char *json);
void cluster_apply(struct cluster *c, const struct object *object);
void cluster_remove(struct cluster *c, const struct object *object);
void cluster_apply_json(struct cluster *c, enum object_kind kind, const char *json);

/* Removes the next word from *rest; any character of `between` separates words. Returns false at
 * the end. */
bool next_word(struct str *rest, const char *between, struct str *ret_word);
