/*
 * Writes answers with thousands of names quickly: it reserves memory once, copies whole blocks,
 * which may run past the end of a name, and puts ready-made pieces between the names. wire.c writes
 * the same answers in all other cases: names with escapes, whole Nodes, or short memory.
 */
#pragma once

#include "extender/wire.h"

/*
 * Append the answer to `out`. Return false, and append nothing, if the names are not of this kind
 * or there is no room. `result` of a filter may be NULL: every candidate passes.
 */
bool name_list_filter(const struct extender_args *args, const struct filter_result *result,
                      struct arena *arena, struct strbuf *out) MUST_CHECK;
bool name_list_scores(const struct extender_args *args, const struct score_result *result,
                      struct strbuf *out) MUST_CHECK;
