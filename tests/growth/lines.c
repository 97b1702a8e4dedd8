/* Questions about fleets, of every list that one may bring along. */
#include "growth/growth.h"
#include "growth/work.h"

#include "base/limits.h"
#include "lines/lines.h"
#include "unit/unit.h"

enum { LINE_BYTES = 3 << 20 };

#define PLAN "{\"step\":\"plan\","
#define SOFT "{\"topologyKey\":\"region\",\"topologyKeyType\":\"Label\"},"
#define HARD                                                                                       \
    "{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\",\"whenUnsatisfiable\":"               \
    "\"DoNotSchedule\"}"
#define TERMS "\"terms\":[" SOFT HARD "],"
#define ONE_CLUSTER "\"clusters\":[{\"name\":\"c\",\"labels\":{\"region\":\"r\",\"zone\":\"z\"}}]"

#define DIVIDED(preference)                                                                        \
    "\"placement\":{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","                 \
    "\"replicaDivisionPreference\":\"" preference "\""
#define DYNAMIC                                                                                    \
    DIVIDED("Weighted") ",\"weightPreference\":{\"dynamicWeight\":\"AvailableReplicas\"}}}"
#define AGGREGATED DIVIDED("Aggregated") "}}"
#define STATIC DIVIDED("Weighted") ",\"weightPreference\":{\"staticWeightList\":["
#define ASSIGN "{\"step\":\"assign\",\"spec\":{\"replicas\":2147483647,"
#define CANDIDATES ",\"candidates\":["
#define ONE_CANDIDATE CANDIDATES "{\"name\":\"c\",\"region\":\"r\",\"allocatable\":2147483647}]}"
#define HOLDS "\"allocatable\":2147483647}"
#define RULES_END "]}}}}" ONE_CANDIDATE

#define ESTIMATE "{\"step\":\"estimate\","
#define BY_NODES ESTIMATE
#define ESTIMATED_NODE(amounts)                                                                    \
    "{\"metadata\":{\"name\":\"n%u\"},\"status\":{\"allocatable\":{\"pods\":\"9\"," amounts "}}}"
#define ONE_NODE                                                                                   \
    "\"nodes\":[{\"metadata\":{\"name\":\"n0\"},\"status\":{\"allocatable\":{\"pods\":\"9000\","   \
    "\"cpu\":"                                                                                     \
    "\"9000\",\"x.io/r1\":\"9\"}}}]"
#define SMALL_COMPONENT                                                                            \
    "{\"replicas\":3,\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"1\"}}}"
#define SMALL_SET "\"components\":[" SMALL_COMPONENT "]"
#define REPLICA "\"requirements\":{\"resourceRequest\":{\"cpu\":\"1\"}}"
#define CLAIM                                                                                      \
    "\"requirements\":{\"nodeClaim\":{\"nodeSelector\":{\"a\":\"b\"}},\"resourceRequest\":{"       \
    "\"cpu\":\"1\"}}"
#define PROTECTED ",\"options\":{\"overcommitProtection\":true}"
#define QUOTA_GATE ",\"options\":{\"resourceQuota\":true}"
#define BIND                                                                                       \
    "{\"step\":\"bind\",\"workload\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"       \
    "\"name\":\"w\""                                                                               \
    "}}"
#define BIND_TEMPLATE                                                                              \
    "{\"step\":\"bind\",\"policy\":{\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\"}," \
    "\"spec\":{\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}]}},\"workload\":{"  \
    "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"w\"},\"spec\":{"              \
    "\"containers\":"
#define BIND_END "}}}"
#define UNSCHEDULABLE                                                                              \
    "{\"step\":\"unschedulable\",\"now\":\"2026-01-01T00:00:00Z\",\"deployments\":[{\"metadata\":" \
    "{\"name\":"                                                                                   \
    "\"d\"},\"spec\":{\"selector\":{}}}],\"wire\":"                                                \
    "\"12180a07617070732f7631120a4465706c6f796d656e74220164\""

#define SCHEDULE "{\"step\":\"schedule\","
#define SCHEDULED                                                                                  \
    "\"replicas\":9,\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"K\"},\"replicaRequirements\":{" \
    "\"resourceRequest\":{\"cpu\":\"1\"}}"
#define SERVES "\"apiEnablements\":[{\"groupVersion\":\"v1\",\"resources\":[{\"kind\":\"K\"}]}]"
#define MEMBER(name, spec)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "},\"status\":{" SERVES                \
    ",\"resourceSummary\":{\"allocatable\":{\"cpu\":\"99\",\"pods\":\"99\"}}}}"
#define ONE_MEMBER                                                                                 \
    ",\"clusters\":[" MEMBER("m", "\"region\":\"r\",\"zones\":[\"z\"],\"taints\":[{\"key\":\"t\"," \
                                  "\"effect\":\"NoSchedule\"}]") "]}"

static const struct list lists[] = {
    {"members", SCHEDULE "\"spec\":{" SCHEDULED "," AGGREGATED "},\"clusters\":[", "]}",
     MEMBER("m%u", ""), ","},
    {"members backwards, duplicated", SCHEDULE "\"spec\":{" SCHEDULED "},\"clusters\":[", "]}",
     MEMBER("m%X", "\"region\":\"r%X\""), ","},
    {"members with a taint each", SCHEDULE "\"spec\":{" SCHEDULED "},\"clusters\":[", "]}",
     MEMBER("m%u", "\"taints\":[{\"key\":\"t%u\",\"effect\":\"NoSchedule\"}]"), ","},
    {"taints of a member",
     SCHEDULE "\"spec\":{" SCHEDULED "},\"clusters\":[{\"metadata\":{"
              "\"name\":\"m\"},\"status\":{" SERVES "},\"spec\":{\"taints\":[",
     "]}}]}", "{\"key\":\"t%u\"}", ","},
    {"APIs of a member",
     SCHEDULE "\"spec\":{" SCHEDULED "},\"clusters\":[{\"metadata\":{\"name\":"
              "\"m\"},\"status\":{\"apiEnablements\":[{\"resources\":[",
     "]}]}}]}", "{\"kind\":\"K%u\"}", ","},
    {"targets", SCHEDULE "\"spec\":{" SCHEDULED ",\"clusters\":[", "]}" ONE_MEMBER,
     "{\"name\":\"m%u\",\"replicas\":1}", ","},
    {"evictions", SCHEDULE "\"spec\":{" SCHEDULED ",\"gracefulEvictionTasks\":[", "]}" ONE_MEMBER,
     "{\"fromCluster\":\"m%u\"}", ","},
    {"tolerations", SCHEDULE "\"spec\":{" SCHEDULED ",\"placement\":{\"clusterTolerations\":[",
     "]}}" ONE_MEMBER, "{\"key\":\"t%u\",\"operator\":\"Exists\"}", ","},
    {"terms of a binding",
     SCHEDULE "\"spec\":{" SCHEDULED ",\"placement\":{\"clusterAffinities\":[", "]}}" ONE_MEMBER,
     "{\"affinityName\":\"g%u\",\"clusterNames\":[\"x\"]}", ","},
    {"overflow affinities of a term",
     SCHEDULE "\"spec\":{" SCHEDULED
              ",\"placement\":{\"clusterAffinities\":[{\"affinityName\":\"g\","
              "\"clusterNames\":[\"x\"],\"overflowAffinities\":[",
     "]}]}},\"status\":{\"schedulerObservingAffinityName\":\"g\"}" ONE_MEMBER,
     "{\"affinityName\":\"o%u\",\"clusterNames\":[\"x\"]}", ","},
    {"zones of an affinity",
     SCHEDULE "\"spec\":{" SCHEDULED ",\"placement\":{\"clusterAffinity\":{\"fieldSelector\":{"
              "\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\",\"values\":[",
     "]}]}}}}" ONE_MEMBER, "\"z%X\"", ","},
    {"spread constraints",
     SCHEDULE "\"spec\":{" SCHEDULED ",\"placement\":{\"spreadConstraints\":[", "]}}" ONE_MEMBER,
     "{\"spreadByField\":\"region\",\"maxGroups\":%u}", ","},
    {"clusters in one zone", PLAN TERMS "\"clusters\":[", "]}",
     "{\"name\":\"c%u\",\"labels\":{\"region\":\"r\",\"zone\":\"z\"}}", ","},
    {"clusters in a zone each", PLAN TERMS "\"clusters\":[", "]}",
     "{\"name\":\"c%u\",\"labels\":{\"region\":\"r\",\"zone\":\"z%u\"}}", ","},
    {"clusters backwards, in a region each", PLAN TERMS "\"clusters\":[", "]}",
     "{\"name\":\"c%X\",\"labels\":{\"region\":\"r%X\",\"zone\":\"z\"}}", ","},
    {"clusters without keys", PLAN TERMS "\"clusters\":[", "]}", "{\"name\":\"c%u\"}", ","},
    {"clusters, some of them wanted", PLAN TERMS "\"number\":50,\"clusters\":[", "]}",
     "{\"name\":\"c%u\",\"labels\":{\"region\":\"r%u\",\"zone\":\"z\"}}", ","},
    {"clusters in a zone each, with a weight", PLAN TERMS "\"weight\":2,\"clusters\":[", "]}",
     "{\"name\":\"c%u\",\"labels\":{\"region\":\"r\",\"zone\":\"z%u\"}}", ","},
    {"clusters in a region each, some of them wanted, with a weight",
     PLAN TERMS "\"number\":50,\"weight\":2,\"clusters\":[", "]}",
     "{\"name\":\"c%u\",\"labels\":{\"region\":\"r%u\",\"zone\":\"z\"}}", ","},
    {"clusters without terms", PLAN "\"clusters\":[", "]}", "{\"name\":\"c%u\"}", ","},
    {"one cluster again and again", PLAN TERMS "\"clusters\":[", "]}", "{\"name\":\"c\",\"n\":%u}",
     ","},
    {"labels of a cluster", PLAN TERMS "\"clusters\":[{\"name\":\"c\",\"labels\":{", "}}]}",
     "\"k%06u\":\"v\"", ","},
    {"labels of a cluster, backwards", PLAN TERMS "\"clusters\":[{\"name\":\"c\",\"labels\":{",
     "}}]}", "\"k-%X\":\"v\"", ","},
    {"claims of a cluster", PLAN TERMS "\"clusters\":[{\"name\":\"c\",\"claims\":{", "}}]}",
     "\"k%06u\":\"v\"", ","},
    {"sums", PLAN TERMS ONE_CLUSTER ",\"sums\":{", "}}", "\"c%u\":%u", ","},
    {"one sum again and again", PLAN TERMS ONE_CLUSTER ",\"sums\":{", "}}", "\"c\":%u", ","},
    {"current", PLAN TERMS ONE_CLUSTER ",\"current\":[", "]}", "\"c%u\"", ","},
    {"others", PLAN TERMS ONE_CLUSTER ",\"others\":[", "]}", "\"c%u\"", ","},
    {"one other again and again", PLAN TERMS ONE_CLUSTER ",\"others\":[\"c\"", "]}", ",\"c\"", ""},
    {"terms", PLAN ONE_CLUSTER ",\"terms\":[", "]}", "{\"topologyKey\":\"k%u\"}", ","},
    {"values of a range", "{\"step\":\"range\",\"values\":[", "]}", "%u", ","},
    {"candidates", ASSIGN DYNAMIC "}" CANDIDATES, "]}", "{\"name\":\"c%u\"," HOLDS, ","},
    {"candidates backwards, aggregated", ASSIGN AGGREGATED "}" CANDIDATES, "]}",
     "{\"name\":\"c%X\",\"allocatable\":900%X}", ","},
    {"candidates in a tier each", ASSIGN DYNAMIC "},\"overflow\":true" CANDIDATES, "]}",
     "{\"name\":\"c%u\",\"overflowOrder\":%u,\"allocatable\":5000000}", ","},
    {"one candidate again and again", ASSIGN DYNAMIC "}" CANDIDATES, "]}",
     "{\"name\":\"c\",\"n\":%u}", ","},
    {"candidates, equal shares", ASSIGN STATIC "]}}}}" CANDIDATES, "]}", "{\"name\":\"c%u\"}", ","},
    {"clusters of today", ASSIGN DYNAMIC ",\"clusters\":[", "]}" ONE_CANDIDATE,
     "{\"name\":\"c%u\",\"replicas\":1}", ","},
    {"one cluster of today again and again", ASSIGN DYNAMIC ",\"clusters\":[", "]}" ONE_CANDIDATE,
     "{\"name\":\"c\",\"replicas\":1}", ","},
    {"rules by name", ASSIGN STATIC, RULES_END,
     "{\"targetCluster\":{\"clusterNames\":[\"c%u\"]},\"weight\":%u}", ","},
    {"rules for one name", ASSIGN STATIC, RULES_END,
     "{\"targetCluster\":{\"clusterNames\":[\"c\"]},\"weight\":%u}", ","},
    {"names of a rule", ASSIGN STATIC "{\"weight\":1,\"targetCluster\":{\"clusterNames\":[",
     "]}}" RULES_END, "\"c%X\"", ","},
    {"rules by label", ASSIGN STATIC, RULES_END,
     "{\"targetCluster\":{\"labelSelector\":{\"matchLabels\":{\"k%u\":\"v\"}}},\"weight\":%u}",
     ","},
    {"regions of a rule",
     ASSIGN STATIC "{\"weight\":1,\"targetCluster\":{\"fieldSelector\":{\"matchExpressions\":[{"
                   "\"key\":\"region\",\"operator\":\"In\",\"values\":[",
     "]}]}}}" RULES_END, "\"r%X\"", ","},
    {"overflow terms", ASSIGN "\"placement\":{\"clusterAffinities\":[",
     "]}},\"status\":{\"schedulerObservingAffinityName\":\"a\"}" ONE_CANDIDATE,
     "{\"affinityName\":\"a%u\"}", ","},
    {"nodes", BY_NODES SMALL_SET ",\"nodes\":[", "]}", ESTIMATED_NODE("\"cpu\":\"8\""), ","},
    {"nodes with a resource each", BY_NODES SMALL_SET ",\"nodes\":[", "]}",
     ESTIMATED_NODE("\"x.io/r%u\":\"8\",\"cpu\":\"8\""), ","},
    {"one node again and again", BY_NODES SMALL_SET ",\"nodes\":[", "]}",
     "{\"metadata\":{\"name\":\"n\",\"generation\":%u}}", ","},
    {"nodes for replicas", BY_NODES CLAIM ",\"nodes\":[", "]}", ESTIMATED_NODE("\"cpu\":\"8\""),
     ","},
    {"pods", BY_NODES SMALL_SET "," ONE_NODE ",\"pods\":[", "]}",
     "{\"spec\":{\"nodeName\":\"n0\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"%um\"}"
     "}}]}}",
     ","},
    {"containers of a pod",
     BY_NODES SMALL_SET "," ONE_NODE ",\"pods\":[{\"spec\":{\"nodeName\":\"n0\","
                        "\"containers\":[",
     "]}}]}", "{\"resources\":{\"requests\":{\"x.io/r%u\":\"1\"}}}", ","},
    {"resources of a container",
     BY_NODES SMALL_SET "," ONE_NODE ",\"pods\":[{\"spec\":{\"nodeName\":"
                        "\"n0\",\"containers\":[{\"resources\":{\"requests\":{",
     "}}}]}}]}", "\"x.io/r%X\":\"1\"", ","},
    {"resources of a replica", BY_NODES ONE_NODE ",\"requirements\":{\"resourceRequest\":{", "}}}",
     "\"x.io/r%X\":\"1\"", ","},
    {"components", BY_NODES ONE_NODE ",\"components\":[", "]}", SMALL_COMPONENT, ","},
    {"components with a resource each", BY_NODES ONE_NODE ",\"components\":[", "]}",
     "{\"replicas\":1,\"replicaRequirements\":{\"resourceRequest\":{\"x.io/r%u\":\"1\"}}}", ","},
    {"components with a selector each", BY_NODES ONE_NODE ",\"components\":[", "]}",
     "{\"replicas\":0,\"replicaRequirements\":{\"nodeClaim\":{\"nodeSelector\":{\"k%u\":\"v\"}}}}",
     ","},
    {"assumed workloads", BY_NODES SMALL_SET "," ONE_NODE PROTECTED ",\"assumedWorkloads\":[", "]}",
     "{\"components\":[" SMALL_COMPONENT "]}", ","},
    {"quotas", BY_NODES REPLICA "," ONE_NODE QUOTA_GATE ",\"quotas\":[", "]}",
     "{\"status\":{\"hard\":{\"cpu\":\"%u\"},\"used\":{\"cpu\":\"0\"}}}", ","},
    {"resources of a quota",
     BY_NODES REPLICA "," ONE_NODE QUOTA_GATE ",\"quotas\":[{\"status\":{\"used\":{}"
                      ",\"hard\":{",
     "}}}]}", "\"x.io/r%X\":\"1\"", ","},
    {"scopes of a quota",
     BY_NODES REPLICA "," ONE_NODE QUOTA_GATE ",\"quotas\":[{\"spec\":{\"scopes\":[", "]}}]}",
     "\"s%u\"", ","},
    {"resource models", ESTIMATE "\"cluster\":{\"spec\":{\"resourceModels\":[", "]}}}",
     "{\"grade\":%u,\"ranges\":[{\"name\":\"cpu\",\"min\":\"%u\"}]}", ","},
    {"ranges of a model", ESTIMATE "\"cluster\":{\"spec\":{\"resourceModels\":[{\"ranges\":[",
     "]}]}}}", "{\"name\":\"x.io/r%X\"}", ","},
    {"resources of a cluster",
     ESTIMATE "\"cluster\":{\"status\":{\"resourceSummary\":{\"allocatable\":{\"pods"
              "\":\"9\"",
     "}}}}}", ",\"x.io/r%X\":\"1\"", ""},
    {"selectors of a policy",
     BIND ",\"policy\":{\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
          "\"resourceSelectors\":[",
     "]}}}",
     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchLabels\":{\"k%u\":\"v\"}}}",
     ","},
    {"containers of a template", BIND_TEMPLATE "[", "]" BIND_END,
     "{\"resources\":{\"limits\":{\"x.io/r%u\":\"1\"}}}", ","},
    {"resources of a template", BIND_TEMPLATE "[{\"resources\":{\"limits\":{", "}}}]" BIND_END,
     "\"x.io/r%X\":\"1\"", ","},
    {"estimates", "{\"step\":\"available\",\"replicas\":1,\"clusters\":[\"c\"],\"estimates\":{",
     "}}", "\"e%u\":{\"c\":%u}", ","},
    {"clusters of an estimate",
     "{\"step\":\"available\",\"replicas\":1,\"clusters\":[\"c\"],\"estimates\":{"
     "\"e\":{",
     "}}}", "\"c%X\":1", ","},
    {"pods of a Deployment", UNSCHEDULABLE ",\"pods\":[", "]}", "{\"metadata\":{\"name\":\"p%u\"}}",
     ","},
    {"ReplicaSets", UNSCHEDULABLE ",\"replicaSets\":[", "]}", "{\"metadata\":{\"name\":\"p%u\"}}",
     ","},
    {"members of a template", UNSCHEDULABLE ",\"replicaSets\":[{\"spec\":{\"template\":{", "}}}]}",
     "\"m%u\":[{}]", ","},
    {"members that nobody knows", PLAN TERMS ONE_CLUSTER ",", "}", "\"m%u\":[1,{}]", ","},
};

static uint64_t work_of(struct str line) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct arena arena;
    arena_init(&arena, LIMIT_LINE_ARENA);
    const uint64_t before = work_done();
    (void)line_answer(line, &arena, &out); /* that some are refused is well */
    const uint64_t work = work_done() - before;
    arena_done(&arena);
    return work;
}

static int double_list(const struct list *list) {
    CLEANUP(strbuf_done) struct strbuf line = {0};
    uint64_t before = 0;
    int bad = 0;
    for (uint32_t n = FIRST;; n *= 2) {
        strbuf_clear(&line);
        strbuf_append_str(&line, str_of(list->before));
        append_items(&line, list, n);
        strbuf_append_str(&line, str_of(list->after));
        if (line.n > LINE_BYTES)
            return bad;
        const uint64_t now = work_of(strbuf_str(&line));
        bad += grows(list->name, "line", 0, n, before, now);
        if (getenv("GROWTH_SHOW") != NULL)
            print_message("line       %-48s %8u %9zu bytes %12llu steps\n", list->name, n, line.n,
                          (unsigned long long)now);
        before = now;
    }
}

void lines_of_fleets(void **state) {
    const char *only = getenv("GROWTH_ONLY");
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if ((only == NULL || strcmp(only, lists[i].name) == 0) && growth_in_part())
            bad += double_list(&lists[i]);
    assert_int_equal(bad, 0);
}
