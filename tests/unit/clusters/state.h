/* Clusters' states written in tests: JSON with ' instead of ". Also reads members of an answer. */
#pragma once

#include "clusters/state.h"

#include "unit/unit.h"

#include <cJSON.h>
#include <stdlib.h>

/* " in the place of '; the caller frees it. */
static inline char *with_quotes(const char *text) {
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    return copy;
}

static inline void read_state(const char *list, struct clusters_state *ret) {
    struct err err;
    char *text = with_quotes(list);
    if (clusters_state_read(str_of(text), ret, &err) != 0)
        fail_msg("%s", err.text);
    free(text);
}

/* Returns the member at the path "a.b" of an answer, as JSON with ' instead of ", valid until the
 * next call; "none" if it is missing. */
static inline const char *member_of(const struct strbuf *answer, const char *path) {
    static char text[4096];
    char names[64], *rest = names;
    cJSON *whole = cJSON_ParseWithLength(answer->p, answer->n);
    assert_non_null(whole);
    strncpy(names, path, sizeof names - 1);
    names[sizeof names - 1] = '\0';
    cJSON *item = whole;
    for (const char *name; item != NULL && (name = strsep(&rest, ".")) != NULL;)
        item = cJSON_GetObjectItemCaseSensitive(item, name);
    if (item == NULL)
        strcpy(text, "none");
    else
        assert_true(cJSON_PrintPreallocated(item, text, sizeof text, false));
    cJSON_Delete(whole);
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '"' ? '\'' : *p;
    return text;
}
