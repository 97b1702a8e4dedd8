/* A YAML file with one document, which a user names on a command line. */
#pragma once

#include "yaml/yaml.h"

/* Is the document, as JSON, one that the file is given for? */
typedef bool yaml_wanted_fn(struct str json, struct arena *arena);

/* Reads the file's document as JSON, with marks; memory is from the arena. If there are several,
 * such as a workload and its Service, ret->documents[0] is the only wanted one. `what` names the
 * file in errors ("pod file"), and `expected` its contents ("Pod"). Returns 0, the errors of
 * file_read() and of yaml_to_json(), or -EINVAL (no document, or not exactly one wanted). */
int yaml_file_read(const char *path, const char *what, const char *expected, yaml_wanted_fn *wanted,
                   struct arena *arena, struct yaml_json *ret, struct err *err) MUST_CHECK;
