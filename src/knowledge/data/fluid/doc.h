/*
 * Small edited documents: what cJSON lacks for reading and editing Kubernetes objects.
 *
 * Reading is lenient, for the API server has checked the object before a webhook sees it: a member
 * that is absent, null or of another type is not there. Writing is not: where a container of the
 * wrong type stands in the way, the edit fails. Strings are NUL-terminated and belong to the
 * document. Not thread-safe for writers.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <cJSON.h>
#include <stdbool.h>

/* NULL when there is no such member. */
cJSON *doc_object(const cJSON *parent, const char *name);
cJSON *doc_array(const cJSON *parent, const char *name);
/* "" when there is no such member. */
const char *doc_string(const cJSON *parent, const char *name);
/* What stands at a path of field names, "status.cacheAffinity"; not for keys that have dots. Any
 * type but null; NULL when there is nothing. */
cJSON *doc_at(const cJSON *root, const char *path);

/* The object or array with this name; an empty one is put there when it is absent or null. 0,
 * -EINVAL (something else is there) or -ENOMEM. */
int doc_need_object(cJSON *parent, const char *name, cJSON **ret, struct err *err) MUST_CHECK;
int doc_need_array(cJSON *parent, const char *name, cJSON **ret, struct err *err) MUST_CHECK;

/* Give `item` to an object (replacing what was there) or to the end of an array. It is owned by the
 * parent then, or freed on failure; NULL (out of memory) is a failure too. 0 or -ENOMEM. */
int doc_set(cJSON *parent, const char *name, cJSON *item) MUST_CHECK;
int doc_push(cJSON *array, cJSON *item) MUST_CHECK;

static inline void doc_free(cJSON **doc) {
    cJSON_Delete(*doc);
}
