#include "findings/placement.h"

#include "findings/schemas.h"
#include "findings/terms.h"

#include <stdio.h>

enum { PATH_BYTES = 200 };

/* ---- by itself ---- */

static struct tolerations plain_tolerations(const struct placement *p, struct arena *arena) {
    struct toleration *items = arena_array(arena, p->toleration_count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < p->toleration_count; i++)
        items[i] = p->tolerations[i].toleration;
    return (struct tolerations){items, items != NULL ? p->toleration_count : 0};
}

static void check_terms_twice(const struct placement *p, struct findings *f) {
    char path[PATH_BYTES];
    for (uint32_t i = 1; i < p->term_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (p->terms[i].is_claim == p->terms[j].is_claim &&
                str_eq(p->terms[i].key, p->terms[j].key)) {
                (void)snprintf(path, sizeof path, "spec.spreadPolicy.spreadConstraints[%u]", i);
                findings_add(f, FINDING_INVALID, str_of(path), STR("Remove one of them"),
                             "an API server refuses a second constraint with the topologyKey "
                             "'%.*s' of the same type",
                             STR_ARG(p->terms[i].key));
            }
}

int findings_of_placement(struct str json, const struct placement *placement, struct findings *f) {
    findings_of_tolerations(plain_tolerations(placement, f->arena), TOLERATIONS_OF_PLACEMENTS,
                            STR("spec.tolerations"), f);
    check_terms_twice(placement, f);
    return schema_check(json, &schema_of_placement, f);
}
