/*
 * Memory runs out, at every place where it can: the Nth call of malloc() fails, for every N. A
 * report is then refused with -ENOMEM, nothing leaks, and the next one is as it should be.
 */
#include "evenness/latest.h"

#include "unit/cluster_builder.h"
#include "unit/short_memory.h"

#include <stdio.h>

static void fill(struct cluster *c) {
    char text[500];
    cluster_nodes(c, "a b o q");
    for (int i = 0; i < 40; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"n%d\",\"ownerReferences\":"
                       "[{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"w%d\","
                       "\"controller\":true}]},\"spec\":{\"nodeName\":\"%c\",\"nodeSelector\":{"
                       "\"node\":\"%c\"}}}",
                       i, i % 5, i % 20, "aboq"[i % 4], "aboq"[i % 3]);
        cluster_apply_json(c, OBJECT_POD, text);
    }
}

static int report(struct cluster *c) {
    const struct str keys[] = {STR("zone"), STR("node")};
    const struct evenness_tag tag = {STR("policy"), 1};
    struct evenness_report *made = NULL;
    struct evenness_latest *latest = evenness_latest_new();
    struct err err;
    int r = latest == NULL ? -ENOMEM : evenness_measure(c->cache, keys, 2, &made, &err);
    if (r == 0) {
        for (uint32_t i = 0; i < made->workload_count; i++)
            made->workloads[i].tag = 0;
        if (made->workload_count != 20)
            r = -EINVAL;
        int noted = evenness_report_note(made, &tag, 1);
        r = r != 0 ? r : noted;
        int kept = evenness_latest_set(latest, made);
        r = r != 0 ? r : kept;
    }
    evenness_latest_free(latest);
    return r;
}

static void memory_runs_out(void **state) {
    struct cluster c;
    int r = -ENOMEM;
    (void)state;
    if (!can_fail())
        skip();
    cluster_open(&c);
    fill(&c);
    assert_int_equal(report(&c), 0); /* the cache keeps what that has built */
    assert_int_equal(report(&c), 0);
    for (long n = 0; r != 0; n++) {
        long before = blocks;
        arm(n, n % 2 == 0);
        armed = true;
        r = report(&c);
        armed = false;
        if (r != 0)
            assert_int_equal(r, -ENOMEM);
        assert_int_equal(blocks, before);
        assert_true(n < 10000);
    }
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
