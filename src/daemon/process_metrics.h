/*
 * Metrics that belong to no one else: the cache's sizes, state files read, the build and the
 * process itself.
 */
#pragma once

#include "cache/cache.h"

/* Registers them for the process's life; `cache` is borrowed until process_metrics_stop(). */
void process_metrics_start(struct cache *cache);
void process_metrics_stop(void);
/* Counts one reading of the state files. */
void process_metrics_state_read(bool good);
