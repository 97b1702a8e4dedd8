/*
 * The number of files that the process may have open. Every connection counts as a file. If the
 * limit is reached, no connection can be accepted, and the API server cannot be reached.
 */
#pragma once

#include "config/configuration.h"

/* Returns the number of files that the process needs if every listener has its maximum of
 * connections, and as many connections are closing. */
unsigned long descriptors_needed(const struct configuration *c);
/* Raises the soft limit to the needed number, as far as the hard limit allows, and logs advice if
 * this is not enough. Call once, before listeners start. */
void descriptors_prepare(const struct configuration *c);
