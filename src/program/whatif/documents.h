/* The objects of a YAML or JSON file that a user gives: its documents, and the items of Lists. */
#pragma once

#include "yaml/file.h"

struct documents {
    struct yaml_json json;
    struct str *items; /* JSON texts, in order */
    uint32_t count;    /* at least 1 */
};

/* Reads the file; memory is from the arena. If there are several objects, only the wanted ones
 * stay; a single object stays in any case. `what` names the file in errors ("binding file"),
 * `expected` its contents. Returns 0 or -errno; -EINVAL also if no object is wanted. */
int documents_read(const char *path, const char *what, const char *expected, yaml_wanted_fn *wanted,
                   struct arena *arena, struct documents *ret, struct err *err) MUST_CHECK;
/* Puts the file's name in front of a decoder's error about the text, and the line instead of the
 * byte. Returns err->code. */
int documents_complain(const struct documents *d, struct str text, const char *path,
                       const char *what, struct err *err);
