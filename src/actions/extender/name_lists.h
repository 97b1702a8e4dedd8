/*
 * The answers of thousands of names, written quickly: one reservation, copies of whole blocks that
 * may run past the end of what they copy, and ready-made pieces between the names. wire.c writes
 * the same answers for everything else: names with escapes, whole Nodes, and where memory is short.
 */
#pragma once

#include "extender/wire.h"

/*
 * The answer's bytes, appended to `out`. False: not these names, or no room; nothing has been
 * written then. `result` of a filter may be NULL: every candidate passes.
 */
bool name_list_filter(const struct extender_args *args, const struct filter_result *result,
                      struct arena *arena, struct strbuf *out) MUST_CHECK;
bool name_list_scores(const struct extender_args *args, const struct score_result *result,
                      struct strbuf *out) MUST_CHECK;
