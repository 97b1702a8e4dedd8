/*
 * A synthetic cluster for benchmarks: nodes in 4 regions and 12 zones, and 500 workloads in 50
 * namespaces. Their pods are spread as by kube-scheduler: evenly over the zones, on any node within
 * a zone. Everything is a hash of numbers, so two programs can use the same cluster without
 * exchanging it, and every run has the same cluster.
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
    CLUSTER_WAITING_PODS = 50, /* number of waiting pods with different workloads */
};

/*
 * All these functions append to `out`; the caller checks it for failure once, at the end.
 */

void cluster_node_name(uint32_t node, struct strbuf *out);

/* Appends a Node of some 9.4 KB. `with_kind` puts apiVersion and kind in front: kubectl writes
 * them, kube-scheduler leaves them out. */
void cluster_node(uint32_t node, bool with_kind, struct strbuf *out);

/* The position of cluster_pod() in its sequence. At first all zero except `nodes`. */
struct cluster_pods {
    uint32_t nodes;
    uint32_t next;
    uint32_t replicas[CLUSTER_WORKLOADS]; /* live pods of each workload so far */
};

/* Appends the next bound pod, about 1 KB. */
void cluster_pod(struct cluster_pods *pods, struct strbuf *out);

/* Appends a pod that waits for a node, as kube-scheduler sends it. It must be spread evenly over
 * zones, and preferably over hosts. */
void cluster_waiting_pod(uint32_t number, struct strbuf *out);

/* Returns the hash from which every arbitrary value is made. */
uint64_t cluster_hash(uint64_t of);
/* Appends a UID in quotes. */
void cluster_put_uid(uint64_t of, struct strbuf *out);
