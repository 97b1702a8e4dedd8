/*
 * The meaning of an unquoted YAML word, as kubectl's parser (go-yaml v2, YAML 1.1) decides it. Only
 * for the YAML reader (yaml/yaml.h).
 */
#pragma once

#include "base/str.h"

enum yaml_kind {
    YAML_STRING,
    YAML_NULL,
    YAML_BOOL,
    YAML_INTEGER,
    YAML_FLOAT,
    YAML_NOT_FINITE, /* .inf, .nan: JSON cannot express it */
};

/*
 * Decides the kind of `word`. `ret_json` receives the JSON of null, booleans and numbers, or
 * `word` itself; it points to a constant, into `word` or into `scratch` (which is overwritten, and
 * fails only for want of memory: strbuf_failed()).
 *
 * Numbers keep their value: hexadecimal, octal (0o17, 017) and binary become decimal; a whole float
 * below 2^53 becomes an integer, as Go prints it; other floats keep their digits. Integers beyond
 * 64 bits keep their digits if they are decimal, and are strings in other bases. Floats beyond a
 * double are strings.
 */
enum yaml_kind yaml_resolve(struct str word, struct strbuf *scratch, struct str *ret_json);
