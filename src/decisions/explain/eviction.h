/*
 * Chooses a place, of a fixed number of places, for each new decision. No namespace can push out
 * the decisions of all other namespaces: each place belongs to a share (a namespace's, or that of
 * all dry runs), and when all places are taken, the largest share gives up its oldest place. Small
 * shares stay.
 *
 * Everything takes constant time. All memory is allocated by eviction_new(); the kernel provides a
 * page when it is first used. Not thread-safe.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

#define EVICTION_NONE UINT32_MAX

struct eviction;

/* `places` > 0. Returns 0 or -ENOMEM. */
int eviction_new(uint32_t places, struct eviction **ret) MUST_CHECK;
void eviction_free(struct eviction *s); /* NULL is fine */

/* Returns the place, 0 to places - 1, for a new decision of this owner; its old content is lost.
 * Only these 64 bits identify an owner; equal owners have one share. */
uint32_t eviction_place(struct eviction *s, uint64_t owner);

/* Iterate over taken places by age: return the newest place, and the next older place; or
 * EVICTION_NONE. */
uint32_t eviction_newest(const struct eviction *s);
uint32_t eviction_older(const struct eviction *s, uint32_t place);
