/*
 * Which of a pod's constraints its author has written. The API server says so itself:
 * metadata.managedFields tells what was in the object before any webhook saw it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The topologyKeys of the constraints that some request had, as managedFields say. */
struct spread_written {
    struct arena *arena;
    struct str *keys;
    uint32_t count, cap;
    bool known;   /* some manager has written the spec, as whoever creates a pod does */
    bool strange; /* there is something that is not understood */
};

/* Of a pod's JSON. 0, -E2BIG (no steps left) or -ENOMEM. */
int spread_written_read(struct str object, struct arena *arena,
                        struct spread_written *ret) MUST_CHECK;
/* True also where managedFields say nothing. */
bool spread_written_has(const struct spread_written *w, struct str topology_key);
