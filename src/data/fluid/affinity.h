/*
 * Node affinity as plugins add it to a pod.
 *
 * A plugin requires *conjuncts*, all of which must hold; each is a list of *alternatives* (objects
 * of Kubernetes' type NodeSelectorTerm), of which one must hold:
 *
 *     [[{a In 1}], [{zone In z1}, {zone In z2}]]        a=1 and (zone=z1 or zone=z2)
 *
 * How they meet what the pod requires already is the mode's: FLUID_CORRECT takes the product with
 * every term of the pod; the others do as Fluid did, which makes one list of all alternatives.
 */
#pragma once

#include "data/fluid/plugin.h"

#define AFFINITY_REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define AFFINITY_PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
enum { AFFINITY_TERMS_MAX = 64 }; /* terms that FLUID_CORRECT lets a product have */

/* {key, operator, values: [value]}; without values when `value` is NULL. NULL when out of memory.
 * Owned by the caller. */
cJSON *affinity_requirement(const char *key, const char *op, const char *value);

/* Adds a requirement (taken, also on failure; NULL fails) to a term, unless it is there. */
int affinity_term_add(cJSON *term, cJSON *requirement) MUST_CHECK;

/* Adds to a list of conjuncts one of a single term (taken, also on failure; NULL fails). */
int affinity_conjunct_add(cJSON *conjuncts, cJSON *term) MUST_CHECK;

/* The same of a term with one requirement (taken, also on failure; NULL fails). */
int affinity_conjunct_of(cJSON *conjuncts, cJSON *requirement) MUST_CHECK;

/*
 * Requires `conjuncts` of the pod; they stay the caller's. None, or none with alternatives: nothing
 * happens. FLUID_CORRECT leaves a term alone that implies a conjunct already, and one without any
 * requirement, which matches no node; a list of required terms that is there but empty is left for
 * the API server to refuse.
 * 0, -EINVAL, -E2BIG (more than AFFINITY_TERMS_MAX terms, or fluid_too_much()) or -ENOMEM.
 */
int affinity_require(struct fluid_edit *e, const cJSON *conjuncts, enum fluid_compat compat,
                     struct err *err) MUST_CHECK;

/*
 * Prefers nodes that meet a requirement (taken, also on failure; NULL fails). FLUID_CORRECT adds
 * no preference that the pod has already, at whatever weight, none below weight 1, and takes 100
 * for more: the API server would refuse the pod.
 */
int affinity_prefer(struct fluid_edit *e, int32_t weight, cJSON *requirement,
                    struct err *err) MUST_CHECK;

/* The required terms and the preferred ones of a nodeAffinity, which may be NULL; NULL when there
 * is no such list. */
const cJSON *affinity_required_terms(const cJSON *node_affinity);
const cJSON *affinity_preferred_terms(const cJSON *node_affinity);
/* spec.affinity.nodeAffinity, or NULL. */
const cJSON *affinity_of(const cJSON *pod);
