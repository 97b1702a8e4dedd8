/*
 * TopologyPolicy (evenkeel.io/v1alpha1): which pods Evenkeel spreads and keeps near their data, and
 * how; and how Placements of Open Cluster Management are spread over clusters. Decoded from the
 * JSON of an API server, or from a YAML file.
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

/* The unit in which a pod's constraints count. */
enum policy_unit {
    POLICY_UNIT_AUTO, /* pods of one known unit (model/pod_units.h) count as one */
    POLICY_UNIT_POD,
    POLICY_UNIT_LABEL, /* pods with the same value of a label count as one; others as with Auto */
};

struct policy_group_by {
    bool given;
    const struct str *labels; /* keys: pods with the same values of these labels are a group */
    uint32_t label_count;     /* 0: the pod's owner determines its group */
    enum policy_unit unit;
    struct str unit_key; /* the key of POLICY_UNIT_LABEL */
};

struct policy_owner {
    struct str group, kind; /* "apps", "Deployment"; "", "Pod": a pod that nothing controls */
};

enum policy_mode {
    POLICY_ENFORCE,
    POLICY_AUDIT,   /* reports what it would change, and changes nothing */
    POLICY_REQUIRE, /* as Enforce; also denies a pod that makes the policy's spread impossible */
    POLICY_MODES
};
extern const struct str policy_mode_names[POLICY_MODES]; /* as written in a policy */

/* Parts of a policy. The first matching policy that has a part decides that part. */
enum policy_part {
    POLICY_SPREAD,
    POLICY_LOCALITY,
    POLICY_WEIGHTS,
    POLICY_PLACEMENTS,
    POLICY_PARTS
};

/* The kinds of objects that a policy applies to. Each target is a section of the spec, and has
 * parts. */
enum policy_target { POLICY_FOR_PODS, POLICY_FOR_PLACEMENTS, POLICY_TARGETS };

struct policy {
    struct str name;
    int64_t generation; /* generation of the object in an API server; 0: the policy is from a file
                         */
    int32_t priority;
    enum policy_mode mode;
    /* spec.match */
    struct selector namespaces, objects;         /* not given: everything */
    struct selector not_namespaces, not_objects; /* objects that one of these selectors selects are
                                                    left out */
    bool excludes_namespaces, excludes_objects;  /* are not_namespaces and not_objects given? */
    const struct policy_owner *owners;           /* at least one of these owners must match */
    uint32_t owner_count;                        /* 0: any owner matches */
    /* spec.pods */
    const struct policy_spread *spread; /* the most important first */
    uint32_t spread_count;              /* 0: not given */
    bool replace_defaults;              /* do not keep kube-scheduler's default constraints */
    struct policy_group_by group_by;
    enum policy_locality_mode locality;
    int32_t tier_percent; /* 1..100: the used percentage of the tiers' weights; 0: 100 */
    const struct policy_tier *tiers;
    uint32_t tier_count;
    int32_t keep_others_off;  /* weight, 1..100, to keep other pods off cache nodes; 0: not given */
    bool requires_others_off; /* other pods must stay off; the weight is not used */
    bool has_weights;
    int32_t spread_weight, locality_weight; /* 0..1000 */
    const struct str *schedulers;           /* names; pods of other schedulers are not changed */
    uint32_t scheduler_count;               /* 0: default-scheduler */
    /* spec.placements */
    const struct placement_term *placement_terms; /* its spread, the most important first; no two
                                                     with one key and type */
    uint32_t placement_term_count;                /* <= PLACEMENT_TERMS; 0: not given */
    bool has_section[POLICY_TARGETS]; /* is the section given, even if it asks for nothing? */
    /* computed from the members above */
    uint64_t namespace_bits, object_bits; /* policy_label_bits() of the labels that both require; 0:
                                             compare the selectors */
    uint64_t owner_bits;                  /* the object has at least one of these bits; 0: compare
                                             the owners */
    struct str problem;                   /* why the policy cannot work, found by policy_problem();
                                             "" */
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

/* The parts of a target are neighbours: from `first` to `end` - 1. */
struct policy_part_range {
    int first, end;
};
static inline struct policy_part_range policy_parts_of(enum policy_target target) {
    return target == POLICY_FOR_PODS ? (struct policy_part_range){POLICY_SPREAD, POLICY_PLACEMENTS}
                                     : (struct policy_part_range){POLICY_PLACEMENTS, POLICY_PARTS};
}

/* Does the policy have a part for this target? */
bool policy_is_for(const struct policy *policy, enum policy_target target);

struct policy_list {
    const struct policy *items;
    uint32_t count;
};

/* Reads the next object as a policy, whatever its kind is, and looks for problems. Errors stay in
 * the reader and name the path. */
void policy_decode(struct json_reader *r, struct policy *ret);

/*
 * Returns why the policy cannot work, as a sentence in the arena: it does nothing, has the same
 * constraint twice, minDomains of a soft constraint, a key that no node or cluster can have, or a
 * selector that contradicts itself or excludes everything. Returns the first of several problems;
 * "" if the policy can work. Decoding finds selectors that do not compile; that problem is in
 * policy->problem.
 */
struct str policy_problem(const struct policy *policy, struct arena *arena);

/* Fills the policy's bits from its selectors and owners. */
void policy_set_bits(struct policy *policy);

/* Sorts the policies: higher priority first, then by name. */
void policies_sort(struct policy *policies, uint32_t count);

/* Does the policy group by this label? O(labels). */
bool policy_groups_by(const struct policy_group_by *by, struct str key);

/* Returns a few bits for each key and value: every object with the label has its bits. */
uint64_t policy_label_bits(const struct labels *labels);

/* Does the policy apply to pods of this scheduler? */
bool policy_has_scheduler(const struct policy *policy, struct str scheduler);

enum { POLICY_OWNERS_MAX = 2 };

/* An object and its namespace (namespace_lookup NULL: the namespace's labels are not known). */
struct policy_question {
    enum policy_target target; /* the answer has only parts of this target */
    label_lookup_fn *namespace_lookup;
    const void *namespace_labels;
    uint64_t namespace_bits; /* policy_label_bits() of the namespace's labels; 0: not given */
    const struct labels *object_labels;
    struct policy_owner owners[POLICY_OWNERS_MAX]; /* the object's owner, and that owner's owner */
    uint32_t owner_count;
    struct str scheduler; /* scheduler of the pod; "": policies match, whichever schedulers they
                             name */
    bool opts_out;        /* only policies with mode Require match */
    bool any_scheduler;   /* policies with mode Require match pods of every scheduler */
};

/* The policies that apply to an object, by part. Parts of the other target stay NULL. */
struct policy_choice {
    const struct policy *enforced[POLICY_PARTS]; /* NULL: none */
    /* Policies with mode Audit that would decide the part if they were enforced. */
    const struct policy *audited[POLICY_PARTS];
};

/*
 * Finds for each part the first of the sorted policies that works and matches. Returns false, and
 * an empty *ret, if the answer depends on labels of the namespace that are not known.
 *
 * Linear; the bits exclude most policies quickly.
 */
bool policy_match(const struct policy *policies, uint32_t count,
                  const struct policy_question *question, struct policy_choice *ret);
