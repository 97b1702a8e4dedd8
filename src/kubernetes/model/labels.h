/*
 * Labels: a sorted map from key to value, decoded from JSON, and the syntax rules for both. Owns
 * nothing: strings live in the text or the arena of the decoder.
 */
#pragma once

#include "base/json_reader.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct label {
    struct str key, value;
};

struct labels {
    const struct label *items; /* sorted by key, keys unique */
    uint32_t count;
};

/*
 * Matching code asks for a label with this function: it fills ret_value and returns true when the
 * object has `key`. Code that holds labels in another form (the cache, as interned ids) has its own
 * function of this type.
 */
typedef bool label_lookup_fn(const void *ctx, struct str key, struct str *ret_value);

/* A label_lookup_fn over a struct labels. */
bool labels_lookup(const void *labels, struct str key, struct str *ret_value);

/* Reads {"k":"v",...} or null. If a key occurs twice, the last one counts, as in Go. Only the arena
 * limits the number of labels; Kubernetes does not limit it either. */
struct labels labels_decode(struct json_reader *r);

/* Merges both, in the arena; for a key in both, the second counts. On failure arena_failed(). */
struct labels labels_merge(struct labels first, struct labels second, struct arena *arena);

/* upstream: apimachinery validation IsQualifiedName: [prefix/]name. */
bool label_key_valid(struct str key);
/* For names of ClusterClaims: the same, but the limit is 253 characters for the whole key, and none
 * for the name after the prefix. upstream: open-cluster-management.io/api, the pattern of
 * SpreadConstraintsTerm.topologyKey, and the length of ManagedClusterClaim.name. */
bool claim_key_valid(struct str key);
/* upstream: apimachinery validation IsValidLabelValue: empty, or at most 63 characters. */
bool label_value_valid(struct str value);
