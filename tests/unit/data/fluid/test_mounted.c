/* From a pod's claims to what the engine is told of its data. */
#include "data/fluid/mounted.h"

#include "unit/data/fluid/world.h"

#include <errno.h>
#include <stdio.h>

static int setup(void **state) {
    static struct world w;
    world_init(&w);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    world_done(*state);
    return 0;
}

static int look(struct world *w, struct pod *pod, const char *claims, struct err *err) {
    char json[600];
    struct json_reader r;
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"namespace\":\"default\",\"name\":\"p\"},\"spec\":{\"volumes\":"
                   "[{\"name\":\"e\",\"emptyDir\":{}}%s]}}",
                   claims); /* fits */
    struct str text = arena_str(&w->arena, str_of(json));
    json_reader_init(&r, text, &w->arena, "Pod");
    pod_decode(&r, POD_WHOLE, pod);
    assert_int_equal(json_finish(&r, err), 0);
    return fluid_find_mounted(w->store, pod, &w->arena, err);
}

#define CLAIM(name) ",{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" name "\"}}"

static void test_a_dataset(void **state) {
    struct world *w = *state;
    struct pod pod;
    struct err err;
    world_dataset(w, "data", "", "");
    world_put(w,
              "{'apiVersion':'data.fluid.io/v1alpha1','kind':'Dataset','metadata':{'name':'data',"
              "'namespace':'default'},'status':{'phase':'Bound','runtimes':[{'type':'alluxio'}],"
              "'ufsTotal':'10.00GiB','cacheStates':{'cached':'2.50GiB','cachedPercentage':"
              "'25.0%'}}}");
    world_put(w, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'plain'}}");
    if (look(w, &pod, CLAIM("plain") CLAIM("data"), &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(pod.claim_count, 2);
    assert_int_equal(pod.dataset_count, 1);
    assert_str(pod.datasets[0].namespace, "default");
    assert_str(pod.datasets[0].id, "default-data");
    assert_str(pod.datasets[0].worker_label, "fluid.io/s-default-data");
    assert_str(pod.datasets[0].quota_label, "fluid.io/s-h-alluxio-t-default-data");
    assert_true(pod.datasets[0].size == (int64_t)10 << 30);
    assert_true(pod.datasets[0].cached == (int64_t)5 << 29);
}

static void test_what_is_not_known(void **state) {
    struct world *w = *state;
    struct pod pod;
    struct err err;
    world_dataset(w, "data", "", "");
    assert_int_equal(look(w, &pod, CLAIM("data"), &err), 0);
    assert_true(pod.datasets[0].size == -1 && pod.datasets[0].cached == -1);
    assert_int_equal(look(w, &pod, CLAIM("other"), &err), -ENOENT);
    assert_int_equal(pod.dataset_count, 0);
    assert_int_equal(look(w, &pod, "", &err), 0);
    assert_int_equal(pod.claim_count, 0);
    assert_int_equal(pod.dataset_count, 0);
}

/* Nothing is refused for that. */
static void test_more_claims_than_anybody_has(void **state) {
    struct world *w = *state;
    struct strbuf json = {0};
    struct json_reader r;
    struct pod pod;
    struct err err;
    strbuf_appendf(&json, "{\"spec\":{\"volumes\":[{}");
    for (int i = 0; i < LIMIT_CLAIMS + 10; i++)
        strbuf_appendf(&json, ",{\"persistentVolumeClaim\":{\"claimName\":\"c%d\"}}", i);
    strbuf_appendf(&json, "],\"nodeName\":\"n\"}}");
    json_reader_init(&r, strbuf_str(&json), &w->arena, "Pod");
    pod_decode(&r, POD_WHOLE, &pod);
    assert_int_equal(json_finish(&r, &err), 0);
    assert_int_equal(pod.claim_count, LIMIT_CLAIMS);
    assert_str(pod.claims[1], "c1");
    assert_str(pod.node_name, "n");
    strbuf_done(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_dataset, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_claims_than_anybody_has, setup, teardown),
    };
    return cmocka_run_group_tests_name("mounted", tests, NULL, NULL);
}
