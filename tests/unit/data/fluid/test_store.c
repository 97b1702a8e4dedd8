#include "data/fluid/store.h"

#include "base/limits.h"
#include "unit/data/fluid/world.h"

#include <errno.h>
#include <stdio.h>

static const cJSON *get(const struct world *w, enum fluid_kind kind, const char *name) {
    return fluid_store_get(w->store, (struct fluid_key){kind, "default", name});
}

static void keeps_what_is_read(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_put(&w, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
                  "'namespace':'n','uid':'u','labels':{'app':'x','fluid.io/s-n-c':'true'},"
                  "'managedFields':[1]},'spec':{'volumeName':'v'}}");
    const cJSON *doc = fluid_store_get(w.store, (struct fluid_key){FLUID_CLAIM, "n", "c"});
    cJSON *want = world_document("{'metadata':{'name':'c','uid':'u','namespace':'n','labels':{"
                                 "'fluid.io/s-n-c':'true'}}}");
    assert_true(cJSON_Compare(doc, want, true));
    cJSON_Delete(want);

    world_put(&w, "{'apiVersion':'data.fluid.io/v1alpha1','kind':'CacheRuntime','metadata':{"
                  "'name':'r'},'spec':{'client':{'nodeSelector':{'a':'1'},'env':[]},'fuse':{}},"
                  "'status':{'cacheAffinity':{},'worker':{}}}");
    want = world_document("{'metadata':{'name':'r'},'spec':{'client':{'nodeSelector':{'a':'1'}}},"
                          "'status':{'cacheAffinity':{}}}");
    assert_true(cJSON_Compare(get(&w, FLUID_CACHE, "r"), want, true));
    cJSON_Delete(want);
    world_done(&w);
}

static void tells_kinds_and_namespaces_apart(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_dataset(&w, "a", "", "");
    assert_int_equal(fluid_store_count(w.store), 3);
    assert_non_null(get(&w, FLUID_DATASET, "a"));
    assert_non_null(get(&w, FLUID_ALLUXIO, "a"));
    assert_null(get(&w, FLUID_JINDO, "a"));
    assert_null(get(&w, FLUID_DATASET, "b"));
    assert_null(fluid_store_get(w.store, (struct fluid_key){FLUID_DATASET, "n", "a"}));
    /* no namespace means "default", both ways */
    assert_non_null(fluid_store_get(w.store, (struct fluid_key){FLUID_DATASET, "", "a"}));
    world_done(&w);
}

static void replaces_and_removes(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_dataset(&w, "a", "", "");
    world_put(&w, "{'apiVersion':'data.fluid.io/v1','kind':'Dataset','metadata':{'name':'a'},"
                  "'status':{'phase':'Failed'}}");
    assert_int_equal(fluid_store_count(w.store), 3);
    assert_string_equal(doc_string(doc_object(get(&w, FLUID_DATASET, "a"), "status"), "phase"),
                        "Failed");
    fluid_store_remove(w.store, (struct fluid_key){FLUID_DATASET, "default", "a"});
    fluid_store_remove(w.store, (struct fluid_key){FLUID_DATASET, "default", "a"});
    assert_null(get(&w, FLUID_DATASET, "a"));
    assert_non_null(get(&w, FLUID_ALLUXIO, "a"));
    assert_int_equal(fluid_store_count(w.store), 2);
    world_done(&w);
}

/* Many objects, some of them removed and put again: each is still found, and says its own. */
static void holds_many(void **state) {
    (void)state;
    enum { MANY = 3000 };
    struct world w;
    world_init(&w);
    char json[256], name[32];
    for (int round = 0; round < 2; round++) {
        for (int i = round; i < MANY; i += round + 1) {
            (void)snprintf(json, sizeof json,
                           "{'apiVersion':'data.fluid.io/v1','kind':'Dataset','metadata':{"
                           "'name':'c%d','uid':'u%d-%d'}}",
                           i, i, round);
            world_put(&w, json);
        }
        for (int i = 0; i < MANY && round == 0; i += 3) {
            (void)snprintf(name, sizeof name, "c%d", i);
            fluid_store_remove(w.store, (struct fluid_key){FLUID_DATASET, "default", name});
        }
    }
    for (int i = 0; i < MANY; i++) {
        bool odd = i % 2 == 1, removed = i % 3 == 0 && !odd;
        (void)snprintf(name, sizeof name, "c%d", i);
        const cJSON *doc = get(&w, FLUID_DATASET, name);
        assert_int_equal(doc == NULL, removed);
        (void)snprintf(json, sizeof json, "u%d-%d", i, odd);
        if (doc != NULL)
            assert_string_equal(doc_string(doc_object(doc, "metadata"), "uid"), json);
    }
    world_done(&w);
}

static void refuses_strangers(void **state) {
    (void)state;
    static const struct {
        const char *json;
        int code;
    } cases[] = {
        {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'p'}}", -ENOTSUP},
        {"{'apiVersion':'metrics.k8s.io/v1','kind':'Pod','metadata':{'name':'p'}}", -ENOTSUP},
        {"{'apiVersion':'v1','kind':'Dataset','metadata':{'name':'p'}}", -ENOTSUP},
        {"{'apiVersion':'apps/v1','kind':'PersistentVolumeClaim','metadata':{'name':'p'}}",
         -ENOTSUP},
        {"{'apiVersion':'data.fluid.io/v1','kind':'Dataset','metadata':{}}", -EINVAL},
        {"[]", -ENOTSUP},
        {"{}", -ENOTSUP},
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {0};
        cJSON *doc = world_document(cases[i].json);
        assert_int_equal(fluid_store_put(w.store, doc, &err), cases[i].code);
        cJSON_Delete(doc);
    }
    assert_int_equal(fluid_store_count(w.store), 0);
    world_done(&w);
}

#define CLAIM(name, more)                                                                          \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name                  \
    "','namespace':'n'" more "}}"

static const cJSON *claim(const struct world *w, const char *name) {
    return fluid_store_get(w->store, (struct fluid_key){FLUID_CLAIM, "n", name});
}

/* Of claims that are no dataset's it is known that they exist. */
static void plain_claims_share_a_document(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_put(&w, CLAIM("a", ",'uid':'u','labels':{'app':'x','fluid.iox/s-n-c':''}"));
    world_put(&w, CLAIM("b", ""));
    world_put(&w, CLAIM("c", ",'labels':{'fluid.io/s-n-c':''}"));
    assert_non_null(claim(&w, "a"));
    assert_ptr_equal(claim(&w, "a"), claim(&w, "b"));
    assert_null(claim(&w, "a")->child);
    assert_non_null(doc_at(claim(&w, "c"), "metadata.labels"));
    /* one becomes the other */
    world_put(&w, CLAIM("a", ",'labels':{'fluid.io/s-n-a':''}"));
    world_put(&w, CLAIM("c", ""));
    assert_non_null(doc_at(claim(&w, "a"), "metadata.labels"));
    assert_ptr_equal(claim(&w, "c"), claim(&w, "b"));
    fluid_store_remove(w.store, (struct fluid_key){FLUID_CLAIM, "n", "b"});
    assert_null(claim(&w, "b"));
    assert_int_equal(fluid_store_count(w.store), 2);
    world_done(&w);
}

static void drop(void *store, uint32_t kind, uint32_t id) {
    fluid_store_drop(store, (enum fluid_kind)kind, id);
}

static void begin_listing(struct fluid_store *s, enum fluid_kind kind) {
    pool_listing_begin(fluid_store_records(s, kind));
}

static void end_listing(struct fluid_store *s, enum fluid_kind kind, bool complete) {
    pool_listing_end(fluid_store_records(s, kind), complete, drop, s, kind);
}

/* What a listing does not name is gone at its end; other kinds have listings of their own. */
static void listings_forget(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_put(&w, CLAIM("a", ""));
    world_put(&w, CLAIM("b", ",'labels':{'fluid.io/s-n-b':''}"));
    world_put(&w, CLAIM("c", ""));
    world_dataset(&w, "d", "", "");
    begin_listing(w.store, FLUID_CLAIM);
    world_put(&w, CLAIM("a", ""));
    begin_listing(w.store, FLUID_CLAIM); /* given up, and begun again */
    world_put(&w, CLAIM("c", ""));
    world_put(&w, CLAIM("e", ""));
    assert_int_equal(fluid_store_count(w.store), 7);
    end_listing(w.store, FLUID_CLAIM, true);
    assert_null(claim(&w, "a"));
    assert_null(claim(&w, "b"));
    assert_non_null(claim(&w, "c"));
    assert_non_null(claim(&w, "e"));
    assert_non_null(get(&w, FLUID_DATASET, "d"));
    assert_null(get(&w, FLUID_CLAIM, "d"));
    begin_listing(w.store, FLUID_DATASET);
    end_listing(w.store, FLUID_DATASET, true);
    assert_null(get(&w, FLUID_DATASET, "d"));
    assert_int_equal(fluid_store_count(w.store), 3);
    world_done(&w);
}

/* What was there before a listing without end stays, and what only that has shown goes. */
static void a_listing_without_end(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    begin_listing(w.store, FLUID_CLAIM);
    world_put(&w, CLAIM("a", ""));
    end_listing(w.store, FLUID_CLAIM, true);
    world_put(&w, CLAIM("b", "")); /* a watch's */
    world_dataset(&w, "d", "", "");
    size_t count = fluid_store_count(w.store);
    begin_listing(w.store, FLUID_CLAIM);
    world_put(&w, CLAIM("c", ",'labels':{'fluid.io/s-n-c':''}"));
    begin_listing(w.store, FLUID_CLAIM); /* given up, and begun again */
    world_put(&w, CLAIM("a", ",'labels':{'fluid.io/s-n-a':''}"));
    world_put(&w, CLAIM("e", ""));
    world_put(&w, CLAIM("e", ",'labels':{'fluid.io/s-n-e':''}"));
    end_listing(w.store, FLUID_DATASET, false); /* of another kind */
    assert_int_equal(fluid_store_count(w.store), count + 2);
    end_listing(w.store, FLUID_CLAIM, false);
    assert_int_equal(fluid_store_count(w.store), count);
    assert_true(claim(&w, "c") == NULL && claim(&w, "e") == NULL);
    assert_true(claim(&w, "a") != NULL && claim(&w, "b") != NULL);
    world_put(&w, CLAIM("f", "")); /* a watch's */
    begin_listing(w.store, FLUID_CLAIM);
    world_put(&w, CLAIM("g", ""));
    end_listing(w.store, FLUID_CLAIM, true);
    begin_listing(w.store, FLUID_CLAIM);
    end_listing(w.store, FLUID_CLAIM, false);
    assert_true(claim(&w, "f") == NULL && claim(&w, "g") != NULL);
    world_done(&w);
}

/* A Dataset whose status is an array of so many bytes of text. */
static cJSON *dataset_of(const char *name, size_t bytes) {
    cJSON *doc = world_document("{'metadata':{},'status':{'runtimes':['']}}");
    char *text = calloc(bytes + 1, 1);
    assert_non_null(text);
    memset(text, 'x', bytes);
    assert_int_equal(doc_set(doc_object(doc, "metadata"), "name", cJSON_CreateString(name)), 0);
    assert_int_equal(
        doc_push(doc_array(doc_object(doc, "status"), "runtimes"), cJSON_CreateString(text)), 0);
    free(text);
    return doc;
}

static int put_dataset(struct world *w, const char *name, size_t bytes) {
    struct err err = {0};
    cJSON *doc = dataset_of(name, bytes);
    int r = fluid_store_put_as(w->store, FLUID_DATASET, doc, &err);
    cJSON_Delete(doc);
    if (r != 0)
        assert_contains(err.text, "the object, or all objects together, would be too large");
    return r;
}

static void too_much_is_refused(void **state) {
    (void)state;
    struct world w;
    char name[32];
    world_init(&w);
    assert_int_equal(put_dataset(&w, "a", 1000), 0);
    const cJSON *before = get(&w, FLUID_DATASET, "a");
    assert_int_equal(put_dataset(&w, "a", LIMIT_FLUID_OBJECT), -EFBIG);
    assert_ptr_equal(get(&w, FLUID_DATASET, "a"), before);
    uint32_t held = 0;
    do {
        assert_true(held <= LIMIT_FLUID_BYTES / (LIMIT_FLUID_OBJECT / 2));
        (void)snprintf(name, sizeof name, "d%u", held++);
    } while (put_dataset(&w, name, LIMIT_FLUID_OBJECT / 2) == 0);
    assert_true(held > LIMIT_FLUID_BYTES / LIMIT_FLUID_OBJECT);
    assert_null(get(&w, FLUID_DATASET, name));
    /* what is forgotten makes room, whichever way */
    fluid_store_remove(w.store, (struct fluid_key){FLUID_DATASET, "default", "d0"});
    assert_int_equal(put_dataset(&w, name, LIMIT_FLUID_OBJECT / 2), 0);
    assert_int_equal(put_dataset(&w, "d1", 0), 0);
    assert_int_equal(put_dataset(&w, "e", LIMIT_FLUID_OBJECT / 2), 0);
    assert_int_equal(put_dataset(&w, "f", LIMIT_FLUID_OBJECT / 2), -EFBIG);
    begin_listing(w.store, FLUID_DATASET);
    end_listing(w.store, FLUID_DATASET, true);
    uint32_t again = 0;
    do
        (void)snprintf(name, sizeof name, "d%u", again++);
    while (put_dataset(&w, name, LIMIT_FLUID_OBJECT / 2) == 0);
    assert_in_range(again, held, held + 1);
    world_done(&w);
}

/* ---- workers ---- */

#define WORKER(name, more) WORKER_OF("n-d", name, more, "Running")
#define WORKER_OF(dataset, name, more, phase)                                                      \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                    \
    "','namespace':'n','labels':{'app':'x','fluid.io/dataset-placement':'Shared',"                 \
    "'fluid.io/dataset':'" dataset "'}" more                                                       \
    "},'spec':{'nodeName':'node','volumes':[]},'status':{'phase':'" phase "'}}"

static void keeps_what_is_read_of_a_worker(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_put(&w, WORKER("d-worker-12", ",'deletionTimestamp':'2026-01-01T00:00:00Z'"));
    cJSON *want = world_document(
        "{'metadata':{'name':'d-worker-12','namespace':'n','deletionTimestamp':"
        "'2026-01-01T00:00:00Z','labels':{'fluid.io/dataset':'n-d'}},'spec':{'nodeName':'node'},"
        "'ordinal':12}");
    const struct fluid_key key = {FLUID_WORKER, "n", "d-worker-12"};
    assert_true(cJSON_Compare(fluid_store_get(w.store, key), want, true));
    cJSON_Delete(want);
    world_done(&w);
}

/* The number in a StatefulSet, -1: there is none. */
static int ordinal_of(const char *pod) {
    struct world w;
    world_init(&w);
    world_put(&w, pod);
    const struct fluid_key key = {FLUID_WORKER, "n", "d-worker-7"};
    const struct fluid_key other = {FLUID_WORKER, "n", "worker"};
    const cJSON *doc = fluid_store_get(w.store, key);
    if (doc == NULL)
        doc = fluid_store_get(w.store, other);
    assert_non_null(doc);
    const cJSON *ordinal = cJSON_GetObjectItemCaseSensitive(doc, FLUID_ORDINAL);
    int number = ordinal != NULL ? ordinal->valueint : -1;
    world_done(&w);
    return number;
}
#define OWNED(api, kind, controller)                                                               \
    ",'ownerReferences':[{'apiVersion':'" api "','kind':'" kind                                    \
    "','name':'o','controller':" controller "}]"

static void the_number_is_a_stateful_sets(void **state) {
    (void)state;
    assert_int_equal(ordinal_of(WORKER("d-worker-7", "")), 7);
    assert_int_equal(ordinal_of(WORKER("worker", "")), -1);
    assert_int_equal(ordinal_of(WORKER("d-worker-7", OWNED("apps/v1", "StatefulSet", "true"))), 7);
    assert_int_equal(ordinal_of(WORKER("d-worker-7", OWNED("apps/v1", "ReplicaSet", "true"))), -1);
    /* the names of its pods need not be without gaps */
    assert_int_equal(
        ordinal_of(WORKER("d-worker-7", OWNED("apps.kruise.io/v1beta1", "StatefulSet", "true"))),
        -1);
    assert_int_equal(ordinal_of(WORKER("d-worker-7", OWNED("v1", "ConfigMap", "false"))), 7);
}

static bool count_worker(void *ctx, const cJSON *doc) {
    (void)doc;
    return ++*(int *)ctx < 1000;
}

static int workers_of(const struct world *w, const char *namespace, const char *dataset) {
    int count = 0;
    fluid_store_each_worker(w->store, namespace, dataset, count_worker, &count);
    return count;
}

static void pods_that_keep_no_bytes_are_no_workers(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_put(&w, WORKER("a", ""));
    assert_int_equal(workers_of(&w, "n", "n-d"), 1);
    assert_int_equal(workers_of(&w, "n", "n-e"), 0);
    assert_int_equal(workers_of(&w, "default", "n-d"), 0);
    world_put(&w, WORKER_OF("n-d", "a", "", "Succeeded"));
    assert_int_equal(workers_of(&w, "n", "n-d"), 0);
    world_put(&w, WORKER_OF("n-d", "a", "", "Pending"));
    assert_int_equal(workers_of(&w, "n", "n-d"), 1);
    world_put(&w, WORKER_OF("n-d", "a", "", "Failed"));
    assert_int_equal(workers_of(&w, "n", "n-d"), 0);
    world_put(&w, WORKER("a", ""));
    world_put(&w, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'n'},"
                  "'spec':{'nodeName':'node'}}");
    assert_int_equal(workers_of(&w, "n", "n-d"), 0);
    world_put(&w, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'b','namespace':'n','labels':"
                  "{'fluid.io/dataset':'n-d'}},'spec':{}}");
    assert_int_equal(fluid_store_count(w.store), 0);
    world_done(&w);
}

/* Pods of four datasets come, change sides, and go, at random. */
static void workers_are_found_by_their_dataset(void **state) {
    (void)state;
    enum { PODS = 40, DATASETS = 4, ROUNDS = 4000 };
    struct world w;
    int of[PODS];
    unsigned seed = 5;
    world_init(&w);
    for (int i = 0; i < PODS; i++)
        of[i] = -1;
    for (int round = 0; round < ROUNDS; round++) {
        char name[16], json[400];
        int pod = rand_r(&seed) % PODS, dataset = rand_r(&seed) % (DATASETS + 2);
        (void)snprintf(name, sizeof name, "p%d", pod);
        (void)snprintf(json, sizeof json,
                       "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','labels':{"
                       "'fluid.io/dataset':'d%d'}},'spec':{'nodeName':'x'}}",
                       name, dataset);
        if (dataset < DATASETS)
            world_put(&w, json);
        else
            fluid_store_remove(w.store, (struct fluid_key){FLUID_WORKER, "default", name});
        of[pod] = dataset < DATASETS ? dataset : -1;
        for (int d = 0; d < DATASETS; d++) {
            int want = 0;
            for (int i = 0; i < PODS; i++)
                want += of[i] == d;
            (void)snprintf(name, sizeof name, "d%d", d);
            assert_int_equal(workers_of(&w, "default", name), want);
        }
    }
    begin_listing(w.store, FLUID_WORKER);
    end_listing(w.store, FLUID_WORKER, true);
    assert_int_equal(workers_of(&w, "default", "d0"), 0);
    assert_int_equal(fluid_store_count(w.store), 0);
    world_done(&w);
}

static long allocations_left;

static void *failing_malloc(size_t n) {
    return allocations_left-- > 0 ? malloc(n) : NULL;
}

/* What cannot be kept whole leaves the store as it was. */
static void documents_can_run_out(void **state) {
    (void)state;
    struct world w;
    cJSON_Hooks failing = {failing_malloc, free};
    cJSON *old = world_document("{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':"
                                "'s','uid':'old'}}");
    cJSON *new = world_document("{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':"
                                "'s','uid':'new'},'spec':{'template':{'spec':{'nodeSelector':{"
                                "'a':'b'}}}}}");
    world_init(&w);
    assert_int_equal(fluid_store_put(w.store, old, NULL), 0);
    int r = -ENOMEM;
    for (long n = 0; r != 0; n++) {
        allocations_left = n;
        cJSON_InitHooks(&failing);
        r = fluid_store_put(w.store, new, NULL);
        cJSON_InitHooks(NULL);
        assert_true(r == 0 || (r == -ENOMEM && n < 1000));
        const cJSON *kept = get(&w, FLUID_STATEFUL_SET, "s");
        assert_string_equal(doc_string(doc_object(kept, "metadata"), "uid"),
                            r == 0 ? "new" : "old");
    }
    cJSON_Delete(old);
    cJSON_Delete(new);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_read),
        cmocka_unit_test(tells_kinds_and_namespaces_apart),
        cmocka_unit_test(replaces_and_removes),
        cmocka_unit_test(holds_many),
        cmocka_unit_test(refuses_strangers),
        cmocka_unit_test(plain_claims_share_a_document),
        cmocka_unit_test(listings_forget),
        cmocka_unit_test(a_listing_without_end),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(documents_can_run_out),
        cmocka_unit_test(keeps_what_is_read_of_a_worker),
        cmocka_unit_test(the_number_is_a_stateful_sets),
        cmocka_unit_test(pods_that_keep_no_bytes_are_no_workers),
        cmocka_unit_test(workers_are_found_by_their_dataset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
