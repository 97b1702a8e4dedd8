/*
 * State files into the cache, which is changed in place: by many small batches, between which
 * others read.
 */
#pragma once

#include "cache/cache.h"
#include "state/file_source.h"

/* For one source of files at a time. Borrowed until cache_free(). */
const struct file_target *cache_file_target(struct cache *c);
