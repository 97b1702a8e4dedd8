/* For tests: clusters of Karmada and a binding, from JSON, as a question. */
#pragma once

#include "karmada/schedule.h"
#include "unit/model/decoding.h"

enum { TEST_CLUSTERS = 16 };

struct test_fleet {
    struct karmada_cluster clusters[TEST_CLUSTERS];
    const struct karmada_cluster *pointers[TEST_CLUSTERS];
    struct binding_spec spec;
    struct binding_status status;
    struct karmada_options options;
    struct karmada_question question;
};

/* Members of arrays and objects, which must be well-formed: clusters of a JSON array, spec, and the
 * name of the affinity that is in force. In decoding_arena. */
void test_fleet_make(const char *clusters, const char *spec, const char *observed,
                     struct test_fleet *ret);
