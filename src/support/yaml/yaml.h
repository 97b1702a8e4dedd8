/*
 * Converts YAML to JSON text, so that every decoder of the program needs to know only JSON. JSON is
 * also YAML, and stays as it is.
 *
 * Scalars resolve as kubectl resolves them (YAML 1.1 core words): plain `null ~ true false yes no
 * on off`, integers and floats become JSON literals; all other and all quoted scalars become
 * strings. Anchors and aliases work (the anchored value is copied), and so do merge keys `<<`
 * (yaml/merge.h). Custom tags have no effect, except that a scalar with such a tag is a string.
 * Duplicate keys, non-scalar keys, !!binary, .inf and .nan are refused. Errors name line and
 * column. Documents deeper than LIMIT_JSON_DEPTH or longer than LIMIT_YAML_BYTES as JSON are
 * refused.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* The YAML line, from 1, of the value or key that starts at `json_offset` of the output. Marks are
 * sorted by offset. */
struct yaml_mark {
    uint32_t json_offset;
    uint32_t line;
};

struct yaml_json {
    struct str *documents; /* JSON texts, one per YAML document that is not empty; arena */
    size_t document_count;
    struct str text;         /* all documents in one buffer; documents point into it */
    struct yaml_mark *marks; /* offsets count from the start of `text`; empty unless asked for */
    size_t mark_count;
};

/* Removes a UTF-8 byte order mark from the front of the text, as kubectl does. Returns 0, or
 * -EINVAL for a text in UTF-16, which older PowerShells write. */
int yaml_skip_mark(struct str *text, struct err *err) MUST_CHECK;

/* Converts every document of `yaml`, which has no byte order mark. All memory is from the arena.
 * `with_marks` costs 8 bytes a value; ask for it only where an error must name a line. 0, -EINVAL
 * (malformed; err names line and column), -E2BIG (a limit) or -ENOMEM. */
int yaml_to_json(struct str yaml, bool with_marks, struct arena *arena, struct yaml_json *ret,
                 struct err *err) MUST_CHECK;

/* Returns the line that an error of yaml_to_json() names, also if a caller has put text in front of
 * the error; 0 if the error names no line. */
uint32_t yaml_line_named(const char *error);

/* Returns the version of the loaded libyaml. Static string. */
const char *yaml_library_version(void);

/* Returns the number of marks at or before a byte of doc->text. */
size_t yaml_marks_before(const struct yaml_json *doc, size_t json_offset);
/* Returns the YAML line of the byte `json_offset` of doc->text: the line of the last mark at or
 * before it. 0 without marks. */
uint32_t yaml_line_of(const struct yaml_json *doc, size_t json_offset);
/* Changes a decoder's error that names a byte of `json`, because the reader of the YAML cannot use
 * that number. If `json` is a part of doc->text and has marks, the YAML's line replaces the byte;
 * otherwise the byte is removed. `err` may be NULL. */
void yaml_say_line(const struct yaml_json *doc, struct str json, struct err *err);
