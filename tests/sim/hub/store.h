/*
 * What an API server of a hub keeps: objects with versions, the history that watches read, and what
 * it answers to writes. upstream: apiserver pkg/registry/generic/registry/store.go.
 */
#pragma once

#include "base/str.h"
#include "fleet/fleet.h"

#include <cJSON.h>

enum { STORE_LEASES = FLEET_KINDS, STORE_KINDS };

/* One change of a kind. */
struct change {
    bool gone;
    uint64_t version;
    char *json; /* owned: the object, as it is then or was at last */
};

struct store_kind {
    cJSON **objects;  /* owned */
    uint64_t *hashes; /* owned; of their names */
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

/* `namespace` "": it has none. NULL: there is no such object. Borrowed until it changes. */
cJSON *store_find(const struct store *s, uint32_t kind, const char *namespace, const char *name);
/* Adds one that is not there; takes it over. Gives it a version, and a uid unless it has one. O(1).
 */
void store_add(struct store *s, uint32_t kind, cJSON *object);
/* It has been changed in place. */
void store_touch(struct store *s, uint32_t kind, cJSON *object);
/* One that is there. */
void store_remove(struct store *s, uint32_t kind, cJSON *object);

/* A request, also of server-side apply to an AddOnPlacementScore's status: 200, or the status of
 * its refusal; appends the answer's body. */
int store_call(struct store *s, const char *method, const char *path, struct str body,
               struct strbuf *answer);

/* ---- JSON ---- */

/* With ' for ". */
cJSON *json_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A member that is an object, and made if there is none. */
cJSON *json_need(cJSON *object, const char *name);
/* "": there is none. */
const char *text_in(const cJSON *object, const char *member);
const cJSON *meta_of(const cJSON *object);
const char *name_of(const cJSON *object);
const char *namespace_of(const cJSON *object);
const char *label_of(const cJSON *object, const char *key);
const char *annotation_of(const cJSON *object, const char *key);
/* The uid of its controller; "". */
const char *owner_uid_of(const cJSON *object);
/* NULL value: takes it away. */
void annotate(cJSON *object, const char *key, const char *value);
/* status.decisions; NULL. */
const cJSON *decisions_in(const cJSON *object);
