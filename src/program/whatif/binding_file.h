/* A file with one ResourceBinding or ClusterResourceBinding, YAML or JSON. */
#pragma once

#include "model/binding.h"

/* Everything in *ret is in the arena, as *ret_json, the object itself. Returns 0 or -errno; the
 * sentence names the file, the path in the object and, if known, the line. */
int binding_file_read(const char *path, struct arena *arena, struct binding *ret,
                      struct str *ret_json, struct err *err) MUST_CHECK;
