/*
 * Puts the objects of state files into the cache, in many small batches; others read between them.
 */
#pragma once

#include "cache/cache.h"
#include "state/file_source.h"

/* For one source of files at a time. Borrowed until cache_free(). */
const struct file_target *cache_file_target(struct cache *c);
