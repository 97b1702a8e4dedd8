/*
 * A synthetic cluster for benchmarks: nodes in 4 regions and 12 zones, and 500 workloads in 50
 * namespaces, their pods spread as kube-scheduler would have left them: even over the zones,
 * anywhere within one. Everything is a hash of numbers, so two programs can speak of the same
 * cluster without exchanging it, and every run has the same.
 *
 * One workload in ten is a StatefulSet, whose pods all differ in their labels; one pod in fifty is
 * finished, and one in a hundred is terminating.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CLUSTER_ZONES = 12,
    CLUSTER_NAMESPACES = 50,
    CLUSTER_WORKLOADS = 500,
    CLUSTER_WAITING_PODS = 50, /* that many differ in their workload */
};

/*
 * All of these append to `out`, which a caller asks for failure once, at the end.
 */

void cluster_node_name(uint32_t node, struct strbuf *out);

/* A Node of some 9.4 KB. `with_kind` puts apiVersion and kind in front: kubectl writes them,
 * kube-scheduler leaves them out. */
void cluster_node(uint32_t node, bool with_kind, struct strbuf *out);

/* Where cluster_pod() is. Zeroed but for `nodes`. */
struct cluster_pods {
    uint32_t nodes;
    uint32_t next;
    uint32_t replicas[CLUSTER_WORKLOADS]; /* live ones so far */
};

/* The next bound pod, about 1 KB. */
void cluster_pod(struct cluster_pods *pods, struct strbuf *out);

/* A pod that waits for a node, as kube-scheduler sends it: to be spread evenly over zones and
 * preferably over hosts. */
void cluster_waiting_pod(uint32_t number, struct strbuf *out);

/* What is arbitrary is this hash of who asks. */
uint64_t cluster_hash(uint64_t of);
/* A UID in quotes. */
void cluster_put_uid(uint64_t of, struct strbuf *out);
