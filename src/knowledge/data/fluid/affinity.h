/*
 * Adds the node affinity of plugins to a pod.
 *
 * A plugin requires *conjuncts*, and all of them must hold. A conjunct is a list of *alternatives*,
 * and one of them must hold. An alternative is a list of requirements, and all of them must hold:
 *
 *     [[{a In 1}], [{zone In z1}, {zone In z2}]]        a=1 and (zone=z1 or zone=z2)
 *
 * The mode decides how conjuncts are merged with the pod's own terms: FLUID_CORRECT multiplies them
 * with every term of the pod; the other modes make one list of all alternatives, like Fluid.
 *
 * All memory is in the arena; strings and values are borrowed for its life.
 */
#pragma once

#include "data/fluid/plugin.h"

enum { AFFINITY_TERMS_MAX = 64 }; /* the most terms of a product in FLUID_CORRECT */

struct fluid_alternative {
    struct fluid_requirement *items;
    uint32_t count, cap;
};

struct fluid_conjunct {
    struct fluid_alternative *items;
    uint32_t count, cap;
};

struct fluid_conjuncts {
    struct fluid_conjunct *items;
    uint32_t count, cap;
};

/* Returns "key operator [value]", without a value if `value` is NULL. */
struct label_expression affinity_requirement(const char *key, const char *op,
                                             const struct str *value);
/* "true": the value of the labels of datasets. */
extern const struct str affinity_true;

/* Add a requirement (once), an alternative, a conjunct, or a conjunct of one requirement. Return 0
 * or -ENOMEM. */
int affinity_alternative_add(struct fluid_alternative *alternative,
                             const struct label_expression *requirement,
                             struct arena *arena) MUST_CHECK;
int affinity_conjunct_add(struct fluid_conjunct *conjunct,
                          const struct fluid_alternative *alternative,
                          struct arena *arena) MUST_CHECK;
int affinity_conjuncts_add(struct fluid_conjuncts *conjuncts, const struct fluid_conjunct *conjunct,
                           struct arena *arena) MUST_CHECK;
int affinity_conjuncts_of(struct fluid_conjuncts *conjuncts,
                          const struct label_expression *requirement,
                          struct arena *arena) MUST_CHECK;

/* Begins with the pod's own required terms. Returns 0 or -ENOMEM. */
int affinity_begin(struct fluid_edit *e) MUST_CHECK;

/*
 * Makes the pod require `conjuncts`. Does nothing if there are no conjuncts, or no alternatives.
 * FLUID_CORRECT does not change a term that already implies a conjunct, or that has no requirement
 * and so matches no node. It does not change a required part without terms, which the API server
 * refuses. Returns 0, -E2BIG (more than AFFINITY_TERMS_MAX terms, or fluid_too_much()) or -ENOMEM.
 */
int affinity_require(struct fluid_edit *e, const struct fluid_conjuncts *conjuncts,
                     enum fluid_compat compat, struct err *err) MUST_CHECK;

/*
 * Prefers nodes that meet a requirement. FLUID_CORRECT adds no preference that the pod has already,
 * with any weight. It drops weights below 1 and lowers those above 100 to 100, since the API server
 * would refuse the pod.
 */
int affinity_prefer(struct fluid_edit *e, int32_t weight,
                    const struct label_expression *requirement, struct err *err) MUST_CHECK;
