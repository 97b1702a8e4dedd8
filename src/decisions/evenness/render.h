/*
 * A report as JSON, by one topology key:
 *
 *   {"topologyKey":"topology.kubernetes.io/zone",
 *    "domains":[{"name":"zone-a","nodes":4,"pods":10}],
 *    "workloads":[{"namespace":"shop","name":"web","kind":"Deployment","pods":9,
 *                  "domains":{"zone-a":5,"zone-b":4},"skew":1,"bestSkew":1,"state":"even"}]}
 *
 * with "elsewhere" after the domains where pods are in domains that do not count for the skew, and
 * how many ({"zone-c":2}, which are in "domains", too), with "apiGroup" after a kind that is not
 * one of Kubernetes itself (a StatefulSet of apps.kruise.io), without "skew" and "bestSkew" where
 * the state is unknown, with "notMeasured" (pods) where not all workloads could be measured, and
 * "continue" where there are more workloads.
 */
#pragma once

#include "base/str.h"
#include "evenness/evenness.h"

/* Is it of a kind that Kubernetes itself has, in its group? */
bool evenness_is_built_in(const struct evenness_workload *w);

struct evenness_page {
    uint32_t key;            /* its number */
    const uint32_t *numbers; /* of workloads */
    uint32_t count;
    struct str more; /* "continue"; "": there are no more */
};
void evenness_render(const struct evenness_report *r, const struct evenness_page *page,
                     struct strbuf *out);

/* Reads such a text into a report with one key, whose workloads stand in the order of the text. The
 * report's strings and arrays are in the arena or the text. 0, -EINVAL or -ENOMEM. */
int evenness_read(struct str json, struct arena *arena, struct evenness_report *ret,
                  struct str *ret_more, struct err *err) MUST_CHECK;
