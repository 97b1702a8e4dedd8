/*
 * What settings say about the scheduling of Karmada's bindings: the endpoints of fleets and
 * `evenkeel simulate` ask here.
 */
#pragma once

#include "config/configuration.h"

/* The settings were checked. */
void configuration_karmada(const struct configuration *c, struct karmada_options *ret);
