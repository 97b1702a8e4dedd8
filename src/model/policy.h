/*
 * TopologyPolicy (evenkeel.io/v1alpha1): which pods are to be spread and kept near their data, and
 * how. Decoded from the JSON that an API server sends or that a YAML file becomes.
 *
 * Decoding is strict about the policy's own fields, selectors included: a misspelt `matchLabel`
 * would otherwise select every pod. What is well-formed but cannot work is no error of the reader:
 * policy_problem() says it in a sentence, and such a policy matches nothing.
 *
 * Decoded policies own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "base/json_reader.h"
#include "model/labels.h"
#include "model/selector.h"

enum policy_target { /* bits of policy.targets */
                     POLICY_POD = 1,
                     POLICY_PLACEMENT = 2,
                     POLICY_PROPAGATION_POLICY = 4,
};

enum policy_inclusion { POLICY_INCLUSION_DEFAULT, POLICY_HONOR, POLICY_IGNORE };

/* One constraint that the policy asks for. upstream: core/v1 TopologySpreadConstraint without what
 * says whom to count: that is every pod's own group. */
struct policy_spread {
    struct str topology_key;
    int32_t max_skew;    /* >= 1 */
    int32_t min_domains; /* >= 1; 0: not given */
    bool hard;           /* DoNotSchedule; otherwise ScheduleAnyway */
    enum policy_inclusion node_affinity, node_taints;
};

enum policy_locality_mode {
    POLICY_LOCALITY_OFF,
    POLICY_LOCALITY_PREFERRED,
    POLICY_LOCALITY_REQUIRED
};

struct policy_tier {
    struct str topology_key;
    int32_t weight; /* 1..100 */
};

struct policy {
    struct str name;
    uint32_t targets; /* bits */
    int32_t priority;
    struct selector namespaces, objects; /* not given: everything */
    const struct policy_spread *spread;  /* the most important first */
    uint32_t spread_count;
    enum policy_locality_mode locality;
    const struct policy_tier *tiers;
    uint32_t tier_count;
    bool keep_others_off_cache_nodes;
    int32_t spread_weight, locality_weight; /* 0..1000 */
    uint64_t namespace_bits, object_bits;   /* policy_label_bits() of what they ask for; 0: look */
    struct str problem;                     /* why it cannot work, as policy_problem() found; "" */
};

struct policy_list {
    const struct policy *items;
    uint32_t count;
};

/* Reads the policy that comes next, whatever it says of its kind, and looks for problems. Errors
 * stay in the reader and name the path. */
void policy_decode(struct json_reader *r, struct policy *ret);

/*
 * Why the policy cannot work, as a sentence in the arena: nothing to do for any target, the same
 * constraint twice, minDomains of a soft constraint, a key that no node can have, a selector that
 * contradicts itself. "" when it can. Of several problems the first. That a selector does not even
 * compile is found while decoding, and is in policy->problem.
 */
struct str policy_problem(const struct policy *policy, struct arena *arena);

/* Fills the policy's bits from its selectors. */
void policy_set_bits(struct policy *policy);

/* Sorts: higher priority first, then by name. */
void policies_sort(struct policy *policies, uint32_t count);

/* A few bits for each key and value: whoever has the label has the bits. */
uint64_t policy_label_bits(const struct labels *labels);

/* What is asked about: an object of this kind, in a namespace (NULL lookup: its labels are not
 * known). */
struct policy_question {
    enum policy_target target;
    label_lookup_fn *namespace_lookup;
    const void *namespace_labels;
    uint64_t namespace_bits; /* of all of its labels; 0: not told */
    const struct labels *object_labels;
};

/*
 * Of sorted policies the first that works and matches, NULL if none does. *ret_unknown is set when
 * that depends on the labels of the namespace and they are not known: then nothing is to be
 * concluded and NULL is returned.
 *
 * Linear; where there are many, the bits of most policies say that they do not match.
 */
const struct policy *policy_match(const struct policy *policies, uint32_t count,
                                  const struct policy_question *question, bool *ret_unknown);
