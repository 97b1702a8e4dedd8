/*
 * What whoever writes objects of a member cluster, or asks for what fits it, makes long, for the
 * test of growth.
 */
#pragma once

#include <stdint.h>

enum { ESTIMATES_GROWTH_LISTS = 34 };

const char *estimates_growth_name(uint32_t list);
/* What it takes to read n items of the list, to answer every kind of question, and to forget the
 * items again. 0: so many would not be taken by an API server or by the estimator, or nobody has
 * them. */
uint64_t estimates_growth_work(uint32_t list, uint32_t n);
