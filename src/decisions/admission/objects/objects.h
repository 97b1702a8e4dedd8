/*
 * The list of the kinds of objects that are reviewed when created or changed. Their paths, routes
 * and metrics follow from its rows. A new kind needs a folder with its decoder and its plugins, a
 * row here, and handlers for the family that the row names (handlers/webhook_family.h).
 */
#pragma once

#include "admission/placements/placements.h"
#include "admission/pods/pods.h"

/* X(constant, name, family): the const struct admitted_kind, its name, and the family of its
 * handlers. Reviews are sent to ADMISSION_PATH followed by the name. */
#define ADMITTED_LIST(X)                                                                           \
    X(admitted_pods, "pods", pods)                                                                 \
    X(validated_pods, "pods/validate", pods)                                                       \
    X(admitted_placements, "placements", placements)
#define ADMISSION_PATH "/webhooks/v1/"

#define ADMITTED_ROW(constant, name, family) ADMITTED_##constant,
/* The index of each row; ADMITTED_KINDS is the number of rows. */
enum { ADMITTED_LIST(ADMITTED_ROW) ADMITTED_KINDS };
#undef ADMITTED_ROW
extern const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS];
