/*
 * The kinds of objects that are reviewed while they are created: one const table. Metrics
 * follow from its rows. Its routes are constants of their own, in handlers/routes.c; a
 * test holds them against the rows. A kind that is new takes a decoder, its plugins, a row and a
 * route.
 */
#pragma once

#include "admission/admit.h"

enum { ADMITTED_KINDS = 2 };
extern const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS];
