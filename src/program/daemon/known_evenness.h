/*
 * Measures how even workloads are, again and again: when something has changed in the cache, at
 * most every LIMIT_EVENNESS_INTERVAL_MS, and so that it takes a fiftieth of the time at most. By
 * zone, region and hostname, where nodes have them, and by the keys of policies. Writes Events
 * about workloads that stay uneven.
 *
 * Threads: known_evenness_metrics() from any, the rest from the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "evenness/latest.h"
#include "policy/policies.h"

struct elector;
struct event_recorder;
struct known_evenness;
struct informer;

/* All is borrowed until known_evenness_free(); events and elector while it is polled. */
struct known_evenness_options {
    struct cache *cache;
    struct policy_source *policies;
    struct evenness_latest *latest;
    struct informer *volumes;      /* which pin pods; NULL: they do not */
    struct event_recorder *events; /* see controllers/uneven_workloads.h */
    const struct elector *elector;
    int64_t uneven_after_ms;
    const char *const *event_namespaces; /* none: all */
    size_t event_namespace_count;
    int64_t stale_after_ms; /* nothing is said of what is older; 0: of nothing */
};

/* NULL is fine in all other calls. */
int known_evenness_start(const struct known_evenness_options *options, struct known_evenness **ret,
                         struct err *err) MUST_CHECK;
/* About once a second. */
void known_evenness_poll(struct known_evenness *k);
/* Appends the metrics of the latest report: see evenness_metrics_render(). */
void known_evenness_metrics(const struct known_evenness *k, uint32_t max, struct strbuf *out);
void known_evenness_free(struct known_evenness *k);
