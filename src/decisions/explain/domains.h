/*
 * The domains of a hard constraint: how many pods each has, which are allowed, and why their nodes
 * do not pass. Needs the result of a filter with options.reports.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* Writes members of the constraint's object: "domainReports" (`domain`, `pods`, `counted`,
 * `allowed`, `nodes`, `passed`, `refused[]`), "domainReportsLeftOut" and "meaning" (the sentence
 * of domains_say()). Writes nothing if the domains were not reported. */
void decision_put_domains(struct decision *d, const struct filter_result *result,
                          const struct applied_constraint *applied);
/*
 * Appends a sentence for people: "allowed: north, west; their 6 nodes are not offered by
 * kube-scheduler: 6 cordoned". Appends nothing if the domains were not reported. The filter must
 * also have run kube-scheduler's own plugins: kube-scheduler does not offer a node to an extender
 * if these refuse it.
 */
void domains_say(const struct filter_result *result, const struct applied_constraint *applied,
                 struct strbuf *out);
/* Appends the same in short: "allows only b; its 2 nodes: 2 cordoned". Needs an allowed domain.
 * Returns the kind of reason that refused all of these nodes; "" if several kinds did. */
const char *domains_say_only(const struct filter_result *result,
                             const struct applied_constraint *applied, struct strbuf *out);
