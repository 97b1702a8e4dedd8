/* How many replicas of a binding fit each cluster, as the answer of POST /clusters/v1/estimate. */
#pragma once

#include "explain/binding.h"

/*
 * {"replicas":{"m1":12},"sets":null,"by":{"summary":{"m1":12},"models":{"m1":null},
 * "accurate":{"m1":null}},"error":""}: of clusters that pass, by name, what fits beside what is
 * there. `replicas` is the least of those that know. 0, -E2BIG or -ENOMEM, with a sentence; that
 * `out` is full is asked of it.
 */
int binding_render_estimates(const struct binding_report *report, struct arena *arena,
                             struct strbuf *out, struct err *err) MUST_CHECK;
