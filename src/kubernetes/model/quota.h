/*
 * ResourceQuota, as far as it limits the requests of replicas. upstream: core/v1 ResourceQuota.
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "model/object.h"

/* status.hard and status.used of a resource. */
struct quota_amount {
    struct str name;
    __int128 hard, used; /* nano; 0 if not given */
    bool has_hard, has_used;
};
/* One of spec.scopes, or of spec.scopeSelector.matchExpressions. */
struct quota_scope {
    struct str name, op;
    const struct str *values;
    uint32_t value_count;
};
struct quota {
    struct object_meta meta;
    const struct quota_scope *scopes; /* spec.scopes first, each with the operator Exists */
    uint32_t scope_count;
    const struct quota_amount *amounts; /* sorted by name, names unique */
    uint32_t amount_count;
};
void quota_decode(struct json_reader *r, struct quota *ret);
