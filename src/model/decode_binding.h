/*
 * Parts of the decoders of bindings that their files share. Each reads the value that comes next
 * and leaves errors in the reader.
 */
#pragma once

#include "model/binding.h"

/* A number of replicas: 0 for null. */
static inline int32_t replicas_decode(struct json_reader *r) {
    return json_null(r) ? 0 : (int32_t)json_integer(r, 0, INT32_MAX);
}
