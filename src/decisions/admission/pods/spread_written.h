/*
 * Finds the pod's constraints that its author has written: the API server lists in
 * metadata.managedFields the fields that the object had before any webhook.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The topologyKeys of the constraints in managedFields: a user's request has written these
 * constraints, not a webhook. */
struct spread_written {
    struct arena *arena;
    struct str *keys;
    uint32_t count, cap;
    bool known;   /* some manager has written the spec, as the creator of a pod does */
    bool strange; /* managedFields has parts of an unknown form */
};

/* Reads a pod's JSON. Returns 0, -E2BIG (no steps left) or -ENOMEM. */
int spread_written_read(struct str object, struct arena *arena,
                        struct spread_written *ret) MUST_CHECK;
/* Returns true also if managedFields are unknown. */
bool spread_written_has(const struct spread_written *w, struct str topology_key);
