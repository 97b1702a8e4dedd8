/*
 * The domains of a hard constraint: how many pods each has, which are allowed, and why none of
 * their nodes will do. Of a filter with options.reports.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* Members of the constraint's object: "domainReports" (`domain`, `pods`, `counted`, `allowed`,
 * `nodes`, `passed`, `refused[]`), "domainReportsLeftOut" and "meaning", the sentence below.
 * Nothing if the domains were not reported. */
void decision_put_domains(struct decision *d, const struct filter_result *result,
                          const struct applied_constraint *applied);
/*
 * Appends a sentence for people: "allowed: north, west; their 6 nodes are not offered by
 * kube-scheduler: 6 cordoned". Nothing if the domains were not reported. The filter has also
 * run the plugins of kube-scheduler itself: a node that these refuse is one that an extender is
 * not offered.
 */
void domains_say(const struct filter_result *result, const struct applied_constraint *applied,
                 struct strbuf *out);
