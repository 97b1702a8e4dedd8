#include "config/placements.h"

void configuration_reviews_placements(const struct configuration *c,
                                      struct placement_knowledge *ret) {
    static const enum placement_mode modes[] = {
        [OCM_OWNER] = PLACEMENT_OWNER, [OCM_SCORES] = PLACEMENT_SCORES, [OCM_OFF] = PLACEMENT_OFF};
    ret->mode = c->ocm.enabled ? modes[c->ocm.mode] : PLACEMENT_OFF;
    ret->owns = c->ocm.enabled;
    ret->inject_scores = c->ocm.enabled && c->ocm.scores;
    ret->shards = c->ocm.shards;
}
