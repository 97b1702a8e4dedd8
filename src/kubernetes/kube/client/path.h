/* Paths of an API server's objects. Thread-safe. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* Can a name be a segment of a path without escapes, and not lead elsewhere? True for all names
 * that Kubernetes allows, and a few others. */
bool kube_path_segment(struct str name);
