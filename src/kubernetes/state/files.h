/*
 * Every object of state files, whatever form they have: YAML or JSON, single or in lists.
 */
#pragma once

#include "model/object.h"

struct manifests;

/* objects_walk() over all documents of files that have been read. Errors name the file. */
int state_files_walk(const struct manifests *files, object_read_fn *read, void *ctx,
                     struct err *err) MUST_CHECK;
