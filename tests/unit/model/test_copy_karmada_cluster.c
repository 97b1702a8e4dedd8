#include "model/karmada.h"
#include "unit/unit.h"

#include <stdlib.h>

static const char json[] =
    "{\"metadata\":{\"name\":\"m1\",\"uid\":\"u-1\",\"labels\":{\"team\":\"a\",\"tier\":\"gold\"},"
    "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
    "\"spec\":{\"apiEndpoint\":\"https://a\",\"secretRef\":{\"namespace\":\"n\",\"name\":\"s\"},"
    "\"proxyURL\":\"http://p\",\"proxyHeader\":{\"H\":\"v\"},\"insecureSkipTLSVerification\":true,"
    "\"provider\":\"P\",\"region\":\"R\",\"zones\":[\"Z1\",\"Z2\"],"
    "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"},{\"key\":\"l\"}],"
    "\"resourceModels\":[{\"grade\":0,\"ranges\":[{\"name\":\"cpu\",\"min\":\"0\",\"max\":\"1\"},"
    "{\"name\":\"memory\",\"min\":\"0\",\"max\":\"4Gi\"}]},"
    "{\"grade\":1,\"ranges\":[{\"name\":\"cpu\",\"min\":\"1\",\"max\":\"9\"},"
    "{\"name\":\"memory\",\"min\":\"4Gi\",\"max\":\"8Gi\"}]}]},"
    "\"status\":{\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"kind\":"
    "\"Deployment\"},{\"kind\":\"StatefulSet\"}]}],"
    "\"resourceSummary\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"16Gi\",\"pods\":\"110\"},"
    "\"allocated\":{\"cpu\":\"500m\",\"pods\":\"3\"},"
    "\"allocatableModelings\":[{\"grade\":0,\"count\":2},{\"grade\":1,\"count\":5}]}}}";

static void read_cluster(char *text, struct arena *arena, struct karmada_cluster *ret) {
    struct json_reader r;
    arena_init(arena, 1 << 20);
    json_reader_init(&r, str_of(text), arena, "Cluster");
    karmada_cluster_decode(&r, ret);
    assert_int_equal(json_finish(&r, NULL), 0);
}

static void same_models(const struct karmada_models *a, const struct karmada_models *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->negative, b->negative);
    assert_memory_equal(a->by_grade, b->by_grade, b->count * sizeof *b->by_grade);
    assert_int_equal(a->modeling_count, b->modeling_count);
    assert_memory_equal(a->modelings, b->modelings, b->modeling_count * sizeof *b->modelings);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct karmada_model *is = &a->items[i], *was = &b->items[i];
        assert_true(is->grade == was->grade && is->nodes == was->nodes);
        assert_int_equal(is->range_count, was->range_count);
        for (uint32_t k = 0; k < was->range_count; k++) {
            assert_true(str_eq(is->ranges[k].name, was->ranges[k].name));
            assert_true(is->ranges[k].nano == was->ranges[k].nano);
            assert_true(is->ranges[k].amount == was->ranges[k].amount);
            assert_int_equal(is->ranges[k].scheduled, was->ranges[k].scheduled);
        }
    }
}

static void same_resources(const struct karmada_cluster *a, const struct karmada_cluster *b) {
    assert_int_equal(a->resource_count, b->resource_count);
    for (uint32_t i = 0; i < b->resource_count; i++) {
        const struct karmada_resource *is = &a->resources[i], *was = &b->resources[i];
        assert_true(str_eq(is->name, was->name) && is->free == was->free);
        assert_true(is->given == was->given && is->format == was->format);
        for (int k = 0; k < KARMADA_AMOUNTS; k++)
            assert_true(is->nano[k] == was->nano[k]);
    }
    assert_int_equal(a->free_pods, b->free_pods);
    assert_int_equal(a->has_summary, b->has_summary);
}

static void same_names(const struct karmada_cluster *a, const struct karmada_cluster *b) {
    assert_true(str_eq(a->meta.name, b->meta.name) && str_eq(a->meta.uid, b->meta.uid));
    assert_int_equal(a->meta.terminating, b->meta.terminating);
    assert_true(str_eq(a->provider, b->provider) && str_eq(a->region, b->region));
    assert_int_equal(a->meta.labels.count, b->meta.labels.count);
    for (uint32_t i = 0; i < b->meta.labels.count; i++)
        assert_true(str_eq(a->meta.labels.items[i].key, b->meta.labels.items[i].key) &&
                    str_eq(a->meta.labels.items[i].value, b->meta.labels.items[i].value));
    assert_int_equal(a->zone_count, b->zone_count);
    for (uint32_t i = 0; i < b->zone_count; i++)
        assert_true(str_eq(a->zones[i], b->zones[i]));
    assert_int_equal(a->taint_count, b->taint_count);
    for (uint32_t i = 0; i < b->taint_count; i++)
        assert_true(str_eq(a->taints[i].key, b->taints[i].key) &&
                    str_eq(a->taints[i].value, b->taints[i].value) &&
                    str_eq(a->taints[i].effect, b->taints[i].effect));
}

static void same_access(const struct karmada_access *a, const struct karmada_access *b) {
    assert_true(str_eq(a->endpoint, b->endpoint) && str_eq(a->proxy_url, b->proxy_url));
    assert_true(str_eq(a->secret_namespace, b->secret_namespace));
    assert_true(str_eq(a->secret_name, b->secret_name));
    assert_true(str_eq(a->proxy_headers, b->proxy_headers));
    assert_int_equal(a->insecure_skip_tls_verify, b->insecure_skip_tls_verify);
    assert_str(a->endpoint, "https://a");
    assert_str(a->proxy_headers, "{\"H\":\"v\"}");
}

/* What was read is gone, and the copy is as it was. */
static void owns_all(void **state) {
    struct arena first, second;
    struct karmada_cluster read, copied_from;
    size_t bytes;
    char *text = strdup(json), *other = strdup(json);
    (void)state;
    read_cluster(text, &first, &copied_from);
    struct karmada_cluster *copy = karmada_cluster_copy(&copied_from, &bytes);
    assert_non_null(copy);
    arena_done(&first);
    memset(text, 'x', strlen(text));
    read_cluster(other, &second, &read);
    assert_true(read.api_count == 2 && read.models.count == 2 && read.taint_count == 2);
    same_names(copy, &read);
    same_access(&copy->access, &read.access);
    same_resources(copy, &read);
    same_models(&copy->models, &read.models);
    assert_int_equal(copy->api_count, read.api_count);
    assert_memory_equal(copy->apis, read.apis, read.api_count * sizeof *read.apis);
    assert_true(bytes > sizeof *copy && bytes < 4096);
    free(copy);
    arena_done(&second);
    free(text);
    free(other);
}

static void of_nothing(void **state) {
    const struct karmada_cluster none = {.meta = {.name = STR("m")}};
    size_t bytes;
    (void)state;
    struct karmada_cluster *copy = karmada_cluster_copy(&none, &bytes);
    assert_non_null(copy);
    assert_true(bytes > sizeof *copy && bytes <= sizeof *copy + 16);
    assert_str(copy->meta.name, "m");
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(owns_all), cmocka_unit_test(of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
