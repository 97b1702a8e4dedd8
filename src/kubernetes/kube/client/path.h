/* Paths of an API server's objects. Thread-safe. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* Is a name a segment of a path as it stands, and cannot lead elsewhere? What Kubernetes allows in
 * names, and a little more. */
bool kube_path_segment(struct str name);
