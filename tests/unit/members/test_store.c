/*
 * What is known of a member cluster, event by event: against the same nodes and pods counted anew
 * (estimator_nodes_make()), and against the order of upstream's nodeTree, played with plain lists.
 */
#include "unit/members/kept.h"

#include "base/limits.h"

#include <stdio.h>

enum { NODES, PODS }; /* rows of the store */

/* What a node has left of a resource; -1: it has none of it, or is not there. */
static int64_t left_on(struct informer *i, const char *node, const char *resource) {
    struct member_view v;
    int64_t left = -1;
    assert_int_equal(member_view_open(i, &v), 0);
    const struct estimator_nodes *n = &v.nodes;
    for (uint32_t row = 0; row < n->count; row++) {
        if (!str_eq(topology_name(v.topology.topology, n->slots[row]), str_of(node)))
            continue;
        const enum node_native native = node_native_of(str_of(resource));
        if (native != NODE_NATIVES)
            left = n->native[native][row];
        for (uint32_t s = n->scalar_begin[row]; s < n->scalar_begin[row + 1]; s++)
            if (str_eq(n->names[n->scalars[s].name], str_of(resource)))
                left = n->scalars[s].free;
    }
    member_view_close(&v);
    return left;
}

#define NODE_OF(name, allocatable)                                                                 \
    "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"allocatable\":{" allocatable "}}}"
#define POD_OF(name, node, requests)                                                               \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\"},\"spec\":{\"nodeName\":\"" node    \
    "\",\"containers\":[{\"resources\":{\"requests\":{" requests "}}}]}}"
#define FOUR "\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"10\",\"ephemeral-storage\":\"1Gi\""

static void fields_of_nodes(void **state) {
    struct informer *i = *state;
    kept_give(i, NODES, NODE_OF("n", FOUR ",\"example.com/gpu\":\"2\""));
    assert_int_equal(left_on(i, "n", "cpu"), 4000);
    assert_int_equal(left_on(i, "n", "memory"), 8ll << 30);
    assert_int_equal(left_on(i, "n", "pods"), 10);
    assert_int_equal(left_on(i, "n", "ephemeral-storage"), 1ll << 30);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), 2);
    kept_give(i, NODES, NODE_OF("n", "\"cpu\":\"3\",\"example.com/gpu\":\"1\""));
    assert_int_equal(left_on(i, "n", "cpu"), 3000);
    assert_int_equal(left_on(i, "n", "memory"), 0); /* not said any more */
    assert_int_equal(left_on(i, "n", "pods"), 0);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), 1);
    kept_give(i, NODES, NODE_OF("n", FOUR));
    assert_int_equal(left_on(i, "n", "example.com/gpu"), -1);
    kept_take(i, NODES, "", "n");
    assert_int_equal(left_on(i, "n", "cpu"), -1);
    kept_take(i, NODES, "", "n");
}

static void fields_of_pods(void **state) {
    struct informer *i = *state;
    kept_give(i, NODES, NODE_OF("n", FOUR ",\"example.com/gpu\":\"2\""));
    kept_give(i, PODS,
              POD_OF("a", "n", "\"cpu\":\"1500m\",\"memory\":\"1Gi\",\"example.com/gpu\":\"1\""));
    assert_int_equal(left_on(i, "n", "cpu"), 2500);
    assert_int_equal(left_on(i, "n", "memory"), 7ll << 30);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    assert_int_equal(left_on(i, "n", "ephemeral-storage"), 1ll << 30);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), 1);
    kept_give(i, PODS, POD_OF("b", "n", "\"ephemeral-storage\":\"1Mi\",\"cpu\":\"5\""));
    assert_int_equal(left_on(i, "n", "cpu"), 0); /* never below */
    assert_int_equal(left_on(i, "n", "ephemeral-storage"), (1ll << 30) - (1 << 20));
    kept_take(i, PODS, "ns", "b");
    assert_int_equal(left_on(i, "n", "cpu"), 2500);
    /* the same name elsewhere is another pod */
    kept_take(i, PODS, "other", "a");
    assert_int_equal(left_on(i, "n", "pods"), 9);
    /* a resize */
    kept_give(i, PODS, POD_OF("a", "n", "\"cpu\":\"1\""));
    assert_int_equal(left_on(i, "n", "cpu"), 3000);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), 2);
    assert_int_equal(left_on(i, "n", "pods"), 9);
}

#define GPU_NODE NODE_OF("n", FOUR ",\"x/gpu\":\"3\"")

/* What is left of the gpus of GPU_NODE, counted anew. */
static int64_t gpus_beside(const char *pod_json) {
    struct intern strings = {0};
    struct topology *topology = NULL;
    struct estimator_nodes nodes;
    struct karmada_pod pod;
    struct json_reader r;
    struct node node;
    json_reader_init(&r, str_of(GPU_NODE), &kept_arena, "node");
    node_decode(&r, &node);
    json_reader_init(&r, str_of(pod_json), &kept_arena, "pod");
    karmada_pod_decode(&r, &pod);
    assert_int_equal(topology_new(&(struct topology_options){.strings = &strings}, &topology, NULL),
                     0);
    assert_int_equal(estimator_nodes_make(topology, &node, 1, &pod, 1, &kept_arena, &nodes), 0);
    topology_free(topology);
    intern_done(&strings);
    assert_int_equal(nodes.scalar_begin[1], 1);
    return nodes.scalars[0].free;
}

/* Names without an amount hide nothing, and neither do names beyond the limit: those may be any. */
static void pods_with_many_names(void **state) {
    struct informer *i = *state;
    static const struct {
        int names;
        const char *amount;
        int64_t gpu; /* what is left of three; the pod asks for two */
    } cases[] = {
        {1000, "0", 1},
        {LIMIT_RESOURCES - 1, "1", 1},
        {LIMIT_RESOURCES, "1", 1},     /* and the gpu is beyond the limit */
        {LIMIT_RESOURCES + 1, "1", 1}, /* of what is beyond the most counts */
        {LIMIT_RESOURCES + 1, "3", 0},
    };
    kept_give(i, NODES, GPU_NODE);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CLEANUP(strbuf_done) struct strbuf json = {0};
        strbuf_append_str(&json,
                          STR("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},\"spec\":{"
                              "\"nodeName\":\"n\",\"containers\":[{\"resources\":{"
                              "\"requests\":{"));
        for (int n = 0; n < cases[k].names; n++)
            strbuf_appendf(&json, "\"a/r%03d\":\"%s\",", n, cases[k].amount);
        strbuf_append_str(&json, STR("\"cpu\":\"3\",\"memory\":\"1Gi\",\"ephemeral-storage\":"
                                     "\"1Mi\",\"pods\":\"1\",\"x/gpu\":\"2\"}}}]}}"));
        strbuf_append_char(&json, '\0');
        kept_give(i, PODS, json.p);
        assert_int_equal(left_on(i, "n", "cpu"), 1000);
        assert_int_equal(left_on(i, "n", "memory"), 7ll << 30);
        assert_int_equal(left_on(i, "n", "ephemeral-storage"), (1ll << 30) - (1 << 20));
        assert_int_equal(left_on(i, "n", "pods"), 8);
        assert_int_equal(left_on(i, "n", "x/gpu"), cases[k].gpu);
        assert_int_equal(gpus_beside(json.p), cases[k].gpu);
    }
    kept_take(i, PODS, "ns", "a");
    assert_int_equal(left_on(i, "n", "x/gpu"), 3);
}

/* Bound and not finished; terminating ones count. */
static void which_pods_count(void **state) {
    static const struct {
        const char *pod;
        int64_t pods;
    } cases[] = {
        {"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},\"spec\":{}}", 10},
        {POD_OF("a", "", ""), 10},
        {POD_OF("a", "n", ""), 9},
        {"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\",\"deletionTimestamp\":"
         "\"2026-01-01T00:00:00Z\"},\"spec\":{\"nodeName\":\"n\"}}",
         9},
        {"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\"},"
         "\"status\":{\"phase\":\"Pending\"}}",
         9},
        {"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\"},"
         "\"status\":{\"phase\":\"Succeeded\"}}",
         10},
        {"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\"},"
         "\"status\":{\"phase\":\"Failed\"}}",
         10},
    };
    struct informer *i = *state;
    kept_give(i, NODES, NODE_OF("n", FOUR));
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        kept_give(i, PODS, cases[c].pod);
        assert_int_equal(left_on(i, "n", "pods"), cases[c].pods);
        kept_give(i, PODS, POD_OF("a", "n", "")); /* what was counted is not any more */
        kept_give(i, PODS, cases[c].pod);
        assert_int_equal(left_on(i, "n", "pods"), cases[c].pods);
        kept_take(i, PODS, "ns", "a");
    }
    assert_int_equal(member_stats(i).pods, 0);
    assert_int_equal(member_stats(i).vectors, 0);
}

/* Pods may come before their node, stay after it, and move. */
static void pods_without_a_node(void **state) {
    struct informer *i = *state;
    kept_give(i, PODS, POD_OF("a", "n", "\"cpu\":\"1\",\"example.com/gpu\":\"1\""));
    assert_int_equal(left_on(i, "n", "cpu"), -1);
    kept_give(i, NODES, NODE_OF("n", FOUR ",\"example.com/gpu\":\"2\""));
    assert_int_equal(left_on(i, "n", "cpu"), 3000);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), 1);
    kept_take(i, NODES, "", "n");
    assert_int_equal(left_on(i, "n", "cpu"), -1);
    kept_give(i, NODES, NODE_OF("m", FOUR));
    kept_give(i, NODES, NODE_OF("n", FOUR));
    assert_int_equal(left_on(i, "n", "cpu"), 3000);
    assert_int_equal(left_on(i, "n", "example.com/gpu"), -1);
    kept_give(i, PODS, POD_OF("a", "m", "\"cpu\":\"1\",\"example.com/gpu\":\"1\""));
    assert_int_equal(left_on(i, "n", "cpu"), 4000);
    assert_int_equal(left_on(i, "m", "cpu"), 3000);
    /* only this pod holds the room of a node that is gone; it changes there */
    kept_take(i, NODES, "", "m");
    kept_give(i, PODS, POD_OF("a", "m", "\"cpu\":\"2\""));
    kept_give(i, NODES, NODE_OF("m", FOUR ",\"example.com/gpu\":\"2\""));
    assert_int_equal(left_on(i, "m", "cpu"), 2000);
    assert_int_equal(left_on(i, "m", "example.com/gpu"), 2);
}

/* Names of nodes that are not there cost questions nothing: no slot, and what is worked out for one
 * question is kept for the next. */
static void nodes_that_are_not_there(void **state) {
    enum { GHOSTS = 2000 };
    struct informer *i = *state;
    const struct node_affinity any = {.required = false};
    const uint8_t *flags;
    struct member_view v;
    char json[200];
    kept_give(i, NODES, NODE_OF("n", FOUR));
    for (int n = 0; n < GHOSTS; n++) {
        (void)snprintf(json, sizeof json, POD_OF("p%d", "ghost%d", ""), n, n);
        kept_give(i, PODS, json);
    }
    for (int round = 0; round < 2; round++) {
        assert_int_equal(member_view_open(i, &v), 0);
        assert_int_equal(topology_slots(v.topology.topology), 1);
        assert_int_equal(v.nodes.count, 1);
        assert_int_equal(topology_feasibility(&v.topology, &any, (struct tolerations){0}, &flags),
                         0);
        assert_int_equal(v.topology.built, round == 0 ? 1 : 0);
        member_view_close(&v);
    }
    assert_int_equal(member_stats(i).pods, GHOSTS);
}

/* Names of the nodes in their order. */
static void assert_order(struct informer *i, const char *want) {
    CLEANUP(strbuf_done) struct strbuf names = {0};
    struct member_view v;
    assert_int_equal(member_view_open(i, &v), 0);
    for (uint32_t row = 0; row < v.nodes.count; row++)
        strbuf_appendf(&names, "%.*s ",
                       STR_ARG(topology_name(v.topology.topology, v.nodes.slots[row])));
    member_view_close(&v);
    assert_str(strbuf_str(&names), want);
}

#define LABELLED(name, labels) "{\"metadata\":{\"name\":\"" name "\",\"labels\":{" labels "}}}"
#define OLD_ "\"failure-domain.beta.kubernetes.io/"
#define NEW_ "\"topology.kubernetes.io/"

/* What is of one zone: b comes after all others where it is of that of a. upstream: GetZoneKey().
 */
static void zones_by_their_labels(void **state) {
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {OLD_ "region\":\"r\"", OLD_ "region\":\"r\"", true},
        {OLD_ "region\":\"r\"", OLD_ "region\":\"s\"", false},
        {OLD_ "region\":\"r\"", NEW_ "region\":\"r\"", true},
        {OLD_ "region\":\"r\"," NEW_ "region\":\"s\"", OLD_ "region\":\"r\"", true},
        {OLD_ "region\":\"r\"," NEW_ "region\":\"s\"", OLD_ "region\":\"s\"", false},
        {OLD_ "zone\":\"r\"," NEW_ "zone\":\"s\"", OLD_ "zone\":\"r\"", true},
        {OLD_ "zone\":\"r\"," NEW_ "zone\":\"s\"", NEW_ "zone\":\"s\"", false},
        {NEW_ "region\":\"r\"", NEW_ "zone\":\"r\"", false},
        {NEW_ "region\":\"r\"", "\"r\":\"\"", false},
        {NEW_ "zone\":\"r\"", "\"r\":\"\"", false},
        {NEW_ "zone\":\"\"", "\"r\":\"\"", true},
    };
    struct informer *i = *state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char json[400];
        (void)snprintf(json, sizeof json, LABELLED("a", "%s"), cases[k].a);
        kept_give(i, NODES, json);
        (void)snprintf(json, sizeof json, LABELLED("b", "%s"), cases[k].b);
        kept_give(i, NODES, json);
        kept_give(i, NODES, LABELLED("c", NEW_ "zone\":\"third\""));
        assert_order(i, cases[k].same ? "a c b " : "a b c ");
        kept_take(i, NODES, "", "a");
        kept_take(i, NODES, "", "b");
        kept_take(i, NODES, "", "c");
    }
}

/* Sums beyond 64 bits are exact: what is taken away again leaves what there was. */
static void huge_requests(void **state) {
    struct informer *i = *state;
    kept_give(i, NODES, NODE_OF("n", FOUR));
    kept_give(i, PODS, POD_OF("a", "n", "\"memory\":\"9223372036854775807\""));
    kept_give(
        i, PODS,
        POD_OF("b", "n", "\"memory\":\"9223372036854775807\",\"pods\":\"9223372036854775807\""));
    kept_give(i, PODS, POD_OF("c", "n", "\"memory\":\"1Gi\""));
    assert_int_equal(left_on(i, "n", "memory"), 0);
    assert_int_equal(left_on(i, "n", "pods"), 0);
    kept_take(i, PODS, "ns", "a");
    assert_int_equal(left_on(i, "n", "memory"), 0);
    kept_take(i, PODS, "ns", "b");
    assert_int_equal(left_on(i, "n", "memory"), 7ll << 30);
    assert_int_equal(left_on(i, "n", "pods"), 9);
}

/* A cordon and taints keep replicas away that do not tolerate them, labels are asked for. */
static void which_nodes_may_be_used(void **state) {
    static const char *const nodes[] = {
        NODE_OF("n", FOUR),
        "{\"metadata\":{\"name\":\"cordoned\"},\"spec\":{\"unschedulable\":true,\"taints\":[{"
        "\"key\":"
        "\"k\",\"effect\":\"PreferNoSchedule\"}]},\"status\":{\"allocatable\":{" FOUR "}}}",
        "{\"metadata\":{\"name\":\"tainted\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":"
        "\"NoSchedule\"}]},\"status\":{\"allocatable\":{" FOUR "}}}"};
    struct informer *i = *state;
    struct replica_requirements none = {.given = false};
    struct estimator_question q;
    struct member_view v;
    int64_t replicas;
    for (size_t n = 0; n < 3; n++)
        kept_give(i, NODES, nodes[n]);
    assert_int_equal(estimator_question_init(&q, &none, NULL, 0, &kept_arena), 0);
    assert_int_equal(member_view_open(i, &v), 0);
    assert_int_equal(estimator_nodes_replicas(&v.nodes, &v.topology, &q, &kept_arena, &replicas),
                     0);
    assert_int_equal(replicas, 10);
    member_view_close(&v);
    /* who tolerates the cordon has the taints left */
    const struct toleration cordon = {.key = STR("node.kubernetes.io/unschedulable")};
    const struct replica_requirements tolerant = {.given = true, .tolerations = {&cordon, 1}};
    struct estimator_question again;
    kept_give(i, NODES,
              "{\"metadata\":{\"name\":\"both\"},\"spec\":{\"unschedulable\":true,\"taints\":[{"
              "\"key\":\"k\",\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{" FOUR
              "}}}");
    assert_int_equal(estimator_question_init(&again, &tolerant, NULL, 0, &kept_arena), 0);
    assert_int_equal(member_view_open(i, &v), 0);
    assert_int_equal(
        estimator_nodes_replicas(&v.nodes, &v.topology, &again, &kept_arena, &replicas), 0);
    assert_int_equal(replicas, 20);
    member_view_close(&v);
    kept_take(i, NODES, "", "both");
    kept_give(i, NODES, NODE_OF("cordoned", FOUR)); /* not any more */
    assert_int_equal(member_view_open(i, &v), 0);
    assert_int_equal(v.topology.built, 0); /* the answer before was kept */
    assert_int_equal(estimator_nodes_replicas(&v.nodes, &v.topology, &q, &kept_arena, &replicas),
                     0);
    assert_int_equal(replicas, 20);
    member_view_close(&v);
}

static void sync_step(struct informer *i, enum informer_listing how, uint32_t kind) {
    informer_list(&member_store, informer_write(i), kind, how);
    informer_write_done(i);
}

static void listings(void **state) {
    struct informer *i = *state;
    sync_step(i, LISTING_BEGINS, NODES);
    kept_give(i, NODES, NODE_OF("n", FOUR));
    kept_give(i, NODES, NODE_OF("m", FOUR));
    sync_step(i, LISTING_ENDS, NODES);
    sync_step(i, LISTING_BEGINS, PODS);
    kept_give(i, PODS, POD_OF("a", "n", ""));
    kept_give(i, PODS, POD_OF("b", "n", ""));
    sync_step(i, LISTING_ENDS, PODS);
    assert_int_equal(left_on(i, "n", "pods"), 8);
    /* what the next one does not show is gone */
    sync_step(i, LISTING_BEGINS, PODS);
    kept_give(i, PODS, POD_OF("b", "n", ""));
    sync_step(i, LISTING_ENDS, PODS);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    sync_step(i, LISTING_BEGINS, NODES);
    kept_give(i, NODES, NODE_OF("n", FOUR));
    sync_step(i, LISTING_ENDS, NODES);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    assert_int_equal(left_on(i, "m", "pods"), -1);
    assert_int_equal(member_stats(i).nodes, 1);
    /* one without end forgets what it was the first to show */
    sync_step(i, LISTING_BEGINS, PODS);
    kept_give(i, PODS, POD_OF("c", "n", ""));
    sync_step(i, LISTING_FAILS, PODS);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    sync_step(i, LISTING_BEGINS, NODES);
    kept_give(i, NODES, NODE_OF("m", FOUR));
    sync_step(i, LISTING_FAILS, NODES);
    assert_int_equal(left_on(i, "m", "pods"), -1);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    assert_int_equal(member_stats(i).pods, 1);
    /* nor what was there before, though it has changed */
    sync_step(i, LISTING_BEGINS, PODS);
    kept_give(i, PODS, POD_OF("b", "n", "\"cpu\":\"1\""));
    sync_step(i, LISTING_FAILS, PODS);
    assert_int_equal(left_on(i, "n", "pods"), 9);
    assert_int_equal(left_on(i, "n", "cpu"), 3000);
    /* a pod that comes after a listing is not fresh */
    kept_give(i, PODS, POD_OF("d", "n", ""));
    sync_step(i, LISTING_BEGINS, PODS);
    sync_step(i, LISTING_FAILS, PODS);
    assert_int_equal(left_on(i, "n", "pods"), 8);
}

/* Nodes that a listing does not show any more, while pods are still on them. */
static void nodes_gone_under_pods(void **state) {
    const enum informer_listing ends[] = {LISTING_ENDS, LISTING_FAILS};
    struct informer *i = *state;
    kept_give(i, NODES, NODE_OF("n", FOUR));
    kept_give(i, PODS, POD_OF("a", "n", "\"cpu\":\"1\""));
    for (size_t e = 0; e < 2; e++) {
        sync_step(i, LISTING_BEGINS, NODES);
        if (e == 1)
            kept_give(i, NODES, NODE_OF("n", FOUR));
        sync_step(i, ends[e], NODES);
        assert_int_equal(left_on(i, "n", "cpu"), -1);
        assert_int_equal(member_stats(i).nodes, 0);
        kept_give(i, NODES, NODE_OF("n", FOUR));
        assert_int_equal(left_on(i, "n", "cpu"), 3000);
        if (e == 0)
            kept_take(i, NODES, "", "n");
    }
}

/* What pods asked for leaves nothing behind when they are gone. */
static void names_come_and_go(void **state) {
    struct informer *i = *state;
    uint64_t bytes = 0;
    kept_give(i, NODES, NODE_OF("n", FOUR));
    for (int n = 0; n < 40; n++) {
        char pod[400];
        (void)snprintf(pod, sizeof pod, POD_OF("a", "n", "\"example.com/%010d\":\"1\""), n);
        kept_give(i, PODS, pod);
        kept_take(i, PODS, "ns", "a");
        if (n == 0)
            bytes = member_stats(i).bytes;
        assert_int_equal(member_stats(i).bytes, bytes);
    }
}

/* ---- random events, against plain lists ---- */

enum { NAMES = 7, POD_NAMES = 12, ZONES = 4, TEXT = 600 };

/* upstream: pkg/util/lifted/scheduler/cache/node_tree.go */
struct tree {
    int zones[ZONES], zone_count;
    int nodes[ZONES][NAMES], node_count[ZONES]; /* by zone */
};

struct model {
    char node_json[NAMES][TEXT], pod_json[POD_NAMES][TEXT]; /* "": it is not there */
    int zone_of[NAMES];
    struct tree tree;
};

static void tree_add(struct tree *t, int node, int zone) {
    if (t->node_count[zone]++ == 0)
        t->zones[t->zone_count++] = zone;
    t->nodes[zone][t->node_count[zone] - 1] = node;
}

static void drop_int(int *items, int *count, int item) {
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (items[i] != item)
            items[kept++] = items[i];
    *count = kept;
}

static void tree_remove(struct tree *t, int node, int zone) {
    drop_int(t->nodes[zone], &t->node_count[zone], node);
    if (t->node_count[zone] == 0)
        drop_int(t->zones, &t->zone_count, zone);
}

static int tree_list(const struct tree *t, int ret[NAMES]) {
    int count = 0;
    for (int turn = 0; turn < NAMES; turn++)
        for (int z = 0; z < t->zone_count; z++)
            if (turn < t->node_count[t->zones[z]])
                ret[count++] = t->nodes[t->zones[z]][turn];
    return count;
}

static void random_node(struct model *m, struct informer *i, uint64_t *random) {
    static const char *const labels[ZONES] = {
        "", "\"topology.kubernetes.io/zone\":\"a\"",
        "\"topology.kubernetes.io/zone\":\"a\",\"topology.kubernetes.io/region\":\"r\"",
        "\"topology.kubernetes.io/zone\":\"a\",\"failure-domain.beta.kubernetes.io/zone\":\"b\""};
    const int node = (int)unit_below(random, NAMES), zone = (int)unit_below(random, ZONES);
    const bool was = m->node_json[node][0] != '\0';
    char name[8];
    (void)snprintf(name, sizeof name, "n%d", node);
    if (was && unit_below(random, 3) == 0) {
        kept_take(i, NODES, "", name);
        tree_remove(&m->tree, node, m->zone_of[node]);
        m->node_json[node][0] = '\0';
        return;
    }
    (void)snprintf(m->node_json[node], TEXT,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"status\":{\"allocatable\":{"
                   "\"cpu\":\"%u\",\"pods\":\"%u\"%s%s}}}",
                   name, labels[zone], unit_below(random, 6), unit_below(random, 9),
                   unit_below(random, 2) == 0 ? ",\"example.com/b\":\"5\"" : "",
                   unit_below(random, 2) == 0 ? ",\"example.com/a\":\"3\",\"memory\":\"9\"" : "");
    kept_give(i, NODES, m->node_json[node]);
    if (was && m->zone_of[node] == zone)
        return;
    if (was)
        tree_remove(&m->tree, node, m->zone_of[node]);
    m->zone_of[node] = zone;
    tree_add(&m->tree, node, zone);
}

static void random_pod(struct model *m, struct informer *i, uint64_t *random) {
    static const char *const requests[] = {
        "", "\"cpu\":\"1\"", "\"example.com/a\":\"1\"", "\"example.com/b\":\"2\",\"memory\":\"3\"",
        "\"example.com/c\":\"1\",\"example.com/b\":\"1\",\"pods\":\"1\""};
    const uint32_t pod = unit_below(random, POD_NAMES),
                   kinds = sizeof requests / sizeof requests[0];
    char name[8];
    (void)snprintf(name, sizeof name, "p%u", pod);
    if (unit_below(random, 3) == 0) {
        kept_take(i, PODS, "ns", name);
        m->pod_json[pod][0] = '\0';
        return;
    }
    (void)snprintf(m->pod_json[pod], TEXT,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{\"nodeName\":"
                   "\"n%u\",\"containers\":[{\"resources\":{\"requests\":{%s}}}]},\"status\":"
                   "{\"phase\":\"%s\"}}",
                   name, unit_below(random, NAMES), requests[unit_below(random, kinds)],
                   unit_below(random, 4) == 0 ? "Failed" : "Running");
    kept_give(i, PODS, m->pod_json[pod]);
}

/* Counted anew, nodes in the tree's order. */
static void count_anew(const struct model *m, struct topology *topology,
                       struct estimator_nodes *ret) {
    struct node nodes[NAMES];
    struct karmada_pod pods[POD_NAMES];
    struct json_reader r;
    uint32_t node_count = 0, pod_count = 0;
    int order[NAMES];
    const int listed = tree_list(&m->tree, order);
    for (int n = 0; n < listed; n++) {
        json_reader_init(&r, str_of(m->node_json[order[n]]), &kept_arena, "node");
        node_decode(&r, &nodes[node_count++]);
    }
    for (int p = 0; p < POD_NAMES; p++)
        if (m->pod_json[p][0] != '\0') {
            json_reader_init(&r, str_of(m->pod_json[p]), &kept_arena, "pod");
            karmada_pod_decode(&r, &pods[pod_count++]);
        }
    assert_int_equal(
        estimator_nodes_make(topology, nodes, node_count, pods, pod_count, &kept_arena, ret), 0);
}

static void compare_rows(const struct topology *got_in, const struct estimator_nodes *got,
                         const struct topology *want_in, const struct estimator_nodes *want) {
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->name_count, want->count > 0 ? want->name_count : 0);
    for (uint32_t row = 0; row < got->count; row++) {
        assert_true(str_eq(topology_name(got_in, got->slots[row]),
                           topology_name(want_in, want->slots[row])));
        for (int n = 0; n < NODE_NATIVES; n++)
            assert_int_equal(got->native[n][row], want->native[n][row]);
        assert_int_equal(got->scalar_begin[row + 1], want->scalar_begin[row + 1]);
    }
    for (uint32_t n = 0; n < got->name_count; n++)
        assert_true(str_eq(got->names[n], want->names[n]));
    for (uint32_t s = 0; got->count > 0 && s < got->scalar_begin[got->count]; s++) {
        assert_int_equal(got->scalars[s].name, want->scalars[s].name);
        assert_int_equal(got->scalars[s].free, want->scalars[s].free);
    }
}

static void compare(const struct model *m, struct informer *i) {
    struct intern strings = {0};
    struct topology *topology = NULL;
    struct estimator_nodes want;
    struct member_view v;
    assert_int_equal(topology_new(&(struct topology_options){.strings = &strings}, &topology, NULL),
                     0);
    count_anew(m, topology, &want);
    assert_int_equal(member_view_open(i, &v), 0);
    compare_rows(v.topology.topology, &v.nodes, topology, &want);
    member_view_close(&v);
    topology_free(topology);
    intern_done(&strings);
    arena_reset(&kept_arena);
}

static void random_events(void **state) {
    struct informer *i = *state;
    struct model m = {.tree = {.zone_count = 0}};
    uint64_t random = unit_seed();
    for (int round = 0; round < 4000; round++) {
        if (unit_below(&random, 3) == 0)
            random_node(&m, i, &random);
        else
            random_pod(&m, i, &random);
        if (unit_below(&random, 3) != 0)
            compare(&m, i);
    }
    /* all goes, nothing stays */
    for (int n = 0; n < POD_NAMES; n++) {
        char name[8];
        (void)snprintf(name, sizeof name, "n%d", n);
        kept_take(i, NODES, "", name);
        (void)snprintf(name, sizeof name, "p%d", n);
        kept_take(i, PODS, "ns", name);
    }
    const struct member_stats stats = member_stats(i);
    assert_int_equal(stats.nodes + stats.pods + stats.vectors, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_of_nodes, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(fields_of_pods, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(pods_with_many_names, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(which_pods_count, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(pods_without_a_node, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(nodes_that_are_not_there, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(zones_by_their_labels, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(huge_requests, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(which_nodes_may_be_used, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(listings, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(nodes_gone_under_pods, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(names_come_and_go, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(random_events, kept_setup, kept_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
