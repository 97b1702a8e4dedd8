/*
 * Where an API server has the kinds that tell where data is.
 */
#pragma once

#include "base/err.h"
#include "data/fluid/store.h"

/* "datasets": the last part of the path of all of them. Static. */
const char *fluid_api_resource(enum fluid_kind kind);
/* "/apis/data.fluid.io/v1alpha1/datasets". Static. */
const char *fluid_api_path(enum fluid_kind kind);
/* Appends the path of one object. 0, -EINVAL (a name that cannot be one, and would lead elsewhere)
 * or -ENOMEM. */
int fluid_api_object_path(const struct fluid_key *key, struct strbuf *out) MUST_CHECK;
