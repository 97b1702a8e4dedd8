/*
 * How a binding is scheduled, as JSON: the one object that `evenkeel simulate --binding`, POST
 * /clusters/v1/select and `evenkeel explain binding` give, and the smaller answers of the other
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
 * "affinity" is the term in force; where no term fits, everything else is about the first that was
 * tried. A verdict is Pass, the name of a filter, or Deleting: such a cluster takes no part. Scores
 * and replicas are those of clusters that pass. "summary", "models" and "accurate" are null where
 * they were not asked or do not know. "patch" and "status" are the merge patches that Karmada's
 * scheduler would send, {} for none.
 *
 * Maps and lists are by name, byte-wise, but "selected", the groups (best first) and their
 * clusters. With a limit each of the maps by cluster, of "selected" and "clusters", of the groups
 * of a level and of the clusters of a group has so many items at most, and "omitted" says of which
 * members there are more.
 */
#pragma once

#include "karmada/binding.h"

struct binding_rendering {
    uint32_t limit;    /* 0: all */
    int64_t now_ms;    /* of what "status" would write */
    bool without_plan; /* no "clusters", "patch" and "status": only which clusters are selected */
};

/* What was asked, and what was decided; all borrowed. `question` had the clusters. */
struct binding_report {
    const struct binding *binding;
    const struct karmada_question *question;
    const struct karmada_outcome *outcome;
};

/* Appends the object. 0, -EINVAL, -E2BIG or -ENOMEM, with a sentence; that `out` is full is asked
 * of it. */
int binding_render(const struct binding_report *report, const struct binding_rendering *how,
                   struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;

/* {"clusterNames":["m1"],"failedClusters":{"m2":"reason"},"error":""}: every cluster is in one of
 * both. Likewise. */
int binding_render_filter(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) MUST_CHECK;
/* {"scores":[{"cluster":"m1","score":100,"by":{"ClusterLocality":100}}],"error":""}: clusters that
 * pass, the highest score first, then by name. Likewise. */
int binding_render_scores(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) MUST_CHECK;
/* {"clusters":[{"name":"m1","replicas":6}],"errorKind":"","error":""} */
void binding_render_assignment(const struct binding_report *report, struct strbuf *out);
