/*
 * The writing half of the YAML reader (yaml/yaml.h): takes the values of a document one after the
 * other and appends them to a buffer as JSON. It does not know YAML's syntax. It keeps the open
 * containers, their keys (to refuse duplicates, in constant time per key), and the places of
 * anchored values in the output, so that an alias is one copy of bytes.
 *
 * Errors have no position, because only the caller knows it. -EINVAL, -E2BIG (depth or length) or
 * -ENOMEM; after an error only yaml_build_done() may be called.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hashmap.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "yaml/merge.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

/* A container that is open. */
struct yaml_frame {
    bool is_object, wants_key;
    uint32_t height;                   /* levels of the deepest container inside so far */
    uint32_t key_floor;                /* keys of this object start here in yaml_build.keys */
    uint32_t begin;                    /* where the container starts in the output */
    uint32_t merge_floor, begun_floor; /* the same for yaml_build.merges and yaml_build.begun */
    bool at_merge;                     /* the next value is the value of a merge key */
    uint32_t anchor;                   /* index of the container's anchor, or UINT32_MAX */
};

struct yaml_key {
    uint64_t hash;
    uint32_t begin, length; /* its JSON text in the output, quotes included */
    uint32_t depth;         /* depth of the object that has the key */
};

struct yaml_anchor {
    struct str name; /* arena */
    uint32_t begin, end, height;
    bool finished;
    struct str kept; /* arena: the JSON text of the value, if the output was rewritten where it was;
                        otherwise empty */
};

struct yaml_span {
    uint32_t begin, end;
};

struct yaml_build {
    struct arena *arena; /* borrowed; keys, anchors, marks and documents live here */
    struct strbuf out;   /* owned until done */
    struct json_writer writer;
    struct yaml_frame frames[LIMIT_JSON_DEPTH];
    uint32_t depth;
    struct yaml_key *keys; /* a stack: the keys of all open objects */
    uint32_t key_count, key_cap;
    struct hashmap key_index;
    struct yaml_anchor *anchors; /* of this document */
    uint32_t anchor_count, anchor_cap;
    struct hashmap anchor_index;
    uint32_t *begun; /* anchors in the order of their values; of this document */
    uint32_t begun_count, begun_cap;
    uint32_t *merges; /* a stack: positions in the output of the merge keys of all open objects */
    uint32_t merge_count, merge_cap;
    struct yaml_merger merger;
    uint64_t merged;             /* bytes that merge keys have moved; at most LIMIT_YAML_BYTES */
    struct yaml_span *documents; /* the documents that are not empty */
    uint32_t document_count, document_cap;
    uint32_t document_begin; /* where the present document begins in the output */
    struct yaml_mark *marks;
    uint32_t mark_count, mark_cap;
    bool with_marks;
};

/* `b` must not move afterwards: it points into itself. */
void yaml_build_init(struct yaml_build *b, bool with_marks, struct arena *arena);
void yaml_build_done(struct yaml_build *b);

/* Begins a document: forgets the anchors of the one before. */
void yaml_build_document(struct yaml_build *b);
/* Ends a document; drops it if it has no value. */
int yaml_build_document_end(struct yaml_build *b, struct err *err) MUST_CHECK;

/* Is the next value the key of an object? */
static inline bool yaml_build_wants_key(const struct yaml_build *b) {
    return b->depth > 0 && b->frames[b->depth - 1].wants_key;
}

/* Anchor and line of a value. */
struct yaml_value_site {
    struct str anchor; /* empty: none */
    uint32_t line;
};

/* Appends a key, with its text as written. */
int yaml_build_key(struct yaml_build *b, struct str key, struct yaml_value_site site,
                   struct err *err) MUST_CHECK;
/* Appends a merge key: the object around it gets the members of the value that follows (an object,
 * or an array of objects; an alias must name an object) when it is closed. */
int yaml_build_merge(struct yaml_build *b, uint32_t line, struct err *err) MUST_CHECK;
int yaml_build_string(struct yaml_build *b, struct str text, struct yaml_value_site site,
                      struct err *err) MUST_CHECK;
/* Appends a number or literal that is already JSON. */
int yaml_build_literal(struct yaml_build *b, struct str json, struct yaml_value_site site,
                       struct err *err) MUST_CHECK;
int yaml_build_open(struct yaml_build *b, bool is_object, struct yaml_value_site site,
                    struct err *err) MUST_CHECK;
int yaml_build_close(struct yaml_build *b, struct err *err) MUST_CHECK;
/* Appends a copy of the value with this anchor; as a key if a key is next. */
int yaml_build_alias(struct yaml_build *b, struct str name, uint32_t line,
                     struct err *err) MUST_CHECK;
