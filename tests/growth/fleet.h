/*
 * Lists that whoever writes objects of a fleet controls, for the test of growth.
 */
#pragma once

#include <stdint.h>

enum { FLEET_GROWTH_LISTS = 30 };

const char *fleet_growth_name(uint32_t list);
/*
 * What it takes to read objects with n items of the list, to answer which Placements they can
 * change, and to remove them again. 0: so many would not be taken by an API server, or there are so
 * many only in a fleet that nobody has.
 */
uint64_t fleet_growth_work(uint32_t list, uint32_t n);
