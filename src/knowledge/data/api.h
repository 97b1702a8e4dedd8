/*
 * Where an API server has an object that tells where data is.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/store.h"

/* Appends its path. 0, -EINVAL (a name that cannot be one, and would lead elsewhere)
 * or -ENOMEM. */
int fluid_api_object_path(const struct fluid_key *key, struct strbuf *out) MUST_CHECK;
