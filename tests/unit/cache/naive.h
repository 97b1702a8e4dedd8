/*
 * The truths of cache.h kept the naive way: everything in plain arrays, every answer counted anew.
 * What randomised tests hold against the cache.
 *
 * Objects are numbered and made of small alphabets, so that they meet often: a node "n7" has a
 * value or none under each of three topology keys, a pod has labels, a namespace and a node.
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
    NAIVE_VALUES = 3, /* of each; value 0 is "" */
    NAIVE_TAINTS = 5,
    NAIVE_REQUESTS = 4,  /* what pods may request, and what nodes may have */
    NAIVE_RESOURCES = 4, /* names of resources */
    NAIVE_SELECTORS = 7,
    NAIVE_FEASIBILITIES = 5,
    NAIVE_TTL_MS = 1000,
};

/* Values per key; -1: no such label. */
struct naive_labels {
    int8_t value[NAIVE_KEYS];
};

struct naive_node {
    bool known;
    uint32_t generation;
    struct naive_labels labels;
    uint8_t taints; /* one of NAIVE_TAINTS combinations */
    uint8_t has;    /* one of NAIVE_REQUESTS; from 2 on it is cordoned */
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
    uint8_t selector; /* of its own alphabet */
};

struct naive {
    uint32_t generation;
    struct naive_node nodes[NAIVE_NODES];
    struct naive_pod pods[NAIVE_PODS];
    struct naive_workload workloads[NAIVE_WORKLOADS]; /* number -> kind, namespace, name */
    bool namespaces[NAIVE_NAMESPACES];
    uint32_t namespace_generations[NAIVE_NAMESPACES];
};

/* ---- what happens ---- */

void naive_apply_node(struct naive *m, uint32_t i, const struct naive_node *node);
/* `bound` and `finished` as the object says; `pod` carries the rest. */
void naive_apply_pod(struct naive *m, uint32_t i, const struct naive_pod *pod, bool bound,
                     bool finished);
void naive_apply_namespace(struct naive *m, uint32_t i);
void naive_apply_workload(struct naive *m, uint32_t i, uint8_t selector);
/* Whether the cache must answer 0; false: -ENOENT. */
bool naive_reserve(struct naive *m, uint32_t i, const struct naive_pod *pod, int64_t now_ms);
void naive_release(struct naive *m, uint32_t i);
void naive_expire(struct naive *m, int64_t now_ms);
void naive_sync_end(struct naive *m);

/* ---- the same as objects ---- */

/* Room for what a struct object points to. */
struct naive_object {
    struct object object;
    char name[16], uid[16];
    struct label labels[NAIVE_KEYS];
    struct taint taints[2];
};

/* All strings live in `o` or are constants. Every other pod has no UID, but keeps to a namespace
 * then: (number / 2) % NAIVE_NAMESPACES. */
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

/* Is there a pod, live, of this namespace and matched? */
bool naive_counts(const struct naive *m, uint32_t pod, uint32_t namespace, uint32_t selector);
/* CANDIDATE_* flags of a node. */
uint8_t naive_flags(const struct naive *m, uint32_t i, uint32_t spec);

/* Does the default selector of a pod of this namespace and labels, owned by this workload, match
 * `other`? Nothing applies: ret_empty. */
bool naive_default_matches(const struct naive *m, uint32_t namespace,
                           const struct naive_labels *labels, uint32_t owner,
                           const struct naive_labels *other, bool *ret_empty);
/* Of one resource: what a node has, and what is asked of it by the pods there, which are counted.
 */
int64_t naive_allocatable(const struct naive *m, uint32_t node, uint32_t resource);
int64_t naive_requested(const struct naive *m, uint32_t node, uint32_t resource,
                        uint32_t *ret_pods);

/* The pod that asks for it. */
void naive_owned_object(uint32_t namespace, const struct naive_labels *labels, uint32_t owner,
                        struct naive_object *o);

struct naive_stats {
    uint32_t nodes, pods, classes, reservations, workloads, namespaces;
};
struct naive_stats naive_stats(const struct naive *m);
