/*
 * Node affinity as plugins add it to a pod.
 *
 * A plugin requires *conjuncts*, all of which must hold; each is a list of *alternatives*, of which
 * one must hold, and each of those is some requirements, all of which must hold:
 *
 *     [[{a In 1}], [{zone In z1}, {zone In z2}]]        a=1 and (zone=z1 or zone=z2)
 *
 * How they meet what the pod requires already is the mode's: FLUID_CORRECT takes the product with
 * every term of the pod; the others do as Fluid did, which makes one list of all alternatives.
 *
 * All memory is the arena's; strings and values are borrowed for its life.
 */
#pragma once

#include "data/fluid/plugin.h"

enum { AFFINITY_TERMS_MAX = 64 }; /* terms that FLUID_CORRECT lets a product have */

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

/* key operator [value]; without a value when it is NULL. */
struct label_expression affinity_requirement(const char *key, const char *op,
                                             const struct str *value);
/* "true", for the labels of datasets. */
extern const struct str affinity_true;

/* Add a requirement unless it is there, an alternative, a conjunct, and a conjunct of one
 * requirement. 0 or -ENOMEM. */
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

/* Begins with what the pod requires. 0 or -ENOMEM. */
int affinity_begin(struct fluid_edit *e) MUST_CHECK;

/*
 * Requires `conjuncts` of the pod. None, or none with alternatives: nothing happens. FLUID_CORRECT
 * leaves a term alone that implies a conjunct already, and one without any requirement, which
 * matches no node; a required part without terms is left for the API server to refuse.
 * 0, -E2BIG (more than AFFINITY_TERMS_MAX terms, or fluid_too_much()) or -ENOMEM.
 */
int affinity_require(struct fluid_edit *e, const struct fluid_conjuncts *conjuncts,
                     enum fluid_compat compat, struct err *err) MUST_CHECK;

/*
 * Prefers nodes that meet a requirement. FLUID_CORRECT adds no preference that the pod has already,
 * at whatever weight, none below weight 1, and takes 100 for more: the API server would refuse the
 * pod.
 */
int affinity_prefer(struct fluid_edit *e, int32_t weight,
                    const struct label_expression *requirement, struct err *err) MUST_CHECK;
