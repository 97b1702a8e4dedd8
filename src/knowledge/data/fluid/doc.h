/*
 * Functions that cJSON lacks for reading and editing Kubernetes objects.
 *
 * Reading is lenient, since the API server has checked the object before the webhook: a member
 * that is absent, null or of another type counts as missing. Writing is strict: an edit fails where
 * it needs an object or array and finds another type. Strings are NUL-terminated and belong to the
 * document. Not thread-safe for writers.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <cJSON.h>
#include <stdbool.h>

/* Return the object or the array with this name; NULL if it is missing. */
cJSON *doc_object(const cJSON *parent, const char *name);
cJSON *doc_array(const cJSON *parent, const char *name);
/* Returns the string with this name; "" if it is missing. */
const char *doc_string(const cJSON *parent, const char *name);
/* Returns the value at a path of names, "status.cacheAffinity"; do not use it for keys with dots.
 * The value may have any type except null. NULL: it is missing. */
cJSON *doc_at(const cJSON *root, const char *path);

/* Get the object or array with this name; add an empty one if it is absent or null. Returns 0,
 * -EINVAL (the member has another type) or -ENOMEM. */
int doc_need_object(cJSON *parent, const char *name, cJSON **ret, struct err *err) MUST_CHECK;
int doc_need_array(cJSON *parent, const char *name, cJSON **ret, struct err *err) MUST_CHECK;

/* Add `item` to an object (replaces an old item of that name) or at the end of an array. The parent
 * owns it; a failure frees it. An `item` that is NULL (out of memory) is a failure, too. Returns 0
 * or -ENOMEM. */
int doc_set(cJSON *parent, const char *name, cJSON *item) MUST_CHECK;
int doc_push(cJSON *array, cJSON *item) MUST_CHECK;

static inline void doc_free(cJSON **doc) {
    cJSON_Delete(*doc);
}
