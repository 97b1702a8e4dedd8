#include "unit/karmada/fleet.h"

void test_fleet_make(const char *clusters, const char *spec, const char *observed,
                     struct test_fleet *ret) {
    struct json_reader r = decoding_reader(clusters);
    uint32_t count = 0;
    *ret = (struct test_fleet){.options = karmada_defaults,
                               .status = {.observed_affinity = str_of(observed)}};
    if (json_array(&r))
        while (json_element(&r)) {
            assert_true(count < TEST_CLUSTERS);
            karmada_cluster_decode(&r, &ret->clusters[count]);
            ret->pointers[count] = &ret->clusters[count];
            count++;
        }
    decoding_good(&r);
    r = decoding_reader(spec);
    binding_spec_decode(&r, &ret->spec);
    decoding_good(&r);
    ret->question = (struct karmada_question){.clusters = ret->pointers,
                                              .cluster_count = count,
                                              .spec = &ret->spec,
                                              .status = &ret->status,
                                              .options = &ret->options};
}
