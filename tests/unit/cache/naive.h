/*
 * A naive model of cache.h: it keeps everything in plain arrays and counts every answer anew.
 * Randomised tests compare the cache with it.
 *
 * Objects have numbers, and few different values, so that their values are often equal: a node "n7"
 * has a value or no value for each of three topology keys; a pod has labels, a namespace and a
 * node.
 */
#pragma once

#include "model/object.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    NAIVE_NODES = 80,
    NAIVE_PODS = 150,
    NAIVE_NAMESPACES = 3,
    NAIVE_WORKLOADS = 24,
    NAIVE_KEYS = 3,   /* topology keys, and label keys of pods */
    NAIVE_VALUES = 3, /* values of each key; value 0 is "" */
    NAIVE_TAINTS = 5,
    NAIVE_REQUESTS = 4,  /* choices of a pod's requests, and of a node's resources */
    NAIVE_RESOURCES = 4, /* names of resources */
    NAIVE_SELECTORS = 7,
    NAIVE_FEASIBILITIES = 5,
    NAIVE_TTL_MS = 1000,
};

/* The value of each key; -1: the label is missing. */
struct naive_labels {
    int8_t value[NAIVE_KEYS];
};

struct naive_node {
    bool known;
    uint32_t generation;
    struct naive_labels labels;
    uint8_t taints; /* the number of one of NAIVE_TAINTS combinations */
    uint8_t has;    /* one of NAIVE_REQUESTS; from 2 on the node is cordoned */
};

struct naive_pod {
    bool present, reserved, terminating;
    uint32_t generation, node;
    uint8_t namespace, requests;
    struct naive_labels labels;
    int64_t expires_ms;
};

struct naive_workload {
    bool present;
    uint32_t generation;
    uint8_t selector; /* number of a selector for workloads */
};

struct naive {
    uint32_t generation;
    struct naive_node nodes[NAIVE_NODES];
    struct naive_pod pods[NAIVE_PODS];
    /* a workload's number gives its kind, namespace and name */
    struct naive_workload workloads[NAIVE_WORKLOADS];
    bool namespaces[NAIVE_NAMESPACES];
    uint32_t namespace_generations[NAIVE_NAMESPACES];
};

/* ---- what happens ---- */

void naive_apply_node(struct naive *m, uint32_t i, const struct naive_node *node);
/* `bound` and `finished` are the pod's state; `pod` has its other members. */
void naive_apply_pod(struct naive *m, uint32_t i, const struct naive_pod *pod, bool bound,
                     bool finished);
void naive_apply_namespace(struct naive *m, uint32_t i);
void naive_apply_workload(struct naive *m, uint32_t i, uint8_t selector);
/* Returns true if the cache must answer 0, false if it must answer -ENOENT. */
bool naive_reserve(struct naive *m, uint32_t i, const struct naive_pod *pod, int64_t now_ms);
void naive_release(struct naive *m, uint32_t i);
void naive_expire(struct naive *m, int64_t now_ms);
void naive_sync_end(struct naive *m);

/* ---- nodes, pods and workloads as objects ---- */

/* An object, with memory for the values to which it points. */
struct naive_object {
    struct object object;
    char name[16], uid[16];
    struct label labels[NAIVE_KEYS];
    struct taint taints[2];
};

/* All strings are in `o` or are constants. Every second pod has no UID; it always has the namespace
 * (number / 2) % NAIVE_NAMESPACES. */
void naive_node_object(const struct naive_node *node, uint32_t i, struct naive_object *o);
void naive_pod_object(const struct naive_pod *pod, uint32_t i, bool bound, bool finished,
                      struct naive_object *o);
void naive_namespace_object(uint32_t i, struct naive_object *o);
void naive_workload_object(uint32_t i, uint8_t selector, struct naive_object *o);
bool naive_pod_has_uid(uint32_t i);
struct str naive_namespace_name(uint32_t i);

/* ---- questions ---- */

extern const char *const naive_topology_keys[NAIVE_KEYS];
extern const char *const naive_resource_names[NAIVE_RESOURCES];
/* LabelSelectors as JSON, and specs of pods for feasibility. */
extern const char *const naive_selectors[NAIVE_SELECTORS];
extern const char *const naive_specs[NAIVE_FEASIBILITIES];

/* Is the pod live, in this namespace, and matched by the selector? */
bool naive_counts(const struct naive *m, uint32_t pod, uint32_t namespace, uint32_t selector);
/* Returns the CANDIDATE_* flags of a node. */
uint8_t naive_flags(const struct naive *m, uint32_t i, uint32_t spec);

/* Does the default selector of a pod with this namespace, these labels and this owner match
 * `other`? Sets *ret_empty if the pod has no default selector. */
bool naive_default_matches(const struct naive *m, uint32_t namespace,
                           const struct naive_labels *labels, uint32_t owner,
                           const struct naive_labels *other, bool *ret_empty);
/* Return a node's amount of one resource, the amount that the pods on the node request, and the
 * number of these pods. */
int64_t naive_allocatable(const struct naive *m, uint32_t node, uint32_t resource);
int64_t naive_requested(const struct naive *m, uint32_t node, uint32_t resource,
                        uint32_t *ret_pods);

/* Makes the pod whose default selector is asked for. */
void naive_owned_object(uint32_t namespace, const struct naive_labels *labels, uint32_t owner,
                        struct naive_object *o);

struct naive_stats {
    uint32_t nodes, pods, classes, reservations, workloads, namespaces;
};
struct naive_stats naive_stats(const struct naive *m);
