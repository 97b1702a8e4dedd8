/* The replicas of earlier bindings: their sum is kept, so that an estimate does not read them all.
 */
#include "karmada/assumed.h"

#include "estimator/estimator.h"
#include "unit/model/decoding.h"

enum { BINDINGS = 300, REPLICAS = 2, HOSTS = 1000 };

static void read_binding(struct binding *ret) {
    struct json_reader r =
        decoding_reader("{\"apiVersion\":\"work.karmada.io/"
                        "v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{\"name\":\"b\","
                        "\"namespace\":\"n\"},\"spec\":{\"replicas\":2,\"replicaRequirements\":{"
                        "\"resourceRequest\":{\"cpu\":"
                        "\"1\",\"memory\":\"1Gi\"}}}}");
    binding_read(&r, ret);
    decoding_good(&r);
}

static void read_cluster(struct karmada_cluster *ret) {
    struct json_reader r = decoding_reader("{\"metadata\":{\"name\":\"m\"},\"status\":{"
                                           "\"resourceSummary\":{\"allocatable\":{\"cpu\":\"1000\","
                                           "\"memory\":\"1000Gi\",\"pods\":\"10000\"}}}}");
    karmada_cluster_decode(&r, ret);
    decoding_good(&r);
}

static void the_sum_is_kept(void **state) {
    enum { STEPS = 20 }; /* of an estimate, however many bindings came before */
    struct target_cluster target = {.name = STR("m"), .replicas = REPLICAS};
    const struct karmada_assignment assignment = {.clusters = &target, .count = 1};
    struct karmada_assumed assumed = {.arena = &decoding_arena};
    struct karmada_cluster cluster;
    struct estimator_question q;
    struct general_estimate estimate;
    struct binding binding;
    struct err err;
    (void)state;
    read_binding(&binding);
    read_cluster(&cluster);
    for (int i = 0; i < BINDINGS; i++)
        assert_int_equal(karmada_assume(&assumed, &binding, &assignment, &err), 0);
    assert_null(karmada_assumed_of(&assumed, STR("other")));
    const struct karmada_assumed_cluster *of = karmada_assumed_of(&assumed, STR("m"));
    assert_non_null(of);
    assert_int_equal(of->count, BINDINGS);
    assert_int_equal(of->total.pods, BINDINGS * REPLICAS);
    assert_int_equal(of->total.demand_count, 2);
    assert_int_equal(
        estimator_question_init(&q, &binding.spec.requirements, NULL, 0, &decoding_arena), 0);
    q.assumed = of->sets;
    q.assumed_count = of->count;
    q.assumed_total = &of->total;
    const uint64_t before = decoding_arena.steps.used;
    assert_int_equal(estimator_general_replicas(&cluster, &q, &decoding_arena, &estimate), 0);
    assert_int_equal(estimate.replicas, HOSTS - BINDINGS * REPLICAS);
    assert_in_range(decoding_arena.steps.used - before, 0, STEPS);
}

int main(void) {
    const struct CMUnitTest tests[] = {DECODING_TEST(the_sum_is_kept)};
    return cmocka_run_group_tests_name("assumed", tests, NULL, NULL);
}
