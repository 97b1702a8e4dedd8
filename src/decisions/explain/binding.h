/*
 * Writes the scheduling of a binding as JSON: the object that `evenkeel simulate --binding`, POST
 * /clusters/v1/select and `evenkeel explain binding` return, and the smaller answers of the other
 * verbs of /clusters/v1.
 *
 *   {"binding":"ns/name","trigger":"PlacementChanged","affinity":"group1",
 *    "filter":{"m1":{"verdict":"Pass","reason":""},
 *              "m2":{"verdict":"TaintToleration",
 *                    "reason":"cluster(s) had untolerated taint {k=v:NoSchedule}"}},
 *    "scores":{"m1":{"ClusterLocality":100,"total":100}},
 *    "available":{"m1":{"summary":12,"models":null,"accurate":null,"allocatable":12,
 *                       "available":15}},
 *    "groups":{"region":[{"name":"P1/R1","path":["P1","R1"],"score":100,"available":15,
 *                         "clusters":["m1"]}]},
 *    "selected":["m1"],"proven":true,"clusters":[{"name":"m1","replicas":6}],
 *    "errorKind":"","error":"","patch":{},"status":{},"warnings":[]}
 *
 * "affinity" is the term in force; if no term fits, everything else is about the first term that
 * was tried. A verdict is Pass, the name of a filter, or Deleting: a cluster under deletion takes
 * no part. Scores and replicas are those of clusters that pass. "summary", "models" and "accurate"
 * are null if that estimator was not asked or has no answer. "patch" and "status" are the merge
 * patches that Karmada's scheduler would send; {} means none.
 *
 * Maps and lists are sorted by name, byte-wise, except "selected", the groups (best first) and
 * their clusters. A limit bounds the items of each map by cluster, of "selected", of "clusters", of
 * the groups of a level and of the clusters of a group; "omitted" lists the members that were cut.
 */
#pragma once

#include "karmada/binding.h"

struct binding_rendering {
    uint32_t limit;    /* 0: all */
    int64_t now_ms;    /* the time that "status" would write */
    bool without_plan; /* only the selection: without "clusters", "patch" and "status" */
};

/* A question and its outcome; all borrowed. `question` has the clusters. */
struct binding_report {
    const struct binding *binding;
    const struct karmada_question *question;
    const struct karmada_outcome *outcome;
};

/* Appends the object. Returns 0, -EINVAL, -E2BIG or -ENOMEM, with a sentence. An overflow shows
 * only in `out`. */
int binding_render(const struct binding_report *report, const struct binding_rendering *how,
                   struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;

/* Appends {"clusterNames":["m1"],"failedClusters":{"m2":"reason"},"error":""}: every cluster is in
 * one of the two. Fails like binding_render(). */
int binding_render_filter(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) MUST_CHECK;
/* Appends {"scores":[{"cluster":"m1","score":100,"by":{"ClusterLocality":100}}],"error":""}: the
 * clusters that pass, by falling score, then by name. Fails like binding_render(). */
int binding_render_scores(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) MUST_CHECK;
/* Appends {"clusters":[{"name":"m1","replicas":6}],"errorKind":"","error":""}. */
void binding_render_assignment(const struct binding_report *report, struct strbuf *out);
