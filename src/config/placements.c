#include "config/placements.h"

void configuration_reviews_placements(const struct configuration *c,
                                      struct placement_knowledge *ret) {
    enum { SHARDS = 4 }; /* of score objects in each cluster */
    static const enum placement_mode modes[] = {
        [OCM_OWNER] = PLACEMENT_OWNER, [OCM_SCORES] = PLACEMENT_SCORES, [OCM_OFF] = PLACEMENT_OFF};
    ret->mode = c->ocm.enabled ? modes[c->ocm.mode] : PLACEMENT_OFF;
    ret->owns = c->ocm.enabled;
    ret->inject_scores = false;
    ret->shards = SHARDS;
}
