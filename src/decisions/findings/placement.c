#include "findings/placement.h"

#include "findings/schemas.h"
#include "findings/terms.h"
#include "model/names.h"

static struct tolerations plain_tolerations(const struct placement *p, struct arena *arena) {
    struct toleration *items = arena_array(arena, p->toleration_count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < p->toleration_count; i++)
        items[i] = p->tolerations[i].toleration;
    return (struct tolerations){items, items != NULL ? p->toleration_count : 0};
}

int findings_of_placement(struct str json, const struct placement *placement, struct findings *f) {
    findings_of_tolerations(plain_tolerations(placement, f->arena), TOLERATIONS_OF_PLACEMENTS,
                            STR("spec.tolerations"), f);
    findings_of_version(json, OCM_GROUP "/v1alpha1", OCM_GROUP "/v1beta1", "read as v1beta1", f);
    return schema_check(json, &schema_of_placement, f);
}
