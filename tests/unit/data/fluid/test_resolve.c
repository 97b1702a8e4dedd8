#include "data/fluid/resolve.h"
#include "model/fluid.h"

#include "unit/data/fluid/world.h"

#include <errno.h>
#include <stdio.h>

struct answer {
    int code;
    struct err err;
    struct fluid_datasets datasets;
    struct fluid_missing missing;
};

static void resolve(struct world *w, const char *text, struct answer *ret) {
    struct world_pod pod;
    struct str *claims;
    world_read(world_text(w, text), &w->arena, &pod);
    claims = arena_array(&w->arena, pod.details.claim_count, sizeof *claims);
    for (uint32_t i = 0; i < pod.details.claim_count; i++)
        claims[i] = pod.details.claims[i].claim;
    *ret = (struct answer){.code = 0};
    struct fluid_query query = {.store = w->store,
                                .claims = claims,
                                .claim_count = pod.details.claim_count,
                                .namespace = "default",
                                .from_workers = true,
                                .missing = &ret->missing};
    struct str skip;
    query.unbound_too = labels_lookup(&pod.details.annotations, STR(FLUID_SKIP_PRECHECK), &skip) &&
                        str_eq(skip, STR("true"));
    ret->code = fluid_resolve(&query, &w->arena, &ret->datasets, &ret->err);
}

/* A pod that mounts these claims. */
#define VOLUME(claim) "{'name':'v','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define POD(volumes) "{'spec':{'volumes':[" volumes "]}}"
#define CLAIM(name, labels)                                                                        \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name                  \
    "','labels':{" labels "}}}"
#define DATASET(name, status)                                                                      \
    "{'apiVersion':'data.fluid.io/v1alpha1','kind':'Dataset','metadata':{'name':'" name            \
    "','uid':'uid-" name "'},'status':{" status "}}"

static void finds_datasets_in_order(void **state) {
    (void)state;
    struct world w;
    struct answer a;
    world_init(&w);
    world_dataset(&w, "b", "'fuse':{'nodeSelector':{'k':'v'}}", "");
    world_dataset(&w, "a", "'fuse':{'nodeSelector':{}}",
                  "'cacheAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                  "'nodeSelectorTerms':[{}]}}");
    world_put(&w, CLAIM("plain", "'x':'y'"));
    resolve(&w,
            POD(VOLUME("b") "," VOLUME("plain") ",{'name':'e','emptyDir':{}}," VOLUME(
                "a") "," VOLUME("b")),
            &a);
    assert_int_equal(a.code, 0);
    assert_int_equal(a.datasets.count, 2);
    const struct fluid_dataset *d = a.datasets.items;
    assert_string_equal(d[0].claim, "a");
    assert_string_equal(d[0].self.uid, "u-a");
    assert_int_equal(d[0].runtime, FLUID_ALLUXIO);
    assert_null(d[0].fuse_selector); /* an empty one says nothing */
    assert_int_equal(cJSON_GetArraySize(d[0].cache_terms), 1);
    assert_false(d[0].unlabelled);
    assert_string_equal(d[1].claim, "b");
    assert_string_equal(doc_string(d[1].fuse_selector, "k"), "v");
    assert_null(d[1].cache_terms);
    world_done(&w);
}

static void wrapped_claims_name_their_dataset(void **state) {
    (void)state;
    struct world w;
    struct answer a;
    world_init(&w);
    world_dataset(&w, "d", "", "");
    world_put(&w, CLAIM("managed", "'fluid.io/managed-by':'d','fluid.io/wrapped-by':'x'"));
    world_put(&w, CLAIM("wrapped", "'fluid.io/wrapped-by':'d'"));
    resolve(&w, POD(VOLUME("managed") "," VOLUME("wrapped")), &a);
    assert_int_equal(a.code, 0);
    assert_int_equal(a.datasets.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(a.datasets.items[i].self.name, "d");
    assert_string_equal(a.datasets.items[0].claim, "managed");
    world_done(&w);
}

static void references_know_the_physical_dataset(void **state) {
    (void)state;
    struct world w;
    struct answer a;
    world_init(&w);
    world_put(&w, CLAIM("r", "'fluid.io/s-default-r':'true','fluid.io/dataset.referring-name':'p',"
                             "'fluid.io/dataset.referring-namespace':'big'"));
    world_put(&w, DATASET("r", "'phase':'Bound','runtimes':[{'type':'thin'}]"));
    world_put(&w, "{'apiVersion':'data.fluid.io/v1','kind':'ThinRuntime','metadata':{'name':'r'}}");
    resolve(&w, POD(VOLUME("r")), &a);
    assert_int_equal(a.code, 0);
    assert_string_equal(a.datasets.items[0].self.name, "r");
    assert_string_equal(a.datasets.items[0].physical.namespace, "big");
    assert_string_equal(a.datasets.items[0].physical.name, "p");
    assert_string_equal(a.datasets.items[0].physical.uid, ""); /* not known here */
    assert_false(a.datasets.items[0].unlabelled);

    world_put(&w, "{'apiVersion':'data.fluid.io/v1','kind':'Dataset','metadata':{'name':'p',"
                  "'namespace':'big','uid':'U'},'status':{'runtimes':[{'type':'thin'}]}}");
    resolve(&w, POD(VOLUME("r")), &a);
    assert_int_equal(a.code, 0);
    assert_string_equal(a.datasets.items[0].physical.uid, "U");
    assert_true(a.datasets.items[0].unlabelled);
    world_done(&w);
}

static void each_runtime_has_its_kind_and_selector(void **state) {
    (void)state;
    static const struct {
        const char *type, *kind;
        bool client; /* the selector is in spec.client */
        const char *want;
    } cases[] = {
        {"alluxio", "AlluxioRuntime", false, "v"}, {"jindo", "JindoRuntime", false, "v"},
        {"juicefs", "JuiceFSRuntime", false, "v"}, {"thin", "ThinRuntime", false, "v"},
        {"efc", "EFCRuntime", false, "v"},         {"vineyard", "VineyardRuntime", false, ""},
        {"cache", "CacheRuntime", true, "v"},      {"cache", "CacheRuntime", false, ""},
        {"alluxio", "AlluxioRuntime", true, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        struct answer a;
        char json[512];
        world_init(&w);
        world_put(&w, CLAIM("d", "'fluid.io/s-':''"));
        (void)snprintf(json, sizeof json,
                       DATASET("d", "'phase':'Bound','runtimes':[{'type':'%s'}]"), cases[i].type);
        world_put(&w, json);
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'data.fluid.io/v1','kind':'%s','metadata':{'name':'d'},"
                       "'spec':{'%s':{'nodeSelector':{'k':'v'}}}}",
                       cases[i].kind, cases[i].client ? "client" : "fuse");
        world_put(&w, json);
        resolve(&w, POD(VOLUME("d")), &a);
        assert_int_equal(a.code, 0);
        assert_string_equal(doc_string(a.datasets.items[0].fuse_selector, "k"), cases[i].want);
        world_done(&w);
    }
}

/* EFC says nothing itself: its StatefulSet does. */
static void workers_say_where_efc_is(void **state) {
    (void)state;
    static const struct {
        const char *template, *want;
    } cases[] = {
        {"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
         "'nodeSelectorTerms':[{'matchExpressions':[{'key':'z','operator':'Exists'}]},{}]}}},"
         "'nodeSelector':{'a':'1'}",
         "[{'matchExpressions':[{'key':'z','operator':'Exists'},{'key':'a','operator':'In',"
         "'values':['1']}]},{'matchExpressions':[{'key':'a','operator':'In','values':['1']}]}]"},
        {"'nodeSelector':{'a':'1'}",
         "[{'matchExpressions':[{'key':'a','operator':'In','values':['1']}]}]"},
        {"'nodeSelector':{}", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        struct answer a;
        char json[1024];
        world_init(&w);
        world_put(&w, CLAIM("d", "'fluid.io/s-':''"));
        world_put(&w, DATASET("d", "'phase':'Bound','runtimes':[{'type':'efc'}]"));
        world_put(&w, "{'apiVersion':'data.fluid.io/v1','kind':'EFCRuntime','metadata':{'name':"
                      "'d'}}");
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':"
                       "'d-worker'},'spec':{'template':{'spec':{%s}}}}",
                       cases[i].template);
        world_put(&w, json);
        resolve(&w, POD(VOLUME("d")), &a);
        assert_int_equal(a.code, 0);
        assert_int_equal(a.datasets.items[0].cache_terms != NULL, cases[i].want != NULL);
        if (cases[i].want != NULL) {
            cJSON *want = world_document(cases[i].want);
            assert_true(cJSON_Compare(a.datasets.items[0].cache_terms, want, true));
            cJSON_Delete(want);
        }
        world_done(&w);
    }
}

/* ---- what can be wrong ---- */

static void missing_objects_are_named(void **state) {
    (void)state;
    struct world w;
    struct answer a;
    world_init(&w);
    resolve(&w, POD(VOLUME("y") "," VOLUME("x")), &a);
    assert_int_equal(a.code, -ENOENT);
    assert_contains(a.err.text, "cannot find 2 of the pod's volume claims in namespace 'default': "
                                "'x', 'y'");
    assert_int_equal(a.missing.count, 2);
    assert_string_equal(a.missing.keys[0].name, "x");
    assert_int_equal(a.missing.keys[0].kind, FLUID_CLAIM);

    world_put(&w, CLAIM("x", "'fluid.io/managed-by':'d'"));
    resolve(&w, POD(VOLUME("x")), &a);
    assert_int_equal(a.code, -ENOENT);
    assert_contains(a.err.text, "volume claim 'x': cannot find dataset 'default/d'");
    assert_int_equal(a.missing.count, 1);
    assert_int_equal(a.missing.keys[0].kind, FLUID_DATASET);
    assert_string_equal(a.missing.keys[0].name, "d");

    world_put(&w, DATASET("d", "'phase':'Bound','runtimes':[{'type':'jindo'}]"));
    resolve(&w, POD(VOLUME("x")), &a);
    assert_int_equal(a.code, -ENOENT);
    assert_contains(a.err.text, "volume claim 'x': cannot find JindoRuntime 'default/d'");
    assert_int_equal(a.missing.keys[0].kind, FLUID_JINDO);
    assert_string_equal(a.missing.keys[0].namespace, "default");
    world_done(&w);
}

/* Names that do not fit into one sentence. */
static void many_missing_claims_are_counted(void **state) {
    (void)state;
    struct world w;
    struct answer a;
    char json[8192];
    size_t n = (size_t)snprintf(json, sizeof json, "{'spec':{'volumes':[");
    for (int i = 0; i < 30; i++)
        n += (size_t)snprintf(json + n, sizeof json - n, "%s" VOLUME("c%02d"), i > 0 ? "," : "", i);
    (void)snprintf(json + n, sizeof json - n, "]}}");
    world_init(&w);
    resolve(&w, json, &a);
    assert_int_equal(a.code, -ENOENT);
    assert_contains(a.err.text, "cannot find 30 of");
    assert_contains(a.err.text, "'c07' and more");
    assert_int_equal(a.missing.count, sizeof a.missing.keys / sizeof a.missing.keys[0]);
    world_done(&w);
}

static void phase_decides(void **state) {
    (void)state;
    static const struct {
        const char *status, *want; /* "" resolves */
    } cases[] = {
        {"'phase':'Bound'", ""},
        {"'phase':'Pending'", ""},
        {"'phase':'Failed'", ""},
        {"'phase':'NotBound'", "dataset 'default/d' is not bound"},
        {"'phase':''", "dataset 'default/d' is not bound"},
        {"'x':1", "dataset 'default/d' is not bound"},
        {"'phase':'NotBound','conditions':[{'type':'Ready','message':'no'},"
         "{'type':'NotReady','message':'two masters'}]",
         "dataset 'default/d' is not bound: two masters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        struct answer a;
        char json[512];
        world_init(&w);
        world_dataset(&w, "d", "", "");
        (void)snprintf(json, sizeof json, DATASET("d", "%s,'runtimes':[{'type':'alluxio'}]"),
                       cases[i].status);
        world_put(&w, json);
        resolve(&w, POD(VOLUME("d")), &a);
        assert_int_equal(a.code, cases[i].want[0] == '\0' ? 0 : -EAGAIN);
        if (a.code != 0)
            assert_contains(a.err.text, cases[i].want);
        resolve(&w,
                "{'metadata':{'annotations':{'sidecar.fluid.io/skip-precheck':'true'}},"
                "'spec':{'volumes':[" VOLUME("d") "]}}",
                &a);
        assert_int_equal(a.code, 0);
        world_done(&w);
    }
}

static void unknown_runtimes_are_refused(void **state) {
    (void)state;
    static const char *const statuses[] = {"'phase':'Bound','runtimes':[{'type':'goosefs'}]",
                                           "'phase':'Bound','runtimes':[]", "'phase':'Bound'"};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct world w;
        struct answer a;
        char json[512];
        world_init(&w);
        world_dataset(&w, "d", "", "");
        (void)snprintf(json, sizeof json, DATASET("d", "%s"), statuses[i]);
        world_put(&w, json);
        resolve(&w, POD(VOLUME("d")), &a);
        assert_int_equal(a.code, -EINVAL);
        assert_contains(a.err.text, i == 0 ? "its type is 'goosefs'" : "its type is ''");
        world_done(&w);
    }
}

/* 63 bytes, prefix included, are too many. */
static void label_keys_have_a_length(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    char name[64] = {0};
    for (size_t length = 40; length < 48; length++) {
        memset(name, 'd', length);
        struct fluid_identity id = {"default", name, "uid"}, no_uid = {"default", name, ""};
        const char *key = fluid_label_key(FLUID_LABEL_COMMON, &id, &w.arena);
        assert_int_equal(strcmp(key, "fluid.io/s-uid") == 0, length >= 44);
        assert_int_equal(strlen(fluid_label_key(FLUID_LABEL_COMMON, &no_uid, &w.arena)),
                         11 + 7 + 1 + length);
    }
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_datasets_in_order),
        cmocka_unit_test(wrapped_claims_name_their_dataset),
        cmocka_unit_test(references_know_the_physical_dataset),
        cmocka_unit_test(each_runtime_has_its_kind_and_selector),
        cmocka_unit_test(workers_say_where_efc_is),
        cmocka_unit_test(missing_objects_are_named),
        cmocka_unit_test(many_missing_claims_are_counted),
        cmocka_unit_test(phase_decides),
        cmocka_unit_test(unknown_runtimes_are_refused),
        cmocka_unit_test(label_keys_have_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
