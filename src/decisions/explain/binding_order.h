/* In which order, and under which names, a binding's answers are written. Only the files of
 * explain/binding.h include this. */
#pragma once

#include "explain/binding.h"

struct binding_order {
    struct str binding;         /* "ns/name"; a cluster-wide one's name */
    const uint32_t *clusters;   /* all of the question, by name */
    const uint32_t *candidates; /* those that pass, by name */
    const struct str *levels;   /* how groups of each level are called */
};
/* In the arena, whose steps it takes. 0, -E2BIG or -ENOMEM. */
int binding_order_make(const struct binding_report *report, struct arena *arena,
                       struct binding_order *ret, struct err *err) MUST_CHECK;

/* "Pass", a filter's name, or "Deleting". */
struct str binding_verdict_name(const struct karmada_verdict *verdict);
