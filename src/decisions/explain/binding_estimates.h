/* How many replicas of a binding fit each cluster, as the answer of POST /clusters/v1/estimate. */
#pragma once

#include "explain/binding.h"

/*
 * Appends {"replicas":{"m1":12},"sets":null,"by":{"summary":{"m1":12},"models":{"m1":null},
 * "accurate":{"m1":null}},"error":""}: for clusters that pass, by name, the replicas that fit
 * beside the running ones. `replicas` is the least estimate. Returns 0, -E2BIG or -ENOMEM, with a
 * sentence. An overflow shows only in `out`.
 */
int binding_render_estimates(const struct binding_report *report, struct arena *arena,
                             struct strbuf *out, struct err *err) MUST_CHECK;
