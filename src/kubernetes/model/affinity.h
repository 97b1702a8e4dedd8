/*
 * The nodes that a pod may use: spec.nodeSelector AND the required node affinity. Preferred terms
 * only count for scores. upstream: component-helpers scheduling/corev1/nodeaffinity.
 */
#pragma once

#include "model/selector.h"

/* One nodeSelectorTerm. All its requirements must hold. A term without requirements, or one that
 * does not parse, matches nothing. */
struct node_selector_term {
    const struct requirement *expressions; /* on labels */
    uint32_t expression_count;
    const struct requirement *fields; /* metadata.name is the only field with a meaning */
    uint32_t field_count;
    bool invalid; /* a part did not parse */
    /* The same expressions and fields as they were written; NULL in a copy. */
    const struct label_expression *written, *written_fields;
};

struct preferred_term {
    int64_t weight;
    struct node_selector_term term;
};

struct node_affinity {
    struct labels node_selector; /* every pair must be on the node */
    bool required;               /* requiredDuringSchedulingIgnoredDuringExecution is present */
    const struct node_selector_term *terms; /* at least one term must match */
    uint32_t term_count;
    const struct preferred_term *preferred; /* read by node_affinity_decode_all() */
    uint32_t preferred_count;
};

/* Adds written matchExpressions (with `fields`: matchFields) to a term. A part that does not parse
 * makes the term invalid. `from` and its strings are borrowed; on failure arena_failed(). */
void node_selector_term_compile(const struct label_expression *from, uint32_t count, bool fields,
                                struct arena *arena, struct node_selector_term *term);

/* Reads the nodeAffinity of a pod's spec.affinity into `affinity`, without nodeSelector. */
void node_affinity_decode(struct json_reader *r, struct node_affinity *affinity);
/* The same for a PersistentVolume's spec.nodeAffinity. */
void volume_affinity_decode(struct json_reader *r, struct node_affinity *affinity);
/* The same for a NodeSelector itself. */
void node_selector_decode(struct json_reader *r, struct node_affinity *affinity);
/* The same as node_affinity_decode(), with the preferred terms. */
void node_affinity_decode_all(struct json_reader *r, struct node_affinity *affinity);
/* The same for a whole spec.affinity: reads its nodeAffinity and skips the rest. */
void affinity_decode(struct json_reader *r, struct node_affinity *affinity);

/* Does the node match? `lookup` finds its labels in `labels`. */
bool node_affinity_matches(const struct node_affinity *affinity, struct str node_name,
                           label_lookup_fn *lookup, const void *labels);

/*
 * Does every node that the required node affinity `now` matches also match `before`? Compares
 * requirements as they are: each term of `now` must have all requirements of some term of `before`.
 * Linear if the order is the same. Ignores nodeSelector. Also returns false when no steps are left.
 */
bool node_affinity_implies(const struct node_affinity *now, const struct node_affinity *before,
                           struct steps *steps);
/* Is there a required term that does not parse? Then the API server refuses the pod. */
bool node_affinity_invalid(const struct node_affinity *affinity);
/* Reads addedAffinity as node_affinity_decode_all() does. A part that does not parse is an error of
 * the reader: kube-scheduler does not start with it. */
void added_affinity_decode(struct json_reader *r, struct node_affinity *affinity);

/* Does the required node affinity allow only one node, by its name? Terms that match nothing do not
 * count. Ignores nodeSelector. */
bool node_affinity_names_node(const struct node_affinity *affinity);

/* Appends bytes that are equal exactly for equal affinities. */
void node_affinity_key(const struct node_affinity *affinity, struct strbuf *out);
/* Returns the most steps to match one node, and the approximate bytes of a copy. */
struct cost node_affinity_cost(const struct node_affinity *affinity);
/* Copies the affinity and its strings into the arena. 0 or -ENOMEM. */
int node_affinity_copy(const struct node_affinity *from, struct arena *arena,
                       struct node_affinity *ret) MUST_CHECK;

/* Appends the first `terms` required terms for people: "topology.kubernetes.io/zone in (a, b)".
 * Long terms are cut. */
void node_affinity_print(const struct node_affinity *affinity, uint32_t terms, struct strbuf *out);
