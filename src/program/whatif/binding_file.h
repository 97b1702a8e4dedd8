/* A file with one ResourceBinding or ClusterResourceBinding, YAML or JSON. */
#pragma once

#include "model/binding.h"

/* Everything is in the arena. 0 or -errno; the sentence names the file, the path in the object, and
 * the line where that is known. */
int binding_file_read(const char *path, struct arena *arena, struct binding *ret,
                      struct err *err) MUST_CHECK;
