/*
 * The store of a hub's API server: objects with versions, the history that watches read, and the
 * answers to writes. upstream: apiserver pkg/registry/generic/registry/store.go.
 */
#pragma once

#include "base/str.h"
#include "fleet/fleet.h"

#include <cJSON.h>

enum { STORE_LEASES = FLEET_KINDS, STORE_KINDS };

/* One change of an object. */
struct change {
    bool gone;
    uint64_t version;
    char *json; /* owned: the object after the change, or before its deletion */
};

struct store_kind {
    cJSON **objects;  /* owned */
    uint64_t *hashes; /* owned; hashes of the objects' names */
    uint32_t count, cap, hash_cap;
    struct change *log; /* owned */
    uint32_t log_count, log_cap;
};

struct store {
    uint64_t version, uids;
    struct store_kind kinds[STORE_KINDS];
    /* Called after each change. */
    void (*changed)(void *ctx, enum fleet_kind kind, const struct change *change);
    void *ctx;
};

/* Members of the metadata of an AddOnPlacementScore, in the place of managedFields: [{"name":..}]
 * of items that Evenkeel has applied, and of those that others have written. */
#define STORE_APPLIED "applied"
#define STORE_OTHERS "others"

void store_done(struct store *s);

/* Finds an object; `namespace` is "" if the kind has none. Returns NULL if it does not exist.
 * Borrowed until the object changes. */
cJSON *store_find(const struct store *s, uint32_t kind, const char *namespace, const char *name);
/* Adds a new object, which the store then owns. Gives it a version, and a uid unless it has a uid.
 * O(1). */
void store_add(struct store *s, uint32_t kind, cJSON *object);
/* Call it after changing the object in place. */
void store_touch(struct store *s, uint32_t kind, cJSON *object);
/* Removes an object, which must exist. */
void store_remove(struct store *s, uint32_t kind, cJSON *object);

/* Executes a request, also server-side apply to an AddOnPlacementScore's status. Returns 200, or
 * the status of the refusal; appends the answer's body. */
int store_call(struct store *s, const char *method, const char *path, struct str body,
               struct strbuf *answer);

/* ---- JSON ---- */

/* Parses JSON with ' instead of ". */
cJSON *json_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Returns a member that is an object; adds it if it is missing. */
cJSON *json_need(cJSON *object, const char *name);
/* Returns a member's text, or "" if it is missing. */
const char *text_in(const cJSON *object, const char *member);
const cJSON *meta_of(const cJSON *object);
const char *name_of(const cJSON *object);
const char *namespace_of(const cJSON *object);
const char *label_of(const cJSON *object, const char *key);
const char *annotation_of(const cJSON *object, const char *key);
/* Returns the uid of the object's controller, or "". */
const char *owner_uid_of(const cJSON *object);
/* Sets an annotation; removes it if `value` is NULL. */
void annotate(cJSON *object, const char *key, const char *value);
/* Returns status.decisions, or NULL. */
const cJSON *decisions_in(const cJSON *object);
