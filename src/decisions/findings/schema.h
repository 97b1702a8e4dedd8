/*
 * Finds members of a JSON object that its kind does not have, and names the member that was meant
 * or the place where it belongs.
 *
 * A schema is a const table: the names of an object's members, and the schemas of the members to
 * look into. An object is known whole, or in part. In an object that is known in part, an unknown
 * member is a finding only if its spelling is near a known name, or if its name belongs elsewhere:
 * newer versions of the kind may have more members.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"

#include <stdint.h>

enum schema_kind {
    SCHEMA_OBJECT,
    SCHEMA_PART, /* an object that is known in part */
    SCHEMA_OPEN, /* an object whose other members may have any name */
    SCHEMA_LIST, /* an array; `of` is the schema of its items */
};

struct schema;
struct schema_field {
    const char *name;
    const struct schema *of; /* NULL: the value is not looked into */
};
struct schema {
    enum schema_kind kind;
    const struct schema_field *fields; /* the members of an object */
    uint32_t field_count;
    const struct schema *of;
};
#define SCHEMA_OF(what, list)                                                                      \
    { .kind = (what), .fields = (list), .field_count = sizeof(list) / sizeof(list)[0] }

/* A place in the document where members of a schema belong. */
struct schema_home {
    const struct schema *schema;
    const char *path; /* "spec.template.spec" */
};
struct schema_document {
    const struct schema *schema; /* schema of the root */
    /* ended by an item without a schema; the first home that fits counts */
    struct schema_home homes[6];
};

/* Adds a finding UnknownField for each unknown member. `json` is valid JSON; values of another type
 * than the schema's are ignored. Returns 0, -E2BIG (out of steps) or -ENOMEM; the findings so far
 * stay. */
int schema_check(struct str json, const struct schema_document *document, struct findings *f);
