/*
 * The kinds of objects that are reviewed while they are created or changed: one list. Their paths,
 * routes and metrics follow from its rows. A kind that is new takes a room with its decoder and its
 * plugins, a row here, and what handlers do for the family that the row names
 * (handlers/webhook_family.h).
 */
#pragma once

#include "admission/placements/placements.h"
#include "admission/pods/pods.h"

/* X(constant, name, family): the const struct admitted_kind, its name, and whose handlers answer.
 * Reviews are sent to ADMISSION_PATH and the name. */
#define ADMITTED_LIST(X)                                                                           \
    X(admitted_pods, "pods", pods)                                                                 \
    X(validated_pods, "pods/validate", pods)                                                       \
    X(admitted_placements, "placements", placements)
#define ADMISSION_PATH "/webhooks/v1/"

#define ADMITTED_ROW(constant, name, family) ADMITTED_##constant,
/* The row of each; ADMITTED_KINDS is their number. */
enum { ADMITTED_LIST(ADMITTED_ROW) ADMITTED_KINDS };
#undef ADMITTED_ROW
extern const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS];
