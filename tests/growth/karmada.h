/*
 * Lists that whoever writes Karmada's Clusters controls, for the test of growth. What is written in
 * bindings and Placements of Karmada comes with a question: see lines.h.
 */
#pragma once

#include <stdint.h>

enum { KARMADA_GROWTH_LISTS = 8 };

const char *karmada_growth_name(uint32_t list);
/* What it takes to read Clusters with n items of the list, to list them again, and to forget them.
 * 0: so many would not be taken by an API server, or nobody has them. */
uint64_t karmada_growth_work(uint32_t list, uint32_t n);
