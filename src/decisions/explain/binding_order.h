/* The order and the names in a binding's answers. Only the files of explain/binding.h include
 * this. */
#pragma once

#include "explain/binding.h"

struct binding_order {
    struct str binding;         /* "ns/name"; "name" if cluster-wide */
    const uint32_t *clusters;   /* the question's clusters, by name */
    const uint32_t *candidates; /* the clusters that pass, by name */
    const struct str *levels;   /* the names of the groups' levels */
};
/* Fills *ret; its memory and steps are the arena's. Returns 0, -E2BIG or -ENOMEM. */
int binding_order_make(const struct binding_report *report, struct arena *arena,
                       struct binding_order *ret, struct err *err) MUST_CHECK;

/* Returns "Pass", a filter's name, or "Deleting". */
struct str binding_verdict_name(const struct karmada_verdict *verdict);
