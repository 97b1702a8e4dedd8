/*
 * The parts of a Placement that the webhook edits, as text: list entries keep the user's bytes, so
 * rewriting a list changes none of them.
 *
 * Everything is borrowed from the object or in the arena.
 */
#pragma once

#include "base/err.h"
#include "model/injected.h"

/* An entry of spec.prioritizerPolicy.configurations. */
struct shape_configuration {
    struct str text;
    bool is_ours; /* by its form */
    struct injected_key key;
    bool is_add_on;
    struct str built_in; /* "" with is_add_on */
    int32_t weight;
};

/* An item of celExpressions. */
struct shape_expression {
    struct str text; /* a JSON string */
    bool is_ours;    /* by its form */
    struct injected_key key;
};

/* An entry of spec.predicates. */
struct shape_predicate {
    struct str text;
    const struct shape_expression *expressions;
    uint32_t expression_count, ours; /* number of expressions, and number of our expressions */
    bool has_selector; /* requiredClusterSelector is an object, not null and not absent */
    bool has_cel;      /* its member celSelector is an object, too */
    bool cel_is_alone; /* celSelector has only the member celExpressions */
    bool is_bare; /* without our gates it matches every cluster: it has no labels, claims or other
                     CEL */
};

struct placement_shape {
    int64_t number;      /* spec.numberOfClusters; 0 when not given */
    bool disabled;       /* OCM leaves the Placement alone */
    bool has_annotation; /* PLACEMENT_INJECTED_ANNOTATION */
    struct str annotation;
    uint32_t annotation_count; /* number of annotations of any key */
    struct injected injected;  /* that annotation, parsed */
    bool has_policy;           /* prioritizerPolicy is an object */
    struct str mode;
    const struct shape_configuration *configurations;
    uint32_t configuration_count;
    bool has_predicates; /* predicates is a list, which may be empty */
    const struct shape_predicate *predicates;
    uint32_t predicate_count;
};

/* Reads only spec.numberOfClusters; the other fields need not be valid. Returns 0, -EINVAL or
 * -ENOMEM. */
int placement_number(struct str object, struct arena *arena, int64_t *ret,
                     struct err *err) MUST_CHECK;

/* Reads the parts in struct placement_shape of an object that placement_decode() accepts. Returns
 * 0, -EINVAL or -ENOMEM. */
int placement_shape(struct str object, struct arena *arena, struct placement_shape *ret,
                    struct err *err) MUST_CHECK;

/* Gets our first key in a gate or a prioritizer. Returns false if no entry has a key of ours. */
bool shape_key(const struct placement_shape *shape, struct injected_key *ret);
/* Does any predicate have the gate with this key? */
bool shape_is_gated(const struct placement_shape *shape, struct injected_key key);
/* Does the Placement have any entry of ours, or our annotation? */
bool shape_has_ours(const struct placement_shape *shape);
