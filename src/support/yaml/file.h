/* A YAML file with one document, which a user names on a command line. */
#pragma once

#include "yaml/yaml.h"

/* Reads the file's document as JSON, with marks; memory is from the arena. `what` names the file in
 * errors ("pod file"), and `expected` its contents ("Pod"). Returns 0, the errors of file_read()
 * and of yaml_to_json(), or -EINVAL (not exactly one document). */
int yaml_file_read(const char *path, const char *what, const char *expected, struct arena *arena,
                   struct yaml_json *ret, struct err *err) MUST_CHECK;
