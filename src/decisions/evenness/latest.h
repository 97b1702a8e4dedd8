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

/* Returns NULL without memory. Free accepts NULL; nobody may hold a report then. */
struct evenness_latest *evenness_latest_new(void);
void evenness_latest_free(struct evenness_latest *l);

/* The note about one tag of the report. */
struct evenness_note {
    struct str about; /* a policy's name */
    struct str text;  /* JSON: {"workloads":2,"worst":["shop/web","shop/cart"]} */
};
enum { EVENNESS_WORST = 5 };
/* Writes a note for each tag with keys: how many of its workloads are uneven by one of its keys,
 * and the worst of them. Notes are in the report's arena. Returns 0 or -ENOMEM. */
struct evenness_tag {
    struct str about;
    uint32_t keys; /* a bit for each of the report's */
};
int evenness_report_note(struct evenness_report *r, const struct evenness_tag *tags,
                         uint32_t count) MUST_CHECK;

/* A report that somebody reads. */
struct evenness_held {
    struct evenness_report *report;
    uint64_t number; /* number of the report, from 1 */
    uint32_t holders;
};
/* Takes over the report. Returns 0 or -ENOMEM; after an error the report is freed, and the one
 * before stays. */
int evenness_latest_set(struct evenness_latest *l, struct evenness_report *report) MUST_CHECK;
/* Returns the report, or NULL if there is no report yet. The report does not change until it is
 * released. */
struct evenness_held *evenness_latest_hold(struct evenness_latest *l);
/* NULL is fine. */
void evenness_latest_release(struct evenness_latest *l, struct evenness_held *held);

/* Appends the note about this name; nothing without a note or a report. */
void evenness_latest_note(struct evenness_latest *l, struct str about, struct strbuf *out);

/* Appends evenkeel_workloads{topology_key,state} and, for the `max` worst workloads,
 * evenkeel_workload_skew{namespace,workload,topology_key}, in the Prometheus text format. */
void evenness_metrics_render(const struct evenness_report *r, uint32_t max, struct strbuf *out);
