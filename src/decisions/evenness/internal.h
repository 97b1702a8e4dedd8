/* The data of a round, and the functions that evaluate them. Only files of this folder include
 * it. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/hashmap.h"
#include "base/limits.h"
#include "base/pages.h"
#include "evenness/evenness.h"

#define NO_DOMAIN TOPOLOGY_NONE
#define SET_UNKNOWN (UINT32_MAX - 1)

/* A topology key, with the nodes' domains at the time when the round began. */
struct seen_key {
    struct str name;     /* borrowed from the report */
    uint32_t *domain_of; /* [slots]: domain of each node; owned */
    struct evenness_domain *domains;
    uint32_t domain_count;
    struct evenness_domain without; /* nodes without a domain */
    uint32_t word, words; /* the part of a set's bits for this key: first word, number of words */
};

/* A set of domains that are feasible for pods, for all keys. */
struct domain_set {
    struct hash128 hash;
    uint32_t domains[LIMIT_EVENNESS_KEYS]; /* number of domains of each key */
};

/* The set of domains for pods with the same terms and volumes. */
struct seen_reach {
    struct hash128 key;
    uint32_t set;
};

struct seen_namespace {
    struct str name;
    uint32_t workloads;
    uint64_t steps; /* steps for the sets that pods of this namespace needed first */
};

struct seen_workload {
    struct hash128 key;
    struct evenness_workload is;
    uint32_t groups; /* first item of the list of its groups */
    uint32_t number; /* number of the workload in the report */
};

/* Pods of a workload that have the same set of domains. */
struct seen_group {
    uint32_t workload, set, next; /* next: the next group of the workload */
    uint32_t pods, first; /* first: index of its first slot, if all slots are sorted by group */
};

enum { NODE_KNOWN = 1, NODE_CORDONED = 2, NODE_TAINTED = 4 };

struct seen_pod {
    uint32_t group, slot;
};

struct seen {
    uint32_t slots, words;
    struct seen_key keys[LIMIT_EVENNESS_KEYS];
    uint32_t key_count;
    /* All arrays are owned. */
    struct domain_set *sets;
    uint64_t *bits; /* [sets][words]: the domains of each set */
    struct seen_reach *reaches;
    struct seen_namespace *namespaces;
    struct seen_workload *workloads;
    struct seen_group *groups;
    struct seen_pod *pods; /* [pod_cap], from pages_resize() */
    uint32_t *slot_pods;   /* [slots]: number of pods on each node */
    uint8_t *slot_nodes;   /* [slots]: NODE_* flags; 0: the slot's node is not known */
    uint32_t set_count, set_cap, bits_cap, reach_count, reach_cap, namespace_count, namespace_cap,
        workload_count, workload_cap, group_count, group_cap, pod_count, pod_cap;
    uint32_t live, lost, pending, not_measured;
    struct hashmap set_index, reach_index, namespace_index, workload_index, group_index;
};

/* Makes room for one more item in an array from malloc(). Returns the array, which may have moved,
 * or NULL. */
void *room_for(void *items, uint32_t count, uint32_t *cap, size_t size);
/* Does the same as room_for(), for an array from pages_resize(). */
void *room_in_pages(void *items, uint32_t count, uint32_t *cap, size_t size);

static inline bool has_bit(const uint64_t *bits, uint32_t at) {
    return (bits[at / 64] >> (at % 64) & 1) != 0;
}
static inline void set_bit(uint64_t *bits, uint32_t at) {
    bits[at / 64] |= UINT64_C(1) << (at % 64);
}

/* judge.c */
/* Makes the report from the data of a round, in the report's arena. Returns 0 or -ENOMEM. */
int evenness_judge(struct seen *seen, struct evenness_report *report) MUST_CHECK;
void evenness_free_counts(struct evenness_report *report);
