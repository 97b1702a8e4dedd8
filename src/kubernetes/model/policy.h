/*
 * TopologyPolicy (evenkeel.io/v1alpha1): which pods are to be spread and kept near their data, and
 * how; and over which clusters of a fleet the Placements of Open Cluster Management are. Decoded
 * from the JSON that an API server sends or that a YAML file becomes.
 *
 * Decoding is strict about the policy's own fields, selectors included: a misspelt `matchLabel`
 * would otherwise select every pod. A policy that is well-formed but cannot work is no error of the
 * reader: policy_problem() returns a sentence, and the policy matches nothing.
 *
 * Decoded policies own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "base/json_reader.h"
#include "model/labels.h"
#include "model/placement_term.h"
#include "model/selector.h"

enum policy_inclusion { POLICY_INCLUSION_DEFAULT, POLICY_HONOR, POLICY_IGNORE };

/* One constraint that the policy asks for. upstream: core/v1 TopologySpreadConstraint without a
 * selector: a constraint counts the pods of each pod's own group. */
struct policy_spread {
    struct str topology_key;
    int32_t max_skew;    /* >= 1 */
    int32_t min_domains; /* >= 1; 0: not given */
    bool hard;           /* DoNotSchedule; otherwise ScheduleAnyway */
    enum policy_inclusion node_affinity, node_taints;
};

enum policy_locality_mode {
    POLICY_LOCALITY_NOT_GIVEN,
    POLICY_LOCALITY_PREFERRED,
    POLICY_LOCALITY_REQUIRED,
    POLICY_LOCALITY_DISABLED,
};

struct policy_tier {
    struct str topology_key;
    int32_t weight; /* 1..100 */
};

/* The unit that a pod's constraints count. */
enum policy_unit {
    POLICY_UNIT_AUTO, /* pods that are known to be parts of one thing count as one */
    POLICY_UNIT_POD,
    POLICY_UNIT_LABEL, /* pods with the same value of a label are one; others as with Auto */
};

struct policy_group_by {
    bool given;
    const struct str *labels; /* keys: the group are the pods with the same values of them */
    uint32_t label_count;     /* 0: the pod's owner says what its group is */
    enum policy_unit unit;
    struct str unit_key; /* of that label */
};

struct policy_owner {
    struct str group, kind; /* "apps", "Deployment"; "", "Pod": a pod that nothing controls */
};

enum policy_mode {
    POLICY_ENFORCE,
    POLICY_AUDIT,   /* says what it would do, and changes nothing */
    POLICY_REQUIRE, /* as Enforce, and a pod that makes it impossible is denied */
    POLICY_MODES
};
extern const struct str policy_mode_names[POLICY_MODES]; /* as a policy says them */

/* Parts of a policy. The first matching policy that has a part decides that part. */
enum policy_part {
    POLICY_SPREAD,
    POLICY_LOCALITY,
    POLICY_WEIGHTS,
    POLICY_PLACEMENTS,
    POLICY_PARTS
};

/* The objects that a policy is for. Each target is a section of the spec, and has parts. */
enum policy_target { POLICY_FOR_PODS, POLICY_FOR_PLACEMENTS, POLICY_TARGETS };

struct policy {
    struct str name;
    int32_t priority;
    enum policy_mode mode;
    /* spec.match */
    struct selector namespaces, objects;         /* not given: everything */
    struct selector not_namespaces, not_objects; /* what one of them selects is left out */
    bool excludes_namespaces, excludes_objects;  /* are they given? */
    const struct policy_owner *owners;           /* any of them */
    uint32_t owner_count;                        /* 0: whatever the owner */
    /* spec.pods */
    const struct policy_spread *spread; /* the most important first */
    uint32_t spread_count;              /* 0: not given */
    bool replace_defaults; /* kube-scheduler's default constraints are not to be kept */
    struct policy_group_by group_by;
    enum policy_locality_mode locality;
    int32_t tier_percent; /* 1..100: what of the tiers' weights is used; 0: all */
    const struct policy_tier *tiers;
    uint32_t tier_count;
    int32_t keep_others_off;  /* weight, 1..100, of keeping other pods off cache nodes; 0: no */
    bool requires_others_off; /* they are kept off; the weight says nothing */
    bool has_weights;
    int32_t spread_weight, locality_weight; /* 0..1000 */
    const struct str *schedulers;           /* names; pods of others are left alone */
    uint32_t scheduler_count;               /* 0: default-scheduler */
    /* spec.placements */
    const struct placement_term *placement_terms; /* its spread, the most important first; no two
                                                     with one key and type */
    uint32_t placement_term_count;                /* <= PLACEMENT_TERMS; 0: not given */
    bool has_section[POLICY_TARGETS]; /* is the section given, even if it asks for nothing? */
    /* what follows from it */
    uint64_t namespace_bits, object_bits; /* policy_label_bits() of what they ask for; 0: look */
    uint64_t owner_bits;                  /* the object has one of them; 0: look */
    struct str problem;                   /* why it cannot work, as policy_problem() found; "" */
};

static inline bool policy_has(const struct policy *policy, enum policy_part part) {
    switch (part) {
    case POLICY_SPREAD:
        return policy->spread_count > 0;
    case POLICY_LOCALITY:
        return policy->locality != POLICY_LOCALITY_NOT_GIVEN;
    case POLICY_WEIGHTS:
        return policy->has_weights;
    case POLICY_PLACEMENTS:
        return policy->placement_term_count > 0;
    case POLICY_PARTS:
        break;
    }
    return false;
}

/* The parts of a target are one after the other: from `first` on, below `end`. */
struct policy_part_range {
    int first, end;
};
static inline struct policy_part_range policy_parts_of(enum policy_target target) {
    return target == POLICY_FOR_PODS ? (struct policy_part_range){POLICY_SPREAD, POLICY_PLACEMENTS}
                                     : (struct policy_part_range){POLICY_PLACEMENTS, POLICY_PARTS};
}

/* Does the policy have any part for these objects? */
bool policy_is_for(const struct policy *policy, enum policy_target target);

struct policy_list {
    const struct policy *items;
    uint32_t count;
};

/* Reads the policy that comes next, whatever it says of its kind, and looks for problems. Errors
 * stay in the reader and name the path. */
void policy_decode(struct json_reader *r, struct policy *ret);

/*
 * Why the policy cannot work, as a sentence in the arena: nothing to do, the same constraint twice,
 * minDomains of a soft constraint, a key that no node or cluster can have, a selector that
 * contradicts itself or excludes everything. "" when it can. Returns the first of several problems.
 * Decoding finds selectors that do not compile; that problem is in policy->problem.
 */
struct str policy_problem(const struct policy *policy, struct arena *arena);

/* Fills the policy's bits from its selectors and owners. */
void policy_set_bits(struct policy *policy);

/* Sorts: higher priority first, then by name. */
void policies_sort(struct policy *policies, uint32_t count);

/* Does the policy name the label among those that it groups by? O(labels). */
bool policy_groups_by(const struct policy_group_by *by, struct str key);

/* Returns a few bits for each key and value: every object with the label has its bits. */
uint64_t policy_label_bits(const struct labels *labels);

/* Does the policy look after pods of this scheduler? */
bool policy_has_scheduler(const struct policy *policy, struct str scheduler);

enum { POLICY_OWNERS_MAX = 2 };

/* An object in a namespace (NULL lookup: its labels are not known). */
struct policy_question {
    enum policy_target target; /* only its parts are looked for */
    label_lookup_fn *namespace_lookup;
    const void *namespace_labels;
    uint64_t namespace_bits; /* of all of its labels; 0: not given */
    const struct labels *object_labels;
    struct policy_owner owners[POLICY_OWNERS_MAX]; /* the object's owner, and that owner's owner */
    uint32_t owner_count;
    struct str scheduler; /* of a pod; "": policies for every scheduler match */
    bool opts_out;        /* only policies with mode Require match */
    bool any_scheduler;   /* policies with mode Require match pods of every scheduler */
};

/* The policies of an object, by part. Parts of the other target stay NULL. */
struct policy_choice {
    const struct policy *enforced[POLICY_PARTS]; /* NULL: none */
    /* Policies with mode Audit that would have the part if they were enforced. */
    const struct policy *audited[POLICY_PARTS];
};

/*
 * Finds for each part the first of the sorted policies that works and matches. Returns false, and
 * an empty *ret, if the answer depends on labels of the namespace that are not known.
 *
 * Linear; the bits rule most of many policies out.
 */
bool policy_match(const struct policy *policies, uint32_t count,
                  const struct policy_question *question, struct policy_choice *ret);
