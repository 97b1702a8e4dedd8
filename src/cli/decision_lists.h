/*
 * The tables of a decision: one for each list that explain/scheduling.c and explain/admission.c
 * write, and the nodes and pods of a simulation. Here only is said what their columns are called.
 */
#pragma once

#include "cli/listing.h"

extern const struct listing constraint_listing, dropped_listing, dataset_listing, leaving_listing,
    note_listing, warning_listing, patch_listing;

/* Of a what-if there are the totals with kube-scheduler's own plugins, too, of every node. */
const struct listing *listing_of_scores(struct str scores);

/* Appends a table for each item of "constraints" whose domains were reported. Errors as of
 * listing_print(). */
int print_domains_of(struct str constraints, struct arena *arena, struct strbuf *out,
                     struct err *err) MUST_CHECK;

/* Appends a line for each item of "podsByDomain". Errors as of listing_print(). */
int print_counts(struct str list, struct arena *arena, struct strbuf *out,
                 struct err *err) MUST_CHECK;

/* Decisions, a line each: "number", "time", "verb", "object", "nodes", "result", "message". */
extern const struct listing recent_listing;
/* Every node with its verdict: "node", "verdict", "priority", "normalized", "raw", "total",
 * "reason". */
extern const struct listing verdict_listing;
/* Pods placed in a row: "pod", "from", "node", "total", "reason". */
extern const struct listing placed_listing;
/* Pods by domain: "topologyKey", "domain", "before", "added", "bar". */
extern const struct listing bar_listing;
