/*
 * Measures how even workloads are when the cache has changed, at most every
 * LIMIT_EVENNESS_INTERVAL_MS, and for at most a fiftieth of the time. Measures by zone, region and
 * hostname, if nodes have these labels, and by the keys of policies. Writes Events about workloads
 * that stay uneven.
 *
 * Threads: known_evenness_metrics() on any thread, the rest on the main thread.
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

/* All members are borrowed until known_evenness_free(); events and elector until the last poll. */
struct known_evenness_options {
    struct cache *cache;
    struct policy_source *policies;
    struct evenness_latest *latest;
    struct informer *volumes;      /* volumes that pin pods; NULL: ignored */
    struct event_recorder *events; /* see controllers/uneven_workloads.h */
    const struct elector *elector;
    int64_t uneven_after_ms;
    const char *const *event_namespaces; /* empty: all namespaces */
    size_t event_namespace_count;
    int64_t stale_after_ms; /* maximal age of data for Events; 0: no limit */
};

/* Starts to measure. The other functions accept NULL. */
int known_evenness_start(const struct known_evenness_options *options, struct known_evenness **ret,
                         struct err *err) MUST_CHECK;
/* Call about once a second. */
void known_evenness_poll(struct known_evenness *k);
/* Appends evenkeel_pods_pending, and the metrics of the latest report: see
 * evenness_metrics_render(). */
void known_evenness_metrics(const struct known_evenness *k, uint32_t max, struct strbuf *out);
void known_evenness_free(struct known_evenness *k);
