/*
 * Names the replica that explains: each replica has only its own decisions.
 */
#pragma once

#include "base/json_writer.h"

/* Writes the member "replica": the name of the machine or pod, the version and the commit. */
void explain_put_replica(struct json_writer *w);
