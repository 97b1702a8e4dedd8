/*
 * What settings say about reviews of Placements: the webhook and `evenkeel simulate` ask here.
 */
#pragma once

#include "admission/placements/decision.h"
#include "config/configuration.h"

/* Sets what follows from settings; the rest of *ret stays as it is. */
void configuration_reviews_placements(const struct configuration *c,
                                      struct placement_knowledge *ret);
