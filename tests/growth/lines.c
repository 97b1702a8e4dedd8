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

static const struct list lists[] = {
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
        if (only == NULL || strcmp(only, lists[i].name) == 0)
            bad += double_list(&lists[i]);
    assert_int_equal(bad, 0);
}
