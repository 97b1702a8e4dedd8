/*
 * Memory runs out, at every place where it can: the Nth call of malloc() fails, for every N. An
 * object is then as it was before, nothing leaks, and the next attempt succeeds. And how much a
 * cluster takes.
 */
#include "unit/fleet/fleet_builder.h"
#include "unit/short_memory.h"

#include <malloc.h>
#include <stdio.h>

struct attempt {
    enum fleet_kind kind;
    const char *namespace, *name;
    const char *before; /* applied at first; NULL: it is new */
    const char *json;
};

#define META(more) "'metadata':{'name':'x','namespace':'n'" more "}"
#define LABEL ",'labels':{'" PLACEMENT_LABEL "':'p'}"

static const struct attempt attempts[] = {
    {FLEET_CLUSTERS, NULL, "x", NULL,
     "{'metadata':{'name':'x','labels':{'a':'b'}},'spec':{'taints':[{'key':'k'}]},'status':{"
     "'clusterClaims':[{'name':'c','value':'d'}]}}"},
    {FLEET_CLUSTERS, NULL, "x", "{'metadata':{'name':'x','labels':{'old':'1'}}}",
     "{'metadata':{'name':'x','labels':{'a':'b'}},'spec':{'taints':[{'key':'k'}]}}"},
    {FLEET_SETS, NULL, "x", NULL,
     "{'metadata':{'name':'x'},'spec':{'clusterSelector':{'selectorType':'LabelSelector',"
     "'labelSelector':{'matchLabels':{'a':'b'}}}}}"},
    {FLEET_SETS, NULL, "x", "{'metadata':{'name':'x'}}",
     "{'metadata':{'name':'x'},'spec':{'clusterSelector':{'selectorType':'LabelSelector',"
     "'labelSelector':{'matchExpressions':[{'key':'a','operator':'Near'}]}}}}"},
    {FLEET_BINDINGS, "n", "x", NULL, "{" META("") "}"},
    {FLEET_PLACEMENTS, "n", "x", NULL,
     "{" META(
         ",'labels':{'a':'b'},'annotations':{'" PLACEMENT_GROUP_ANNOTATION
         "':'a=b'}") ",'spec':{'clusterSets':['s','t'],'prioritizerPolicy':{'configurations':[{"
                     "'scoreCoordinate':{'type':'AddOn','addOn':{'resourceName':'r','scoreName':'s'"
                     "}}}]}}}"},
    {FLEET_PLACEMENTS, "n", "x", "{" META(",'labels':{'old':'1'}") "}",
     "{" META(",'labels':{'a':'b'}") ",'spec':{'clusterSets':['s']}}"},
    {FLEET_DECISIONS, "n", "x", NULL,
     "{" META(LABEL) ",'status':{'decisions':[{'clusterName':'a'},{'clusterName':'b'}]}}"},
    {FLEET_DECISIONS, "n", "x",
     "{" META(",'labels':{'" PLACEMENT_LABEL
              "':'q'}") ",'status':{'decisions':[{'clusterName':'a'},{'clusterName':'c'}]}}",
     "{" META(LABEL) ",'status':{'decisions':[{'clusterName':'a'},{'clusterName':'b'}]}}"},
    {FLEET_SCORES, "n", "x", NULL,
     "{" META("") ",'status':{'scores':[{'name':'a','value':1},{'name':'b','value':2}]}}"},
    {FLEET_SCORES, "n", "x", "{" META("") ",'status':{'scores':[{'name':'c','value':3}]}}",
     "{" META("") ",'status':{'scores':[{'name':'a','value':1},{'name':'b','value':2}]}}"},
    {FLEET_NAMESPACES, NULL, "x", "{'metadata':{'name':'x'}}",
     "{'metadata':{'name':'x','labels':{'a':'b'}}}"},
};

/* Numbers of everything that is known. */
static struct fleet_stats known(struct fleet_builder *b) {
    (void)fleet_look(b); /* what is empty goes when it is sorted */
    return contents_stats(b->c);
}

/* The Nth allocation fails. Returns whether there were so many. */
static bool fail_at(const struct attempt *a, long n) {
    struct fleet_builder b;
    const long before = blocks;
    fleet_builder_open(&b);
    if (a->before != NULL)
        fleet_give(&b, a->kind, a->before);
    const struct fleet_stats was = known(&b);
    arm(n, n % 2 == 0);
    armed = true;
    int r = fleet_try(&b, a->kind, a->json);
    armed = false;
    if (r != 0) {
        const struct fleet_stats is = known(&b);
        assert_int_equal(r, -ENOMEM);
        assert_memory_equal(&is, &was, sizeof is);
    }
    fleet_give(&b, a->kind, a->json);
    fleet_drop(&b, a->kind, a->namespace, a->name);
    fleet_is_empty(&b);
    fleet_builder_close(&b);
    assert_int_equal(blocks, before);
    return r != 0;
}

static void memory_runs_out(void **state) {
    (void)state;
    if (!can_fail())
        skip();
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        long n = 0;
        while (fail_at(&attempts[i], n)) {
            n++;
            assert_true(n < 1000);
        }
        assert_true(n > 2); /* it does take memory */
    }
}

/* Nine labels, seven claims, of which four have a value that no other cluster has. */
static void fill(struct fleet_builder *b, int i) {
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        "{'metadata':{'name':'cluster-%05d','labels':{'cloud':'c%d','region':'r%d','zone':'z%d',"
        "'vendor':'OpenShift','env':'prod','" CLUSTER_SET_LABEL "':'set-%d','version':'4.15.%d',"
        "'tier':'t%d','feature.open-cluster-management.io/addon-work-manager':'available'}},"
        "'spec':{'hubAcceptsClient':true},'status':{'allocatable':{'cpu':'%d','memory':'64Gi'},"
        "'capacity':{'cpu':'%d','memory':'72Gi'},'clusterClaims':["
        "{'name':'id.k8s.io','value':'6f1c2f9e-7d1b-4c58-9a51-0000000%05d'},"
        "{'name':'kubeversion.open-cluster-management.io','value':'v1.28.%d'},"
        "{'name':'platform.open-cluster-management.io','value':'AWS'},"
        "{'name':'product.open-cluster-management.io','value':'OpenShift'},"
        "{'name':'apiserverurl.openshift.io','value':'https://api.cluster-%05d.example.com:6443'},"
        "{'name':'consoleurl.cluster.open-cluster-management.io','value':"
        "'https://console-openshift-console.apps.cluster-%05d.example.com'},"
        "{'name':'infrastructure.openshift.io','value':'cluster-%05d-x7f2a'}]}}",
        i, i % 3, i % 10, i % 30, i % 20, i % 12, i % 4, 8 + i % 50, 10 + i % 50, i, i % 12, i, i,
        i);
    fleet_give(b, FLEET_CLUSTERS, text);
}

static void what_a_cluster_takes(void **state) {
    enum { MANY = 20000, MOST = 900 };
    struct fleet_builder b;
    (void)state;
    if (!can_fail())
        skip(); /* nor are blocks of the ordinary size */
    fleet_builder_open(&b);
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < MANY; i++)
        fill(&b, i);
    const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    print_message("# %zu bytes a cluster\n", (after - before) / MANY);
    assert_true((after - before) / MANY <= MOST);
    fleet_builder_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(what_a_cluster_takes),
    };
    return cmocka_run_group_tests_name("memory of a fleet", tests, NULL, NULL);
}
