/*
 * Writes and reads a report as JSON, by one topology key:
 *
 *   {"topologyKey":"topology.kubernetes.io/zone",
 *    "domains":[{"name":"zone-a","nodes":4,"cordoned":1,"tainted":0,"pods":10}],
 *    "workloads":[{"namespace":"shop","name":"web","kind":"Deployment","pods":9,
 *                  "domains":{"zone-a":5,"zone-b":4},"skew":1,"bestSkew":1,"state":"even"}]}
 *
 * A workload has "elsewhere" after "domains" if it has pods in domains that do not count for the
 * skew, with the number of these pods ({"zone-c":2}; they are also in "domains"). It has "apiGroup"
 * after "kind" if the kind is not one of Kubernetes itself (a StatefulSet of apps.kruise.io). It
 * has neither "skew" nor "bestSkew" if its state is unknown. A workload, and the report, have
 * "onUnknownNodes" (pods on nodes that are not known, in no domain) and "pending" (pods without a
 * node), if there are any; the report has "withoutKey" (nodes without the key, as a domain)
 * likewise. "cordoned" and "tainted" of a domain are missing if they are 0. "dataAgeMilliseconds"
 * is the age of the cluster's data, if the data comes from an API server. The report has
 * "notMeasured" (pods) if some workloads could not be measured, and "continue" if there are more
 * workloads.
 */
#pragma once

#include "base/str.h"
#include "evenness/evenness.h"

/* Is the workload's kind, with its group, a kind of Kubernetes itself? */
bool evenness_is_built_in(const struct evenness_workload *w);

struct evenness_page {
    uint32_t key;            /* number of the key */
    const uint32_t *numbers; /* numbers of the workloads to write */
    uint32_t count;
    struct str more;     /* value of "continue"; "": the list ends here */
    int64_t data_age_ms; /* current age of the cluster's data; 0: not known */
};
void evenness_render(const struct evenness_report *r, const struct evenness_page *page,
                     struct strbuf *out);

/* Reads such a JSON text and the age in it. The report has one key, and its workloads are in the
 * order of the text. The report's strings and arrays are in the arena or the text. Returns 0,
 * -EINVAL or -ENOMEM. */
int evenness_read(struct str json, struct arena *arena, struct evenness_report *ret,
                  struct str *ret_more, struct err *err) MUST_CHECK;
