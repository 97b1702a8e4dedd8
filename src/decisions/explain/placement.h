/*
 * Writes a Placement's decision as JSON: the object that `evenkeel simulate --placement`, POST
 * /clusters/v1/select and `evenkeel explain placement` return, and the smaller answers of the other
 * verbs of /clusters/v1.
 *
 *   {"placement":"ns/name","eligibleSets":["set1"],"available":["c1","c2"],
 *    "filter":{"c1":{"verdict":"Pass","reason":""},
 *              "c2":{"verdict":"TaintToleration","reason":"taint k=v:NoSelect is not tolerated"}},
 *    "celUnknown":false,
 *    "prioritizers":[{"name":"Balance","weight":1,"scores":{"c1":100}}],"sum":{"c1":100},
 *    "policy":null,
 *    "terms":[{"topologyKey":"zone","topologyKeyType":"Label","maxSkew":1,
 *              "whenUnsatisfiable":"DoNotSchedule","minDomains":0,"skew":1}],
 *    "domains":[{"path":["us-east"],"feasible":1,"selected":1}],
 *    "rounds":[{"picked":"c1","dropped":[],"raw":{"c1":0}}],
 *    "current":["c3"],"selected":["c1"],"kept":["c1"],
 *    "keptReasons":{"c1":"zone=a is above maxSkew 1: a member stays"},
 *    "moves":{"add":["c1"],"remove":["c3"]},"unscheduled":0,
 *    "groups":[{"index":0,"name":"","decisions":["name-decision-1"],"clusters":["c1"]}],
 *    "conditions":[{"type":"PlacementMisconfigured","status":"False","reason":"..","message":"."}],
 *    "publish":[],"spreadSatisfied":{"status":"True","reason":"Even","message":"..."},
 *    "requeueAfterSeconds":null,"warnings":[],"error":""}
 *
 * Scores are those of all clusters that pass OCM's own filters; sums only those of clusters with
 * the verdict Pass. "rounds" is there only on request, with "final" in a round where spread has a
 * weight. "kept" are the last clusters of "selected": hard terms would not admit them now, but
 * clusters that were selected before stay. "error" is the reason for no answer: a misconfiguration,
 * or a ManagedClusterSet with a selector that does not compile; then the present decision stays as
 * it is.
 *
 * Lists and maps are sorted by name, byte-wise, except "selected" (in the order of picking), "kept"
 * and "keptReasons" (in the same order). A limit bounds the items of each list and map, and
 * "omitted" has the number of items left out, by member: {"available":4900,"filter":4900}.
 */
#pragma once

#include "ocm/decide.h"

struct placement_rendering {
    uint32_t limit;   /* items of a list or map; 0: all */
    bool with_rounds; /* as in the question */
};

/* Appends the object. The decision was made with_domains. Returns 0 or -ENOMEM. An overflow shows
 * only in `out`. */
int placement_render(const struct ocm_decision *d, const struct placement_rendering *how,
                     struct arena *arena, struct strbuf *out) MUST_CHECK;

/*
 * Appends {"clusterNames":["c1"],"failedClusters":{"c2":"reason"},"error":""}: every available
 * cluster and every cluster in the question is in one of the two members. The error is the reason
 * why filters cannot answer.
 */
int placement_render_filter(const struct ocm_decision *d, struct arena *arena,
                            struct strbuf *out) MUST_CHECK;

/* Appends {"scores":[{"cluster":"c1","score":200,"by":{"Balance":100}}],"error":""}: the clusters
 * that pass, by falling sum, then by name. `by` has scores before weights. */
int placement_render_scores(const struct ocm_decision *d, struct arena *arena,
                            struct strbuf *out) MUST_CHECK;
