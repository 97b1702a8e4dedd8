/*
 * The options for reviews of Placements, from settings: for the webhook and `evenkeel simulate`.
 */
#pragma once

#include "admission/placements/decision.h"
#include "config/configuration.h"

/* Sets the members that follow from settings, and leaves the rest of *ret unchanged. */
void configuration_reviews_placements(const struct configuration *c,
                                      struct placement_knowledge *ret);
