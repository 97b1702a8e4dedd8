/*
 * The options for scheduling Karmada's bindings, from the settings: for the endpoints of fleets and
 * `evenkeel simulate`.
 */
#pragma once

#include "config/configuration.h"

/* Call after the settings have been checked. */
void configuration_karmada(const struct configuration *c, struct karmada_options *ret);
