/*
 * Limits how many admission reviews may read objects from the API server at the same time. Reviews
 * of one namespace have only a share of the places, so that a user who creates many pods does not
 * block others. All code that reads for a review shares the places. Thread-safe.
 */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <stdint.h>

enum {
    LOOKUP_PLACES = LIMIT_WEBHOOK_LOOKUPS,
    LOOKUP_PLACES_SHARE = LOOKUP_PLACES / 4, /* the most places of one namespace */
};

/* Returns a place for a review of this namespace, for lookup_place_release(); LOOKUP_PLACES if no
 * place is free. */
uint32_t lookup_place_take(struct str namespace);
void lookup_place_release(uint32_t place);
