/*
 * Merge keys of YAML: `<<: *base` gives an object the members of another object.
 *
 * Members are set in the order of the text, as kubectl's reader sets them: a later member replaces
 * an earlier member with the same name, whether it was written or merged. In a list of objects the
 * first object wins. upstream: go.yaml.in/yaml/v2 decode.go, mapping() and merge().
 *
 * Not thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/hashmap.h"
#include "base/str.h"

/* One member of the result: `"key":value` in the text. */
struct yaml_member {
    uint32_t begin, end, key_length;
};

/* Memory for merging, which is used again by the next object; owned, freed by yaml_merger_done().
 */
struct yaml_merger {
    struct strbuf text; /* the object before merging */
    struct yaml_member *members;
    uint32_t count, cap;
    struct hashmap index;
};
void yaml_merger_done(struct yaml_merger *m);

/* Is this JSON text an object, or an array of objects only? */
bool yaml_can_merge(struct str json);

/* Finds the members of the object in m->text. The `count` merge keys stand at the offsets `merges`,
 * ascending, and their values can be merged: they have no merge keys. The text is compact JSON.
 * O(length). Returns 0 or -ENOMEM. */
int yaml_merge(struct yaml_merger *m, const uint32_t *merges, uint32_t count) MUST_CHECK;
