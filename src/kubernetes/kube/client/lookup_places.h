/*
 * Limits how many reviews may have objects read from the API server at the same time: reviews of
 * one namespace have a share, so that a user who creates many pods does not block others. Shared by
 * all code that reads for a review. Thread-safe.
 */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <stdint.h>

enum {
    LOOKUP_PLACES = LIMIT_WEBHOOK_LOOKUPS,
    LOOKUP_PLACES_SHARE = LOOKUP_PLACES / 4, /* of one namespace */
};

/* Returns a place for a review of this namespace, for lookup_place_release(); LOOKUP_PLACES if no
 * place is free. */
uint32_t lookup_place_take(struct str namespace);
void lookup_place_release(uint32_t place);
