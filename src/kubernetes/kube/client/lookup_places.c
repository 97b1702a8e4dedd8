#include "kube/client/lookup_places.h"

#include "base/hash.h"
#include "base/mutex.h"

static struct mutex lock = MUTEX_INITIALIZER;
/* Guarded by `lock`. For each place the hash of its namespace; 0: the place is free. */
static uint64_t places[LOOKUP_PLACES];

uint32_t lookup_place_take(struct str namespace) {
    uint64_t hash = hash_str(namespace) | 1;
    uint32_t mine = 0, found = LOOKUP_PLACES;
    mutex_lock(&lock);
    for (uint32_t i = 0; i < LOOKUP_PLACES; i++) {
        mine += places[i] == hash;
        found = places[i] == 0 ? i : found;
    }
    if (mine >= LOOKUP_PLACES_SHARE)
        found = LOOKUP_PLACES;
    if (found < LOOKUP_PLACES)
        places[found] = hash;
    mutex_unlock(&lock);
    return found;
}

void lookup_place_release(uint32_t place) {
    mutex_lock(&lock);
    places[place] = 0;
    mutex_unlock(&lock);
}
