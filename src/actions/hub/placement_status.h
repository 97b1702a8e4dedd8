/*
 * Compares the status of a Placement that Evenkeel decides with the right one, and makes the merge
 * patch between them. The conditions of other controllers stay as they are, byte for byte.
 *
 * Pure. Everything is in the arena or borrowed.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "ocm/decide.h"

#include <stdbool.h>
#include <stdint.h>

struct status_group {
    struct str name;
    const struct str *objects; /* names of its PlacementDecisions */
    uint32_t object_count, cluster_count;
};

struct status_wanted {
    bool has_decision; /* the next three members are set; otherwise the status keeps its values */
    uint32_t selected; /* number of selected clusters */
    const struct status_group *groups; /* by index */
    uint32_t group_count;
    const struct ocm_condition *conditions; /* other conditions stay */
    uint32_t condition_count;
    struct str without; /* type of a condition to remove; "": none */
};

/*
 * Appends the patch of the whole object, with its version; nothing if `json`, the present status
 * ("": none), is right already. `now_ms` is the time of a condition that changes its status.
 * Returns 0, -EINVAL (json is no status) or -ENOMEM.
 */
int status_patch(struct str json, struct str version, const struct status_wanted *wanted,
                 int64_t now_ms, struct arena *arena, struct strbuf *out,
                 struct err *err) MUST_CHECK;

struct status_condition {
    struct str status, reason, message; /* all "": no condition of the type */
};
/* Returns 0 or -EINVAL. */
int status_find(struct str json, struct str type, struct arena *arena, struct status_condition *ret,
                struct err *err) MUST_CHECK;

/* Reads numberOfSelectedClusters; -1: not given. Returns 0 or -EINVAL. */
int status_selected(struct str json, struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;

/* Does the status contradict this condition? It does if its condition of that type is not Unknown
 * and has another status or reason; the message does not matter. Returns 0 or -EINVAL. */
int status_denies(struct str json, const struct ocm_condition *condition, struct arena *arena,
                  bool *ret, struct err *err) MUST_CHECK;
