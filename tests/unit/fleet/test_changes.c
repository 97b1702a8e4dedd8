/* What a change can change. Expectations: upstream's tables of its enqueuer and its cluster event
 * handler (pkg/placement/controllers/scheduling enqueue_test.go, cluster_event_handler_test.go). */
#include "fleet/changes.h"

#include "base/limits.h"
#include "unit/fleet/fleet_builder.h"

#include <errno.h>
#include <stdio.h>

static struct arena arena;

static void are(struct fleet_changed changed, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < changed.count; i++)
        strbuf_appendf(&got, "%s%.*s/%.*s", i > 0 ? " " : "", STR_ARG(changed.items[i].namespace),
                       STR_ARG(changed.items[i].name));
    assert_str(strbuf_str(&got), wanted);
}

#define CHANGED(b, wanted, function, ...)                                                          \
    do {                                                                                           \
        struct fleet_changed changed;                                                              \
        assert_int_equal(function(fleet_look(b), __VA_ARGS__, &arena, &changed), 0);               \
        are(changed, wanted);                                                                      \
    } while (false)

static void by_cluster(struct fleet_builder *b, const char *cluster, const char *wanted) {
    CHANGED(b, wanted, fleet_changed_by_cluster, str_of(cluster));
}

static void cluster(struct fleet_builder *b, const char *name, const char *labels) {
    char text[300];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s','labels':{%s}}}", name, labels);
    fleet_give(b, FLEET_CLUSTERS, text);
}

static void set(struct fleet_builder *b, const char *name, const char *selector) {
    char text[300];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s'},'spec':{'clusterSelector':{%s}}}",
                   name, selector);
    fleet_give(b, FLEET_SETS, text);
}

static void bind(struct fleet_builder *b, const char *namespace, const char *name) {
    char text[300];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s','namespace':'%s'}}", name,
                   namespace);
    fleet_give(b, FLEET_BINDINGS, text);
}

static void placement(struct fleet_builder *b, const char *namespace, const char *name,
                      const char *meta, const char *spec) {
    char text[600];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s','namespace':'%s'%s},'spec':{%s}}",
                   name, namespace, meta, spec);
    fleet_give(b, FLEET_PLACEMENTS, text);
}

#define IN(set) "'" CLUSTER_SET_LABEL "':'" set "'"
#define BY_SELECTOR(labels)                                                                        \
    "'selectorType':'LabelSelector','labelSelector':{'matchLabels':{" labels "}}"

static void of_a_cluster(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "ns1", "p1", "", "");
    placement(&b, "ns1", "p2", "", "'clusterSets':['set2']");
    placement(&b, "ns2", "p3", "", "'clusterSets':['set9','set2','set1']");
    placement(&b, "ns3", "p4", "", "");
    set(&b, "set1", "");
    set(&b, "set2", "");
    cluster(&b, "c1", IN("set1"));
    cluster(&b, "c2", IN("set2"));
    cluster(&b, "c3", IN("set3"));
    cluster(&b, "c4", "");
    by_cluster(&b, "c1", ""); /* no set is bound */
    bind(&b, "ns1", "set1");
    bind(&b, "ns2", "set1");
    bind(&b, "ns2", "set2");
    bind(&b, "ns3", "set3"); /* there is no such set */
    by_cluster(&b, "c1", "ns1/p1 ns2/p3");
    by_cluster(&b, "c2", "ns2/p3");
    by_cluster(&b, "c3", "");
    by_cluster(&b, "c4", "");
    by_cluster(&b, "no such cluster", "");
    bind(&b, "ns1", "set2");
    by_cluster(&b, "c2", "ns1/p1 ns1/p2 ns2/p3");
    /* moved: the old set's before, the new one's after */
    cluster(&b, "c1", IN("set2"));
    by_cluster(&b, "c1", "ns1/p1 ns1/p2 ns2/p3");
    /* a decision keeps the slot of one that is gone */
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'d','namespace':'x'},'status':{'decisions':[{'clusterName':"
               "'c1'}]}}");
    fleet_drop(&b, FLEET_CLUSTERS, NULL, "c1");
    by_cluster(&b, "c1", "");
    fleet_builder_close(&b);
}

/* Those that have it must perhaps move: they come first, whatever their names. */
static void who_has_the_cluster_comes_first(void **state) {
    struct fleet_builder b;
    static const char *const placements[] = {"a", "b", "c", "d"};
    (void)state;
    fleet_builder_open(&b);
    set(&b, "set1", "");
    bind(&b, "n", "set1");
    cluster(&b, "c1", IN("set1"));
    cluster(&b, "c2", IN("set1"));
    for (int i = 0; i < 4; i++)
        placement(&b, "n", placements[i], "", "");
    enum { ENOUGH = 22 }; /* while nobody has it */
    arena.steps = (struct steps){.max = ENOUGH};
    by_cluster(&b, "c1", "n/a n/b n/c n/d");
    arena.steps = (struct steps){0};
#define DECIDED(name, of, clusters)                                                                \
    fleet_give(&b, FLEET_DECISIONS,                                                                \
               "{'metadata':{'name':'" name "','namespace':'n','labels':{'" PLACEMENT_LABEL        \
               "':'" of "'}},'status':{'decisions':[" clusters "]}}")
    DECIDED("d1", "d", "{'clusterName':'c2'},{'clusterName':'c1'}");
    DECIDED("b1", "b", "{'clusterName':'c2'}");
    DECIDED("b2", "b", "{'clusterName':'c1'}");
    DECIDED("a1", "a", "{'clusterName':'c2'}");
    by_cluster(&b, "c1", "n/b n/d n/a n/c");
    by_cluster(&b, "c2", "n/a n/b n/d n/c");
    fleet_drop(&b, FLEET_DECISIONS, "n", "d1");
    by_cluster(&b, "c1", "n/b n/a n/c n/d");
    fleet_builder_close(&b);
#undef DECIDED
}

static void of_a_cluster_by_selectors(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "ns1", "p1", "", "");
    placement(&b, "ns2", "p2", "", "");
    placement(&b, "ns3", "p3", "", "");
    placement(&b, "ns4", "p4", "", "");
    set(&b, "eu", BY_SELECTOR("'region':'eu'"));
    set(&b, "all", BY_SELECTOR(""));
    set(&b, "nil", "'selectorType':'LabelSelector'");
    set(&b, "bad", BY_SELECTOR("'not a key':'x'"));
    bind(&b, "ns1", "eu");
    bind(&b, "ns2", "all");
    bind(&b, "ns3", "nil");
    bind(&b, "ns4", "bad");
    cluster(&b, "c1", "'region':'eu'");
    cluster(&b, "c2", "'region':'us'," IN("eu")); /* the label says nothing to such a set */
    by_cluster(&b, "c1", "ns1/p1 ns2/p2");
    by_cluster(&b, "c2", "ns2/p2");
    set(&b, "eu", ""); /* by label from now on */
    by_cluster(&b, "c1", "ns2/p2");
    by_cluster(&b, "c2", "ns1/p1 ns2/p2");
    fleet_builder_close(&b);
}

/* A cluster may be in several sets, and a namespace may have all of them. */
static void each_placement_comes_once(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "ns", "p1", "", "");
    placement(&b, "ns", "p2", "", "");
    placement(&b, "ns", "p3", "", "'clusterSets':['one','eu']");
    set(&b, "one", "");
    set(&b, "eu", BY_SELECTOR("'region':'eu'"));
    set(&b, "all", BY_SELECTOR(""));
    bind(&b, "ns", "one");
    bind(&b, "ns", "eu");
    bind(&b, "ns", "all");
    cluster(&b, "c", IN("one") ",'region':'eu'");
    by_cluster(&b, "c", "ns/p1 ns/p2 ns/p3");
    fleet_builder_close(&b);
}

static void of_a_set_and_a_binding(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "ns1", "p1", "", "");
    placement(&b, "ns1", "p2", "", "'clusterSets':['set1']");
    placement(&b, "ns1", "p3", "", "'clusterSets':['set2']");
    placement(&b, "ns2", "p4", "", "");
    bind(&b, "ns1", "set1");
    bind(&b, "ns2", "set2");
    CHANGED(&b, "ns1/p1 ns1/p2", fleet_changed_by_set, STR("set1")); /* known or not */
    set(&b, "set1", "");
    CHANGED(&b, "ns1/p1 ns1/p2", fleet_changed_by_set, STR("set1"));
    CHANGED(&b, "ns2/p4", fleet_changed_by_set, STR("set2"));
    CHANGED(&b, "", fleet_changed_by_set, STR("set3"));
    CHANGED(&b, "ns1/p1 ns1/p2", fleet_changed_by_binding, STR("ns1"), STR("set1"));
    CHANGED(&b, "ns1/p1 ns1/p3", fleet_changed_by_binding, STR("ns1"), STR("set2"));
    CHANGED(&b, "", fleet_changed_by_binding, STR("ns9"), STR("set2"));
    fleet_drop(&b, FLEET_PLACEMENTS, "ns1", "p1");
    CHANGED(&b, "ns1/p2", fleet_changed_by_set, STR("set1"));
    fleet_builder_close(&b);
}

#define ADD_ON(resource, weight)                                                                   \
    "{'weight':" weight ",'scoreCoordinate':{'type':'AddOn','addOn':{'resourceName':'" resource    \
    "','scoreName':'x'}}}"
#define PRIORITIZERS(text) "'prioritizerPolicy':{'configurations':[" text "]}"

static void by_score(struct fleet_builder *b, const char *of_cluster, const char *resource,
                     const char *wanted) {
    CHANGED(b, wanted, fleet_changed_by_score, str_of(of_cluster), str_of(resource));
}

static void of_a_score(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "ns1", "p1", "", PRIORITIZERS(ADD_ON("score1", "1")));
    placement(&b, "ns2", "p2", "", PRIORITIZERS(ADD_ON("score2", "1")));
    placement(
        &b, "ns3", "p3", "",
        PRIORITIZERS(ADD_ON("score0", "1") "," ADD_ON("score1", "0") "," ADD_ON("score1", "2")));
    placement(&b, "ns3", "p4", "", PRIORITIZERS("{'scoreCoordinate':{'builtIn':'score1'}}"));
    placement(&b, "ns3", "p5", "", "");
    set(&b, "clusterset1", "");
    set(&b, "clusterset2", "");
    cluster(&b, "cluster1", IN("clusterset1"));
    bind(&b, "ns1", "clusterset1");
    bind(&b, "ns3", "clusterset1");
    by_score(&b, "cluster1", "score1", "ns1/p1 ns3/p3");
    by_score(&b, "cluster1", "score2", "");
    by_score(&b, "cluster1", "score0", "ns3/p3");
    by_score(&b, "cluster1", "score9", "");
    by_score(&b, "cluster2", "score1", "");
    fleet_drop(&b, FLEET_BINDINGS, "ns1", "clusterset1");
    bind(&b, "ns1", "clusterset2");
    by_score(&b, "cluster1", "score1", "ns3/p3");
    /* the namespace counts, not which of its sets the Placement names */
    placement(&b, "ns3", "p3", "", "'clusterSets':['other']," PRIORITIZERS(ADD_ON("score1", "1")));
    by_score(&b, "cluster1", "score1", "ns3/p3");
    fleet_builder_close(&b);
}

#define APP(name) ",'labels':{'app':'" name "'}"
#define GROUP(selector) ",'annotations':{'" PLACEMENT_GROUP_ANNOTATION "':'" selector "'}"

static void of_a_placement_and_its_decisions(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "n", "web", APP("web"), "");
    placement(&b, "n", "a", GROUP("app in (web,db)"), "");
    placement(&b, "n", "b", APP("web") GROUP("app=web"), "");
    placement(&b, "n", "c", GROUP("app=("), ""); /* cannot be read: picks nobody */
    placement(&b, "n", "d", GROUP("app=db"), "");
    placement(&b, "m", "e", GROUP("app=web"), ""); /* groups are of a namespace */
    CHANGED(&b, "n/a n/b n/web", fleet_changed_by_placement, STR("n"), STR("web"));
    CHANGED(&b, "n/a n/b", fleet_changed_by_placement, STR("n"), STR("b"));
    CHANGED(&b, "n/d", fleet_changed_by_placement, STR("n"), STR("d"));
    CHANGED(&b, "", fleet_changed_by_placement, STR("n"), STR("x"));
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'any','namespace':'n','labels':{'" PLACEMENT_LABEL
               "':'web'}}}");
    fleet_give(&b, FLEET_DECISIONS, "{'metadata':{'name':'none','namespace':'n'}}");
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'gone','namespace':'n','labels':{'" PLACEMENT_LABEL "':'x'}}}");
    CHANGED(&b, "n/a n/b n/web", fleet_changed_by_decision, STR("n"), STR("any"));
    CHANGED(&b, "", fleet_changed_by_decision, STR("n"), STR("none"));
    CHANGED(&b, "", fleet_changed_by_decision, STR("n"), STR("gone"));
    CHANGED(&b, "", fleet_changed_by_decision, STR("n"), STR("unheard of"));
    /* groups change with the Placement */
    placement(&b, "n", "a", "", "");
    CHANGED(&b, "n/b n/web", fleet_changed_by_decision, STR("n"), STR("any"));
    fleet_builder_close(&b);
}

static void of_a_namespace(void **state) {
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "n", "b", "", "");
    placement(&b, "n", "a", "", "");
    placement(&b, "m", "c", "", "");
    CHANGED(&b, "n/a n/b", fleet_changed_by_namespace, STR("n"));
    CHANGED(&b, "", fleet_changed_by_namespace, STR("x"));
    fleet_builder_close(&b);
}

/* One step is not enough for two Placements. */
static void steps_are_limited(void **state) {
    struct fleet_builder b;
    struct fleet_changed changed;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "n", "a", "", "");
    placement(&b, "n", "b", "", "");
    arena.steps = (struct steps){.max = 1};
    assert_int_equal(fleet_changed_by_namespace(fleet_look(&b), STR("n"), &arena, &changed),
                     -E2BIG);
    arena.steps = (struct steps){.max = 100};
    assert_int_equal(fleet_changed_by_namespace(fleet_look(&b), STR("n"), &arena, &changed), 0);
    arena.steps = (struct steps){0};
    fleet_builder_close(&b);
}

/* A cluster is looked for among decisions for a quarter of the steps; then nobody has it. */
static void looking_for_the_cluster_ends(void **state) {
    struct fleet_builder b;
    struct fleet_changed changed;
    (void)state;
    fleet_builder_open(&b);
    set(&b, "one", "");
    bind(&b, "n", "one");
    cluster(&b, "c", IN("one"));
    cluster(&b, "o", "");
    placement(&b, "n", "p", "", "");
    fleet_give(&b, FLEET_DECISIONS,
               "{'metadata':{'name':'d','namespace':'n','labels':{'" PLACEMENT_LABEL
               "':'p'}},'status':{'decisions':[{'clusterName':'o'},{'clusterName':'o'},{"
               "'clusterName':'c'}]}}");
    for (uint64_t quarter = 3; quarter <= 5; quarter++) { /* the object takes 4 */
        arena.steps = (struct steps){.max = 4 * quarter};
        assert_int_equal(fleet_changed_by_cluster(fleet_look(&b), STR("c"), &arena, &changed), 0);
        assert_int_equal(changed.count, 1);
        assert_int_equal(changed.items[0].has_it, quarter >= 4);
    }
    arena.steps = (struct steps){0};
    assert_int_equal(fleet_changed_by_cluster(fleet_look(&b), STR("c"), &arena, &changed), 0);
    assert_true(changed.items[0].has_it);
    fleet_builder_close(&b);
}

/* ---- who is told ---- */

static struct strbuf told;

static void note_changed(void *ctx, struct str namespace, struct str name) {
    (void)ctx;
    strbuf_appendf(&told, "%.*s/%.*s ", STR_ARG(namespace), STR_ARG(name));
}

static void note_all(void *ctx) {
    (void)ctx;
    strbuf_append_str(&told, STR("all "));
}

static void is_told(const char *wanted) {
    assert_str(strbuf_str(&told), wanted);
    strbuf_clear(&told);
}

/* Of what was known before a change, and of what is known after it. */
static void an_observer_is_told(void **state) {
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    set(&b, "one", "");
    set(&b, "two", "");
    bind(&b, "n", "one");
    bind(&b, "m", "two");
    placement(&b, "n", "p", "", "");
    placement(&b, "m", "q", "", "");
    b.c->observer = &observer;
    cluster(&b, "c", IN("one"));
    is_told("n/p ");
    cluster(&b, "c", IN("two"));
    is_told("n/p m/q ");
    placement(&b, "n", "r", "", "");
    is_told("n/r ");
    placement(&b, "n", "r", "", "'numberOfClusters':1");
    is_told("n/r "); /* it has its labels still, and changes no other */
    informer_list(&fleet_store, b.c, FLEET_SETS, LISTING_BEGINS);
    set(&b, "one", "");
    set(&b, "two", "");
    is_told("");
    placement(&b, "n", "r", "", "");
    is_told("n/r ");
    informer_list(&fleet_store, b.c, FLEET_PLACEMENTS, LISTING_BEGINS);
    placement(&b, "n", "r", "", "");
    is_told("");
    informer_list(&fleet_store, b.c, FLEET_PLACEMENTS, LISTING_FAILS);
    is_told("all ");
    informer_list(&fleet_store, b.c, FLEET_SETS, LISTING_ENDS);
    is_told("all ");
    set(&b, "one", "");
    is_told("n/p n/r n/p n/r ");
    informer_list(&fleet_store, b.c, FLEET_SETS, LISTING_FAILS);
    is_told("all ");
    arena.steps = (struct steps){0};
    const struct informer_object gone = {
        .kind = FLEET_CLUSTERS, .meta = {.name = STR("c")}, .arena = &arena};
    assert_int_equal(fleet_store.kinds[FLEET_CLUSTERS].remove(b.c, &gone, NULL), 0);
    is_told("m/q ");
    fleet_builder_close(&b);
    strbuf_done(&told);
}

/* A cluster that is as it was, as far as decisions depend on it, changes nothing. */
static void a_heartbeat_changes_nothing(void **state) {
    static const char *const different[] = {
        "{'metadata':{'name':'c','labels':{" IN("one") ",'a':'b'}}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "}},'status':{'clusterClaims':[{'name':'a',"
                                                       "'value':'b'}]}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "}},'spec':{'taints':[{'key':'a',"
                                                       "'effect':'NoSelect'}]}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "}},'spec':{'taints':[{'key':'a','effect':"
                                                       "'NoSelect','timeAdded':"
                                                       "'2026-01-01T00:00:00Z'}]}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "}},'status':{'allocatable':{'cpu':'1'}}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "}},'status':{'capacity':{'memory':'1'}}}",
        "{'metadata':{'name':'c','labels':{" IN("one") "},'deletionTimestamp':"
                                                       "'2026-01-01T00:00:00Z'}}",
    };
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    set(&b, "one", "");
    bind(&b, "n", "one");
    placement(&b, "n", "p", "", "");
    cluster(&b, "c", IN("one"));
    b.c->observer = &observer;
    fleet_give(&b, FLEET_CLUSTERS,
               "{'metadata':{'name':'c','resourceVersion':'2','labels':{" IN(
                   "one") "}},'status':{'conditions':[{'type':'ManagedClusterConditionAvailable'}],"
                          "'allocatable':{'ephemeral-storage':'7'}}}");
    is_told("");
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        fleet_give(&b, FLEET_CLUSTERS, different[i]);
        is_told("n/p n/p ");
    }
    fleet_builder_close(&b);
    strbuf_done(&told);
}

/* The Placement of a decision that was only touched is told of it, and no other. */
static void a_decision_that_is_the_same(void **state) {
    static const char *const object = "{'metadata':{'name':'d','namespace':'n','labels':{"
                                      "'" PLACEMENT_LABEL "':'p'}},'status':{'decisions':[%s]}}";
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    struct fleet_builder b;
    char first[300], second[300];
    (void)state;
    (void)snprintf(first, sizeof first, object, "{'clusterName':'c'}");
    (void)snprintf(second, sizeof second, object, "{'clusterName':'e'}");
    fleet_builder_open(&b);
    placement(&b, "n", "p", ",'labels':{'a':'b'}", "");
    placement(&b, "n", "z", ",'annotations':{'" PLACEMENT_GROUP_ANNOTATION "':'a=b'}", "");
    b.c->observer = &observer;
    fleet_give(&b, FLEET_DECISIONS, first);
    is_told("n/p n/z n/p ");
    fleet_give(&b, FLEET_DECISIONS, first);
    is_told("n/p ");
    fleet_give(&b, FLEET_DECISIONS, second);
    is_told("n/p n/z n/p n/z n/p ");
    fleet_builder_close(&b);
    strbuf_done(&told);
}

/* With the same clusters: the one that it leaves is told, too. */
static void a_decision_that_changes_its_placement(void **state) {
    static const char *const object = "{'metadata':{'name':'d','namespace':'n','labels':{%s}},"
                                      "'status':{'decisions':[{'clusterName':'c'}]}}";
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    struct fleet_builder b;
    char first[300], second[300], none[300];
    (void)state;
    (void)snprintf(first, sizeof first, object, "'" PLACEMENT_LABEL "':'p'");
    (void)snprintf(second, sizeof second, object, "'" PLACEMENT_LABEL "':'z'");
    (void)snprintf(none, sizeof none, object, "");
    fleet_builder_open(&b);
    placement(&b, "n", "p", "", "");
    placement(&b, "n", "z", "", "");
    fleet_give(&b, FLEET_DECISIONS, first);
    b.c->observer = &observer;
    fleet_give(&b, FLEET_DECISIONS, second);
    is_told("n/p n/z n/z ");
    fleet_give(&b, FLEET_DECISIONS, none);
    is_told("n/z ");
    assert_str(fleet_decision_find(fleet_look(&b), STR("n"), STR("d"))->placement, "");
    fleet_give(&b, FLEET_DECISIONS, none);
    is_told("");
    fleet_give(&b, FLEET_DECISIONS, first);
    is_told("n/p n/p ");
    assert_str(fleet_decision_find(fleet_look(&b), STR("n"), STR("d"))->placement, "p");
    assert_null(fleet_decision_find(fleet_look(&b), STR("n"), STR("e")));
    fleet_builder_close(&b);
    strbuf_done(&told);
}

/* What a controller writes into a Placement's status is told to no other; its labels are. */
static void a_placement_that_keeps_its_labels(void **state) {
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "n", "p", ",'labels':{'a':'b'}", "");
    placement(&b, "n", "z", GROUP("a=b"), "");
    b.c->observer = &observer;
    placement(&b, "n", "p", ",'labels':{'a':'b'}", "'numberOfClusters':1");
    is_told("n/p ");
    placement(&b, "n", "p", ",'labels':{'a':'c'}", "");
    is_told("n/p n/z n/p ");
    placement(&b, "n", "p", ",'labels':{'a':'b'}", "");
    is_told("n/p n/p n/z ");
    fleet_builder_close(&b);
    strbuf_done(&told);
}

static struct namespace_record *namespace_of(struct fleet_builder *b, const char *name) {
    return namespace_at(b->c, contents_namespace_find(b->c, str_of(name)));
}

static int visit_nobody(void *ctx, struct str name) {
    (void)ctx;
    (void)name;
    return 0;
}

/* Where it takes too long to compare, whoever has a group is told, once until one looks. */
static void groups_that_take_too_long(void **state) {
    const struct fleet_observer observer = {.changed = note_changed, .changed_all = note_all};
    const struct selector everything = {.count = 0};
    struct steps steps = {0};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    placement(&b, "n", "p", ",'labels':{'a':'b'}", "");
    placement(&b, "n", "x", GROUP("a=other"), "");
    placement(&b, "n", "y", GROUP("a=b"), "");
    placement(&b, "n", "z", GROUP("a in ("), "");
    placement(&b, "m", "w", GROUP("a=b"), "");
    const uint64_t sum = namespace_of(&b, "n")->group_steps;
    assert_true(sum >= 2);
    placement(&b, "n", "x", GROUP("a=other,!c"), "");
    assert_true(namespace_of(&b, "n")->group_steps > sum);
    placement(&b, "n", "x", GROUP("a=other"), "");
    assert_int_equal(namespace_of(&b, "n")->group_steps, sum);
    namespace_of(&b, "n")->group_steps = LIMIT_GROUP_STEPS;
    CHANGED(&b, "n/p n/y", fleet_changed_by_placement, STR("n"), STR("p"));
    CHANGED(&b, "n/p n/y", fleet_changed_by_placement, STR("n"), STR("p"));
    namespace_of(&b, "n")->group_steps = LIMIT_GROUP_STEPS + 1;
    CHANGED(&b, "n/p n/x n/y", fleet_changed_by_placement, STR("n"), STR("p"));
    CHANGED(&b, "n/p", fleet_changed_by_placement, STR("n"), STR("p"));
    CHANGED(&b, "m/w", fleet_changed_by_placement, STR("m"), STR("w"));
    assert_int_equal(
        fleet_placements_visit(fleet_look(&b), STR("m"), &everything, &steps, visit_nobody, NULL),
        0);
    CHANGED(&b, "n/p", fleet_changed_by_placement, STR("n"), STR("p"));
    assert_int_equal(
        fleet_placements_visit(fleet_look(&b), STR("n"), &everything, &steps, visit_nobody, NULL),
        0);
    b.c->observer = &observer;
    placement(&b, "n", "p", "", ""); /* asked before it and after it */
    is_told("n/p n/x n/y n/p ");
    namespace_of(&b, "n")->group_steps = sum;
    b.c->observer = NULL;
    fleet_drop(&b, FLEET_PLACEMENTS, "m", "w");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "y");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "x");
    assert_int_equal(namespace_of(&b, "n")->group_steps, 0);
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "z");
    fleet_drop(&b, FLEET_PLACEMENTS, "n", "p");
    fleet_is_empty(&b);
    fleet_builder_close(&b);
    strbuf_done(&told);
}

static void note_scored(void *ctx, struct str cluster, struct str resource, struct str item) {
    (void)ctx;
    strbuf_appendf(&told, "%.*s/%.*s:%.*s ", STR_ARG(cluster), STR_ARG(resource), STR_ARG(item));
}

static void tells(const char *wanted) {
    assert_str(strbuf_str(&told), wanted);
    strbuf_clear(&told);
}

#define SCORES(name, items)                                                                        \
    "{'metadata':{'namespace':'c','name':'" name "'},'status':{'scores':[" items "]}}"
#define SCORE(name, value) "{'name':'" name "','value':" value "}"

/* Of scores that Evenkeel publishes: that the object changes, and which items do. Nobody's plan
 * depends on them, though a Placement names them. */
static void scores_of_ours(void **state) {
    const struct fleet_observer observer = {
        .changed = note_changed, .changed_all = note_all, .scored = note_scored};
    struct fleet_builder b;
    (void)state;
    fleet_builder_open(&b);
    b.c->observer = &observer;
    fleet_give(&b, FLEET_SCORES, SCORES("evenkeel-3", SCORE("x", "1") "," SCORE("y", "2")));
    tells("c/evenkeel-3: c/evenkeel-3:x c/evenkeel-3:y ");
    fleet_give(&b, FLEET_SCORES, SCORES("evenkeel-3", SCORE("x", "1") "," SCORE("y", "2")));
    tells("c/evenkeel-3: ");
    fleet_give(&b, FLEET_SCORES, SCORES("evenkeel-3", SCORE("x", "3") "," SCORE("z", "2")));
    tells("c/evenkeel-3: c/evenkeel-3:x c/evenkeel-3:y c/evenkeel-3:z ");
    fleet_drop(&b, FLEET_SCORES, "c", "evenkeel-3");
    tells("c/evenkeel-3: c/evenkeel-3:x c/evenkeel-3:z ");
    fleet_give(&b, FLEET_SCORES, SCORES("others", SCORE("x", "1")));
    tells("");
    fleet_builder_close(&b);
    strbuf_done(&told);
}

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_cluster),
        cmocka_unit_test(who_has_the_cluster_comes_first),
        cmocka_unit_test(of_a_cluster_by_selectors),
        cmocka_unit_test(each_placement_comes_once),
        cmocka_unit_test(of_a_set_and_a_binding),
        cmocka_unit_test(of_a_score),
        cmocka_unit_test(of_a_placement_and_its_decisions),
        cmocka_unit_test(of_a_namespace),
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(an_observer_is_told),
        cmocka_unit_test(scores_of_ours),
        cmocka_unit_test(a_heartbeat_changes_nothing),
        cmocka_unit_test(a_decision_that_is_the_same),
        cmocka_unit_test(a_decision_that_changes_its_placement),
        cmocka_unit_test(a_placement_that_keeps_its_labels),
        cmocka_unit_test(groups_that_take_too_long),
        cmocka_unit_test(looking_for_the_cluster_ends),
    };
    return cmocka_run_group_tests_name("changes of a fleet", tests, setup, teardown);
}
