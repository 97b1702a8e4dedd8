/*
 * The kinds of objects that are reviewed while they are created: one const table. Routes, metrics
 * and decisions follow from its rows. A kind that is new takes one decoder, its plugins, and a row.
 */
#pragma once

#include "admission/admit.h"

enum { ADMITTED_KINDS = 2 };
extern const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS];
