/*
 * What becomes of a policy's constraints where the pod's own terms are against them. The cases are
 * those that an audit saw leave pods pending on a real kube-scheduler, and their neighbours that
 * must stay as they are; tests/e2e/kube plays them with the real one.
 */
#include "admission/pods/spread_plan.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

#define HARD(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define SOFT(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define THREE(key)                                                                                 \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":3}"
#define IN(key, value) "\"nodeSelector\":{\"" key "\":\"" value "\"}"
#define TERM(key, more) "{\"topologyKey\":\"" key "\"" more "}"
#define POD_TERMS(kind, term)                                                                      \
    "\"affinity\":{\"" kind "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" term "]}}"
#define OWN ",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define OTHER ",\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}"

/* Nodes a, b in zone1, x, y in zone2, o, p in zone3; see cluster_builder.h. */
#define ZONES "a b x y o p"

static const struct row {
    const char *name, *nodes, *policy, *pod;
    enum spread_fate want;
} rows[] = {
    {"nothing against it", ZONES, THREE("zone"), "", SPREAD_INJECTED},
    {"a misspelt key", ZONES, HARD("zones"), "", SPREAD_NO_NODE_HAS_KEY},
    {"... of a soft constraint", ZONES, SOFT("zones"), "", SPREAD_INJECTED},
    {"no node is known", "", HARD("zones"), "", SPREAD_INJECTED},
    {"a key on other nodes only", "a,-zone x", HARD("zone"), IN("node", "a"),
     SPREAD_NO_NODE_HAS_KEY},
    {"a key on tainted nodes only", "a,! x,-zone", HARD("zone"), "", SPREAD_NO_NODE_HAS_KEY},
    {"... which the pod tolerates", "a,! x,-zone", HARD("zone"),
     "\"tolerations\":[{\"operator\":\"Exists\"}]", SPREAD_INJECTED},
    {"the value of the key is empty", "a,+rack", HARD("rack"), "", SPREAD_INJECTED},
    {"the pod may go nowhere at present", ZONES, THREE("zone"), IN("gpu", "yes"), SPREAD_INJECTED},
    {"... nor has any node the key", ZONES, HARD("zones"), IN("gpu", "yes"),
     SPREAD_NO_NODE_HAS_KEY},

    {"pinned to a zone", ZONES, THREE("zone"), IN("zone", "zone1"), SPREAD_FEWER_DOMAINS},
    {"... without minDomains", ZONES, HARD("zone"), IN("zone", "zone1"), SPREAD_INJECTED},
    {"two zones of three by taints", "a x o,!", THREE("zone"), "", SPREAD_FEWER_DOMAINS},
    {"the cluster has two zones for everybody", "a b x", THREE("zone"), "", SPREAD_INJECTED},
    {"... and the pod may use one of them", "a b x", THREE("zone"), IN("zone", "zone1"),
     SPREAD_FEWER_DOMAINS},
    {"one node in each zone is enough", ZONES, THREE("zone"),
     "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
     "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\","
     "\"values\":[\"a\",\"x\",\"o\"]}]}]}}}",
     SPREAD_INJECTED},

    {"together in a zone", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OWN)),
     SPREAD_OWN_AFFINITY},
    {"... while no node is known", "", HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OWN)),
     SPREAD_OWN_AFFINITY},
    {"together on a node, spread over zones", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("node", OWN)), SPREAD_OWN_AFFINITY},
    {"together in a region of all zones", "a,+r=1 x,+r=1 o,+r=1", HARD("zone"),
     POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_INJECTED},
    {"together in one of two regions", "a,+r=1 x,+r=1 o,+r=2", HARD("zone"),
     POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_OWN_AFFINITY},
    {"... that the pod is pinned to", "a,+r=1 x,+r=1 o,+r=2", HARD("zone"),
     IN("r", "1") "," POD_TERMS("podAffinity", TERM("r", OWN)), SPREAD_INJECTED},
    {"two halls that both have racks of every zone", "a,+h=1 x,+h=1 b,+h=2 y,+h=2", HARD("zone"),
     POD_TERMS("podAffinity", TERM("h", OWN)), SPREAD_INJECTED},
    {"beside other pods", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", OTHER)),
     SPREAD_INJECTED},
    {"beside no pods", ZONES, HARD("zone"), POD_TERMS("podAffinity", TERM("zone", "")),
     SPREAD_INJECTED},
    {"beside its like in other namespaces", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaces\":[\"x\"]")), SPREAD_INJECTED},
    {"... in its own by name", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaces\":[\"x\",\"shop\"]")),
     SPREAD_OWN_AFFINITY},
    {"... in all", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"namespaceSelector\":{}")), SPREAD_OWN_AFFINITY},
    {"beside those of other revisions", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OWN ",\"mismatchLabelKeys\":[\"app\"]")),
     SPREAD_INJECTED},
    {"the second term", ZONES, HARD("zone"),
     POD_TERMS("podAffinity", TERM("zone", OTHER) "," TERM("zone", OWN)), SPREAD_OWN_AFFINITY},

    {"one a zone", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("zone", OWN)),
     SPREAD_OWN_ANTI_AFFINITY},
    {"one a node", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("node", OWN)),
     SPREAD_INJECTED},
    {"none beside others", ZONES, HARD("zone"), POD_TERMS("podAntiAffinity", TERM("zone", OTHER)),
     SPREAD_INJECTED},
    {"its own constraint", ZONES, HARD("zone"),
     "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
     "\"ScheduleAnyway\"}]",
     SPREAD_OWN},
};

static enum spread_fate fate_of(struct cluster *c, const struct row *row) {
    char text[2048];
    struct json_reader r;
    struct policy policy;
    struct spread_tally tally = {0};
    struct patch patch;
    struct review_answer answer;
    struct admission_options options = {
        .policies = &policy, .policy_count = 1, .cache = c->cache, .spread = &tally};
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"pods\":{\"spread\":[%s]}}}",
                   row->policy);
    json_reader_init(&r, arena_str(&c->arena, str_of(text)), &c->arena, "policy");
    policy_decode(&r, &policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    (void)snprintf(text, sizeof text, "{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{%s}}",
                   row->pod);
    const struct review review = {.uid = STR("u"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = STR("shop"),
                                  .object = arena_str(&c->arena, str_of(text))};
    (void)admit_object(&admitted_pods, &options, &review, &c->arena, &patch, &answer);
    int fate = 0;
    while (fate < SPREAD_FATES && tally.fates[fate] == 0)
        fate++;
    bool is_told = fate > SPREAD_OWN;
    assert_int_equal(answer.warning_count, is_told);
    assert_int_equal(patch.count > 0, spread_is_injected((enum spread_fate)fate));
    return (enum spread_fate)fate;
}

/* Nothing is concluded before the first listing has ended. */
static void sync(struct cluster *c, void (*step)(struct cache *cache, uint32_t kinds)) {
    cache_write_begin(c->cache);
    step(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

static void not_before_the_cluster_is_known(void **state) {
    static const struct row row = {"", ZONES, HARD("zones"), "", SPREAD_INJECTED};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, row.nodes);
    assert_int_equal(fate_of(&c, &row), row.want);
    cluster_close(&c);
}

static void what_becomes_of_a_constraint(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        sync(&c, cache_sync_begin);
        cluster_nodes(&c, rows[i].nodes);
        sync(&c, cache_sync_end);
        enum spread_fate got = fate_of(&c, &rows[i]);
        if (got != rows[i].want)
            fail_msg("%s: %d, not %d", rows[i].name, (int)got, (int)rows[i].want);
        cluster_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_becomes_of_a_constraint),
                                       cmocka_unit_test(not_before_the_cluster_is_known)};
    return CLUSTER_RUN_TESTS("spread_plan", tests);
}
