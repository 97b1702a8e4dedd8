/*
 * Objects of a hub beside a Placement that Evenkeel owns, for the test of growth.
 */
#pragma once

#include <stdint.h>

enum { HUB_GROWTH_LISTS = 7 };

const char *hub_growth_name(uint32_t list);
/* What one look takes at a Placement beside n objects of the list. 0: n is as many as nobody has.
 */
uint64_t hub_growth_work(uint32_t list, uint32_t n);
