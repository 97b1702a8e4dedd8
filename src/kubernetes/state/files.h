/*
 * Walks over every object of state files: YAML or JSON, single or in lists.
 */
#pragma once

#include "model/object.h"

struct manifests;

/* Calls objects_walk() for all documents of files that were read before. Errors name the file. */
int state_files_walk(const struct manifests *files, object_read_fn *read, void *ctx,
                     struct err *err) MUST_CHECK;
