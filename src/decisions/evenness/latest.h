/*
 * Keeps the latest report for all readers, and renders its metrics.
 *
 * Threads: any.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "evenness/evenness.h"

struct evenness_latest;

/* Returns NULL without memory. evenness_latest_free() accepts NULL; nobody may hold a report
 * then. */
struct evenness_latest *evenness_latest_new(void);
void evenness_latest_free(struct evenness_latest *l);

/* The note about one tag of the report. */
struct evenness_note {
    struct str about; /* name of a policy */
    struct str text;  /* JSON: {"workloads":2,"worst":["shop/web","shop/cart"]} */
};
enum { EVENNESS_WORST = 5 };
/* Writes a note for each tag with keys: the number of the tag's workloads that are uneven by one of
 * its keys, and the worst of these workloads. Notes are in the report's arena. Returns 0 or
 * -ENOMEM. */
struct evenness_tag {
    struct str about;
    uint32_t keys; /* one bit for each key of the report */
};
int evenness_report_note(struct evenness_report *r, const struct evenness_tag *tags,
                         uint32_t count) MUST_CHECK;

/* A report, with the number of its readers. */
struct evenness_held {
    struct evenness_report *report;
    uint64_t number; /* number of the report; the first report has 1 */
    uint32_t holders;
};
/* Makes a report the latest one, and takes it over. Returns 0 or -ENOMEM; after an error the report
 * is freed, and the report before it stays. */
int evenness_latest_set(struct evenness_latest *l, struct evenness_report *report) MUST_CHECK;
/* Returns the latest report, or NULL if there is no report yet. The report does not change until it
 * is released. */
struct evenness_held *evenness_latest_hold(struct evenness_latest *l);
/* Releases a report. NULL is fine. */
void evenness_latest_release(struct evenness_latest *l, struct evenness_held *held);

/* Appends the note about a policy; appends nothing without a note or a report. */
void evenness_latest_note(struct evenness_latest *l, struct str about, struct strbuf *out);

/* Appends evenkeel_workloads{topology_key,state} and, for the `max` worst workloads,
 * evenkeel_workload_skew{namespace,workload,topology_key}, in the Prometheus text format. */
void evenness_metrics_render(const struct evenness_report *r, uint32_t max, struct strbuf *out);
