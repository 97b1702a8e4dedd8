/*
 * Which of a fixed number of places a new decision takes, so that nobody can push out everybody
 * else's: each place belongs to a share (a namespace's, or that of all dry runs), and when all are
 * taken the largest share gives up its oldest. Whoever has few decisions keeps them.
 *
 * Everything takes constant time. All memory is allocated by eviction_new(); the kernel gives it
 * when it is first used. Not thread-safe.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

#define EVICTION_NONE UINT32_MAX

struct eviction;

/* `places` > 0. 0 or -ENOMEM. */
int eviction_new(uint32_t places, struct eviction **ret) MUST_CHECK;
void eviction_free(struct eviction *s); /* NULL is fine */

/* The place, 0 to places - 1, for a new decision of this owner: whatever was there is forgotten.
 * Owners are told apart by these 64 bits; two that are equal have one share. */
uint32_t eviction_place(struct eviction *s, uint64_t owner);

/* Places that are taken, by age: the newest one, and the next older one; EVICTION_NONE: no more. */
uint32_t eviction_newest(const struct eviction *s);
uint32_t eviction_older(const struct eviction *s, uint32_t place);
