/*
 * Names the replica that explains: each replica has only its own decisions.
 */
#pragma once

#include "base/json_writer.h"

/* Writes the member "replica": the name of the machine or pod, the version, the commit, and the age
 * of its data about nodes and pods; an age of -1 is left out. */
void explain_put_replica(struct json_writer *w, int64_t data_age_ms);
