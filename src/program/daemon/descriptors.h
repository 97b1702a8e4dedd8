/*
 * How many files the process may have open. Every connection is one; when none is left nobody can
 * be let in, and the API server cannot be asked.
 */
#pragma once

#include "config/configuration.h"

/* What it takes when every listener has all its connections and as many on their way out. */
unsigned long descriptors_needed(const struct configuration *c);
/* Raises the soft limit to what is needed, as far as the hard one lets it, and logs what to do if
 * that is less. Call it once, before listeners start. */
void descriptors_prepare(const struct configuration *c);
