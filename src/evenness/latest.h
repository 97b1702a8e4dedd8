/*
 * The report that was made last, for all who read it, and its metrics.
 *
 * Threads: any.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "evenness/evenness.h"

struct evenness_latest;

/* NULL when out of memory; free takes NULL, and nobody holds a report then. */
struct evenness_latest *evenness_latest_new(void);
void evenness_latest_free(struct evenness_latest *l);

/* A report that somebody reads. */
struct evenness_held {
    struct evenness_report *report;
    uint64_t number; /* of the report: 1 and so on */
    uint32_t holders;
};
/* Takes the report over. 0 or -ENOMEM, and then it is freed and the one before stays. */
int evenness_latest_set(struct evenness_latest *l, struct evenness_report *report) MUST_CHECK;
/* NULL: none has been made yet. It stays what it is until it is released. */
struct evenness_held *evenness_latest_hold(struct evenness_latest *l);
/* NULL is fine. */
void evenness_latest_release(struct evenness_latest *l, struct evenness_held *held);

/* Appends evenkeel_workloads{topology_key,state} and, for the `max` worst workloads,
 * evenkeel_workload_skew{namespace,workload,topology_key}, in the Prometheus text format. */
void evenness_metrics_render(const struct evenness_report *r, uint32_t max, struct strbuf *out);
