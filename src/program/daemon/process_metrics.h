/*
 * Metrics that belong to no other room: the cache's sizes, how often state files were read, the
 * build and the process.
 */
#pragma once

#include "cache/cache.h"

/* Registers the metrics. `cache` is borrowed until process_metrics_stop(). */
void process_metrics_start(struct cache *cache);
void process_metrics_stop(void);
/* Counts one reading of the state files. */
void process_metrics_state_read(bool good);
