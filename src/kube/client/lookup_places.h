/*
 * How many reviews may have objects read from the API server at the same time: those of one
 * namespace have a share, so that nobody who creates many pods keeps the others from it. Shared by
 * whatever reads for a review. Thread-safe.
 */
#pragma once

#include "base/limits.h"
#include "base/str.h"

#include <stdint.h>

enum {
    LOOKUP_PLACES = LIMIT_WEBHOOK_LOOKUPS,
    LOOKUP_PLACES_SHARE = LOOKUP_PLACES / 4, /* of one namespace */
};

/* A place for a review of this namespace, which lookup_place_release() gives back; LOOKUP_PLACES:
 * there is none. */
uint32_t lookup_place_take(struct str namespace);
void lookup_place_release(uint32_t place);
