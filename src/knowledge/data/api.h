/*
 * The path of one of Fluid's objects (data/fluid/store.h) at an API server.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/store.h"

/* Appends the object's path. Returns 0, -EINVAL (the name is not valid, so the path could lead
 * elsewhere) or -ENOMEM. */
int fluid_api_object_path(const struct fluid_key *key, struct strbuf *out) MUST_CHECK;
